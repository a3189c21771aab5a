import { foldCase } from "../../../../../src/logs/query/fold-case.ts";

/** Matches marked in one text, so that a search for one letter in a long text stays fast. */
const MATCHES_MAX = 50;
/** Characters of `data` scanned for the match of one row. */
const SCANNED_MAX = 50_000;
/** Characters of a value shown before its match, and in total. */
const EXCERPT_BEFORE = 20;
const EXCERPT = 80;

export interface TextPart {
  text: string;
  isMatch: boolean;
}

/** The first value of `data` that contains the search: its path and an excerpt around the match. */
export interface DataMatch {
  names: readonly string[];
  excerpt: string;
}

/** Whether a value or any value in it contains the search, by the rules of the API: member names and `null` do not count. */
export function containsSearch(value: unknown, search: string): boolean {
  return findMatch(value, foldCase(search), [], { left: Number.POSITIVE_INFINITY }) !== null;
}

/** Finds the first value of `data` that contains the search, or `null`. Scans a bounded part of large data. */
export function matchInData(data: unknown, search: string): DataMatch | null {
  const found = findMatch(data, foldCase(search), [], { left: SCANNED_MAX });
  if (found === null) return null;
  const start = firstMatchAt(found.text, search);
  const from = Math.max(0, start - EXCERPT_BEFORE);
  const excerpt = found.text.slice(from, from + EXCERPT);
  return {
    names: found.names,
    excerpt: `${from > 0 ? "…" : ""}${excerpt}${from + EXCERPT < found.text.length ? "…" : ""}`,
  };
}

/** Index of the first match in a text; -1 without one. */
export function firstMatchAt(text: string, search: string): number {
  return matchRanges(text, search, 1)[0]?.[0] ?? -1;
}

/** Splits a text at the matches of a search, at most 50. The parts together are the text. */
export function partsOf(text: string, search: string): TextPart[] {
  const parts: TextPart[] = [];
  let at = 0;
  for (const [start, end] of matchRanges(text, search, MATCHES_MAX)) {
    if (start > at) parts.push({ text: text.slice(at, start), isMatch: false });
    parts.push({ text: text.slice(start, end), isMatch: true });
    at = end;
  }
  if (at < text.length || parts.length === 0) parts.push({ text: text.slice(at), isMatch: false });
  return parts;
}

interface Found {
  names: readonly string[];
  text: string;
}

function findMatch(value: unknown, needle: string, names: readonly string[], budget: { left: number }): Found | null {
  if (needle === "" || budget.left <= 0) return null;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    const text = String(value);
    budget.left -= text.length;
    return foldCase(text).includes(needle) ? { names, text } : null;
  }
  if (typeof value !== "object" || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const found = findMatch(member, needle, [...names, name], budget);
    if (found !== null) return found;
  }
  return null;
}

function matchRanges(text: string, search: string, most: number): [start: number, end: number][] {
  const needle = foldCase(search);
  if (needle === "") return [];
  const folded = foldCase(text);
  const ranges: [number, number][] = [];
  // Few characters change their length when folded, but after them the indexes differ.
  const indexes = folded.length === text.length ? null : originalIndexes(text);
  for (let at = folded.indexOf(needle); at >= 0 && ranges.length < most; ) {
    const end = at + needle.length;
    ranges.push(indexes === null ? [at, end] : [indexes.starts[at] ?? 0, indexes.ends[end - 1] ?? text.length]);
    at = folded.indexOf(needle, end);
  }
  return ranges;
}

/** For each index of the folded text, start and end of the character in the original text. */
function originalIndexes(text: string): { starts: number[]; ends: number[] } {
  const starts: number[] = [];
  const ends: number[] = [];
  let at = 0;
  for (const character of text) {
    const end = at + character.length;
    for (let unit = 0; unit < foldCase(character).length; unit++) {
      starts.push(at);
      ends.push(end);
    }
    at = end;
  }
  return { starts, ends };
}
