import { parse } from "../../../../src/query-language/parse.ts";
import { openSpan } from "../../lib/span-text.ts";
import { zone, zoneLabel } from "../../lib/zone.ts";
import type { PanelKind } from "../../model/boards.ts";
import { colours } from "../../ui/colours.ts";
import { type ChartRange, chartsOf, numberOf, panelChart, type Table } from "../chart-data.ts";
import type { PicturedRelease } from "../releases.ts";
import { shapeOf } from "../table-shape.ts";
import { fontOf, type Layout, MARGIN, text, WIDTH } from "./layout.ts";
import { groupsPart, numberPart, tablePart, timePart } from "./parts.ts";

/** Draws a chart or a table as an image with its title and its times, in the colours and the font of the page. */

/** What an image shows. */
export interface Picture {
  title: string;
  table: Table;
  /** The query that made the table. */
  query: string;
  kind: PanelKind;
  range: ChartRange;
  /** Marked in drawings over time. */
  releases: readonly PicturedRelease[];
  /** Whether all values of the table are drawn, each separately. */
  isEach: boolean;
}

/** Pixels of the screen for each. */
const SCALE = 2;

/** @param host an element of the page, whose theme the image has */
export async function imageOf(picture: Picture, host: HTMLElement): Promise<Blob> {
  const fonts = [{ weight: 400 }, { weight: 600 }, { isCode: true }].map((style) => document.fonts.load(fontOf(style)));
  // Without a font that cannot be loaded, the image has another one.
  await Promise.allSettled(fonts);
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("The browser draws no images.");
  const layout: Layout = { context, colour: colours(host), parts: [], y: MARGIN };
  layOut(layout, picture);
  canvas.width = WIDTH * SCALE;
  canvas.height = Math.ceil(layout.y + MARGIN) * SCALE;
  context.scale(SCALE, SCALE);
  context.textBaseline = "alphabetic";
  context.fillStyle = layout.colour("--card");
  context.fillRect(0, 0, WIDTH, layout.y + MARGIN);
  for (const draw of layout.parts) draw();
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error("The image is too large.")) : resolve(blob)),
      "image/png",
    );
  });
}

function layOut(layout: Layout, { title, table, query, kind, range, releases, isEach }: Picture): void {
  text(layout, title, { size: 20, weight: 600 });
  text(layout, `${openSpan(range.from, range.to)} ${zoneLabel(zone.peek())}`, { token: "--quiet" });
  text(layout, query, { token: "--quiet", size: 11, isCode: true });
  layout.y += 12;
  const shape = shapeOf(parse(query));
  const charts = chartsOf(table, shape, range);
  const number = kind === "number" ? numberOf(charts) : null;
  const first = isEach ? charts : [panelChart(charts, kind === "line")].filter((chart) => chart !== null);
  if (table.rows.length === 0) text(layout, "No entries", { token: "--quiet" });
  else if (number !== null) numberPart(layout, number);
  else if (kind === "table" || first.length === 0) tablePart(layout, table, shape);
  else {
    for (const chart of first) {
      if (first.length > 1) text(layout, chart.measure, { size: 12 });
      if (chart.kind === "groups") groupsPart(layout, chart);
      else timePart(layout, chart, kind, releases);
    }
  }
}
