import { readLine } from "../stored-line.ts";
import { toByteString } from "./case-folding.ts";
import { ALL_LEVELS_MASK, type LogFilter, matchesContent } from "./filter.ts";
import { AFTER_CATEGORY, AFTER_TYPE, categoryAt, LineClock, severityAt, typeAt } from "./line.ts";
import { ListedNames } from "./listed.ts";
import { isInPieces, type Needle, needlesOf } from "./needles.ts";

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
  readonly #categories: ListedNames | null;
  readonly #types: ListedNames | null;
  /** Whether a line found has been parsed, so that it is known to be an entry. */
  readonly parses: boolean;
  readonly #clock = new LineClock();

  constructor(filter: LogFilter) {
    this.#filter = filter;
    this.#needles = needlesOf(filter);
    this.#categories = filter.categories && new ListedNames(filter.categories.map(jsonBytes), AFTER_CATEGORY);
    this.#types = filter.types && new ListedNames(filter.types.map(jsonBytes), AFTER_TYPE);
    this.parses =
      filter.session !== null || filter.traceId !== null || filter.search !== null || filter.data.length > 0;
    this.passesAll =
      !this.parses && filter.levelMask === ALL_LEVELS_MASK && filter.categories === null && filter.types === null;
  }

  /** Whether a body may hold a line that passes, told by its pieces before they are put together. */
  mayMatch(pieces: readonly Uint8Array[]): boolean {
    return this.#needles.every(({ bytes }) => bytes === null || isInPieces(bytes, pieces));
  }

  /**
   * Calls `found` for every line that passes and is wanted, in the order of the lines.
   * @param damaged called for lines that are seen to be no entries, wanted or not; not all are looked at so closely
   */
  forEachMatch(
    body: Uint8Array,
    wanted: Wanted,
    found: (match: LineMatch) => void,
    damaged: (index: number) => void,
  ): void {
    const raw = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    // Looked for before the text is made of the bytes, which costs five times as much as this.
    if (this.#needles.some(({ bytes }) => bytes !== null && !raw.includes(bytes))) return;
    const bytes = raw.toString("latin1");
    forEachLine(bytes, this.#needles, (start, end, index) => {
      const timestamp = this.#clock.read(bytes, start);
      const severity = severityAt(bytes, start);
      if (severity < 0 || Number.isNaN(timestamp)) return damaged(index);
      if (!this.#passesHead(bytes, start, timestamp, severity) || !wanted(timestamp, index)) return;
      if (this.parses) {
        const entry = readLine(raw.toString("utf8", start, end));
        if (entry === null) return damaged(index);
        if (!matchesContent(this.#filter, entry)) return;
      }
      found({ index, timestamp, start, end });
    });
  }

  /** Time, level, category and type: all stand at the head of a line. */
  #passesHead(bytes: string, line: number, timestamp: number, severity: number): boolean {
    const { from, to, levelMask } = this.#filter;
    if (from !== null && timestamp < from) return false;
    if (to !== null && timestamp >= to) return false;
    if (((1 << severity) & levelMask) === 0) return false;
    if (this.#categories === null && this.#types === null) return true;
    const category = categoryAt(line, severity);
    if (this.#categories !== null && !this.#categories.isAt(bytes, category)) return false;
    return this.#types === null || this.#types.isAt(bytes, typeAt(bytes, category));
  }
}

/** A JSON string with both its quotes. */
function jsonBytes(text: string): string {
  return toByteString(JSON.stringify(text));
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
