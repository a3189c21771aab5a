import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Table } from "./chart-data.ts";
import css from "./chart-table.module.css";
import { RowsTable } from "./rows-table.tsx";

/** Rows of a table on a board. */
const SHOWN = 100;
/** Pixels of the line below a table, as in the style sheet. */
const LINE = 20;

interface ChartTableProps {
  table: Table;
  /** The query that made the table. */
  query: string;
  /** Accessible name, unique on the page. */
  label: string;
}

/** Rows of a table in a panel, of which a low panel shows whole ones, and scrolls. */
export function ChartTable({ table, query, label }: ChartTableProps) {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(Number.POSITIVE_INFINITY);
  useLayoutEffect(() => {
    const panel = box.current?.parentElement;
    if (panel === null || panel === undefined) return;
    const fit = (): void => setSeen(fitRows(box.current, panel));
    const observer = new ResizeObserver(fit);
    observer.observe(panel);
    // Rows in another order break into lines elsewhere.
    const sorted = new MutationObserver(fit);
    if (box.current !== null) sorted.observe(box.current, { subtree: true, characterData: true });
    fit();
    return () => {
      observer.disconnect();
      sorted.disconnect();
    };
  }, [table]);
  const count = Math.min(SHOWN, table.rows.length);
  const first = table.rows.length > SHOWN ? `The first ${SHOWN} rows` : null;
  const scrolled = seen < count ? `${seen} of ${count} rows: scroll for more` : null;
  return (
    <div ref={box} class={css.tableBox}>
      <RowsTable table={table} query={query} label={label} shown={SHOWN} class={css.table} />
      {scrolled === null && first === null ? null : (
        <p class={css.rows} data-scrolled={first === null}>
          {first ?? scrolled}
        </p>
      )}
    </div>
  );
}

/** Makes the scrolling part of a table so high that it ends with a row, and returns the number of rows above its end. */
function fitRows(box: HTMLElement | null, panel: HTMLElement): number {
  const part = box?.firstElementChild;
  if (!(part instanceof HTMLElement)) return Number.POSITIVE_INFINITY;
  part.style.removeProperty("--fitted");
  const { top } = part.getBoundingClientRect();
  const end = panel.getBoundingClientRect().bottom;
  const bottoms = [...part.querySelectorAll("tbody tr")].map(
    (row) => row.getBoundingClientRect().bottom + part.scrollTop,
  );
  if (bottoms.every((bottom) => bottom <= end)) return Number.POSITIVE_INFINITY;
  const whole = bottoms.filter((bottom) => bottom <= end - LINE);
  const last = whole.at(-1);
  if (last !== undefined) part.style.setProperty("--fitted", `${last - top}px`);
  return whole.length;
}
