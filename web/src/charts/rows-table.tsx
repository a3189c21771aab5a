import { ChevronDown, ChevronsUpDown, ChevronUp } from "lucide";
import { useMemo, useState } from "preact/hooks";
import { parse } from "../../../src/query-language/parse.ts";
import { cellText, LINE } from "../lib/cell-text.ts";
import { visible } from "../lib/visible.ts";
import { Icon } from "../ui/icon.tsx";
import { ScrollBox } from "../ui/scroll-box.tsx";
import type { Table } from "./chart-data.ts";
import css from "./rows-table.module.css";
import { nextOrder, type RowOrder, sortedRows } from "./sort-rows.ts";
import { groupWithout, shapeOf } from "./table-shape.ts";

interface RowsTableProps {
  table: Table;
  /** The query that made the table. */
  query: string;
  /** Accessible name, unique on the page. */
  label: string;
  /** Number of rows that are shown, the first ones. */
  shown: number;
  /** Class of the table. Cells of numbers have `data-number`, cells longer than a line `data-long`. */
  class?: string | undefined;
}

/** Rows of an answer as a table that scrolls sideways in its box. The headings sort all rows, not only those that are shown. */
export function RowsTable({ table: { columns, rows }, query, label, shown, class: className }: RowsTableProps) {
  const [order, setOrder] = useState<RowOrder>(null);
  const shape = useMemo(() => shapeOf(parse(query)), [query]);
  const sorted = useMemo(() => sortedRows(rows, order), [rows, order]);
  return (
    <ScrollBox label={label}>
      <table class={className}>
        <thead>
          <tr>
            {columns.map(({ name, type }, column) => {
              const isOwn = order?.column === column;
              const direction = isOwn ? (order.isDescending ? "descending" : "ascending") : undefined;
              return (
                <th key={name} scope="col" data-number={type === "number"} aria-sort={direction}>
                  <button
                    type="button"
                    class={css.sort}
                    title="Sort"
                    onClick={() => setOrder(nextOrder(order, column, type === "number"))}
                  >
                    {visible(name)}
                    <Icon shape={isOwn ? (order.isDescending ? ChevronDown : ChevronUp) : ChevronsUpDown} />
                  </button>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, shown).map((row, at) => (
            <tr key={at}>
              {columns.map(({ name, type }, column) => {
                const without = (row[column] ?? null) === null ? groupWithout(shape, name) : null;
                const cell = without ?? cellText(row[column], type);
                return (
                  <td key={name} data-number={type === "number"} data-long={cell.length > LINE}>
                    {without === null ? cell : <span class={css.without}>{visible(without)}</span>}
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
