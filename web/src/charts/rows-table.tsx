import { cellText, LINE } from "../pages/explorer/search/cell-text.ts";
import { visible } from "../pages/explorer/view/visible.ts";
import { ScrollBox } from "../ui/scroll-box.tsx";
import type { Table } from "./chart-data.ts";

interface RowsTableProps {
  table: Table;
  /** Accessible name, unique on the page. */
  label: string;
  /** Number of rows that are shown, the first ones. */
  shown: number;
  /** Class of the table. Cells of numbers have `data-number`, cells longer than a line `data-long`. */
  class?: string | undefined;
}

/** Rows of an answer as a table that scrolls sideways in its box. */
export function RowsTable({ table: { columns, rows }, label, shown, class: className }: RowsTableProps) {
  return (
    <ScrollBox label={label}>
      <table class={className}>
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
          {rows.slice(0, shown).map((row, at) => (
            <tr key={at}>
              {columns.map(({ name, type }, column) => {
                const cell = cellText(row[column], type);
                return (
                  <td key={name} data-number={type === "number"} data-long={cell.length > LINE}>
                    {cell}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}
