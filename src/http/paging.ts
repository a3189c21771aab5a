import { z } from "zod";
import { integerParameter } from "./integer-parameter.ts";

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
