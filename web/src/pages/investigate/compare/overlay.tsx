import { useState } from "preact/hooks";
import { niceCeiling, ticksOf } from "../../../charts/chart-data.ts";
import { axisTime } from "../../explorer/view/axis-time.ts";
import { number, short, span } from "../../explorer/view/format.ts";
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
  const spans = Math.max(before.bins.spans, now.bins.spans);
  const peak = niceCeiling(Math.max(1, ...before.values, ...now.values));
  const y = (value: number): number => HEIGHT - (value / peak) * HEIGHT;
  const [from, to] = [now.bins.start, now.bins.start + spans * now.bins.binMs];
  const { times, stepMs } = ticksOf(from, to, -60_000 * new Date(to).getTimezoneOffset());
  const at = hovered === null || hovered >= spans ? null : hovered;
  const line = before.values.map((value, index) => `${index + 0.5} ${y(value)}`).join("L");
  return (
    <figure class={css.figure}>
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
            aria-label={`Entries over time: ${number(now.total)} now, ${number(before.total)} before`}
          >
            <path
              class={css.now}
              d={now.values
                .map((value, index) => (value === 0 ? "" : `M${index + 0.06} ${HEIGHT}V${y(value)}h.88V${HEIGHT}z`))
                .join("")}
            />
            <path class={css.before} d={before.values.length === 1 ? `M0 ${y(before.values[0] ?? 0)}h1` : `M${line}`} />
          </svg>
          {at === null ? null : (
            <div class={css.cursor} style={{ left: `${(100 * at) / spans}%`, width: `${100 / spans}%` }} />
          )}
        </div>
        <div class={css.times} aria-hidden="true">
          {times.map((time) => (
            <span key={time} style={{ left: `${(100 * (time - from)) / (to - from)}%` }}>
              {axisTime(time, stepMs)}
            </span>
          ))}
        </div>
      </div>
      <figcaption class={css.legend}>
        <Key name="Now" look={css.nowKey} counts={now} at={at} />
        <Key name="Before" look={css.beforeKey} counts={before} at={at} />
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

function Key({ name, look, counts: { values, bins }, at }: KeyProps) {
  const start = at === null ? null : bins.start + at * bins.binMs;
  return (
    <span class={css.name}>
      <span class={look} aria-hidden="true" />
      {name}
      {start === null || at === null ? null : (
        <>
          <b>{values[at] === undefined ? "–" : number(values[at])}</b>
          <span class={css.moment}>{span(start, start + bins.binMs)}</span>
        </>
      )}
    </span>
  );
}
