import { useMemo, useRef, useState } from "preact/hooks";
import { parse } from "../../../src/query-language/parse.ts";
import { niceCeiling } from "../lib/nice-ceiling.ts";
import { timeFormat, zone } from "../lib/zone.ts";
import type { PanelKind } from "../model/boards.ts";
import { cellText } from "../pages/explorer/search/cell-text.ts";
import { axisTime } from "../pages/explorer/view/axis-time.ts";
import { short, span } from "../pages/explorer/view/format.ts";
import { visible } from "../pages/explorer/view/visible.ts";
import { offsetAt } from "../pages/explorer/view/wall-time.ts";
import { type MarkedReleases, ReleaseMarks } from "../pages/investigate/releases/release-marks.tsx";
import { listedNames, releaseNames } from "../pages/investigate/releases/release-names.ts";
import type { Release } from "../pages/investigate/releases/releases.ts";
import { useSize } from "../ui/use-size.ts";
import css from "./chart.module.css";
import {
  type ChartRange,
  chartsOf,
  type GroupChart,
  type NumberChart,
  numberOf,
  panelChart,
  type Series,
  shapeOf,
  shapesOf,
  type Table,
  type TimeChart,
  ticksOf,
} from "./chart-data.ts";
import { areaOf, barsOf, HEIGHT, lineOf } from "./chart-paths.ts";
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
  releases?: MarkedReleases;
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
export function Charts({ table, query, kind, range, releases }: ChartProps & { releases: MarkedReleases }) {
  const charts = useCharts(table, query, range);
  const overlay = { threshold: null, marks: [], releases };
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
      {hidden > 0 ? <li class={css.more}>{hidden} more, not drawn</li> : null}
    </ol>
  );
}

/** Pixels of a drawing around its marks of releases: half of a sign is above it. */
const MARKS = { top: -8, bottom: 0, left: 0, right: 0 } as const;

function OverTime({ chart, kind, overlay }: DrawingProps<TimeChart>) {
  const { measure, from, binMs, spans, series, hidden } = chart;
  const [hovered, setHovered] = useState<number | null>(null);
  const canvas = useRef<HTMLDivElement>(null);
  const { width } = useSize(canvas);
  const { stacked, most } = useMemo(() => shapesOf(chart, kind === "line"), [chart, kind]);
  // The drawing begins at 0.
  const threshold = overlay?.threshold != null && overlay.threshold >= 0 ? overlay.threshold : null;
  // Above a threshold there is room for its value.
  const peak = niceCeiling(Math.max(most, (threshold ?? 0) * 1.1));
  const to = from + spans * binMs;
  const label = `${measure} from ${moment(from)} to ${moment(to)}, at most ${cellText(most, "number")}${threshold === null ? "" : `, threshold ${cellText(threshold, "number")}`}`;
  const placeOf = (time: number): number => (100 * (time - from)) / (to - from);
  const marked = overlay?.releases;
  const releases = marked?.releases.filter((release) => release.at >= from && release.at < to) ?? [];
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
          ref={canvas}
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
            {stacked !== null
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
          {at === null ? null : (
            <div class={css.cursor} style={{ left: `${(100 * at) / spans}%`, width: `${100 / spans}%` }} />
          )}
          {marked === undefined ? null : <ReleaseMarks {...marked} from={from} to={to} width={width} inset={MARKS} />}
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
        <ListedReleases releases={releases} />
      </figcaption>
    </figure>
  );
}

/** The releases of a drawing with their times. Its own name and the names of the signs have them, too. */
function ListedReleases({ releases }: { releases: readonly Release[] }) {
  if (releases.length === 0) return null;
  const { names, earlier } = listedNames(releases);
  return (
    <ul class={css.named} aria-hidden="true">
      {earlier === 0 ? null : <li>{earlier} earlier</li>}
      {names.map((name, at) => (
        <li key={at}>
          {"\u25c6"} {name}
        </li>
      ))}
    </ul>
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
      {hidden > 0 ? <li class={css.more}>{hidden} more, not drawn</li> : null}
    </ul>
  );
}

function classOf(level: Series["level"], index: number): string | undefined {
  return css[level === null ? `series${index + 1}` : level];
}

const moment = timeFormat({ dateStyle: "medium", timeStyle: "short" });
