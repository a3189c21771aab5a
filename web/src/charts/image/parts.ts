import { axisTime } from "../../lib/axis-time.ts";
import { cellText } from "../../lib/cell-text.ts";
import { scaleMark } from "../../lib/scale-mark.ts";
import { perSpan } from "../../lib/span-text.ts";
import { visible } from "../../lib/visible.ts";
import { offsetAt } from "../../lib/wall-time.ts";
import { zone } from "../../lib/zone.ts";
import type { PanelKind } from "../../model/boards.ts";
import type { GroupChart, NumberChart, Table, TimeChart } from "../chart-data.ts";
import { areaOf, barsOf, HEIGHT, lineOf } from "../chart-paths.ts";
import { barTops, cutOf, type DrawnSeries, drawnOf, isCutDrawn, topOf } from "../drawn.ts";
import { groupedByPlace, listedNames, type PicturedRelease, type Release } from "../releases.ts";
import { NEUTRAL } from "../series-colours.ts";
import { groupWithout, type Shape } from "../table-shape.ts";
import { ticksOf } from "../ticks.ts";
import { INNER, keysPart, type Layout, MARGIN, text, WIDTH, widthOf, write } from "./layout.ts";

/** The kinds of charts as parts of an image. */

/** Pixels of a drawing over time. */
const PLOT = 320;
/** Rows of a table. */
const ROWS = 20;
/** Pixels between two signs of releases, at least. */
const APART = 16;

function toneOf({ level, colour }: Pick<DrawnSeries, "level" | "colour">): string {
  return level === null ? (colour === NEUTRAL ? "--series-rest" : `--series-${colour + 1}`) : `--fill-${level}`;
}

export function timePart(layout: Layout, chart: TimeChart, kind: PanelKind, known: readonly PicturedRelease[]): void {
  const { from, binMs, spans, measure } = chart;
  const { context, colour } = layout;
  const drawn = drawnOf(chart, kind === "line", null);
  const { all: series, stacked, hidden } = drawn;
  const cut = cutOf(chart, stacked === null || kind === "area");
  const peak = topOf(drawn);
  const tops = stacked === null || kind === "area" ? stacked : barTops(series, peak / PLOT);
  const to = from + spans * binMs;
  const labels = [scaleMark(peak), scaleMark(peak / 2), "0"];
  const left = MARGIN + 8 + Math.max(...labels.map((label) => widthOf(layout, label, { size: 11 })));
  const top = layout.y + 8;
  const width = WIDTH - MARGIN - left;
  const placeOf = (time: number): number => left + ((time - from) / (to - from)) * width;
  const releases = known.filter(({ at }) => at >= from && at < to);
  const changed: ReadonlySet<Release> = new Set(releases.filter(({ change }) => change !== ""));
  const isChanged = (release: Release): boolean => changed.has(release);
  layout.parts.push(() => {
    for (const [at, label] of labels.entries()) {
      const y = top + (at * PLOT) / 2;
      context.fillStyle = colour(at === 2 ? "--line-strong" : "--line");
      context.fillRect(left, Math.round(y), width, 1);
      write(layout, label, left - 8, y + 4, { size: 11, token: "--quiet", align: "right" });
    }
    const matrix = new DOMMatrix([width / spans, 0, 0, PLOT / HEIGHT, left, top]);
    const shape = (path: string): Path2D => {
      const scaled = new Path2D();
      scaled.addPath(new Path2D(path), matrix);
      return scaled;
    };
    for (const [index, each] of series.entries()) {
      const { from: low, to: high } = tops?.[index] ?? {};
      if (low === undefined || high === undefined) continue;
      context.fillStyle = colour(toneOf(each));
      context.fill(shape(kind === "area" ? areaOf(low, high, peak) : barsOf(low, high, peak)));
    }
    for (const each of stacked === null ? series : []) {
      context.strokeStyle = colour(toneOf(each));
      context.lineWidth = 1.75;
      context.lineJoin = "round";
      context.lineCap = "round";
      context.stroke(shape(lineOf(each.values, peak, HEIGHT)));
    }
    context.fillStyle = colour("--card");
    context.globalAlpha = 0.6;
    context.fillRect(left, top, cut.start * width, PLOT - 1);
    context.fillRect(left + (1 - cut.end) * width, top, cut.end * width, PLOT - 1);
    context.globalAlpha = 1;
    for (const { place, places, releases: each } of groupedByPlace(releases, placeOf, APART)) {
      for (const [at, line] of places.entries())
        releaseLine(layout, line, top, each[at] !== undefined && isChanged(each[at]));
      releaseSign(layout, place, top, each.length, each.some(isChanged));
    }
    const { times, stepMs } = ticksOf(from, to, offsetAt(to, zone.peek()));
    for (const time of times)
      write(layout, axisTime(time, stepMs), placeOf(time), top + PLOT + 16, {
        ...{ size: 11, token: "--quiet", align: "center" },
      });
  });
  layout.y = top + PLOT + 28;
  keysPart(layout, [
    { name: perSpan(binMs), token: null },
    ...series.map((each) => ({ name: each.name === "" ? measure : each.name, token: toneOf(each) })),
    ...(hidden.length > 0 ? [{ name: `${hidden.length} more, not drawn`, token: null }] : []),
    ...(isCutDrawn(drawn, cut) ? [{ name: "Lighter: cut by the range", token: null }] : []),
  ]);
  const { names, earlier } = listedNames(releases);
  const listed = releases.slice(earlier).map(({ change }, at) => ({
    name: change === "" ? `\u25cf ${names[at]}` : `\u25c6 ${names[at]} ${change}`,
    token: null,
  }));
  if (listed.length > 0)
    keysPart(layout, [...(earlier > 0 ? [{ name: `${earlier} earlier`, token: null }] : []), ...listed]);
}

/** Solid with a changed setting, as on the page. */
function releaseLine({ context, colour }: Layout, x: number, top: number, isChanged: boolean): void {
  context.strokeStyle = colour(isChanged ? "--text" : "--quiet");
  context.lineWidth = isChanged ? 2 : 1;
  context.setLineDash(isChanged ? [] : [3, 3]);
  context.beginPath();
  context.moveTo(x, top);
  context.lineTo(x, top + PLOT);
  context.stroke();
  context.setLineDash([]);
}

/** A diamond with a changed setting, or a disc. */
function releaseSign(layout: Layout, x: number, y: number, count: number, isChanged: boolean): void {
  const { context, colour } = layout;
  context.fillStyle = colour("--text");
  context.beginPath();
  if (isChanged) {
    const size = count > 1 ? 10 : 7;
    for (const [dx, dy] of [
      [0, -size],
      [size, 0],
      [0, size],
      [-size, 0],
    ] as const)
      context.lineTo(x + dx, y + dy);
  } else context.arc(x, y, count > 1 ? 7 : 4, 0, 2 * Math.PI);
  context.fill();
  if (count > 1) write(layout, String(count), x, y + 4, { size: 10, weight: 600, token: "--card", align: "center" });
}

export function groupsPart(layout: Layout, { groups, measure, hidden }: GroupChart): void {
  const peak = groups.reduce((most, { value }) => Math.max(most, value), 0) || 1;
  for (const { name, level, value } of groups) {
    const { y } = layout;
    layout.parts.push(() => {
      const amount = write(layout, cellText(value, "number"), WIDTH - MARGIN, y + 14, { align: "right" });
      write(layout, name === "" ? measure : name, MARGIN, y + 14, { most: INNER - amount - 16 });
      layout.context.fillStyle = layout.colour("--sunk");
      layout.context.fillRect(MARGIN, y + 20, INNER, 6);
      layout.context.fillStyle = layout.colour(toneOf({ level, colour: 0 }));
      layout.context.fillRect(MARGIN, y + 20, (INNER * Math.max(0, value)) / peak, 6);
    });
    layout.y += 34;
  }
  if (hidden.length > 0) text(layout, `${hidden.length} more`, { token: "--quiet" });
}

export function numberPart(layout: Layout, { measure, value, of }: NumberChart): void {
  text(layout, value === null ? "\u2013" : cellText(value, "number"), { size: 48, weight: 600 });
  layout.y += 4;
  text(layout, of === null ? measure : `${measure} \u00b7 ${of}`, { token: "--quiet" });
}

export function tablePart(layout: Layout, { columns, rows }: Table, shape: Shape): void {
  const shown = rows.slice(0, ROWS);
  const cells = [
    columns.map(({ name }) => name),
    ...shown.map((row) =>
      columns.map(({ name, type }, at) => {
        const without = (row[at] ?? null) === null ? groupWithout(shape, name) : null;
        return without ?? cellText(row[at], type);
      }),
    ),
  ];
  const wanted = columns.map((_, at) =>
    Math.min(INNER, Math.max(...cells.map((row) => widthOf(layout, visible(row[at] ?? ""), { size: 12 }))) + 16),
  );
  const sum = wanted.reduce((a, b) => a + b, 0);
  // Narrow columns keep their width; the others share what is left.
  const fair = INNER / columns.length;
  const narrow = wanted.filter((width) => width <= fair).reduce((a, b) => a + b, 0);
  const rest = sum - narrow;
  const widths = wanted.map((width) =>
    sum <= INNER ? (width * INNER) / sum : width <= fair ? width : (width * (INNER - narrow)) / rest,
  );
  for (const [index, row] of cells.entries()) {
    const { y } = layout;
    layout.parts.push(() => {
      let x = MARGIN;
      for (const [at, cell] of row.entries()) {
        const width = widths[at] ?? 0;
        const isNumber = columns[at]?.type === "number";
        write(layout, cell, isNumber ? x + width - 8 : x, y + 16, {
          ...{ size: 12, weight: index === 0 ? 600 : 400, token: index === 0 ? "--quiet" : "--text" },
          ...{ align: isNumber ? "right" : "left", most: width - 8 },
        });
        x += width;
      }
      layout.context.fillStyle = layout.colour("--line");
      layout.context.fillRect(MARGIN, y + 25, INNER, 1);
    });
    layout.y += 26;
  }
  if (rows.length > ROWS) text(layout, `The first ${ROWS} of ${rows.length} rows`, { token: "--quiet", size: 12 });
}
