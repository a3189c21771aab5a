import { z } from "zod";
import { refuseFields } from "./errors.ts";

/** Digits that a safe integer can have. */
const DIGITS = /^\d{1,16}$/;

/** A whole number from `min` to `max` (0 or more) in a query string: decimal digits alone. Published as an integer. */
export function integerParameter(min: number, max: number) {
  const error = `Must be a whole number from ${min} to ${max}.`;
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

/** Where a list that goes down by number goes on: before this one. Null for the newest; 400 for what no page gave. */
export function numberCursor(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  return refuseFields([{ path: "query.cursor", code: "invalid_format", message: "No page gave this cursor." }]);
}

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

/** Items of one list page: the default and the most. */
const PAGE = { default: 50, max: 200 } as const;

/** `?cursor=&limit=` names both and gives neither. */
const emptyIsAbsent = (value: unknown): unknown => (value === "" ? undefined : value);

/** The query string every list takes. */
export const pageQuery = z.strictObject({
  cursor: z
    .preprocess(emptyIsAbsent, z.string().max(200).optional())
    .meta({ description: "`nextCursor` of the page before.", allowEmptyValue: true }),
  limit: z
    .preprocess(emptyIsAbsent, integerParameter(1, PAGE.max).default(PAGE.default))
    .meta({ allowEmptyValue: true }),
});

/** The data every list gives. */
export function pageOf<S extends z.ZodType>(item: S) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() });
}
