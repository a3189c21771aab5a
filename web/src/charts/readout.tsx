import { useLayoutEffect, useRef } from "preact/hooks";
import { cellText } from "../lib/cell-text.ts";
import { span } from "../lib/span-text.ts";
import { visible } from "../lib/visible.ts";
import type { TimeChart } from "./chart-data.ts";
import type { Drawn, DrawnSeries } from "./drawn.ts";
import legendCss from "./legend.module.css";
import css from "./readout.module.css";
import { firstOf, lastOf, type Selection } from "./selection.ts";
import { toneClass } from "./tones.ts";

/** The values of selected spans of time. */
interface Read {
  /** The times, and whether the range has only part of them. */
  time: string;
  /** The series from the top down, as they are drawn; without a value if those of several spans cannot be added. */
  values: { series: DrawnSeries; value: number | null }[];
  /** Sum of a stack of several series. */
  total: number | null;
}

export function readoutOf(
  { from, binMs, edges, totals }: TimeChart,
  { shown, stacked }: Drawn,
  selection: Selection,
): Read {
  const [first, last] = [firstOf(selection), lastOf(selection)];
  const [start, end] = [from + first * binMs, from + (last + 1) * binMs];
  const isPart = start < edges.from || end > edges.to;
  const values = shown.map((series) => {
    const part = series.values.slice(first, last + 1);
    if (part.length === 1) return { series, value: part[0] ?? null };
    return { series, value: totals === null ? null : part.reduce<number>((sum, each) => sum + (each ?? 0), 0) };
  });
  const isSum = stacked !== null && values.length > 1 && values.every(({ value }) => value !== null);
  return {
    time: `${span(start, end)}${isPart ? ", in part" : ""}`,
    values: stacked === null ? values : values.reverse(),
    total: isSum ? values.reduce((sum, { value }) => sum + (value ?? 0), 0) : null,
  };
}

export function readoutText({ time, values, total }: Read): string {
  const told = values.flatMap(({ series, value }) =>
    value === null ? [] : [`${series.name === "" ? "" : `${visible(series.name)} `}${cellText(value, "number")}`],
  );
  return [time, ...(total === null ? [] : [`total ${cellText(total, "number")}`]), ...told].join(", ");
}

interface ReadoutProps extends Read {
  measure: string;
  /** What the spans are in, and their parts of its width. */
  host: { readonly current: HTMLElement | null };
  left: number;
  right: number;
}

/** Pixels between the box and the spans, and the edge of the window. */
const GAP = 8;

/** The values of spans of time in a box beside them, in the browser's top layer: it takes no room, and no panel cuts it off. */
export function Readout({ time, values, total, measure, host, left, right }: ReadoutProps) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const box = ref.current;
    if (box === null || host.current === null) return;
    if (!box.matches(":popover-open")) box.showPopover();
    const around = host.current.getBoundingClientRect();
    const { width, height } = box.getBoundingClientRect();
    const beside = around.left + right * around.width + GAP;
    const isRoom = beside + width + GAP <= innerWidth;
    const x = isRoom ? beside : around.left + left * around.width - GAP - width;
    box.style.left = `${Math.max(GAP, Math.min(x, innerWidth - width - GAP))}px`;
    box.style.top = `${Math.max(GAP, Math.min(around.top, innerHeight - height - GAP))}px`;
  });
  return (
    // The slider says the same.
    <div ref={ref} popover="manual" class={css.readout} aria-hidden="true">
      <p class={css.moment}>{time}</p>
      <ul>
        {total === null ? null : (
          <li>
            Total <b>{cellText(total, "number")}</b>
          </li>
        )}
        {values.map(({ series: { name, level, index, colour }, value }) => (
          <li key={index} class={toneClass(level, colour)}>
            <span class={legendCss.key} />
            <span class={legendCss.label}>{visible(name === "" ? measure : name)}</span>
            <b>{cellText(value, "number")}</b>
          </li>
        ))}
      </ul>
    </div>
  );
}
