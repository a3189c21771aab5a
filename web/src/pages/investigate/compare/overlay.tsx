import { useRef, useState } from "preact/hooks";
import { TimeAxis } from "../../../charts/time-axis.tsx";
import { niceCeiling } from "../../../lib/bar-heights.ts";
import { scaleMark } from "../../../lib/scale-mark.ts";
import { span } from "../../../lib/span-text.ts";
import { useSize } from "../../../ui/use-size.ts";
import { number } from "../../explorer/view/format.ts";
import type { Counts } from "./counts.ts";
import css from "./overlay.module.css";

/** Height of the drawing in its own units. */
const HEIGHT = 100;

interface OverlayProps {
  before: Counts;
  now: Counts;
}

/** The entries of two spans over time: bars now, a line before. Both begin at the left; the times below are those of now. */
export function Overlay({ before, now }: OverlayProps) {
  const [hovered, setHovered] = useState<number | null>(null);
  const canvas = useRef<HTMLDivElement>(null);
  const { width } = useSize(canvas);
  const spans = Math.max(before.bins.spans, now.bins.spans);
  const peak = niceCeiling(Math.max(1, ...before.values, ...now.values));
  const y = (value: number): number => HEIGHT - (value / peak) * HEIGHT;
  const [from, to] = [now.bins.start, now.bins.start + spans * now.bins.binMs];
  const at = hovered === null || hovered >= spans ? null : hovered;
  // A span of time that is only in part in the counted one has fewer entries: the line would show a fall that is none.
  const points = before.values.map((value, index) => ({ value, index })).filter(({ index }) => !before.partial[index]);
  const [only] = points;
  const line = points.map(({ value, index }) => `${index + 0.5} ${y(value)}`).join("L");
  const bars = (isPart: boolean): string =>
    now.values
      .map((value, index) =>
        value === 0 || now.partial[index] !== isPart ? "" : `M${index + 0.06} ${HEIGHT}V${y(value)}h.88V${HEIGHT}z`,
      )
      .join("");
  const parts = bars(true);
  return (
    <figure class={css.figure}>
      <div class={css.plot}>
        <div class={css.scale} aria-hidden="true">
          <span>{scaleMark(peak)}</span>
          <span>{scaleMark(peak / 2)}</span>
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
            aria-label={`Entries over time: ${number(now.total)} now, ${number(before.total)} before`}
          >
            <path class={css.now} d={bars(false)} />
            <path class={css.part} d={parts} />
            {only === undefined || before.total === 0 ? null : (
              <path class={css.before} d={points.length === 1 ? `M${only.index} ${y(only.value)}h1` : `M${line}`} />
            )}
          </svg>
          {at === null ? null : (
            <div class={css.cursor} style={{ left: `${(100 * at) / spans}%`, width: `${100 / spans}%` }} />
          )}
        </div>
        <div class={css.times}>
          <TimeAxis from={from} to={to} width={width} />
        </div>
      </div>
      <figcaption class={css.legend}>
        <Key name="Now" look={css.nowKey} counts={now} at={at} />
        <Key name="Before" look={css.beforeKey} counts={before} at={at} />
        {parts === "" ? null : (
          <span class={css.name}>
            <span class={css.partKey} aria-hidden="true" />
            Only part of this time is compared
          </span>
        )}
      </figcaption>
    </figure>
  );
}

interface KeyProps {
  name: string;
  look: string | undefined;
  counts: Counts;
  /** The span of time below the pointer. */
  at: number | null;
}

function Key({ name, look, counts: { values, partial, bins }, at }: KeyProps) {
  const start = at === null ? null : bins.start + at * bins.binMs;
  return (
    <span class={css.name}>
      <span class={look} aria-hidden="true" />
      {name}
      {start === null || at === null ? null : (
        <>
          <b>{values[at] === undefined ? "–" : number(values[at])}</b>
          <span class={css.moment}>
            {span(start, start + bins.binMs)}
            {partial[at] ? ", in part" : ""}
          </span>
        </>
      )}
    </span>
  );
}
