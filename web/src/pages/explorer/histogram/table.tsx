import { Button } from "../../../ui/button.tsx";
import { barSpan, number } from "../view/format.ts";
import { type Bar, levelsIn } from "./bars.ts";
import css from "./histogram.module.css";

/** The chart's data as a table. */
export function BarTable({ bars, onZoom }: { bars: readonly Bar[]; onZoom: (start: number, end: number) => void }) {
  const counted = bars.filter(({ count }) => count > 0);
  const levels = levelsIn(counted);
  if (counted.length === 0) return <p class={css.note}>No entries in this time range.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable box must be reachable with the keyboard.
    <section class={css.table} tabIndex={0} aria-label="Entries over time, table">
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col" data-number="true">
              Entries
            </th>
            {levels.map((level) => (
              <th key={level} scope="col" data-number="true">
                {level}
              </th>
            ))}
            <th scope="col">
              <span class="visually-hidden">Zoom</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {counted.map((bar) => (
            <tr key={bar.start}>
              <td title={`${new Date(bar.start).toISOString()} (UTC)`}>{barSpan(bar.start, bar.end)}</td>
              <td data-number="true">{number(bar.count)}</td>
              {levels.map((level) => (
                <td key={level} data-number="true">
                  {number(bar.levels[level])}
                </td>
              ))}
              <td>
                <Button
                  small
                  onClick={() => onZoom(bar.start, bar.end)}
                  aria-label={`Zoom to ${barSpan(bar.start, bar.end)}`}
                >
                  Zoom
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
