import { DEFAULT_LEVEL, ENTRY_MEMBERS, INGEST_LIMITS, LEVELS } from "../entry.ts";
import { PlainLine } from "./plain-line.ts";
import { type NamedPart, PART, PartNames } from "./plain-record.ts";
import { EntryRejected } from "./rejection.ts";
import { MAX_TIME_MS, TimestampReader } from "./timestamp.ts";
import { MAX_ENTRY_AGE_MS } from "./validate.ts";

const QUOTE = 0x22;
const ZERO = 0x30;
/** Digits of the epoch milliseconds of any accepted time. */
const TIME_DIGITS = 15;

const SEVERITY = new Map<string, number>(LEVELS.map((level, index) => [level, index]));
const DEFAULT_SEVERITY = LEVELS.indexOf(DEFAULT_LEVEL);

/** The members of an entry, each of which is its own part. */
const NAMES = new PartNames(
  ENTRY_MEMBERS.map((name): [string, NamedPart] => {
    const part = name === "timestamp" ? PART.time : PART[name];
    return [name, { part, rank: 0, how: null, isNested: false }];
  }),
);

/**
 * Reads own entries in any order of members, with times in epoch milliseconds, of which all values are canonical JSON, without
 * parsing them. Any other entry, and one that may have to be rejected, must be read by an `EntryValidator`.
 */
export class OwnLines extends PlainLine {
  readonly #timestamps = new TimestampReader();
  #time: number | null = null;
  #level = DEFAULT_SEVERITY;

  constructor() {
    super(NAMES, true);
  }

  /**
   * @param bytes valid UTF-8
   * @param now epoch milliseconds of the receipt
   * @param oldest as in `BuildOptions`
   * @returns `false` if the entry must be parsed
   */
  read(bytes: Uint8Array, from: number, to: number, now: number, oldest: number | null): boolean {
    this.#time = null;
    this.#level = DEFAULT_SEVERITY;
    if (!this.find(bytes, from, to)) return false;
    this.ms = this.#time ?? now;
    this.severity = this.#level;
    // An empty `data` is stored.
    const { from: starts, to: ends } = this.record;
    if ((ends[PART.data] ?? 0) - (starts[PART.data] ?? 0) === 2 && (starts[PART.data] ?? -1) >= 0) return false;
    return this.ms >= (oldest ?? now - MAX_ENTRY_AGE_MS) && this.ms <= now + INGEST_LIMITS.futureMs;
  }

  readTime = (bytes: Uint8Array, from: number, to: number): boolean => {
    if (bytes[from] === QUOTE) {
      try {
        this.#time = this.#timestamps.read(this.text(from + 1, to - 1)).ms;
        return true;
      } catch (error) {
        if (error instanceof EntryRejected) return false;
        throw error;
      }
    }
    if (to - from > TIME_DIGITS) return false;
    let value = 0;
    for (let at = from; at < to; at++) {
      const digit = (bytes[at] ?? 0) - ZERO;
      if (digit < 0 || digit > 9) return false;
      value = value * 10 + digit;
    }
    this.#time = value;
    return value <= MAX_TIME_MS;
  };

  readLevel = (bytes: Uint8Array, from: number, to: number): boolean => {
    if (bytes[from] !== QUOTE) return false;
    const text = this.text(from + 1, to - 1);
    this.#level = SEVERITY.get(text) ?? -1;
    return this.#level >= 0;
  };
}
