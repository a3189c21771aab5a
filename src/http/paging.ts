import { z } from "zod";
import { refuseFields } from "./errors.ts";

/** Maximum digits of a safe integer. */
const DIGITS = /^\d{1,16}$/;

/** A whole number from `min` to `max` (0 or more) in a query string: decimal digits only. Published as an integer. */
export function integerParameter(min: number, max: number) {
  const error = `Must be an integer from ${min} to ${max}.`;
  return z
    .unknown()
    .transform((value, context): number => {
      const number = typeof value === "string" && DIGITS.test(value) ? Number(value) : Number.NaN;
      if (number >= min && number <= max) return number;
      context.addIssue(error);
      return z.NEVER;
    })
    .meta({ type: "integer", minimum: min, maximum: max });
}

/** Parses the cursor of a list by descending number. `null` for the newest; 400 for an invalid cursor. */
export function numberCursor(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  return refuseCursor();
}

/** Ends a request whose cursor is not one of the list. */
export function refuseCursor(): never {
  const message = "Invalid cursor. Send nextCursor of the previous page.";
  return refuseFields([{ path: "query.cursor", code: "invalid_format", message }]);
}

/** Position in a list by time: the last item's time in epoch milliseconds, and its id. */
export type TimeCursor = readonly [at: number, id: string];

const CURSOR = /^(\d{1,15})\.([a-z]+_[0-9A-Za-z]{12})$/;

/** Parses a page's `nextCursor`; without one returns the start. Ends the request with 400 for any other text. */
export function timeCursor(cursor: string | undefined): TimeCursor {
  if (cursor === undefined) return [0, ""];
  const match = CURSOR.exec(cursor);
  if (match) return [Number(match[1]), match[2] ?? ""];
  return refuseCursor();
}

/** Builds a page of `rows`, which has one row more than `limit` if there is another page. */
export function timePage<T>(
  rows: readonly T[],
  limit: number,
  keyOf: (row: T) => TimeCursor,
): { page: T[]; nextCursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, nextCursor: rows.length > limit && last ? keyOf(last).join(".") : null };
}

/** Items of a page: default and maximum. */
const PAGE = { default: 50, max: 200 } as const;

/** Returns a parameter of a query string that may be absent or empty, as in `?cursor=&limit=`. */
export function optionalParameter<S extends z.ZodType>(schema: S, description?: string) {
  return z
    .preprocess((value) => (value === "" ? undefined : value), schema)
    .meta({ ...(description === undefined ? {} : { description }), allowEmptyValue: true });
}

/** The query string of every list. */
export const pageQuery = z.strictObject({
  cursor: optionalParameter(z.string().max(200).optional(), "`nextCursor` of the previous page."),
  limit: optionalParameter(integerParameter(1, PAGE.max).default(PAGE.default)),
});

/** The data of every list. */
export function pageOf<S extends z.ZodType>(item: S) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() });
}
