import { number } from "../../explorer/view/format.ts";
import css from "./compare.module.css";
import type { NumberDifference } from "./use-comparison.ts";

/** Medians and 95th percentiles of fields of numbers. */
export function NumberTable({ numbers }: { numbers: readonly NumberDifference[] }) {
  if (numbers.length === 0) return null;
  return (
    <>
      <h3 class={css.subtitle}>Numbers</h3>
      <table class={css.table}>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col" data-number="true">
              Median
            </th>
            <th scope="col" data-number="true">
              p95
            </th>
          </tr>
        </thead>
        <tbody>
          {numbers.map(({ field, median, high }) => (
            <tr key={field}>
              <td>
                <code>{field}</code>
              </td>
              <td data-number="true">{pairText(median)}</td>
              <td data-number="true">{pairText(high)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function pairText({ before, now }: NumberDifference["median"]): string {
  return `${valueText(before)} → ${valueText(now)}`;
}

/** Formats whole numbers from 100, and three digits of smaller ones. */
function valueText(value: number | null): string {
  if (value === null) return "–";
  return number(Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3)));
}
