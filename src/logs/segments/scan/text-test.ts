import { WORK } from "../../query/budget.ts";
import type { Texts } from "../decode/column-values.ts";
import { EqualStrings, isEqual } from "./page-scan.ts";

const encoder = new TextEncoder();

/** Wanted strings of one length that are compared by bytes. A string is decoded if more have its length. */
const MOST_COMPARED = 4;

/** A test of strings in columns. */
export class TextTest {
  /** Wanted strings; `null` if `#passes` decides. */
  readonly #listed: ReadonlySet<string> | null;
  /** Wanted strings by their length in UTF-8. */
  readonly #byLength: ReadonlyMap<number, readonly Uint8Array[]>;
  readonly #passes: ((text: string) => boolean) | null;
  /** Finds the only wanted string in pages; `null` if several are wanted. */
  readonly inPages: EqualStrings | null;
  /** The only wanted string, UTF-8. */
  readonly #only: Uint8Array | null;
  /** The first and the last of the wanted strings by bytes. */
  readonly #first: Uint8Array | null = null;
  readonly #last: Uint8Array | null = null;
  /** Work units of testing a string, beside those of a row. */
  readonly valueWork: number;

  private constructor(listed: readonly string[] | null, passes: ((text: string) => boolean) | null) {
    this.#listed = listed && new Set(listed);
    this.#passes = passes;
    const bytes = listed?.map((text) => encoder.encode(text)).sort(Buffer.compare) ?? [];
    this.#only = this.#listed?.size === 1 ? (bytes[0] ?? null) : null;
    this.inPages = this.#only && new EqualStrings(this.#only);
    this.#first = bytes[0] ?? null;
    this.#last = bytes.at(-1) ?? null;
    this.#byLength = Map.groupBy(bytes, ({ length }) => length);
    const isDecoded = passes !== null || [...this.#byLength.values()].some(({ length }) => length > MOST_COMPARED);
    this.valueWork = isDecoded ? WORK.text : bytes.length > 1 ? WORK.columnValue : 0;
  }

  /** Holds for every string. */
  static readonly every = new TextTest(null, null);

  /** Holds for the strings of a list. A column has no lone surrogate. @returns `null` if no string of a column holds */
  static listed(texts: readonly string[]): TextTest | null {
    const wellFormed = texts.filter((text) => text.isWellFormed());
    return wellFormed.length === 0 ? null : new TextTest(wellFormed, null);
  }

  static ordered(passes: (text: string) => boolean): TextTest {
    return new TextTest(null, passes);
  }

  get holdsForAll(): boolean {
    return this.#listed === null && this.#passes === null;
  }

  /** Whether a string between two, by bytes, may hold. */
  mayHold(min: Uint8Array, max: Uint8Array): boolean {
    if (this.#first === null || this.#last === null) return true;
    return Buffer.compare(this.#last, min) >= 0 && Buffer.compare(this.#first, max) <= 0;
  }

  holds(texts: Texts, index: number): boolean {
    const only = this.#only;
    if (only !== null) return isEqual(texts, index, only);
    if (this.#listed !== null) {
      const wanted = this.#byLength.get(texts.endOf(index) - texts.startOf(index));
      if (wanted === undefined) return false;
      if (wanted.length > MOST_COMPARED) return this.#listed.has(texts.at(index));
      return wanted.some((bytes) => isEqual(texts, index, bytes));
    }
    return this.#passes === null || this.#passes(texts.at(index));
  }
}
