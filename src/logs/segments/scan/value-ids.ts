import { ByteDictionary, type CacheMemory } from "./byte-dictionary.ts";
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

/** Returns the number of a code's value; -1 if it has none. */
export function idOfCode(ids: ByteDictionary, { bytes, rows }: CodedValues, code: number): number {
  return ids.idOf(bytes, rows === null ? code : (rows[code] ?? 0));
}
