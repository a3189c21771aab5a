import { LineTimestampParser } from "../../query/lines.ts";

/**
 * Splits the bodies of batches into the lines that a segment is encoded from.
 *
 * `ByteTimestampParser` reads the time at the beginning of a line, `{"timestamp":"2026-11-20T14:04:05.678Z"`, from its
 * bytes. Its result is NaN for a time in any other form.
 */

const HEAD = new TextEncoder().encode('{"timestamp":"');
/** `2026-11-20T14:04:` */
const MINUTE_BYTES = 17;
const ZERO = 48;
const [DASH, LETTER_T, COLON, POINT, LETTER_Z, QUOTE] = [45, 84, 58, 46, 90, 34];
/** `Date.UTC` reads smaller years as years of the 20th century. */
const FIRST_YEAR = 100;

/** Index after the closing quote of the timestamp. */
export const HEAD_BYTES = HEAD.length + '2026-11-20T14:04:05.678Z"'.length;

export class ByteTimestampParser {
  /** The last minute. Consecutive entries mostly share it. */
  readonly #minute = new Uint8Array(MINUTE_BYTES);
  #minuteMs = Number.NaN;

  /**
   * @param line start of the line
   * @param end end of the line
   * @returns epoch milliseconds, or NaN
   */
  read(bytes: Uint8Array, line: number, end: number): number {
    if (end - line < HEAD_BYTES) return Number.NaN;
    for (let at = 0; at < HEAD.length; at++) if (bytes[line + at] !== HEAD[at]) return Number.NaN;
    const start = line + HEAD.length;
    let shared = 0;
    while (shared < MINUTE_BYTES && bytes[start + shared] === this.#minute[shared]) shared++;
    if (shared < MINUTE_BYTES && !this.#enter(bytes, start)) return Number.NaN;
    const second = start + MINUTE_BYTES;
    const isWhole = bytes[second + 2] === POINT && bytes[second + 6] === LETTER_Z && bytes[second + 7] === QUOTE;
    const seconds = digits(bytes, second, 2);
    const ms = digits(bytes, second + 3, 3);
    return isWhole && seconds >= 0 && seconds < 60 && ms >= 0 ? this.#minuteMs + seconds * 1000 + ms : Number.NaN;
  }

  /** @returns whether the bytes are a valid minute */
  #enter(bytes: Uint8Array, at: number): boolean {
    this.#minute.fill(0);
    if (bytes[at + 4] !== DASH || bytes[at + 7] !== DASH) return false;
    if (bytes[at + 10] !== LETTER_T || bytes[at + 13] !== COLON || bytes[at + 16] !== COLON) return false;
    const year = digits(bytes, at, 4);
    const month = digits(bytes, at + 5, 2);
    const day = digits(bytes, at + 8, 2);
    const hour = digits(bytes, at + 11, 2);
    const minute = digits(bytes, at + 14, 2);
    if (year < FIRST_YEAR || month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return false;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return false;
    this.#minuteMs = Date.UTC(year, month - 1, day, hour, minute);
    for (let i = 0; i < MINUTE_BYTES; i++) this.#minute[i] = bytes[at + i] ?? 0;
    return true;
  }
}

function daysOf(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Parses digits. @returns -1 if a byte is not a digit */
function digits(bytes: Uint8Array, from: number, count: number): number {
  let value = 0;
  for (let at = from; at < from + count; at++) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** A batch with its uncompressed body. */
export interface DecodedBatch {
  firstSeq: number;
  count: number;
  commit: number;
  /** Epoch milliseconds. */
  receivedAt: number;
  /** Canonical NDJSON with all lines of the batch, even if only a part of it is encoded; see `../../batch.ts`. */
  body: Uint8Array;
}

/** One entry as input of the segment encoder. */
export interface SourceLine {
  batch: DecodedBatch;
  seq: number;
  timestamp: number;
  /** Whether the line begins with a valid timestamp, like every line that ingest wrote. */
  isTimed: boolean;
  /** Start and end in the batch's body. */
  start: number;
  end: number;
}

/** A range of `seq`, both ends included. */
export interface SeqRange {
  firstSeq: number;
  lastSeq: number;
}

/**
 * Yields the lines of a range, batch by batch, in order of `seq`.
 * @param batches of one project in order of `seq`; entries outside the range are ignored
 * @throws RangeError if the batches do not hold every `seq` of the range once
 */
export function* linesOf(batches: Iterable<DecodedBatch>, { firstSeq, lastSeq }: SeqRange): Generator<SourceLine[]> {
  const splitter = new Splitter();
  let next = firstSeq;
  for (const batch of batches) {
    if (batch.firstSeq > lastSeq || batch.firstSeq + batch.count <= firstSeq) continue;
    const lines = splitter.split(batch, firstSeq, lastSeq);
    if ((lines[0]?.seq ?? next) !== next) throw new RangeError(`The batches lack entry ${next} or have it twice.`);
    next += lines.length;
    yield lines;
  }
  if (next !== lastSeq + 1) throw new RangeError(`The batches lack entry ${next}.`);
}

class Splitter {
  readonly #clock = new ByteTimestampParser();
  /** For other lines: accepts what is at the position of a time. */
  readonly #looseClock = new LineTimestampParser();

  /** Returns the lines of a batch that are in a range. */
  split(batch: DecodedBatch, firstSeq: number, lastSeq: number): SourceLine[] {
    const { body } = batch;
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1");
    const lines: SourceLine[] = [];
    let seq = batch.firstSeq;
    for (let start = 0, end = 0; start < text.length && seq <= lastSeq; start = end + 1, seq++) {
      end = text.indexOf("\n", start);
      if (end < 0) end = text.length;
      if (seq < firstSeq) continue;
      const timestamp = this.#clock.read(body, start, end);
      const isTimed = !Number.isNaN(timestamp);
      const time = isTimed ? timestamp : this.#looseClock.read(text, start);
      lines.push({ batch, seq, timestamp: time, isTimed, start, end });
    }
    return lines;
  }
}
