import { refuseFields } from "./errors.ts";

/** Where a list in order of time goes on: the last item's time in epoch milliseconds, and its id. */
export type TimeCursor = readonly [at: number, id: string];

const CURSOR = /^(\d{1,15})\.([a-z]+_[0-9A-Za-z]{12})$/;

/** What a page's `nextCursor` was made of; without one the beginning. Ends the request with 400 for any other text. */
export function timeCursor(cursor: string | undefined): TimeCursor {
  if (cursor === undefined) return [0, ""];
  const match = CURSOR.exec(cursor);
  if (match) return [Number(match[1]), match[2] ?? ""];
  return refuseFields([{ path: "query.cursor", code: "invalid_format", message: "No page gave this cursor." }]);
}

/** One page of what was read, which is one item more than a page where there is another one. */
export function timePage<T>(
  rows: readonly T[],
  limit: number,
  keyOf: (row: T) => TimeCursor,
): { page: T[]; nextCursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, nextCursor: rows.length > limit && last ? keyOf(last).join(".") : null };
}
