import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/select.tsx";
import css from "./status-line.module.css";
import type { FoundEntries } from "./use-results.ts";
import { entries as entriesText, number } from "./view/format.ts";

const ORDERS = [
  { value: "desc", label: "Newest first" },
  { value: "asc", label: "Oldest first" },
] as const;

interface StatusLineProps {
  results: FoundEntries;
  /** Entries in the list: the loaded ones and those of the live view. */
  shown: number;
  order: "desc" | "asc";
  isLive: boolean;
  /** Whether a notice about a failed load is shown, so that retries are not announced. */
  isFailing: boolean;
  /** Whether the entries are of the query before. */
  isStale: boolean;
  /** Whether the histogram has counted all entries, or is counting them. */
  isCounted: boolean;
  onOrder: (order: "desc" | "asc") => void;
}

/** Number and order of the loaded entries. An incomplete search is shown as such, with a button to continue. */
export function StatusLine({ results, shown, order, isLive, isFailing, isStale, isCounted, onOrder }: StatusLineProps) {
  const { entries, nextCursor, complete, scanned, total, busy } = results;
  const isPartial = !isStale && !complete && nextCursor !== null;
  return (
    <div class={css.line}>
      <p class={css.text} role="status">
        {isFailing
          ? shown === 0 || isStale
            ? ""
            : loadedText(results, shown)
          : busy === "load"
            ? "Searching …"
            : loadedText(results, shown)}
      </p>
      {busy !== "load" && !isStale && !isCounted && (nextCursor !== null || isPartial) && total === null ? (
        <Button small look="quiet" busy={busy === "count"} onClick={results.count}>
          {busy === "count" ? "Counting …" : "Count all"}
        </Button>
      ) : null}
      {total === "too many" && !isStale ? <span class={css.quiet}>too many to count</span> : null}
      <span class={css.order}>
        <Select label="Order" small look="quiet" value={order} options={ORDERS} disabled={isLive} onChange={onOrder} />
      </span>
      {isStale ? (
        <p class={css.partial} role="status">
          Entries of the previous query. This query has no answer yet.
        </p>
      ) : null}
      {isPartial && busy !== "load" ? (
        <div class={css.partial} role="status">
          <p>
            Search incomplete: {entriesText(scanned)} scanned, {number(entries.length)} found.
          </p>
          <Button small busy={busy === "more"} onClick={results.more}>
            {busy === "more" ? "Searching …" : "Continue"}
          </Button>
        </div>
      ) : null}
    </div>
  );
}

function loadedText({ entries, nextCursor, total }: FoundEntries, shown: number): string {
  if (nextCursor === null) return entriesText(shown);
  // Live entries are not part of the counted snapshot.
  const of = typeof total === "number" ? ` of ${number(total + shown - entries.length)}` : "";
  return `${number(shown)}${of} loaded`;
}
