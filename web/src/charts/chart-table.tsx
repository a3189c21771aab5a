import css from "./chart.module.css";
import type { Table } from "./chart-data.ts";
import { RowsTable } from "./rows-table.tsx";

/** Rows of a table on a board. */
const SHOWN = 100;

/** @param label accessible name, unique on the page */
export function ChartTable({ table, label }: { table: Table; label: string }) {
  return (
    <div class={css.tableBox}>
      <RowsTable table={table} label={label} shown={SHOWN} class={css.table} />
      {table.rows.length > SHOWN ? <p class={css.more}>The first {SHOWN} rows</p> : null}
    </div>
  );
}
