import { cellText } from "../pages/explorer/search/cell-text.ts";
import { visible } from "../pages/explorer/view/visible.ts";
import { ScrollBox } from "../ui/scroll-box.tsx";
import css from "./chart.module.css";
import type { Table } from "./chart-data.ts";

/** Rows of a table on a board. */
const SHOWN = 100;

/** @param label accessible name, unique on the page */
export function ChartTable({ table: { columns, rows }, label }: { table: Table; label: string }) {
  return (
    <div class={css.tableBox}>
      <ScrollBox label={label}>
        <table class={css.table}>
          <thead>
            <tr>
              {columns.map(({ name, type }) => (
                <th key={name} scope="col" data-number={type === "number"}>
                  {visible(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, SHOWN).map((row, at) => (
              <tr key={at}>
                {columns.map(({ name, type }, column) => (
                  <td key={name} data-number={type === "number"}>
                    {cellText(row[column], type)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
      {rows.length > SHOWN ? <p class={css.more}>The first {SHOWN} rows</p> : null}
    </div>
  );
}
