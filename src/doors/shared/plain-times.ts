import { isInexact } from "../../logs/ingest/exact-json.ts";
import type { NamedPart } from "../../logs/ingest/plain-record.ts";
import { latin1Text } from "../../platform/bytes.ts";
import type { LevelScale } from "./levels.ts";
import { type TimeUnit, timeOfNumber, timeOfText } from "./times.ts";

const QUOTE = 0x22;
const DOT = 0x2e;
const ZERO = 0x30;
const CAPITAL_Z = 0x5a;
/** Bytes of `2026-11-20T14:04:05.` */
export const SECOND_BYTES = 20;
/** Digits after the dot of a text that is read without a conversion. */
const MS_DIGITS = 3;
const MAX_FRACTION = 9;
/** Digits of an integer that is read without a conversion. */
const SHORT_DIGITS = 15;
/** Digits of a canonical integer. */
const NUMBER_DIGITS = 16;

/** Reads times in JSON as `timeOf` does. Caches the last second, because times of a request lie close together. */
export class PlainTimes {
  /** The time that was read, epoch milliseconds with a fraction. */
  time = 0;
  /** Whether the text or number as sent says more than whole milliseconds. */
  hasMore = false;
  /** Whether it was an integer that no number holds, which is kept as a text. */
  isLong = false;
  /** The last time that was read as text: the bytes before its milliseconds. */
  readonly #isoText = new Uint8Array(SECOND_BYTES);
  #isoMs = Number.NaN;

  /** @param bytes a JSON string with quotes, or a number @returns `false` if it is no time */
  read(bytes: Uint8Array, from: number, to: number, unit: TimeUnit): boolean {
    this.isLong = false;
    if (bytes[from] === QUOTE) return this.#readText(bytes, from + 1, to - 1, unit);
    let value = 0;
    let at = from;
    for (let digit = (bytes[at] ?? 0) - ZERO; at < to && digit >= 0 && digit <= 9; digit = (bytes[++at] ?? 0) - ZERO) {
      value = value * 10 + digit;
    }
    if (at === to && to - from > NUMBER_DIGITS) {
      const text = latin1Text(bytes, from, to);
      this.isLong = isInexact(text);
      return this.isLong && this.#take(timeOfText(text, unit));
    }
    const isShort = at === to && to - from <= SHORT_DIGITS;
    return this.#take(timeOfNumber(isShort ? value : Number(latin1Text(bytes, from, to)), unit));
  }

  #readText(bytes: Uint8Array, from: number, to: number, unit: TimeUnit): boolean {
    const digits = to - from - SECOND_BYTES - 1;
    const isUtc = digits >= MS_DIGITS && digits <= MAX_FRACTION && bytes[to - 1] === CAPITAL_Z;
    if (!isUtc || bytes[from + SECOND_BYTES - 1] !== DOT)
      return this.#take(timeOfText(latin1Text(bytes, from, to), unit));
    const ms = numberAt(bytes, from + SECOND_BYTES, MS_DIGITS);
    const rest = numberAt(bytes, from + SECOND_BYTES + MS_DIGITS, digits - MS_DIGITS);
    if (ms < 0 || rest < 0 || !this.#isSameSecond(bytes, from)) {
      if (!this.#take(timeOfText(latin1Text(bytes, from, to), unit))) return false;
      if (ms < 0 || rest < 0) return true;
      for (let i = 0; i < SECOND_BYTES; i++) this.#isoText[i] = bytes[from + i] ?? 0;
      // A number has no exact nanoseconds, so that the fraction may have become a whole millisecond.
      this.#isoMs = Math.round(this.time - ms - fractionOf(rest, digits));
      return true;
    }
    this.time = this.#isoMs + ms + fractionOf(rest, digits);
    this.hasMore = rest > 0;
    return true;
  }

  #take(read: { time: number; sent?: string | number } | null): boolean {
    if (read === null) return false;
    this.time = read.time;
    this.hasMore = read.sent !== undefined;
    return true;
  }

  #isSameSecond(bytes: Uint8Array, at: number): boolean {
    // The digits that change most come last.
    for (let i = SECOND_BYTES - 1; i >= 0; i--) if (bytes[at + i] !== this.#isoText[i]) return false;
    return true;
  }
}

/** Milliseconds of the digits after the first three. */
function fractionOf(rest: number, digits: number): number {
  return rest === 0 ? 0 : rest / 10 ** (digits - MS_DIGITS);
}

/** The number of some digits; -1 if one of them is no digit. */
function numberAt(bytes: Uint8Array, at: number, digits: number): number {
  let value = 0;
  for (let i = at; i < at + digits; i++) {
    const digit = (bytes[i] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** How a time or a level is read. */
export interface PartScale {
  scale: LevelScale;
  unit: TimeUnit;
}

export function scaleOf({ how }: NamedPart): PartScale {
  // SAFETY: `RecordReader.plainNames` has set it.
  return how as PartScale;
}
