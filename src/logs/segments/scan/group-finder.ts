import type { Aggregator } from "../../aggregate/aggregator.ts";
import { NULL_ID } from "../../aggregate/groups.ts";
import { WORK, type WorkMeter } from "../../query/budget.ts";
import { MISSING } from "./field-codes.ts";
import { combined, type KeyCodes } from "./key-codes.ts";
import { idOfCode, type ValueIds } from "./value-ids.ts";

/** Group of a row that is left to its line. */
export const LEFT = -1;
/** Work units of finding a group. */
const GROUP_WORK = 300;

/** Finds the groups of rows by the codes of their keys. */
export class GroupFinder {
  readonly #aggregator: Aggregator;
  readonly #meter: WorkMeter;
  /** By key: the values of its field; `null` for a bin. */
  readonly #values: readonly (ValueIds | null)[];
  /** By key and by type of its values: number in the aggregator plus one, by the value's number; 0: not known. */
  readonly #known: { string: Int32Array; number: Int32Array }[] = [];
  readonly #ids: Int32Array;

  constructor(aggregator: Aggregator, meter: WorkMeter, values: readonly (ValueIds | null)[]) {
    this.#aggregator = aggregator;
    this.#meter = meter;
    this.#values = values;
    this.#ids = new Int32Array(values.length);
    this.#known = values.map(() => ({ string: new Int32Array(0), number: new Int32Array(0) }));
  }

  /**
   * Finds the group of each row.
   * @param groups by position; rows with `LEFT` keep it
   * @returns whether all have one; rows from the first without one on are `LEFT`
   */
  *find(keys: readonly KeyCodes[], groups: Int32Array): Generator<void, boolean> {
    const byCode = keys.map(({ count }) => new Int32Array(count).fill(-1));
    const combinations = combined(keys, groups.length);
    // The first group is as good as any for rows that are left.
    const known = new Int32Array(combinations?.count ?? 0).fill(-1);
    for (let at = 0; at < groups.length; at++) {
      if (groups[at] === LEFT) continue;
      const combination = combinations === null ? -1 : (combinations.of?.[at] ?? 0);
      let found = combination < 0 ? -1 : (known[combination] ?? -1);
      if (found < 0) {
        found = this.#groupAt(keys, byCode, at);
        if (found < 0) {
          groups.fill(LEFT, at);
          return false;
        }
        if (combination >= 0) known[combination] = found;
        if (this.#meter.isDue) yield;
      }
      groups[at] = found;
    }
    return true;
  }

  #groupAt(keys: readonly KeyCodes[], byCode: readonly Int32Array[], at: number): number {
    this.#meter.add(GROUP_WORK);
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index];
      const code = key === undefined ? MISSING : key.codes === null ? 0 : (key.codes[at] ?? MISSING);
      let id: number = NULL_ID;
      if (key !== undefined && code >= 0 && code < key.count) {
        const own = byCode[index];
        id = own?.[code] ?? -1;
        if (id < 0) {
          id = this.#idOf(index, key, code);
          if (own !== undefined) own[code] = id;
        }
      }
      this.#ids[index] = id;
    }
    return this.#aggregator.groups.groupOf(this.#ids);
  }

  /** Returns the number that a key's value has in the aggregator. */
  #idOf(index: number, key: KeyCodes, code: number): number {
    const { values } = key;
    const ids = values === null ? null : (this.#values[index]?.of(values) ?? null);
    const number = ids === null || values === null ? -1 : idOfCode(ids, values, code);
    this.#meter.add(WORK.columnValue);
    if (number < 0 || values === null) return this.#idOfText(index, key.textOf(code));
    const known = this.#tableOf(index, values.type, number);
    let id = (known[number] ?? 0) - 1;
    if (id < 0) {
      id = this.#idOfText(index, key.textOf(code));
      if (number < known.length) known[number] = id + 1;
    }
    return id;
  }

  #tableOf(index: number, type: "string" | "number", number: number): Int32Array {
    const tables = this.#known[index];
    const table = tables?.[type] ?? new Int32Array(0);
    if (number < table.length || tables === undefined) return table;
    const length = Math.max(1024, number * 2);
    if (this.#values[index]?.memory.take((length - table.length) * 4) !== true) return table;
    const grown = new Int32Array(length);
    grown.set(table);
    tables[type] = grown;
    return grown;
  }

  #idOfText(index: number, text: string): number {
    return this.#aggregator.groups.keys[index]?.idOf(text, (same) => same) ?? NULL_ID;
  }
}
