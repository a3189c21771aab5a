import { ZoomIn } from "lucide";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { cellText } from "../lib/cell-text.ts";
import { scaleMark } from "../lib/scale-mark.ts";
import { visible } from "../lib/visible.ts";
import { timeFormat } from "../lib/zone.ts";
import type { PanelKind } from "../model/boards.ts";
import { Button } from "../ui/button.tsx";
import { useSize } from "../ui/use-size.ts";
import { Brush } from "./brush.tsx";
import type { TimeChart } from "./chart-data.ts";
import { areaOf, barsOf, HEIGHT, lineOf } from "./chart-paths.ts";
import { barTops, type Choice, cutOf, drawnOf, isCutDrawn, onlyOf, topOf } from "./drawn.ts";
import { Legend, ListedReleases } from "./legend.tsx";
import css from "./over-time.module.css";
import { Readout, readoutOf, readoutText } from "./readout.tsx";
import type { DrawnReleases } from "./releases.ts";
import { releaseNames } from "./releases.ts";
import { firstOf, lastOf, type Selection, type Span, useSelection } from "./selection.ts";
import { TimeAxis } from "./time-axis.tsx";
import { toneClass } from "./tones.ts";

/** What is drawn over values in time, and done with their times. */
export interface Overlay {
  /** A value that is drawn as a line; `null` for none. */
  threshold: number | null;
  /** Times that are marked, epoch milliseconds. */
  marks: readonly number[];
  releases?: DrawnReleases;
  /** Absent: spans of time cannot be selected. */
  zoom?: Zoom | undefined;
}

export interface Zoom {
  onZoom: (start: number, end: number) => void;
  onZoomOut?: () => void;
  /** Called with the span of time that is selected in the drawing of a measure, and with `null` once none is. */
  onSelect?: (span: Span | null, measure: string) => void;
}

interface OverTimeProps {
  chart: TimeChart;
  kind: PanelKind;
  overlay?: Overlay | undefined;
  choice: Choice | null;
  onChoice: (choice: Choice | null) => void;
}

/** Pixels of a drawing around its marks of releases: half of a sign is above it. */
const MARKS = { top: -8, bottom: 0, left: 0, right: 0 } as const;

const moment = timeFormat({ dateStyle: "medium", timeStyle: "short" });

/** Values over time, with a legend that selects series, and spans of time that are selected with the mouse or the arrow keys. */
export function OverTime({ chart, kind, overlay, choice, onChoice }: OverTimeProps) {
  const { measure, from, binMs, spans, edges } = chart;
  const [hovered, setHovered] = useState<number | null>(null);
  const [dragged, setDragged] = useState<Selection | null>(null);
  const [hasFocus, setFocus] = useState(false);
  const only = onlyOf(choice, measure);
  const canvas = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(canvas);
  const isLines = kind === "line";
  const drawn = useMemo(() => drawnOf(chart, isLines, only), [chart, isLines, only]);
  const { shown, stacked, most } = drawn;
  const { zoom: zooming } = overlay ?? {};
  const timesOf = (chosen: Selection): Span => ({
    start: Math.max(edges.from, from + firstOf(chosen) * binMs),
    end: Math.min(edges.to, from + (lastOf(chosen) + 1) * binMs),
  });
  const zoom = (chosen: Selection): void => {
    select(null);
    const { start, end } = timesOf(chosen);
    zooming?.onZoom(start, end);
  };
  const { selection, select, onKeyDown } = useSelection(spans, zoom, zooming?.onZoomOut);
  // A refresh of a relative range moves the spans.
  useEffect(() => {
    select(null);
    setHovered(null);
    // The next move of the pointer draws it at its new place.
    setDragged(null);
  }, [from, binMs, spans, zooming === undefined]);
  useEffect(() => {
    if (selection === null) return;
    zooming?.onSelect?.(timesOf(selection), measure);
    return () => zooming?.onSelect?.(null, measure);
  }, [selection]);
  // The drawing begins at 0.
  const threshold = overlay?.threshold != null && overlay.threshold >= 0 ? overlay.threshold : null;
  // Above a threshold there is room for its value.
  const peak = topOf(drawn, (threshold ?? 0) * 1.1);
  const tops = stacked === null || kind === "area" ? stacked : barTops(shown, height === 0 ? 0 : peak / height);
  const to = from + spans * binMs;
  const label = `${measure} from ${moment(from)} to ${moment(to)}, at most ${cellText(most, "number")}${threshold === null ? "" : `, threshold ${cellText(threshold, "number")}`}`;
  const placeOf = (time: number): number => (100 * (time - from)) / (to - from);
  const marked = overlay?.releases;
  const releases = marked?.releases.filter((release) => release.at >= from && release.at < to) ?? [];
  const said = releases.length === 0 ? label : `${label}; releases: ${releaseNames(releases)}`;
  const pointed = dragged ?? (hovered === null || hovered >= spans ? null : { anchor: hovered, at: hovered });
  const highlighted = pointed ?? selection;
  const told = pointed ?? (hasFocus ? selection : null);
  const cut = cutOf(chart, stacked === null || kind === "area");
  const fade = fadeOf(cut);
  return (
    <figure class={css.chart}>
      <div class={css.plot}>
        <div class={css.scale} aria-hidden="true">
          <span>{scaleMark(peak)}</span>
          <span>{scaleMark(peak / 2)}</span>
          <span>0</span>
        </div>
        <div ref={canvas} class={css.canvas}>
          <svg
            viewBox={`0 0 ${spans} ${HEIGHT}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={visible(said)}
            class={css.drawing}
            style={fade === null ? {} : { maskImage: fade }}
          >
            {shown.map(({ level, index, colour, values }, at) => {
              const { from: low, to: high } = tops?.[at] ?? {};
              return low === undefined || high === undefined ? (
                <path key={index} class={`${toneClass(level, colour)} ${css.line}`} d={lineOf(values, peak, HEIGHT)} />
              ) : (
                <path
                  key={index}
                  class={`${toneClass(level, colour)} ${css.fill}`}
                  d={kind === "area" ? areaOf(low, high, peak) : barsOf(low, high, peak)}
                />
              );
            })}
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
          {highlighted === null ? null : (
            <div
              class={css.cursor}
              data-selected={highlighted !== pointed || dragged !== null}
              style={{
                left: `${(100 * firstOf(highlighted)) / spans}%`,
                width: `${(100 * (lastOf(highlighted) + 1 - firstOf(highlighted))) / spans}%`,
              }}
            />
          )}
          <Brush
            label={`Times of ${visible(measure)}`}
            from={from}
            binMs={binMs}
            spans={spans}
            selection={zooming === undefined ? undefined : selection}
            valueText={readoutText(readoutOf(chart, drawn, selection ?? { anchor: 0, at: spans - 1 }))}
            zoomsOut={zooming?.onZoomOut !== undefined}
            onHover={setHovered}
            onDrag={setDragged}
            onBrush={zoom}
            onPick={(at) => select({ anchor: at, at })}
            onKeyDown={onKeyDown}
            onFocus={setFocus}
          />
          {marked?.marks({ from, to, width, inset: MARKS })}
          {selection === null || zooming === undefined ? null : (
            <span class={css.zoom}>
              <Button small icon={ZoomIn} onClick={() => zoom(selection)}>
                Zoom in
              </Button>
            </span>
          )}
          {told === null ? null : (
            <Readout
              {...readoutOf(chart, drawn, told)}
              measure={measure}
              host={canvas}
              left={firstOf(told) / spans}
              right={(lastOf(told) + 1) / spans}
            />
          )}
        </div>
        <div class={css.times}>
          <TimeAxis from={from} to={to} width={width} />
        </div>
      </div>
      <figcaption class={css.caption}>
        <Legend
          drawn={drawn}
          measure={measure}
          only={only}
          onOnly={(key) => onChoice(key === null ? null : { measure, key })}
          isCut={isCutDrawn(drawn, cut)}
          // As chosen, the values would be stacked.
          isLines={stacked === null && !isLines}
          binMs={binMs}
        />
        {marked?.listed === undefined ? null : <ListedReleases releases={releases} {...marked.listed} />}
      </figcaption>
    </figure>
  );
}

/** How much of a colour is left where the range cuts a span. */
const FADED = "rgb(0 0 0 / 40%)";

/** Returns a mask that lightens parts at the start and the end of a drawing; `null` if there are none. */
function fadeOf({ start, end }: ReturnType<typeof cutOf>): string | null {
  if (start === 0 && end === 0) return null;
  const [first, last] = [`${100 * start}%`, `${100 * (1 - end)}%`];
  return `linear-gradient(to right, ${FADED} 0 ${first}, #000 ${first} ${last}, ${FADED} ${last} 100%)`;
}
