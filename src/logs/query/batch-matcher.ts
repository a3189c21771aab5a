import type { Entry } from "../entry.ts";
import { toByteString } from "./case-folding.ts";
import { ALL_LEVELS_MASK, type LogFilter, matchesContent } from "./filter.ts";
import { categoryAt, LineClock, severityAt, typeAt } from "./line.ts";
import { type Needle, needlesOf } from "./needles.ts";

/** One line of a batch that passes. `start` and `end` are bytes of the body. */
export interface LineMatch {
  /** Place in the batch, from 0. */
  index: number;
  timestamp: number;
  start: number;
  end: number;
}

/** Asked before the costly part of a filter is tried; a line that nobody wants is not looked at further. */
export type Wanted = (timestamp: number, index: number) => boolean;

/** A filter made ready for many batches. */
export class BatchMatcher {
  /** Whether every entry of a batch inside the time range passes, so that a count needs no look at the lines. */
  readonly passesAll: boolean;
  readonly #filter: LogFilter;
  readonly #needles: readonly Needle[];
  readonly #categories: readonly string[] | null;
  readonly #types: readonly string[] | null;
  readonly #needsParse: boolean;
  readonly #clock = new LineClock();

  constructor(filter: LogFilter) {
    this.#filter = filter;
    this.#needles = needlesOf(filter);
    this.#categories = filter.categories?.map(jsonBytes) ?? null;
    this.#types = filter.types?.map(jsonBytes) ?? null;
    this.#needsParse =
      filter.session !== null || filter.traceId !== null || filter.search !== null || filter.data.length > 0;
    this.passesAll =
      !this.#needsParse && filter.levelMask === ALL_LEVELS_MASK && filter.categories === null && filter.types === null;
  }

  /** Calls `found` for every line that passes and is wanted, in the order of the lines. */
  forEachMatch(body: Uint8Array, wanted: Wanted, found: (match: LineMatch) => void): void {
    const raw = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    // Looked for before the text is made of the bytes, which costs five times as much as this.
    if (this.#needles.some(({ bytes }) => bytes !== null && !raw.includes(bytes))) return;
    const bytes = raw.toString("latin1");
    forEachLine(bytes, this.#needles, (start, end, index) => {
      const timestamp = this.#clock.read(bytes, start);
      if (!this.#passesHead(bytes, start, timestamp) || !wanted(timestamp, index)) return;
      if (this.#needsParse) {
        // SAFETY: every stored line was written by `JSON.stringify` of an `Entry`.
        const entry = JSON.parse(raw.toString("utf8", start, end)) as Entry;
        if (!matchesContent(this.#filter, entry)) return;
      }
      found({ index, timestamp, start, end });
    });
  }

  /** Time, level, category and type: all stand at the head of a line. */
  #passesHead(bytes: string, line: number, timestamp: number): boolean {
    const { from, to, levelMask } = this.#filter;
    if (from !== null && timestamp < from) return false;
    if (to !== null && timestamp >= to) return false;
    const severity = severityAt(bytes, line);
    if (((1 << severity) & levelMask) === 0) return false;
    if (this.#categories === null && this.#types === null) return true;
    const category = categoryAt(line, severity);
    if (this.#categories !== null && !startsWithAny(bytes, category, this.#categories)) return false;
    return this.#types === null || startsWithAny(bytes, typeAt(bytes, category), this.#types);
  }
}

/** A JSON string with both its quotes: as a quote inside is escaped, a prefix test on it is equality. */
function jsonBytes(text: string): string {
  return toByteString(JSON.stringify(text));
}

function startsWithAny(bytes: string, at: number, wanted: readonly string[]): boolean {
  return wanted.some((text) => bytes.startsWith(text, at));
}

/** Visits the lines that contain every needle. Each needle runs over the bytes once, whatever the others find. */
export function forEachLine(
  bytes: string,
  needles: readonly Needle[],
  visit: (start: number, end: number, index: number) => void,
): void {
  const hits = needles.map(() => -1);
  let start = 0;
  let index = 0;
  while (start < bytes.length) {
    let target = start;
    let together = true;
    for (let n = 0; n < needles.length; n++) {
      let hit = hits[n] ?? -1;
      if (hit < start) {
        hit = needles[n]?.next(bytes, start) ?? -1;
        if (hit < 0) return;
        hits[n] = hit;
      }
      if (hit > target) target = hit;
    }
    let end = lineEnd(bytes, start);
    while (end < target) {
      start = end + 1;
      index++;
      end = lineEnd(bytes, start);
    }
    for (const hit of hits) if (hit < start) together = false;
    if (!together) continue;
    visit(start, end, index);
    start = end + 1;
    index++;
  }
}

function lineEnd(bytes: string, from: number): number {
  const end = bytes.indexOf("\n", from);
  return end < 0 ? bytes.length : end;
}
