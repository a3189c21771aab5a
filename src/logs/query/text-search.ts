import { bytePattern, tellingPart } from "./case-folding.ts";
import { foldCase } from "./filter.ts";
import { patternWork } from "./needles.ts";

/** Bytes that one character of a pattern matches at most: an escape, `\u0001`. */
const CHARACTER_BYTES = 6;
/** Up to this length `String.includes` is quick in any text; a longer needle costs up to its length for each character. */
const NATIVE_LENGTH = 128;

/** What the text of a number may hold: `-12.5`, `1e+21`. */
const NUMERIC = /^[-+.e\d]+$/;

/**
 * Looks for `search` in the strings, numbers and booleans of a line. Which of them may hold it is told by the pattern of a
 * part of it, which goes through the bytes once; only such strings are decoded and lower-cased. Numbers are compared as they
 * are stored: ingest writes each as `JSON.stringify` does, however it was sent.
 */
export class TextSearch {
  /** Units of work for each byte of a line that it goes over. */
  readonly byteWork: number;
  readonly isInTrue: boolean;
  readonly isInFalse: boolean;
  readonly #needle: string;
  readonly #pattern: RegExp;
  readonly #matchBytes: number;
  readonly #failures: Int32Array | null;
  readonly #isNumeric: boolean;
  #text = "";
  /** Behind the first match that begins at `#from` or later. */
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

  /** Whether the string that stands there may hold the needle. Strings and numbers are asked for from left to right. */
  mayBeIn(from: number, to: number): boolean {
    // In UTF-8 no folded text has more characters than bytes.
    if (to - from < this.#needle.length) return false;
    // The match known may begin before this string.
    if (this.#hit - this.#matchBytes < from) {
      this.#pattern.lastIndex = from;
      this.#hit = this.#pattern.test(this.#text) ? this.#pattern.lastIndex : Number.POSITIVE_INFINITY;
    }
    return this.#hit - this.#matchBytes < to;
  }

  /** The same for the number that stands there. */
  mayBeInNumber(from: number, to: number): boolean {
    return this.#isNumeric && this.mayBeIn(from, to);
  }

  /** Whether the number that stands there holds the needle. */
  isInNumber(from: number, to: number): boolean {
    return this.#text.slice(from, to).includes(this.#needle);
  }

  isIn(text: string): boolean {
    const folded = foldCase(text);
    return this.#failures === null ? folded.includes(this.#needle) : includesLong(folded, this.#needle, this.#failures);
  }
}

/** Of Knuth, Morris and Pratt: for each place the length of the longest border of the needle up to there. */
function failuresOf(needle: string): Int32Array {
  const failures = new Int32Array(needle.length);
  for (let at = 1, length = 0; at < needle.length; at++) {
    while (length > 0 && needle.charCodeAt(at) !== needle.charCodeAt(length)) length = failures[length - 1] ?? 0;
    if (needle.charCodeAt(at) === needle.charCodeAt(length)) length++;
    failures[at] = length;
  }
  return failures;
}

/** At most two comparisons for each character of the text, however text and needle repeat themselves. */
function includesLong(text: string, needle: string, failures: Int32Array): boolean {
  for (let at = 0, length = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (length > 0 && unit !== needle.charCodeAt(length)) length = failures[length - 1] ?? 0;
    if (unit === needle.charCodeAt(length) && ++length === needle.length) return true;
  }
  return false;
}
