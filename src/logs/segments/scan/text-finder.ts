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
  /** Lower case bytes of a part of the text, if all of it is ASCII, and how far a mismatch at a byte lets the scan skip. */
  readonly #part: Uint8Array | null;
  readonly #skips: Uint8Array;
  /** Whether the part is the whole text. */
  readonly #isWhole: boolean;

  /** @param needle folded, not empty */
  constructor(needle: string) {
    const part = tellingPart(needle);
    this.#needle = needle;
    this.#search = new TextSearch(needle);
    this.#pattern = bytePattern(part, toByteString);
    this.byteWork = this.#search.byteWork;
    this.#isWhole = part === needle;
    this.#part = ASCII.test(needle) ? Buffer.from(part, "latin1") : null;
    this.#skips = skipsOf(this.#part ?? new Uint8Array());
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
    const { bytes, offsets } = texts;
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (this.#part !== null && !ODD_CAPITALS.some((capital) => all.includes(capital))) {
      this.#findAscii(texts, this.#part, found);
      return;
    }
    const written = all.toString("latin1");
    const pattern = this.#pattern;
    let text = 0;
    for (let at = 0; at < written.length; ) {
      pattern.lastIndex = at;
      const match = pattern.exec(written);
      if (match === null) return;
      text = textAt(offsets, match.index, text);
      const textEnd = offsets[text + 1] ?? written.length;
      // A match may also run from one string into the next.
      if (pattern.lastIndex > textEnd) at = match.index + 1;
      else {
        if (this.#search.isIn(texts.at(text))) found(text);
        at = textEnd;
      }
    }
  }

  /** Finds the part by Horspool's method: the last byte of a window decides how far the window may move. */
  #findAscii(texts: Texts, part: Uint8Array, found: (index: number) => void): void {
    const { bytes, offsets } = texts;
    const skips = this.#skips;
    const last = part.length - 1;
    const end = bytes.length;
    const wanted = part[last] ?? 0;
    let text = 0;
    for (let at = last; at < end; ) {
      const byte = bytes[at] ?? 0;
      if ((FOLD[byte] ?? 0) === wanted) {
        let before = last - 1;
        while (before >= 0 && (FOLD[bytes[at - last + before] ?? 0] ?? 0) === part[before]) before--;
        if (before < 0) {
          const start = at - last;
          text = textAt(offsets, start, text);
          const textEnd = offsets[text + 1] ?? 0;
          if (at < textEnd) {
            if (this.#isWhole || this.#search.isIn(texts.at(text))) found(text);
            at = textEnd + last;
            continue;
          }
        }
      }
      at += skips[byte] ?? 1;
    }
  }
}

/** Lower case of each byte of ASCII. */
const FOLD = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));

function skipsOf(part: Uint8Array): Uint8Array {
  const skips = new Uint8Array(256).fill(part.length);
  for (let at = 0; at < part.length - 1; at++) {
    for (let byte = 0; byte < 256; byte++) if (FOLD[byte] === part[at]) skips[byte] = part.length - 1 - at;
  }
  return skips;
}

/**
 * Returns the index of the string that has the byte at a position.
 * @param from index of a string that begins there or before
 */
function textAt(offsets: Int32Array, position: number, from: number): number {
  let low = from;
  let high = offsets.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((offsets[middle] ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}
