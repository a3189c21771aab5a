import { DEFAULT_LEVEL, INGEST_LIMITS, LEVELS } from "../../logs/entry.ts";
import { startsWith } from "../../logs/ingest/canonical-json.ts";
import { PlainLine } from "../../logs/ingest/plain-line.ts";
import { type NamedPart, PART, type PartNames } from "../../logs/ingest/plain-record.ts";
import { MAX_ENTRY_AGE_MS } from "../../logs/ingest/validate.ts";
import { copyBytes, writeText } from "../../platform/bytes.ts";
import { levelOfName, levelOfNumber, type ReadLevel } from "./levels.ts";
import { EMPTY_ENVELOPE, type PlainEnvelope } from "./plain-envelope.ts";
import { PlainTimes, scaleOf } from "./plain-times.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const CLOSE_BRACE = 0x7d;

const encoder = new TextEncoder();
const MARK_NAME = Buffer.from('"_taffrail"');
const MARK = encoder.encode('"_taffrail":{');
const TIMESTAMP = encoder.encode('"timestamp":');
const LEVEL = encoder.encode('"level":');
const NO_BYTES = new Uint8Array();
/** Bytes of marks, beside the time and the level as sent. */
const MARK_BYTES = 64;
const FIRST_MARK_BYTES = 512;
/** Bytes of a UTF-16 unit in UTF-8 at most. */
const UNIT_BYTES = 3;

const SEVERITY = new Map<string, number>(LEVELS.map((level, index) => [level, index]));
/**
 * Reads records whose values are canonical JSON, and writes their lines without parsing them. Any other record has to be
 * read by a `RecordReader`, with the same result.
 */
export class PlainLines extends PlainLine {
  /** The client's time, epoch milliseconds with a fraction; `null` without one. */
  time: number | null = null;
  /** Whether the client's time as sent says more than whole milliseconds. */
  isFine = false;
  /** Writes the line of the record that was read. @returns index after the line */
  readonly writeLine = (target: Uint8Array, at: number): number => this.write(target, at);
  readonly #levels: KnownLevel[] = [];
  #level: ReadLevel | null = null;
  /** The level as sent, as JSON. */
  #sentLevel: Uint8Array = NO_BYTES;
  /** Where the record's time is. */
  #timeFrom = 0;
  #timeTo = 0;
  readonly #times = new PlainTimes();

  constructor(names: PartNames) {
    super(names, false);
  }

  /**
   * Reads a record.
   * @param bytes valid UTF-8
   * @param now epoch milliseconds of the receipt
   * @param oldest as in `EntryFitter`
   * @returns `false` if it must be parsed
   */
  read(
    bytes: Uint8Array,
    from: number,
    to: number,
    now: number,
    oldest: number | null,
    envelope: Readonly<PlainEnvelope> = EMPTY_ENVELOPE,
  ): boolean {
    this.time = null;
    this.isFine = false;
    this.#level = null;
    if (!this.find(bytes, from, to) || !this.#open(envelope)) return false;
    this.ms = this.#milliseconds(now);
    if (this.ms < (oldest ?? now - MAX_ENTRY_AGE_MS) || this.ms > now + INGEST_LIMITS.futureMs) return false;
    this.severity = this.#severity();
    this.added = envelope.members;
    this.#writeMarks(envelope);
    return true;
  }

  /** Takes what the envelope says. @returns `false` if the record says it differently */
  #open({ members, time, level, sentLevel, service, host }: Readonly<PlainEnvelope>): boolean {
    const data = this.record.from[PART.data] ?? -1;
    if (data >= 0 && (members.length > 0 || this.#hasMark(data))) return false;
    this.service = service;
    this.host = host;
    if (time !== null) {
      if (this.time !== null && Math.floor(this.time) !== Math.floor(time.time)) return false;
      this.time = time.time;
      this.isFine = time.sent !== undefined;
    }
    if (level === null) return true;
    if (this.#level !== null && this.#level.level !== level.level) return false;
    this.#level = level;
    this.#sentLevel = sentLevel;
    return true;
  }

  /** Whether the data may have a member with the name of the mark. */
  #hasMark(data: number): boolean {
    const { bytes } = this;
    const length = (this.record.to[PART.data] ?? 0) - data;
    return Buffer.from(bytes.buffer, bytes.byteOffset + data, length).includes(MARK_NAME);
  }

  #milliseconds(now: number): number {
    return this.time === null ? now : Math.floor(this.time);
  }

  #severity(): number {
    return SEVERITY.get(this.#level?.level ?? DEFAULT_LEVEL) ?? 0;
  }

  readTime = (bytes: Uint8Array, from: number, to: number, named: NamedPart): boolean => {
    const times = this.#times;
    if (!times.read(bytes, from, to, scaleOf(named).unit)) return false;
    this.time = times.time;
    this.isFine = times.hasMore;
    this.#timeFrom = from;
    this.#timeTo = to;
    return true;
  };

  readLevel = (bytes: Uint8Array, from: number, to: number, named: NamedPart): boolean => {
    for (const known of this.#levels) {
      if (known.named !== named || !isAt(bytes, from, to, known.bytes)) continue;
      this.#level = known.read;
      this.#sentLevel = known.bytes;
      return true;
    }
    const { scale } = scaleOf(named);
    const isText = bytes[from] === QUOTE;
    const text = this.text(isText ? from + 1 : from, isText ? to - 1 : to);
    const level = isText ? levelOfName(text, scale) : levelOfNumber(Number(text), scale);
    if (level === null) return false;
    const sent = Uint8Array.prototype.slice.call(bytes, from, to);
    this.#level = level;
    this.#sentLevel = sent;
    if (this.#levels.length === MAX_LEVELS) this.#levels.length = 0;
    this.#levels.push({ named, bytes: sent, read: level });
    return true;
  };

  /** Writes the time and the level as sent, as far as the entry's own do not say all of them. */
  #writeMarks({ time }: Readonly<PlainEnvelope>): void {
    const isLevelExact = this.#level === null || this.#level.isExact;
    this.marksLength = 0;
    if (!this.isFine && isLevelExact) return;
    // Texts and numbers of a record are canonical JSON already.
    const sent = time === null ? null : JSON.stringify(time.sent ?? null);
    const timeBytes = sent === null ? this.#timeTo - this.#timeFrom : sent.length * UNIT_BYTES;
    const marks = this.#roomForMarks(timeBytes + this.#sentLevel.length + MARK_BYTES);
    let at = copyBytes(marks, 0, MARK);
    if (this.isFine) {
      at = copyBytes(marks, at, TIMESTAMP);
      const isLong = sent === null && this.#times.isLong;
      if (isLong) marks[at++] = QUOTE;
      if (sent !== null) at = writeText(marks, at, sent);
      else at = copyBytes(marks, at, this.bytes, this.#timeFrom, this.#timeTo);
      if (isLong) marks[at++] = QUOTE;
    }
    if (!isLevelExact) {
      if (this.isFine) marks[at++] = COMMA;
      at = copyBytes(marks, at, LEVEL);
      at = copyBytes(marks, at, this.#sentLevel);
    }
    marks[at++] = CLOSE_BRACE;
    this.marksLength = at;
  }

  #roomForMarks(size: number): Uint8Array {
    if (this.marks.length < size) this.marks = new Uint8Array(Math.max(size, FIRST_MARK_BYTES));
    return this.marks;
  }
}

/** A level that was read before. */
interface KnownLevel {
  named: NamedPart;
  /** As sent, as JSON. */
  bytes: Uint8Array;
  read: ReadLevel;
}

const MAX_LEVELS = 16;

function isAt(bytes: Uint8Array, from: number, to: number, text: Uint8Array): boolean {
  return text.length === to - from && startsWith(bytes, from, text);
}
