import { useEffect, useRef } from "preact/hooks";
import type { Selection } from "../../../charts/selection.ts";
import { isTwelveHour, zone } from "../../../lib/zone.ts";
import { themeVersion } from "../../../ui/theme.tsx";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import { type Bar, type Edges, levelsIn, PLOT } from "./bars.ts";
import css from "./histogram.module.css";

/** The chart module with its library, loaded for the first histogram, so that the page works earlier. */
const CHART = lazyModule(() => import("./chart.ts"));

interface CanvasProps {
  bars: readonly Bar[];
  edges: Edges;
  width: number;
  height: number;
  onHover: (bars: Selection | null) => void;
  onPick: (index: number) => void;
  onBrush: (first: number, last: number) => void;
  /** Highlighted bars, inclusive at both ends. */
  marked: Selection | null;
}

/** The drawing. The text beside it has the same content. */
export function Canvas({ bars, edges, width, height, onHover, onPick, onBrush, marked }: CanvasProps) {
  const host = useRef<HTMLDivElement>(null);
  const hovered = useRef<Selection | null>(null);
  const calls = useRef({ onHover, onBrush });
  calls.current = { onHover, onBrush };
  const chart = useLazy(CHART, true);
  const theme = themeVersion.value;
  const levels = levelsIn(bars);
  // A live view counts several times a second. Only different bars need a new chart.
  const frame = [edges.from, edges.to, bars[0]?.start, bars[0]?.end, bars.length, ...levels].join(" ");
  const drawn = useRef<{ update: (bars: readonly Bar[]) => void; bars: readonly Bar[] } | null>(null);
  useEffect(() => {
    if (chart === null || host.current === null || width === 0 || height === 0) return;
    const { update, destroy } = chart.drawChart({
      host: host.current,
      bars,
      edges,
      levels,
      width,
      height,
      onHover: (bars) => {
        if (bars?.anchor === hovered.current?.anchor && bars?.at === hovered.current?.at) return;
        hovered.current = bars;
        calls.current.onHover(bars);
      },
      onBrush: (first, last) => calls.current.onBrush(first, last),
    });
    drawn.current = { update, bars };
    return () => {
      drawn.current = null;
      destroy();
    };
  }, [chart, frame, width, height, theme, zone.value, isTwelveHour.value]);
  useEffect(() => {
    if (drawn.current === null || drawn.current.bars === bars) return;
    drawn.current.bars = bars;
    drawn.current.update(bars);
  }, [bars]);
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the slider around it handles the keys. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: see above. */}
      <div
        ref={host}
        class={css.canvas}
        onClick={() => {
          if (hovered.current !== null) onPick(hovered.current.at);
        }}
      />
      {chart === null || marked === null ? null : <Mark width={width} bars={bars} edges={edges} {...marked} />}
    </>
  );
}

type MarkProps = Pick<CanvasProps, "bars" | "edges" | "width"> & Selection;

function Mark({ width, bars, edges, anchor, at }: MarkProps) {
  const { left, right } = PLOT;
  const { from, to } = edges;
  const placeOf = (time: number | undefined): number =>
    ((Math.max(from, Math.min(to, time ?? from)) - from) / (to - from)) * (width - left - right);
  const [start, end] = [placeOf(bars[Math.min(anchor, at)]?.start), placeOf(bars[Math.max(anchor, at)]?.end)];
  return <div class={css.mark} style={{ left: `${left + start}px`, width: `${end - start}px` }} />;
}
