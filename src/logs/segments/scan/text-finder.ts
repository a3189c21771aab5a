import { bytePattern, tellingPart, toByteString } from "../../query/case-folding.ts";
import { NATIVE_LENGTH, TextSearch } from "../../query/text-search.ts";
import type { Texts } from "../decode/column-values.ts";
import {
  asciiPattern,
  CasedMatches,
  hasOddCapital,
  isPartAt,
  type Matches,
  PatternMatches,
  RareByteMatches,
  rareByteOf,
} from "./text-matches.ts";

/** Matches the characters of a number: `-12.5`, `1e+21`. */
const NUMERIC = /^[-+.e\d]+$/;
const ASCII = /^[\0-\x7f]+$/;

/** Finds the strings of a column that contain a text, mostly without case, as `search` does in lines. */
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
  /** A part of the text in its own case, bytes of UTF-8, one character each; "" if the case does not matter. */
  readonly #cased: string = "";

  /** @param literal folded; "" if there is none @param cased see the constructor @returns `null` if there is none */
  static of(literal: string, cased = ""): TextFinder | null {
    return literal === "" ? null : new TextFinder(literal, cased);
  }

  /**
   * @param needle folded, not empty
   * @param cased the text in its case: then at least the strings that contain it so are found, and faster; "" if the case does
   *   not matter
   */
  constructor(needle: string, cased = "") {
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
    // Half of a surrogate pair has no bytes of its own.
    if (cased.isWellFormed()) this.#cased = toByteString(cased.length <= NATIVE_LENGTH ? cased : tellingPart(cased));
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

  /** Calls `found` for each string that contains the text, in rising order. @param all `byteText` of the bytes, which several finders share */
  find(texts: Texts, found: (index: number) => void, all = byteText(texts.bytes)): void {
    const { bytes, starts } = texts;
    const matches = this.matchesIn(bytes, all);
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
    if (this.#cased !== "") return true;
    if (matches.isExact && this.#part !== null) {
      if (this.#isWhole) return true;
      // Mostly the text is around its part.
      const from = matches.end - this.#part.length - this.#partAt;
      if (from >= start && from + this.#whole.length <= end && isPartAt(matches.text, this.#whole, from)) return true;
    }
    const { buffer, byteOffset } = bytes;
    return this.#search.isIn(Buffer.from(buffer, byteOffset + start, end - start).toString("utf8"));
  }

  /** Begins a scan. Chooses how the part is found: a byte that is rare there is found many bytes at a time. */
  matchesIn(bytes: Uint8Array, all = byteText(bytes)): Matches {
    if (this.#cased !== "") return new CasedMatches(all, this.#cased);
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

/**
 * Returns bytes as a string, one character each. V8 searches strings. A search of bytes is a call of workerd, which takes ten
 * times as long.
 */
export function byteText({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("latin1");
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
