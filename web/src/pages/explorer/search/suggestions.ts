import type { QueryError } from "../../../../../src/query-language/error.ts";
import type { Option } from "./query-options.ts";

/** What the service suggests while a query is written. */

export interface Suggestion {
  text: string;
  kind: string;
  /** Of a field: the type of its values. */
  type?: string;
  count?: number;
}

/** What the counts of suggestions count. */
export interface Basis {
  kind: "sample" | "newest" | "counts" | "none";
  entries: number;
  complete: boolean;
}

/** Suggestions for a place of a text. They replace the text from `start` to `end`. */
export interface Suggestions {
  query: string;
  start: number;
  end: number;
  items: Suggestion[];
  basis?: Basis | undefined;
}

/** Suggestions that are shown. */
export const SHOWN = 12;

/**
 * Returns what of earlier suggestions still fits a text in which the same word has been written on, so that the list stays
 * until the service answers; `null` if the text differs elsewhere.
 */
export function narrowed({ query, start, end, items, basis }: Suggestions, text: string): Suggestions | null {
  const now = text.length - (query.length - end);
  const isSameWord =
    now >= start && text.slice(0, start) === query.slice(0, start) && text.slice(now) === query.slice(end);
  if (!isSameWord) return null;
  const word = text.slice(start, now).toLowerCase();
  // The service has chosen by the text that it was asked with.
  const fitting = text === query ? items : items.filter((item) => item.text.toLowerCase().includes(word));
  return fitting.length === 0 ? null : { query: text, start, end: now, items: fitting.slice(0, SHOWN), basis };
}

/** What the counts beside suggestions count; `null` if there are none. */
export function basisText({ kind, entries, complete }: Basis): string | null {
  if (kind === "none" || entries === 0) return null;
  const count = entries.toLocaleString();
  if (kind === "newest") return `Nothing passes so far. Counts of the newest ${count} entries`;
  return complete || kind === "counts" ? `Counts of all ${count} entries` : `Counts of the newest ${count} entries`;
}

/** Returns the names that are accepted where a query has another word; none where a name is missing or something else is accepted. */
export function acceptedNames(query: string, { position, expected }: QueryError): readonly string[] {
  const isWord = /^\w/.test(query.slice(position));
  return isWord && expected.every((each) => /^\w+$/.test(each)) ? expected : [];
}

/** Returns the first option that completes the word before the caret. After a whole word none does, so that Tab leaves the box. */
export function continuing(options: readonly Option[], typed: string): Option | undefined {
  if (!/\S$/.test(typed)) return undefined;
  const start = typed.toLowerCase();
  return options.find(({ query }) => query.length > typed.length && query.toLowerCase().startsWith(start));
}
