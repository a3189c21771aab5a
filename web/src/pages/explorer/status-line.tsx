import { Button } from "../../ui/button.tsx";
import css from "./status-line.module.css";
import type { FoundEntries } from "./use-results.ts";
import { entries as entriesText, number } from "./view/format.ts";

interface StatusLineProps {
  results: FoundEntries;
  /** Entries in the list: those of the results, and what came live on top of them. */
  shown: number;
  order: "desc" | "asc";
  isLive: boolean;
  /** A notice says that nothing could be loaded: each further try need not be said. */
  isFailing: boolean;
  onOrder: (order: "desc" | "asc") => void;
}

/** How much of what was found is there, and in which order. An answer that stopped early says so, and goes on if asked. */
export function StatusLine({ results, shown, order, isLive, isFailing, onOrder }: StatusLineProps) {
  const { entries, nextCursor, complete, scanned, total, busy } = results;
  const isPartial = !complete && nextCursor !== null;
  return (
    <div class={css.line}>
      <p class={css.text} role="status">
        {isFailing
          ? shown === 0
            ? ""
            : loadedText(results, shown)
          : busy === "load"
            ? "Searching …"
            : loadedText(results, shown)}
      </p>
      {busy !== "load" && (nextCursor !== null || isPartial) && total === null ? (
        <Button small look="quiet" busy={busy === "count"} onClick={results.count}>
          {busy === "count" ? "Counting …" : "Count all"}
        </Button>
      ) : null}
      {total === "too many" ? <span class={css.quiet}>too much to count at once</span> : null}
      <label class={css.order}>
        <span class="visually-hidden">Order</span>
        <select
          value={order}
          disabled={isLive}
          onChange={({ currentTarget }) => onOrder(currentTarget.value === "asc" ? "asc" : "desc")}
        >
          <option value="desc">Newest first</option>
          <option value="asc">Oldest first</option>
        </select>
      </label>
      {isPartial && busy !== "load" ? (
        <div class={css.partial} role="status">
          <p>
            The search is not through: {entriesText(scanned)} looked at so far, {number(entries.length)} found.
          </p>
          <Button small busy={busy === "more"} onClick={results.more}>
            {busy === "more" ? "Searching …" : "Go on"}
          </Button>
        </div>
      ) : null}
    </div>
  );
}

function loadedText({ entries, nextCursor, total }: FoundEntries, shown: number): string {
  if (nextCursor === null) return entriesText(shown);
  // What came live is not of the snapshot that was counted.
  const of = typeof total === "number" ? ` of ${number(total + shown - entries.length)}` : "";
  return `${number(shown)}${of} loaded`;
}
