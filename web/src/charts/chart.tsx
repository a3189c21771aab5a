import { useMemo, useState } from "preact/hooks";
import { parse } from "../../../src/query-language/parse.ts";
import { timeFormat, zone } from "../lib/zone.ts";
import type { PanelKind } from "../model/boards.ts";
import { cellText } from "../pages/explorer/search/cell-text.ts";
import { axisTime } from "../pages/explorer/view/axis-time.ts";
import { short, span } from "../pages/explorer/view/format.ts";
import { visible } from "../pages/explorer/view/visible.ts";
import { offsetAt } from "../pages/explorer/view/wall-time.ts";
import { releaseNames, releaseTooltip, shortNames } from "../pages/investigate/releases/release-names.ts";
import { groupedByPlace, type Release } from "../pages/investigate/releases/releases.ts";
import css from "./chart.module.css";
import {
  type ChartRange,
  chartsOf,
  type GroupChart,
  type NumberChart,
  niceCeiling,
  numberOf,
  panelChart,
  type Series,
  shapeOf,
  stackedOf,
  type Table,
  type TimeChart,
  ticksOf,
} from "./chart-data.ts";
import { ChartTable } from "./chart-table.tsx";

interface ChartProps {
  table: Table;
  /** The query that made the table. */
  query: string;
  kind: PanelKind;
  range: ChartRange;
}

/** What is drawn over values in time. */
export interface Overlay {
  /** A value that is drawn as a line; `null` for none. */
  threshold: number | null;
  /** Times that are marked, epoch milliseconds. */
  marks: readonly number[];
  releases?: readonly Release[];
}

/** `title`: of the panel. */
type PanelChartProps = ChartProps & { title: string; overlay?: Overlay };

/** The table of a query as a drawing. A table from which the kind cannot be drawn is shown as it is. */
export function Chart({ table, query, kind, range, title, overlay }: PanelChartProps) {
  const charts = useCharts(table, query, range);
  const chart = useMemo(() => panelChart(charts, kind === "line"), [charts, kind]);
  if (table.rows.length === 0) return <p class={css.nothing}>No entries</p>;
  const number = kind === "number" ? numberOf(charts) : null;
  if (number !== null) return <BigNumber {...number} />;
  if (chart === null || kind === "table") return <ChartTable table={table} label={`Table of ${title}`} />;
  return <Drawing chart={chart} kind={kind} overlay={overlay} />;
}

/** A drawing for each value of a table, one below the other, with the releases of its time. */
export function Charts({ table, query, kind, range, releases }: ChartProps & { releases: readonly Release[] }) {
  const charts = useCharts(table, query, range);
  const overlay = useMemo(() => ({ threshold: null, marks: [], releases }), [releases]);
  if (kind === "table") return null;
  const number = kind === "number" ? numberOf(charts) : null;
  if (number !== null) return <BigNumber {...number} />;
  return (
    <div class={css.charts}>
      {charts.map((chart) => (
        <div key={chart.measure} class={css.one} data-kind={chart.kind}>
          {charts.length > 1 ? <p class={css.measure}>{visible(chart.measure)}</p> : null}
          <Drawing chart={chart} kind={kind} overlay={overlay} />
        </div>
      ))}
    </div>
  );
}

function useCharts(table: Table, query: string, range: ChartRange) {
  return useMemo(() => chartsOf(table, shapeOf(parse(query)), range), [table, query, range.from, range.to]);
}

interface DrawingProps<C> {
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
          <path class={css.line} d={lineOf(values, peak || 1, 1)} />
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
        <li key={at} class={classOf(level, 0)}>
          <span class={css.name} title={visible(name)}>
            {visible(name === "" ? measure : name)}
          </span>
          <span class={css.amount}>{cellText(value, "number")}</span>
          <span class={css.track} aria-hidden="true">
            <span class={css.bar} style={{ width: `${(100 * Math.max(0, value)) / peak}%` }} />
          </span>
        </li>
      ))}
      {hidden > 0 ? <li class={css.more}>{hidden} more in the table</li> : null}
    </ol>
  );
}

/** Height of the drawing in its own units. */
const HEIGHT = 100;
/** Percent of the width between two marks of releases, at least. */
const APART = 2;

function OverTime({ chart, kind, overlay }: DrawingProps<TimeChart>) {
  const { measure, from, binMs, spans, series, hidden, isCount } = chart;
  const [hovered, setHovered] = useState<number | null>(null);
  // Percentiles of groups cannot be added.
  const isStacked = kind !== "line" && (isCount || series.length === 1);
  const stacked = useMemo(() => (isStacked ? stackedOf(series) : []), [chart, isStacked]);
  const sums = stacked.at(-1)?.to;
  const most = Math.max(...(sums ?? series.map((each) => each.peak)));
  // The drawing begins at 0.
  const threshold = overlay?.threshold != null && overlay.threshold >= 0 ? overlay.threshold : null;
  // Above a threshold there is room for its value.
  const peak = niceCeiling(Math.max(most, (threshold ?? 0) * 1.1));
  const to = from + spans * binMs;
  const label = `${measure} from ${moment(from)} to ${moment(to)}, at most ${cellText(most, "number")}${threshold === null ? "" : `, threshold ${cellText(threshold, "number")}`}`;
  const placeOf = (time: number): number => (100 * (time - from)) / (to - from);
  const releases = overlay?.releases?.filter((release) => release.at >= from && release.at < to) ?? [];
  const said = releases.length === 0 ? label : `${label}; releases: ${releaseNames(releases)}`;
  const { times, stepMs } = ticksOf(from, to, offsetAt(to, zone.value));
  const at = hovered === null || hovered >= spans ? null : hovered;
  return (
    <figure class={css.chart}>
      <div class={css.plot}>
        <div class={css.scale} aria-hidden="true">
          <span>{short(peak)}</span>
          <span>{short(peak / 2)}</span>
          <span>0</span>
        </div>
        <div
          class={css.canvas}
          onPointerMove={({ currentTarget, clientX }) => {
            const { left, width } = currentTarget.getBoundingClientRect();
            setHovered(Math.max(0, Math.min(spans - 1, Math.floor(((clientX - left) / width) * spans))));
          }}
          onPointerLeave={() => setHovered(null)}
        >
          <svg
            viewBox={`0 0 ${spans} ${HEIGHT}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={visible(said)}
            class={css.drawing}
          >
            {isStacked
              ? stacked.map(({ name, level, from: low, to: high }, index) => (
                  <path
                    key={name}
                    class={`${classOf(level, index)} ${css.fill}`}
                    d={kind === "area" ? areaOf(low, high, peak) : barsOf(low, high, peak)}
                  />
                ))
              : series.map(({ name, level, values }, index) => (
                  <path key={name} class={`${classOf(level, index)} ${css.line}`} d={lineOf(values, peak, HEIGHT)} />
                ))}
          </svg>
          {threshold === null ? null : (
            <div class={css.threshold} style={{ bottom: `${(100 * threshold) / peak}%` }} aria-hidden="true">
              <span>{cellText(threshold, "number")}</span>
            </div>
          )}
          {overlay?.marks.map((mark) =>
            mark < from || mark > to ? null : (
              <div key={mark} class={css.mark} style={{ left: `${placeOf(mark)}%` }} aria-hidden="true" />
            ),
          )}
          {groupedByPlace(releases, placeOf, APART).map(({ place, places, releases: each }) => (
            <div key={place} aria-hidden="true">
              {places.map((line) => (
                <div key={line} class={css.release} style={{ left: `${line}%` }} />
              ))}
              <span
                class={css.sign}
                style={{ left: `calc(${place}% - 8px)` }}
                data-tooltip={releaseTooltip(each)}
                data-tooltip-side="top"
              />
            </div>
          ))}
          {at === null ? null : (
            <div class={css.cursor} style={{ left: `${(100 * at) / spans}%`, width: `${100 / spans}%` }} />
          )}
        </div>
        <div class={css.times} aria-hidden="true">
          {times.map((time) => (
            <span key={time} style={{ left: `${placeOf(time)}%` }}>
              {axisTime(time, stepMs)}
            </span>
          ))}
        </div>
      </div>
      <figcaption class={css.caption}>
        {at === null ? null : <span class={css.moment}>{span(from + at * binMs, from + (at + 1) * binMs)}</span>}
        <Legend series={series} at={at} measure={measure} hidden={hidden} />
        {releases.length === 0 ? null : (
          // The drawing has them in its own name, with their times.
          <span class={css.named} aria-hidden="true">
            {"\u25c6"} {shortNames(releases)}
          </span>
        )}
      </figcaption>
    </figure>
  );
}

interface LegendProps {
  series: readonly Series[];
  /** The span below the pointer. */
  at: number | null;
  measure: string;
  hidden: number;
}

function Legend({ series, at, measure, hidden }: LegendProps) {
  return (
    <ul class={css.legend}>
      {series.map(({ name, level, values }, index) => (
        <li key={name} class={classOf(level, index)}>
          <span class={css.key} aria-hidden="true" />
          <span class={css.label}>{visible(name === "" ? measure : name)}</span>
          {at === null ? null : <b>{cellText(values[at] ?? null, "number")}</b>}
        </li>
      ))}
      {hidden > 0 ? <li class={css.more}>{hidden} more in the table</li> : null}
    </ul>
  );
}

function classOf(level: Series["level"], index: number): string | undefined {
  return css[level === null ? `series${index + 1}` : level];
}

const moment = timeFormat({ dateStyle: "medium", timeStyle: "short" });

/** Share of a span between two bars. */
const GAP = 0.12;

function barsOf(low: readonly number[], high: readonly number[], peak: number): string {
  const y = (value: number) => round(HEIGHT - (value / peak) * HEIGHT);
  return high
    .flatMap((top, at) => {
      const bottom = low[at] ?? 0;
      return top > bottom ? [`M${at + GAP / 2} ${y(bottom)}V${y(top)}h${1 - GAP}V${y(bottom)}z`] : [];
    })
    .join("");
}

function areaOf(low: readonly number[], high: readonly number[], peak: number): string {
  const point = (value: number, at: number) => `${at + 0.5} ${round(HEIGHT - (value / peak) * HEIGHT)}`;
  const upper = high.map(point);
  const lower = low.map(point).reverse();
  return `M${[...upper, ...lower].join("L")}z`;
}

/** A line that is interrupted where values are missing. A value between two gaps is a short dash. */
function lineOf(values: readonly (number | null)[], peak: number, height: number): string {
  let isOpen = false;
  return values
    .map((value, at) => {
      if (value === null) {
        isOpen = false;
        return "";
      }
      const y = round(height - (Math.max(0, value) / peak) * height);
      const isAlone = !isOpen && (values[at + 1] ?? null) === null;
      const part = isAlone ? `M${at + 0.25} ${y}h0.5` : `${isOpen ? "L" : "M"}${at + 0.5} ${y}`;
      isOpen = !isAlone;
      return part;
    })
    .join("");
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
