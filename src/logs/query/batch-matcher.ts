import { logId } from "../entry-view.ts";
import type { EntryPlace } from "../search/entry-test.ts";
import { WORK, WorkMeter } from "./budget.ts";
import { toByteString } from "./case-folding.ts";
import { type HeadFilter, isOpenInRange, type LogFilter, type NoMembers, needsContent } from "./filter.ts";
import { LineReader } from "./line-reader.ts";
import {
  AFTER_CATEGORY,
  AFTER_TYPE,
  categoryAt,
  countLines,
  LineTimestampParser,
  ListedNames,
  piecesOf,
  severityAt,
  typeAt,
} from "./lines.ts";
import { type Needle, needlesOf, takeTested } from "./needles.ts";

/** A line of a batch that passes. */
export interface LineMatch {
  /** Index in the batch, from 0. */
  index: number;
  timestamp: number;
  /** 0..6. */
  severity: number;
  /**
   * Whole lines, this one from `start` to `end`, as bytes and as text of one character a byte. Valid until the next
   * line.
   */
  raw: Buffer;
  text: string;
  start: number;
  end: number;
}

/** Called before the costly part of a filter. The matcher skips a line that is not wanted. */
export type Wanted = (timestamp: number, index: number) => boolean;

/** Where lines are. Index `i` counts the lines of all pieces from 0. */
export interface LinePlaces {
  projectId: string;
  seqAt(index: number): number;
  /** Epoch milliseconds. */
  receivedAtOf(index: number): number;
}

/** The place of one line, read when a filter asks for it. */
class LinePlace implements EntryPlace {
  timestamp = 0;
  index = 0;
  readonly #places: LinePlaces;

  constructor(places: LinePlaces) {
    this.#places = places;
  }

  get projectId(): string {
    return this.#places.projectId;
  }

  get seq(): number {
    return this.#places.seqAt(this.index);
  }

  get receivedAt(): number {
    return this.#places.receivedAtOf(this.index);
  }

  get id(): string {
    return logId(this.projectId, this.seq);
  }
}

/** A filter prepared for many batches. */
export class BatchMatcher {
  /** Whether every entry within the time range passes, so that a count need not read the lines. */
  readonly passesAll: boolean;
  /** Whether a passing line was read as a whole, so that it is certainly an entry. */
  readonly reads: boolean;
  /** Number of lines in the pieces that `steps` has finished. */
  linesRead = 0;
  readonly #head: Pick<HeadFilter, "from" | "to" | "levelMask">;
  readonly #needles: readonly Needle[];
  readonly #byteWork: number;
  readonly #categories: ListedNames | null;
  readonly #types: ListedNames | null;
  readonly #reader: LineReader;
  readonly #meter: WorkMeter;
  readonly #clock = new LineTimestampParser();
  #place: LinePlace | null = null;

  /** @param meter counts the work, and decides when `steps` pauses */
  constructor(filter: LogFilter, meter = new WorkMeter()) {
    const { from, to, levelMask, categories, types, ...unread }: HeadFilter = filter;
    unread satisfies NoMembers;
    this.#head = { from, to, levelMask };
    this.#meter = meter;
    this.#needles = needlesOf(filter);
    this.#byteWork = this.#needles.reduce<number>((sum, { byteWork }) => sum + byteWork, WORK.byte);
    this.#categories = categories && new ListedNames(categories.map(jsonBytes), AFTER_CATEGORY);
    this.#types = types && new ListedNames(types.map(jsonBytes), AFTER_TYPE);
    this.#reader = new LineReader(filter, meter);
    this.reads = needsContent(filter);
    this.passesAll = isOpenInRange(filter);
  }

  /** Runs `steps` without pauses. @param body canonical NDJSON */
  forEachMatch(
    body: Uint8Array,
    wanted: Wanted,
    found: (match: LineMatch) => void,
    damaged: (index: number) => void,
    places: LinePlaces | null = null,
  ): void {
    for (const _ of this.steps(piecesOf(body), wanted, found, damaged, places));
  }

  /**
   * Calls `found` for every wanted line that passes, in order. Yields between two lines if the meter reports that a
   * pause is due, so at most one line is processed beyond that.
   * @param pieces whole lines each; see `lines.ts`
   * @param damaged called for lines that turn out not to be entries, wanted or not; not every line is checked
   * @param places `null` if the filter has no part of the query language
   */
  *steps(
    pieces: Iterable<Uint8Array>,
    wanted: Wanted,
    found: (match: LineMatch) => void,
    damaged: (index: number) => void,
    places: LinePlaces | null = null,
  ): Generator<void> {
    this.linesRead = 0;
    this.#place = places && new LinePlace(places);
    for (const piece of pieces) {
      const raw = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      this.#meter.add(raw.length * this.#byteWork);
      const text = raw.toString("latin1");
      const isWanted = this.#needles.every(({ bytes }) => bytes === null || raw.includes(bytes));
      if (isWanted) this.linesRead = yield* this.#pieceSteps(raw, text, wanted, found, damaged);
      else this.linesRead += countLines(text, 0);
      if (this.#meter.isDue) yield;
    }
  }

  /** Whether a found line is an entry. Needed only if `reads` is false. */
  isEntry({ raw, text, start, end, severity }: LineMatch): boolean {
    this.#reader.open(raw, text);
    return this.#reader.read(start, end, severity, this.#place) !== "damaged";
  }

  /** @returns the index of the first line after the piece */
  *#pieceSteps(
    raw: Buffer,
    text: string,
    wanted: Wanted,
    found: (match: LineMatch) => void,
    damaged: (index: number) => void,
  ): Generator<void, number> {
    const lines = new CandidateLines(text, this.#needles, this.linesRead);
    const meter = this.#meter;
    if (this.reads) this.#reader.open(raw, text);
    while (lines.next()) {
      const { start, end, index } = lines;
      meter.add(WORK.line);
      const timestamp = this.#clock.read(text, start);
      const severity = severityAt(text, start);
      if (severity < 0 || Number.isNaN(timestamp)) damaged(index);
      else if (this.#passesHead(text, start, timestamp, severity) && wanted(timestamp, index)) {
        if (this.#place !== null) {
          this.#place.timestamp = timestamp;
          this.#place.index = index;
        }
        const first = this.reads ? this.#reader.read(start, end, severity, this.#place) : "passes";
        const verdict = first === "open" ? yield* this.#reader.decide(this.#place) : first;
        if (verdict === "passes") found({ index, timestamp, severity, raw, text, start, end });
        else if (verdict === "damaged") damaged(index);
      }
      if (meter.isDue) yield;
    }
    meter.add(takeTested(this.#needles));
    return lines.index;
  }

  /** Tests time, level, category and type, which are at the beginning of a line. */
  #passesHead(bytes: string, line: number, timestamp: number, severity: number): boolean {
    const { from, to, levelMask } = this.#head;
    if (from !== null && timestamp < from) return false;
    if (to !== null && timestamp >= to) return false;
    if (((1 << severity) & levelMask) === 0) return false;
    if (this.#categories === null && this.#types === null) return true;
    const category = categoryAt(line, severity);
    if (this.#categories !== null && !this.#categories.isAt(bytes, category)) return false;
    return this.#types === null || this.#types.isAt(bytes, typeAt(bytes, category));
  }
}

/** Returns a text as a JSON string with its quotes. */
function jsonBytes(text: string): string {
  return toByteString(JSON.stringify(text));
}

/** Iterates over the lines that contain every needle. Each needle scans the bytes once, whatever the others find. */
class CandidateLines {
  /** The current line and its index in the batch. At the end, the index after the last line. */
  start = 0;
  end = -1;
  index: number;
  readonly #text: string;
  readonly #needles: readonly Needle[];
  readonly #hits: number[];

  constructor(text: string, needles: readonly Needle[], firstIndex: number) {
    this.#text = text;
    this.#needles = needles;
    this.#hits = needles.map(() => -1);
    this.index = firstIndex - 1;
  }

  next(): boolean {
    const text = this.#text;
    this.start = this.end + 1;
    this.index++;
    while (this.start < text.length) {
      const target = this.#target();
      if (target < 0) {
        this.index += countLines(text, this.start);
        return false;
      }
      this.end = lineEnd(text, this.start);
      while (this.end < target) {
        this.start = this.end + 1;
        this.index++;
        this.end = lineEnd(text, this.start);
      }
      if (this.#hits.every((hit) => hit >= this.start)) return true;
    }
    return false;
  }

  /** Returns the latest of the next occurrences, or the start of the line; -1 if a needle has no more occurrences. */
  #target(): number {
    let target = this.start;
    for (let n = 0; n < this.#needles.length; n++) {
      let hit = this.#hits[n] ?? -1;
      if (hit < this.start) {
        hit = this.#needles[n]?.next(this.#text, this.start) ?? -1;
        if (hit < 0) return -1;
        this.#hits[n] = hit;
      }
      if (hit > target) target = hit;
    }
    return target;
  }
}

function lineEnd(bytes: string, from: number): number {
  const end = bytes.indexOf("\n", from);
  return end < 0 ? bytes.length : end;
}
