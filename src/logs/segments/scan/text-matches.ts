import { toByteString } from "../../query/case-folding.ts";

/** Places of a text in bytes. */

/**
 * The two characters outside ASCII whose lower case has a character of ASCII, the Kelvin sign and the dotted capital I: bytes of
 * UTF-8, one character each.
 */
const ODD_CAPITALS = ["\u212a", "\u0130"].map(toByteString);

/** The places of a part in bytes, from the first to the last one. */
export interface Matches {
  /** The bytes, one character each. */
  readonly text: string;
  /** Whether only the part itself is found. */
  readonly isExact: boolean;
  /** Index after the last match. */
  end: number;
  /** @returns the index of the first match at or after `from`, or -1 */
  next(from: number): number;
}

/** Whether bytes have a character outside ASCII whose lower case has one of ASCII. */
export function hasOddCapital(all: string): boolean {
  // One byte is found faster than two or three, and most text has neither.
  return ODD_CAPITALS.some((capital) => all.includes(capital[0] ?? "") && all.includes(capital));
}

/** Places of a text in its own case. */
export class CasedMatches implements Matches {
  end = 0;
  readonly isExact = true;
  readonly text: string;
  readonly #part: string;

  constructor(text: string, part: string) {
    this.text = text;
    this.#part = part;
  }

  next(from: number): number {
    const at = this.text.indexOf(this.#part, from);
    this.end = at + this.#part.length;
    return at;
  }
}

/** Places of what matches a pattern. */
export class PatternMatches implements Matches {
  end = 0;
  readonly isExact: boolean;
  readonly text: string;
  readonly #pattern: RegExp;

  constructor(text: string, pattern: RegExp, isExact: boolean) {
    this.text = text;
    this.#pattern = pattern;
    this.isExact = isExact;
  }

  next(from: number): number {
    this.#pattern.lastIndex = from;
    const match = this.#pattern.exec(this.text);
    if (match === null) return -1;
    this.end = this.#pattern.lastIndex;
    return match.index;
  }
}

/** Places of a text of ASCII in either case, found by a byte that is rare around them. */
export class RareByteMatches implements Matches {
  end = 0;
  readonly isExact = true;
  readonly text: string;
  readonly #part: Uint8Array;
  readonly #rare: number;
  /** The rare byte in lower and in upper case. */
  readonly #lower: string;
  readonly #upper: string;
  /** Where the rare byte is next in lower and in upper case. */
  #lowerAt = -1;
  #upperAt = -1;
  readonly #pattern: RegExp;
  /** Takes the place of the search for bytes if they are not rare after all. */
  #others: PatternMatches | null = null;
  #tried = 0;

  /** @param rare index in the part. @param pattern of the part */
  constructor(text: string, part: Uint8Array, rare: number, pattern: RegExp) {
    this.text = text;
    this.#part = part;
    this.#rare = rare;
    this.#lower = String.fromCharCode(part[rare] ?? 0);
    // All of the part is ASCII.
    this.#upper = this.#lower.toUpperCase();
    this.#pattern = pattern;
  }

  next(from: number): number {
    if (this.#others === null) return this.#next(from);
    const at = this.#others.next(from);
    this.end = this.#others.end;
    return at;
  }

  #next(from: number): number {
    const { text } = this;
    const part = this.#part;
    const [lower, upper] = [this.#lower, this.#upper];
    for (let at = from + this.#rare; ; ) {
      if (this.#lowerAt < at) this.#lowerAt = indexOf(text, lower, at);
      if (this.#upperAt < at) this.#upperAt = upper === lower ? text.length : indexOf(text, upper, at);
      const hit = Math.min(this.#lowerAt, this.#upperAt);
      const start = hit - this.#rare;
      this.end = start + part.length;
      if (this.end > text.length) return -1;
      if (isPartAt(text, part, start)) return start;
      at = hit + 1;
      if (++this.#tried < MOST_TRIED + at / BYTES_A_TRY) continue;
      this.#others = new PatternMatches(text, this.#pattern, true);
      return this.next(start + 1);
    }
  }
}

/** @returns the length of the bytes if nothing is found */
function indexOf(all: string, byte: string, from: number): number {
  const at = all.indexOf(byte, from);
  return at < 0 ? all.length : at;
}

/** Bytes of a sample, those of each of its pieces, and how often a rare byte is in it at most. */
const SAMPLE_BYTES = 1024;
const PIECE_BYTES = 64;
const MOST_RARE = 3;
/** Rare bytes of one scan that turn out to be no match, and scanned bytes for each further one: a pattern takes as long for them. */
const MOST_TRIED = 256;
const BYTES_A_TRY = 256;

/** Returns the index in a part of a byte that is rare, in either case; -1 without such a byte, or with too few bytes. */
export function rareByteOf(all: string, part: Uint8Array): number {
  if (all.length < SAMPLE_BYTES) return -1;
  const counts = new Uint16Array(256);
  // Up to the end, because a page may begin with lengths. Strings of a dictionary are sorted: neighbours are alike.
  const pieces = SAMPLE_BYTES / PIECE_BYTES;
  for (let piece = 1; piece <= pieces; piece++) {
    const end = Math.floor((all.length * piece) / pieces);
    for (let at = end - PIECE_BYTES; at < end; at++) {
      const byte = FOLD[all.charCodeAt(at)] ?? 0;
      counts[byte] = (counts[byte] ?? 0) + 1;
    }
  }
  const countAt = (at: number) => counts[part[at] ?? 0] ?? 0;
  const rare = part.reduce((best, _, at) => (countAt(at) <= countAt(best) ? at : best), 0);
  return countAt(rare) <= MOST_RARE ? rare : -1;
}

export function isPartAt(all: string, part: Uint8Array, start: number): boolean {
  for (let at = 0; at < part.length; at++) if (FOLD[all.charCodeAt(start + at)] !== part[at]) return false;
  return true;
}

/** Lower case of each byte of ASCII. */
const FOLD = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));

/** Returns a pattern of bytes of ASCII in either case. */
export function asciiPattern(part: string): RegExp {
  const bytes = [...part].map((byte) => {
    if (/[a-z]/.test(byte)) return `[${byte}${byte.toUpperCase()}]`;
    return byte.replace(/[\\^$.*+?()[\]{}|/-]/, "\\$&");
  });
  return new RegExp(bytes.join(""), "g");
}
