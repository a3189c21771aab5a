import { bytePattern, tellingPart, toByteString } from "../../query/case-folding.ts";
import { TextSearch } from "../../query/text-search.ts";
import type { Texts } from "../decode/column-values.ts";

/** The two characters outside ASCII whose lower case has a character of ASCII: the Kelvin sign and the dotted capital I. */
const ODD_CAPITALS = [Buffer.from("\u212a"), Buffer.from("\u0130")];
/** Matches the characters of a number: `-12.5`, `1e+21`. */
const NUMERIC = /^[-+.e\d]+$/;
const ASCII = /^[\0-\x7f]+$/;

/** Finds the strings of a column that contain a text, without case, as `search` does in lines. */
export class TextFinder {
  /** Work units for each byte. */
  readonly byteWork: number;
  readonly #needle: string;
  readonly #search: TextSearch;
  readonly #pattern: RegExp;
  /** Lower case bytes of a part of the text; `null` unless all of it is ASCII. */
  readonly #part: Uint8Array | null;
  /** Finds the part in bytes without characters whose lower case is in ASCII. */
  readonly #asciiPattern: RegExp;
  /** Whether the part is the whole text. */
  readonly #isWhole: boolean;
  /** Whether the text has a letter that is also the lower case of a character outside ASCII. */
  readonly #hasOdd: boolean;
  /** Lower case bytes of the text, and where the part is in it first. */
  readonly #whole: Uint8Array;
  readonly #partAt: number;

  /** @param needle folded, not empty */
  constructor(needle: string) {
    const part = tellingPart(needle);
    this.#needle = needle;
    this.#search = new TextSearch(needle);
    this.#pattern = bytePattern(part, toByteString);
    this.byteWork = this.#search.byteWork;
    this.#isWhole = part === needle;
    this.#hasOdd = /[ik]/.test(needle);
    this.#whole = Buffer.from(needle, "latin1");
    this.#partAt = needle.indexOf(part);
    this.#part = ASCII.test(needle) ? Buffer.from(part, "latin1") : null;
    this.#asciiPattern = asciiPattern(this.#part === null ? "" : part);
  }

  /** Whether the text is in the words `true` and `false`. */
  get isInTrue(): boolean {
    return this.#search.isInTrue;
  }

  get isInFalse(): boolean {
    return this.#search.isInFalse;
  }

  /** Whether a number may contain the text. @param range of integers that it is one of */
  mayBeInNumber(range: { min: number; max: number } | null): boolean {
    if (!NUMERIC.test(this.#needle)) return false;
    // Between two integers no other has more characters.
    return range === null || this.#needle.length <= Math.max(String(range.min).length, String(range.max).length);
  }

  isInNumber(value: number): boolean {
    return String(value).includes(this.#needle);
  }

  /** Calls `found` for each string that contains the text, in rising order. */
  find(texts: Texts, found: (index: number) => void): void {
    const { bytes, starts } = texts;
    const matches = this.matchesIn(bytes);
    let text = 0;
    // A match that begins between two strings ends behind the first of them.
    for (let at = matches.next(texts.startOf(0)); at >= 0; ) {
      text = textAt(starts, at, text);
      const start = texts.startOf(text);
      const end = texts.endOf(text);
      if (this.#isIn(matches, bytes, start, end)) found(text);
      at = matches.next(matches.end <= end ? end : at + 1);
    }
  }

  /**
   * Like `find`, for strings that follow each other from `start` to the end of the bytes.
   * @param matches in `bytes`, of which none was asked for, or `first` alone
   * @param first result of `matches.next(0)`; a match may begin before the strings
   * @param lengths of the strings
   * @param found takes the number of a string, and where its bytes are
   */
  findIn(
    matches: Matches,
    first: number,
    bytes: Uint8Array,
    start: number,
    lengths: Int32Array,
    found: (index: number, from: number, end: number) => void,
  ): void {
    let at = first < start ? matches.next(start) : first;
    // Faster than a search of each match: a page that has one mostly has many.
    let end = start;
    for (let text = 0; at >= 0 && text < lengths.length; text++) {
      const from = end;
      end += lengths[text] ?? 0;
      while (at >= 0 && at < end) {
        const isFound = this.#isIn(matches, bytes, from, end);
        if (isFound) found(text, from, end);
        at = matches.next(isFound || matches.end <= end ? end : at + 1);
      }
    }
  }

  /** Whether the string around the last match contains the text. */
  #isIn(matches: Matches, bytes: Uint8Array, start: number, end: number): boolean {
    // A match may also run from one string into the next.
    if (matches.end > end) return false;
    if (matches.isExact && this.#part !== null) {
      if (this.#isWhole) return true;
      // Mostly the text is around its part.
      const from = matches.end - this.#part.length - this.#partAt;
      if (from >= start && from + this.#whole.length <= end && isPartAt(bytes, this.#whole, from)) return true;
    }
    const { buffer, byteOffset } = bytes;
    return this.#search.isIn(Buffer.from(buffer, byteOffset + start, end - start).toString("utf8"));
  }

  /** Begins a scan. Chooses how the part is found: a byte that is rare there is found many bytes at a time. */
  matchesIn({ buffer, byteOffset, byteLength }: Uint8Array): Matches {
    const all = Buffer.from(buffer, byteOffset, byteLength);
    const part = this.#part;
    // The case of all characters that the part may match must be that of ASCII.
    if (part === null || (this.#hasOdd && hasOddCapital(all))) {
      return new PatternMatches(all, this.#pattern, false);
    }
    const rare = rareByteOf(all, part);
    const pattern = this.#asciiPattern;
    return rare < 0 ? new PatternMatches(all, pattern, true) : new RareByteMatches(all, part, rare, pattern);
  }
}

/** Whether bytes have a character outside ASCII whose lower case has one of ASCII. */
function hasOddCapital(all: Buffer): boolean {
  // One byte is found faster than two or three, and most text has neither.
  return ODD_CAPITALS.some((capital) => all.includes(capital[0] ?? 0) && all.includes(capital));
}

/** The places of a part in bytes. */
export interface Matches {
  /** Whether only the part itself is found. */
  readonly isExact: boolean;
  /** Index after the last match. */
  end: number;
  /** @returns the index of the first match at or after `from`, or -1 */
  next(from: number): number;
}

class PatternMatches implements Matches {
  end = 0;
  readonly isExact: boolean;
  readonly #pattern: RegExp;
  readonly #text: string;

  constructor(all: Buffer, pattern: RegExp, isExact: boolean) {
    this.#text = all.toString("latin1");
    this.#pattern = pattern;
    this.isExact = isExact;
  }

  next(from: number): number {
    this.#pattern.lastIndex = from;
    const match = this.#pattern.exec(this.#text);
    if (match === null) return -1;
    this.end = this.#pattern.lastIndex;
    return match.index;
  }
}

class RareByteMatches implements Matches {
  end = 0;
  readonly isExact = true;
  readonly #all: Buffer;
  readonly #part: Uint8Array;
  readonly #rare: number;
  /** Where the rare byte is next in lower and in upper case. */
  #lowerAt = -1;
  #upperAt = -1;
  readonly #pattern: RegExp;
  /** Takes the place of the search for bytes if they are not rare after all. */
  #others: PatternMatches | null = null;
  #tried = 0;

  /** @param rare index in the part. @param pattern of the part */
  constructor(all: Buffer, part: Uint8Array, rare: number, pattern: RegExp) {
    this.#all = all;
    this.#part = part;
    this.#rare = rare;
    this.#pattern = pattern;
  }

  next(from: number): number {
    if (this.#others === null) return this.#next(from);
    const at = this.#others.next(from);
    this.end = this.#others.end;
    return at;
  }

  #next(from: number): number {
    const all = this.#all;
    const part = this.#part;
    const lower = part[this.#rare] ?? 0;
    const upper = lower >= LOWER_A && lower <= LOWER_Z ? lower - CASE : lower;
    for (let at = from + this.#rare; ; ) {
      if (this.#lowerAt < at) this.#lowerAt = indexOf(all, lower, at);
      if (this.#upperAt < at) this.#upperAt = upper === lower ? all.length : indexOf(all, upper, at);
      const hit = Math.min(this.#lowerAt, this.#upperAt);
      const start = hit - this.#rare;
      this.end = start + part.length;
      if (this.end > all.length) return -1;
      if (isPartAt(all, part, start)) return start;
      at = hit + 1;
      if (++this.#tried < MOST_TRIED) continue;
      this.#others = new PatternMatches(all, this.#pattern, true);
      return this.next(start + 1);
    }
  }
}

/** @returns the length of the bytes if nothing is found */
function indexOf(all: Buffer, byte: number, from: number): number {
  const at = all.indexOf(byte, from);
  return at < 0 ? all.length : at;
}

/** Bytes of a sample, and how often a rare byte is in it at most. */
const SAMPLE_BYTES = 1024;
const MOST_RARE = 3;
/** Rare bytes of one scan that turn out to be no match. */
const MOST_TRIED = 256;

/** Returns the index in a part of a byte that is rare, in either case; -1 without such a byte, or with too few bytes. */
function rareByteOf(all: Buffer, part: Uint8Array): number {
  if (all.length < SAMPLE_BYTES) return -1;
  const counts = new Uint16Array(256);
  // The end, because a page begins with lengths.
  for (let at = all.length - SAMPLE_BYTES; at < all.length; at++) {
    const byte = FOLD[all[at] ?? 0] ?? 0;
    counts[byte] = (counts[byte] ?? 0) + 1;
  }
  const countAt = (at: number) => counts[part[at] ?? 0] ?? 0;
  const rare = part.reduce((best, _, at) => (countAt(at) <= countAt(best) ? at : best), 0);
  return countAt(rare) <= MOST_RARE ? rare : -1;
}

const [LOWER_A, LOWER_Z, CASE] = [97, 122, 32];

function isPartAt(all: Uint8Array, part: Uint8Array, start: number): boolean {
  for (let at = 0; at < part.length; at++) if (FOLD[all[start + at] ?? 0] !== part[at]) return false;
  return true;
}

/** Lower case of each byte of ASCII. */
const FOLD = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + CASE : byte));

/** Returns a pattern of bytes of ASCII in either case. */
function asciiPattern(part: string): RegExp {
  const bytes = [...part].map((byte) => {
    if (/[a-z]/.test(byte)) return `[${byte}${byte.toUpperCase()}]`;
    return byte.replace(/[\\^$.*+?()[\]{}|/-]/, "\\$&");
  });
  return new RegExp(bytes.join(""), "g");
}

/**
 * Returns the index of the string that has the byte at a position.
 * @param from index of a string that begins there or before
 */
function textAt(starts: Int32Array, position: number, from: number): number {
  let low = from;
  let high = starts.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}
