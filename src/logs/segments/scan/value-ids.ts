import { ByteDictionary, type CacheMemory, grown } from "./byte-dictionary.ts";
import type { CodedValues } from "./key-codes.ts";

/** Numbers the values of one field over all row groups of a query: strings and numbers apart. */
export class ValueIds {
  readonly memory: CacheMemory;
  readonly #byType: { string?: ByteDictionary | null; number?: ByteDictionary | null } = {};

  constructor(memory: CacheMemory) {
    this.memory = memory;
  }

  /** Returns the dictionary of the values of a type; `null` if there is no memory for one. */
  of({ type }: CodedValues): ByteDictionary | null {
    this.#byType[type] ??= ByteDictionary.create(this.memory);
    return this.#byType[type] ?? null;
  }
}

/** The numbers of the values of one field in one row group. */
export class CodeIds {
  readonly dictionary: ByteDictionary;
  readonly #values: CodedValues;
  /** By code: number plus two, 0 if it was not looked up. `null` if most codes are looked up once. */
  readonly #known: Int32Array | null;

  /**
   * @param count codes
   * @param rows among which they are
   */
  constructor(dictionary: ByteDictionary, values: CodedValues, count: number, rows: number) {
    this.dictionary = dictionary;
    this.#values = values;
    this.#known = count < rows ? new Int32Array(count) : null;
  }

  /** Returns the number of a code's value; -1 if it has none. */
  of(code: number): number {
    const { bytes, rows } = this.#values;
    const index = rows === null ? code : (rows[code] ?? 0);
    if (this.#known === null) return this.dictionary.idOf(bytes, index);
    const known = this.#known[code] ?? 0;
    if (known !== 0) return known - 2;
    const id = this.dictionary.idOf(bytes, index);
    this.#known[code] = id + 2;
    return id;
  }
}

/** Returns the number of a code's value; -1 if it has none. */
export function idOfCode(ids: ByteDictionary, { bytes, rows }: CodedValues, code: number): number {
  return ids.idOf(bytes, rows === null ? code : (rows[code] ?? 0));
}

/** Words of the bits of a group at first. */
const FIRST_WORDS = 64;

/** Remembers which numbered strings a group has had. */
export class SeenStrings {
  readonly #memory: CacheMemory;
  /** By group. */
  readonly #words: Int32Array[] = [];

  constructor(memory: CacheMemory) {
    this.#memory = memory;
  }

  /** @returns whether the string is certainly not the first of its kind in the group */
  has(group: number, id: number): boolean {
    let words = this.#words[group];
    const at = id >> 5;
    if (words === undefined || at >= words.length) {
      const larger = this.#grow(words, at);
      if (larger === null) return false;
      this.#words[group] = larger;
      words = larger;
    }
    const word = words[at] ?? 0;
    const bit = 1 << (id & 31);
    if ((word & bit) !== 0) return true;
    words[at] = word | bit;
    return false;
  }

  #grow(words: Int32Array | undefined, at: number): Int32Array | null {
    const length = words?.length ?? 0;
    const wanted = Math.max(FIRST_WORDS, 2 ** Math.ceil(Math.log2(at + 1)));
    if (!this.#memory.take((wanted - length) * 4)) return null;
    return grown(words ?? new Int32Array(0), new Int32Array(wanted));
  }
}
