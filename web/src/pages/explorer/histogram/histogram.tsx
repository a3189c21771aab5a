import { GitCompareArrows, LayoutDashboard, Table2, ZoomIn, ZoomOut } from "lucide";
import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { may } from "../../../../../src/workspace/permissions.ts";
import { ImageMenu } from "../../../charts/image/image-menu.tsx";
import { firstOf, keysText, lastOf, type Selection, useSelection } from "../../../charts/selection.ts";
import { perSpan, span } from "../../../lib/span-text.ts";
import { LEVELS, type Level } from "../../../model/types.ts";
import { knownWorkspace } from "../../../model/workspaces.ts";
import { Button } from "../../../ui/button.tsx";
import { useLatest } from "../../../ui/use-latest.ts";
import { lazyModule } from "../../../ui/use-lazy.ts";
import { useMedia } from "../../../ui/use-media.ts";
import { useSize } from "../../../ui/use-size.ts";
import { picturedReleases } from "../../investigate/releases/known-changes.ts";
import { ReleaseLegend } from "../../investigate/releases/release-legend.tsx";
import { ReleaseMarks } from "../../investigate/releases/release-marks.tsx";
import { type CompareRange, comparing } from "../../investigate/releases/releases.ts";
import { useReleases } from "../../investigate/releases/use-releases.ts";
import type { SearchScope } from "../fields/use-fields.ts";
import { barSpan, entries, number } from "../view/format.ts";
import { type Bar, barsOf, type Edges, edgesOf, levelsIn, PLOT, type ShownBars } from "./bars.ts";
import { Canvas } from "./canvas.tsx";
import css from "./histogram.module.css";
import { endsWithin } from "./layers.ts";
import { LevelMark } from "./level-mark.tsx";
import { BarTable } from "./table.tsx";
import type { Counted } from "./use-stats.ts";

const PICTURE = lazyModule(() => import("./picture.ts"));

/** Least width of a bar in pixels. */
const BAR_MIN = 4;
/** Pixels of the chart around its bars, with the axis below them. */
const MARKS = { top: 0, bottom: 22, ...PLOT };

interface HistogramProps {
  scope: SearchScope;
  counted: Counted;
  busy: boolean;
  onZoom: (start: number, end: number) => void;
  onZoomOut: () => void;
  /** Shows the entries of another query in a range. */
  onShow: (query: string, start: number, end: number) => void;
  /** Adds a level to the query, or removes it. */
  onLevel: (level: Level) => void;
  /** What is counted. */
  query: string;
  /** Whether the list and its fields are loaded, so that less important parts may load. */
  isSettled: boolean;
  /** Saves the counts to a board, for members who may. */
  onSave?: (() => void) | undefined;
  onCompare?: CompareRange | undefined;
  /** Gets a function that returns what the chart shows. */
  shownBars: RefObject<(() => ShownBars) | null>;
}

/** Entries over time, by level. Ranges are selected with the mouse or the arrow keys. */
export function Histogram(props: HistogramProps) {
  const { scope, query, counted, busy, isSettled, onZoom, onZoomOut, onShow, onLevel, onSave, onCompare, shownBars } =
    props;
  const host = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(host);
  const [hovered, setHovered] = useState<Selection | null>(null);
  const [asTable, setAsTable] = useState(false);
  const bars = useMemo(() => {
    const { stats, bucketMs, start, end } = counted;
    return barsOf(stats, bucketMs, start, end, Math.max(12, Math.floor((width - PLOT.left - PLOT.right) / BAR_MIN)));
  }, [counted, width]);
  const { workspaceId, projectId, times } = scope;
  const role = knownWorkspace(workspaceId)?.role;
  const edges = edgesOf(bars, times);
  const { from, to } = times;
  const bounds = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  // All time is as long as the entries.
  const searched = from === undefined ? counted : times;
  const releases = useReleases({ workspaceId, projectId, bounds, span: searched, isWanted: isSettled });
  const marked = { scope: { workspaceId, projectId }, releases, ...edges, width, inset: MARKS };
  const zoom = (chosen: Selection): void => {
    const [from, to] = [bars[firstOf(chosen)], bars[lastOf(chosen)]];
    if (!from || !to) return;
    select(null);
    onZoom(...shownPart(from.start, to.end, edges));
  };
  const { selection, select, onKeyDown } = useSelection(bars.length, zoom, onZoomOut);
  // A new count of the same query and bars keeps the selection. A live view adds bars at the end.
  const [first] = bars;
  useEffect(() => {
    select(null);
    setHovered(null);
  }, [projectId, query, first?.start, first?.end]);
  const isCut = Math.max(selection?.anchor ?? 0, selection?.at ?? 0, hovered?.at ?? 0) >= bars.length;
  useEffect(() => {
    if (!isCut) return;
    select(null);
    setHovered(null);
  }, [isCut]);
  const shownNow = useLatest(
    (): ShownBars => ({
      filled: bars.filter(({ count }) => count > 0),
      selected: selection === null ? null : joined(bars, selection),
    }),
  );
  useEffect(() => {
    shownBars.current = shownNow;
    return () => {
      shownBars.current = null;
    };
  }, []);
  const shown = hovered ?? selection;
  const said = selection === null ? totalText(counted) : barText(joined(bars, selection));
  return (
    <section class={css.histogram} aria-label="Histogram" aria-busy={busy} data-table={asTable}>
      <div class={css.plot}>
        <div
          ref={host}
          class={css.chart}
          role="slider"
          tabIndex={0}
          data-shortcut="histogram"
          aria-label="Entries over time"
          aria-description={keysText("bar", true)}
          aria-valuemin={1}
          aria-valuemax={bars.length}
          aria-valuenow={(selection?.at ?? bars.length - 1) + 1}
          aria-valuetext={said}
          onKeyDown={onKeyDown}
        >
          <Canvas
            bars={bars}
            edges={edges}
            width={width}
            height={height}
            onHover={setHovered}
            onPick={(index) => select({ anchor: index, at: index })}
            onBrush={(first, last) => zoom({ anchor: first, at: last })}
            marked={shown}
          />
        </div>
        <ReleaseMarks
          {...marked}
          isFree={(box) => !endsWithin(bars, edges, { width, height }, box)}
          onShow={onShow}
          onZoom={onZoom}
          onCompare={comparing(onCompare, releases, searched)}
        />
      </div>
      <div class={css.foot}>
        <p class={css.readout}>
          {shown === null ? (
            <Totals bars={bars} counted={counted} onLevel={onLevel} />
          ) : (
            <Readout bar={joined(bars, shown)} />
          )}
          <span class={css.legend}>
            {first === undefined ? null : <span>{perSpan(first.end - first.start)}</span>}
            <ReleaseLegend {...marked} />
          </span>
        </p>
        {selection === null ? null : (
          <>
            {onCompare === undefined ? null : (
              <Button
                small
                icon={GitCompareArrows}
                onClick={() => {
                  const { start, end } = joined(bars, selection);
                  onCompare(...shownPart(start, end, edges));
                }}
              >
                Compare
              </Button>
            )}
            <Button small icon={ZoomIn} onClick={() => zoom(selection)}>
              Zoom in
            </Button>
          </>
        )}
        {onSave === undefined || role === undefined || !may(role, "board.update") ? null : (
          <Button small look="quiet" icon={LayoutDashboard} onClick={onSave}>
            <span class="wide-only">Save to board</span>
          </Button>
        )}
        <Button small look="quiet" icon={Table2} aria-expanded={asTable} onClick={() => setAsTable(!asTable)}>
          <span class="wide-only">{asTable ? "Hide table" : "Show table"}</span>
        </Button>
        <Button small look="quiet" icon={ZoomOut} onClick={onZoomOut}>
          <span class="wide-only">Zoom out</span>
        </Button>
        <span class={css.image}>
          <ImageMenu
            label="Image"
            small
            picture={async () =>
              (await PICTURE.load()).pictureOf(
                query,
                bars,
                edges,
                picturedReleases({ workspaceId, projectId }, releases),
              )
            }
          />
        </span>
      </div>
      {counted.stats.complete ? null : (
        <p class={css.note}>Incomplete count: older entries are missing. Narrow the time range or the filters.</p>
      )}
      {asTable ? <BarTable bars={bars} onZoom={(start, end) => onZoom(...shownPart(start, end, edges))} /> : null}
    </section>
  );
}

/** Returns the part of a span of bars that is drawn: the first and the last bar may begin before and end after the range. */
function shownPart(start: number, end: number, edges: Edges): [start: number, end: number] {
  return [Math.max(edges.from, start), Math.min(edges.to, end)];
}

function Readout({ bar }: { bar: Bar }) {
  return (
    <>
      <time dateTime={new Date(bar.start).toISOString()} title={`${new Date(bar.start).toISOString()} (UTC)`}>
        {barSpan(bar.start, bar.end)}
      </time>
      <strong>{entries(bar.count)}</strong>
      {levelsIn([bar]).map((level) => (
        <LevelMark key={level} level={level} count={bar.levels[level]} />
      ))}
    </>
  );
}

interface TotalsProps extends Pick<HistogramProps, "counted" | "onLevel"> {
  bars: readonly Bar[];
}

/** Windows in which levels are short, so that all of them are in view. The style sheet has the same width. */
const NARROW = "(width < 600px)";
/** Levels that have room for their names in such a window. */
const NAMED = 3;

function Totals({ bars, counted, onLevel }: TotalsProps) {
  const levels = levelsIn(bars);
  const isShort = useMedia(NARROW) && levels.length > NAMED;
  return (
    <>
      <strong>
        {counted.stats.complete ? "" : "At least "}
        {entries(counted.stats.total)}
      </strong>
      {levels.map((level) => (
        <button
          key={level}
          type="button"
          class={css.level}
          title={`Only level ${level}, or all levels again`}
          onClick={() => onLevel(level)}
        >
          <LevelMark level={level} count={bars.reduce((sum, { levels }) => sum + levels[level], 0)} isShort={isShort} />
        </button>
      ))}
    </>
  );
}

function joined(bars: readonly Bar[], selection: Selection): Bar {
  const part = bars.slice(firstOf(selection), lastOf(selection) + 1);
  const [first, last] = [part[0], part.at(-1)];
  const levels = { trace: 0, debug: 0, log: 0, info: 0, warn: 0, error: 0, fatal: 0 };
  for (const bar of part) for (const level of LEVELS) levels[level] += bar.levels[level];
  return {
    start: first?.start ?? 0,
    end: last?.end ?? 0,
    count: part.reduce((sum, { count }) => sum + count, 0),
    levels,
  };
}

function barText(bar: Bar): string {
  const levels = levelsIn([bar]).map((level) => `${number(bar.levels[level])} ${level}`);
  return [barSpan(bar.start, bar.end), entries(bar.count), ...levels].join(", ");
}

function totalText({ stats, start, end }: Counted): string {
  return `${entries(stats.total)}, ${span(start, end)}`;
}
