import { useMemo, useState } from "preact/hooks";
import { parse } from "../../../src/query-language/parse.ts";
import { cellText } from "../lib/cell-text.ts";
import { visible } from "../lib/visible.ts";
import type { PanelKind } from "../model/boards.ts";
import css from "./chart.module.css";
import {
  type ChartRange,
  chartsOf,
  type GroupChart,
  type NumberChart,
  numberOf,
  panelChart,
  rowsOfGroups,
  type Table,
  type TimeChart,
} from "./chart-data.ts";
import { lineOf } from "./chart-paths.ts";
import { ChartTable } from "./chart-table.tsx";
import { type Choice, chosenOf } from "./drawn.ts";
import { GroupNames } from "./group-names.tsx";
import { type Overlay, OverTime, type Zoom } from "./over-time.tsx";
import type { DrawnReleases } from "./releases.ts";
import { shapeOf } from "./table-shape.ts";
import { toneClass } from "./tones.ts";

interface ChartProps {
  table: Table;
  /** The query that made the table. */
  query: string;
  kind: PanelKind;
  range: ChartRange;
}

/** `title`: of the panel. */
type PanelChartProps = ChartProps & { title: string; overlay?: Overlay };

/** The table of a query as a drawing. A table from which the kind cannot be drawn is shown as it is. */
export function Chart({ table, query, kind, range, title, overlay }: PanelChartProps) {
  const [choice, setChoice] = useState<Choice | null>(null);
  const charts = useCharts(table, query, range);
  const chart = useMemo(() => panelChart(charts, kind === "line"), [charts, kind]);
  if (table.rows.length === 0) return <p class={css.nothing}>No entries</p>;
  const number = kind === "number" ? numberOf(charts) : null;
  if (number !== null) return <BigNumber {...number} />;
  if (chart === null || kind === "table") return <ChartTable table={table} query={query} label={`Table of ${title}`} />;
  return <Drawing chart={chart} kind={kind} overlay={overlay} choice={choice} onChoice={setChoice} />;
}

type ChartsProps = ChartProps & { releases: DrawnReleases; zoom: Zoom } & Choosing;

/** A drawing for each value of a table, one below the other, with the releases of its time. */
export function Charts({ table, query, kind, range, releases, zoom, ...choosing }: ChartsProps) {
  const charts = useCharts(table, query, range);
  const overlay = { threshold: null, marks: [], releases, zoom };
  if (kind === "table") return null;
  const number = kind === "number" ? numberOf(charts) : null;
  if (number !== null) return <BigNumber {...number} />;
  return (
    <div class={css.charts}>
      {charts.map((chart) => (
        <div key={chart.measure} class={css.one} data-kind={chart.kind}>
          {charts.length > 1 ? <p class={css.measure}>{visible(chart.measure)}</p> : null}
          <Drawing chart={chart} kind={kind} overlay={overlay} {...choosing} />
        </div>
      ))}
    </div>
  );
}

/** Returns the rows of the series that `Charts` shows alone, with its name; `null` if all are shown. */
export function rowsOfChoice(
  { table, query, kind, range }: ChartProps,
  choice: Choice | null,
): { name: string; rows: unknown[][] } | null {
  if (choice === null || kind === "number" || kind === "table") return null;
  const shape = shapeOf(parse(query));
  const chosen = chosenOf(chartsOf(table, shape, range), kind === "line", choice);
  return chosen === null ? null : { name: chosen.name, rows: rowsOfGroups(table, shape, chosen.groups) };
}

function useCharts(table: Table, query: string, range: ChartRange) {
  return useMemo(() => chartsOf(table, shapeOf(parse(query)), range), [table, query, range.from, range.to]);
}

interface Choosing {
  /** The series that is shown alone. */
  choice: Choice | null;
  onChoice: (choice: Choice | null) => void;
}

interface DrawingProps<C> extends Choosing {
  chart: C;
  kind: PanelKind;
  overlay?: Overlay | undefined;
}

function Drawing({ chart, ...rest }: DrawingProps<TimeChart | GroupChart>) {
  return chart.kind === "groups" ? <Groups chart={chart} /> : <OverTime chart={chart} {...rest} />;
}

function BigNumber({ measure, value, values, of }: NumberChart) {
  const peak = Math.max(0, ...values.map((each) => each ?? 0));
  return (
    <div class={css.number}>
      <p class={css.value}>{value === null ? "–" : cellText(value, "number")}</p>
      <p class={css.of}>{visible(of === null ? measure : `${measure} · ${of}`)}</p>
      {values.length < 2 ? null : (
        <svg class={css.spark} viewBox={`0 0 ${values.length} 1`} preserveAspectRatio="none" aria-hidden="true">
          <path d={lineOf(values, peak || 1, 1)} />
        </svg>
      )}
    </div>
  );
}

/** Bars of groups, longest as the table has them, each with its value. */
function Groups({ chart: { measure, groups, hidden } }: { chart: GroupChart }) {
  const peak = groups.reduce((most, { value }) => Math.max(most, value), 0) || 1;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls in a small panel, and must be reachable by keyboard.
    <ol class={css.groups} aria-label={visible(measure)} tabIndex={0}>
      {groups.map(({ name, level, value }, at) => (
        <li key={at} class={toneClass(level, 0)}>
          <span class={css.name} title={visible(name)}>
            {visible(name === "" ? measure : name)}
          </span>
          <span class={css.amount}>{cellText(value, "number")}</span>
          <span class={css.track} aria-hidden="true">
            <span class={css.bar} style={{ width: `${(100 * Math.max(0, value)) / peak}%` }} />
          </span>
        </li>
      ))}
      {hidden.length > 0 ? (
        <li class={css.more}>
          <GroupNames label={`${hidden.length} more, not drawn`} names={hidden} />
        </li>
      ) : null}
    </ol>
  );
}
