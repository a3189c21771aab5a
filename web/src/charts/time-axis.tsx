import { offsetAt } from "../lib/wall-time.ts";
import { zone } from "../lib/zone.ts";
import { axisLabels } from "./ticks.ts";
import css from "./time-axis.module.css";

interface TimeAxisProps {
  /** Times at the left and the right end of the drawing, epoch milliseconds. */
  from: number;
  to: number;
  /** Pixels of the drawing; 0 until it is measured. */
  width: number;
  /** Text at the right end, which keeps its room. */
  end?: string;
}

/** The times below a drawing, each centred below its tick. */
export function TimeAxis({ from, to, width, end = "" }: TimeAxisProps) {
  return (
    <div class={css.times} data-times aria-hidden="true">
      {axisLabels(from, to, offsetAt(to, zone.value), width, end).map(({ time, text, edge }) => (
        <span key={time} data-edge={edge} style={{ left: `${(100 * (time - from)) / (to - from)}%` }}>
          {text}
        </span>
      ))}
      {end === "" ? null : <b class={css.end}>{end}</b>}
    </div>
  );
}
