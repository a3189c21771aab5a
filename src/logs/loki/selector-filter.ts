import type { Matcher } from "../../logql/syntax.ts";
import { type Field, type Filter, joined, type ValueTest } from "../../query-language/syntax.ts";
import { PUSHED_LABELS, STREAM_LABELS, type StreamLabel } from "./loki-entry.ts";

/** Labels whose values are always texts of own members, so that a test of the query language decides. */
export const EXACT_LABELS: ReadonlySet<string> = new Set<StreamLabel>(["level", "category", "type", "project"]);

/**
 * Returns a filter that every entry of a selector passes. Others may pass it, too: the labels decide. Columns and stored
 * counts answer it without reading lines.
 */
export function selectorFilter(matchers: readonly Matcher[]): Filter {
  const filters = matchers.flatMap((matcher): Filter[] => {
    const filter = filterOf(matcher);
    return filter === null ? [] : [filter];
  });
  return filters.length === 0 ? { kind: "all" } : joined("and", filters);
}

function filterOf({ name, operator, value }: Matcher): Filter | null {
  const own = STREAM_LABELS.find((each) => each === name);
  const field: Field = own === undefined ? { kind: "data", path: [PUSHED_LABELS, name] } : { kind: "own", name: own };
  const isExact = own !== undefined && EXACT_LABELS.has(own);
  const of = (test: ValueTest): Filter => ({ kind: "field", field, test });
  switch (operator) {
    case "=":
      // A missing label has the empty value. The names of labels may differ from those in `data`.
      if (value === "" || own === undefined) return null;
      return of(isExact ? { kind: "exact", text: value } : { kind: "is", text: value });
    case "!=":
      return isExact ? { kind: "not", filter: of({ kind: "exact", text: value }) } : null;
    case "=~":
      return isExact && own !== "project" ? of({ kind: "regex", source: wholeRegex(value), ignoreCase: false }) : null;
    case "!~":
      return isExact && own !== "project"
        ? { kind: "not", filter: of({ kind: "regex", source: wholeRegex(value), ignoreCase: false }) }
        : null;
  }
}

/** Returns a regular expression that matches a whole text, as labels compare. */
export function wholeRegex(source: string): string {
  return `^(?s:${source})$`;
}
