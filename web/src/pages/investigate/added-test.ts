import { fieldOf } from "../../../../src/query-language/fields.ts";
import { parse } from "../../../../src/query-language/parse.ts";
import { printFilter } from "../../../../src/query-language/print.ts";
import { type Filter, joined } from "../../../../src/query-language/syntax.ts";

/** Returns a query without pipes that also has a test. A query that is not valid stays as it is, so that its error is shown. */
export function withTest(query: string, test: Filter): string {
  const result = parse(query);
  if (!result.ok) return query;
  const { filter } = result.query;
  return printFilter(filter.kind === "all" ? test : joined("and", [filter, test]));
}

/** The test for entries with a pattern. */
export function patternTest(pattern: string): Filter {
  return { kind: "field", field: fieldOf(["pattern"]), test: { kind: "exact", text: pattern } };
}

/** Returns a query whose entries are also of level `error` or above. */
export function errorsOf(query: string): string {
  const errors = parse("level:>=error");
  return errors.ok ? withTest(query, errors.query.filter) : query;
}

export function not(filter: Filter): Filter {
  return { kind: "not", filter };
}

/**
 * Returns the test for entries with a value of a field, or with the field at all if the value is `undefined`; `null` if no
 * field has the name.
 * @param name as queries write it
 */
export function valueTest(name: string, value: string | number | boolean | null | undefined): Filter | null {
  const result = parse(`${name}:*`);
  if (!result.ok || result.query.filter.kind !== "field" || value === null) return null;
  const exists = result.query.filter;
  if (value === undefined) return exists;
  return typeof value === "string"
    ? { ...exists, test: { kind: "exact", text: value } }
    : { ...exists, test: { kind: "is", text: String(value) } };
}
