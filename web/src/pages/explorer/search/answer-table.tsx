import { useState } from "preact/hooks";
import type { Table } from "../../../charts/chart-data.ts";
import { RowsTable } from "../../../charts/rows-table.tsx";
import { visible } from "../../../lib/visible.ts";
import { Button } from "../../../ui/button.tsx";
import { number } from "../view/format.ts";
import css from "./answer-view.module.css";

/** Rows at first, and those that each press of the button adds. The terminal and the API have all of them. */
const STEP = 500;

interface AnswerTableProps {
  table: Table;
  /** The query that made the table. */
  query: string;
  /** The rows of what the chart shows alone, with its name; `null` if it shows all. */
  chosen: { name: string; rows: unknown[][] } | null;
}

/** The rows of an answer, with which of them these are. */
export function AnswerTable({ table, query, chosen }: AnswerTableProps) {
  const [shown, setShown] = useState(STEP);
  const all = table.rows.length;
  const rows = chosen?.rows ?? table.rows;
  const next = Math.min(STEP, rows.length - shown);
  const first = next > 0 ? ` The first ${number(shown)} are shown; a heading sorts all.` : "";
  const which =
    chosen === null ? "" : `Only rows of ${visible(chosen.name)}: ${number(rows.length)} of ${number(all)}.`;
  const said = `${which}${first}`.trim();
  return (
    <div class={css.rows}>
      <p class={said === "" ? "visually-hidden" : css.which} role="status">
        {said}
      </p>
      <RowsTable table={{ ...table, rows }} query={query} label="Answer" shown={shown} class={css.table} />
      {next > 0 ? (
        <p>
          <Button onClick={() => setShown(shown + STEP)}>Show {number(next)} more</Button>
        </p>
      ) : null}
    </div>
  );
}
