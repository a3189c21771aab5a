import { bytePattern, tellingPart } from "./case-folding.ts";
import { foldCase } from "./fold-case.ts";
import { patternWork } from "./needles.ts";

/** Maximum bytes that one character of a pattern matches: an escape, `\u0001`. */
const CHARACTER_BYTES = 6;
/**
 * Maximum needle length for which `String.includes` is fast in any text. A longer one costs up to its length per
 * character.
 */
export const NATIVE_LENGTH = 128;

/** Matches the text of a number: `-12.5`, `1e+21`. */
const NUMERIC = /^[-+.e\d]+$/;

/**
 * Searches `search` in the strings, numbers and booleans of a line. A pattern of a part of it scans the bytes once and
 * finds the strings that may contain it; only those are decoded and lower-cased. Numbers are compared as stored: ingest
 * writes each as `JSON.stringify` does, however it was sent.
 */
export class TextSearch {
  /** Work units for each scanned byte of a line. */
  readonly byteWork: number;
  readonly isInTrue: boolean;
  readonly isInFalse: boolean;
  readonly #needle: string;
  readonly #pattern: RegExp;
  readonly #matchBytes: number;
  readonly #failures: Int32Array | null;
  readonly #isNumeric: boolean;
  #text = "";
  /** End of the first match that begins at `#from` or later. */
  #hit = -1;

  /** @param needle folded, not empty */
  constructor(needle: string) {
    const part = tellingPart(needle);
    this.byteWork = patternWork(part);
    this.isInTrue = "true".includes(needle);
    this.isInFalse = "false".includes(needle);
    this.#isNumeric = NUMERIC.test(needle);
    this.#needle = needle;
    this.#pattern = bytePattern(part);
    this.#matchBytes = part.length * CHARACTER_BYTES;
    this.#failures = needle.length > NATIVE_LENGTH ? failuresOf(needle) : null;
  }

  /** @param text bytes of whole lines, one character each */
  open(text: string): void {
    this.#text = text;
    this.#hit = -1;
  }

  /** Whether the string at a position may contain the needle. Call for strings and numbers from left to right. */
  mayBeIn(from: number, to: number): boolean {
    // Folded text never has more characters than its UTF-8 has bytes.
    if (to - from < this.#needle.length) return false;
    // The known match may begin before this string.
    if (this.#hit - this.#matchBytes < from) {
      this.#pattern.lastIndex = from;
      this.#hit = this.#pattern.test(this.#text) ? this.#pattern.lastIndex : Number.POSITIVE_INFINITY;
    }
    return this.#hit - this.#matchBytes < to;
  }

  /** Like `mayBeIn`, for a number. */
  mayBeInNumber(from: number, to: number): boolean {
    return this.#isNumeric && this.mayBeIn(from, to);
  }

  /** Whether the number at a position contains the needle. */
  isInNumber(from: number, to: number): boolean {
    return this.#text.slice(from, to).includes(this.#needle);
  }

  isIn(text: string): boolean {
    const folded = foldCase(text);
    return this.#failures === null ? folded.includes(this.#needle) : includesLong(folded, this.#needle, this.#failures);
  }
}

/** The failure function of Knuth, Morris and Pratt: for each index, the length of the longest border up to there. */
function failuresOf(needle: string): Int32Array {
  const failures = new Int32Array(needle.length);
  for (let at = 1, length = 0; at < needle.length; at++) {
    while (length > 0 && needle.charCodeAt(at) !== needle.charCodeAt(length)) length = failures[length - 1] ?? 0;
    if (needle.charCodeAt(at) === needle.charCodeAt(length)) length++;
    failures[at] = length;
  }
  return failures;
}

/** Makes at most two comparisons for each character of the text, however repetitive text and needle are. */
function includesLong(text: string, needle: string, failures: Int32Array): boolean {
  for (let at = 0, length = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (length > 0 && unit !== needle.charCodeAt(length)) length = failures[length - 1] ?? 0;
    if (unit === needle.charCodeAt(length) && ++length === needle.length) return true;
  }
  return false;
}
