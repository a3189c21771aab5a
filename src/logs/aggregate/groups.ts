import { scaled } from "../cold/filter/bloom.ts";
import { ByGroup, type HeldBytes } from "./by-group.ts";
import type { Copy } from "./values.ts";

/** Groups that one request may have. More of them end its scan. */
export const MAX_GROUPS = 100_000;

const NULL_TEXT = "null";
/** Approximate bytes of a key value without its text. */
const VALUE_BYTES = 96;
/** Bytes of a pair in a table that is half full, and of a group's place among the ids of a key. */
const PAIR_BYTES = 24;
const ID_BYTES = 8;

/** The values of one key, each with a number. */
export class KeyValues {
  /** Whether values count as null because there are too many. */
  isCut = false;
  readonly #held: HeldBytes;
  #max: number;
  /** JSON texts by number. Bytes of UTF-8, one character each. The first one is null. */
  readonly texts: string[] = [NULL_TEXT];
  readonly #ids = new Map<string, number>([[NULL_TEXT, 0]]);

  /** @param max numbers; further values count as null */
  constructor(held: HeldBytes, max: number) {
    this.#held = held;
    this.#max = max;
  }

  /** Makes all further values count as null. */
  close(): void {
    this.#max = 0;
  }

  /**
   * Returns the number of a value; -1 if it cannot be copied.
   * @param text JSON
   * @param copy called if the value is new; `null` if it is damaged
   */
  idOf(text: string, copy: Copy): number {
    const known = this.#ids.get(text);
    if (known !== undefined) return known;
    if (this.texts.length >= this.#max) {
      this.isCut = true;
      return NULL_ID;
    }
    const own = copy(text);
    if (own === null) return -1;
    const again = own === text ? undefined : this.#ids.get(own);
    if (again !== undefined) return again;
    const id = this.texts.push(own) - 1;
    this.#ids.set(own, id);
    this.#held.add(VALUE_BYTES + own.length);
    return id;
  }
}

/** Number of the value that a key has for an entry without it. */
export const NULL_ID = 0;

/**
 * Numbers the groups by their keys' values. A group is found by pairs: the first two keys' values have a number, which
 * with the third key's value has a number, and so on.
 */
export class Groups {
  readonly keys: readonly KeyValues[];
  readonly #held: HeldBytes;
  /** Group of each value of the only key; -1 if there is none. */
  readonly #single: ByGroup;
  readonly #pairs: readonly PairNumbers[];
  /** Numbers of the values of each group, all keys of a group together. */
  readonly #ids: number[] = [];
  #count = 0;

  /**
   * @param random returns 32 random bits
   * @param maxValues of each key; further ones count as null
   */
  constructor(keys: number, held: HeldBytes, random: () => number, maxValues = Number.POSITIVE_INFINITY) {
    this.keys = Array.from({ length: keys }, () => new KeyValues(held, maxValues));
    this.#held = held;
    this.#single = new ByGroup(held, -1);
    this.#pairs = Array.from({ length: Math.max(0, keys - 1) }, () => new PairNumbers(held, random));
  }

  /** Number of groups. */
  get count(): number {
    return this.#count;
  }

  /** Returns the group of an entry; -1 if it would be one too many. @param ids by key */
  groupOf(ids: ArrayLike<number>): number {
    const known = this.#find(ids);
    if (known >= 0 || this.#count === MAX_GROUPS) return known;
    return this.#add(ids);
  }

  /** Returns the number of a key's value in a group. */
  idAt(group: number, key: number): number {
    return this.#ids[group * this.keys.length + key] ?? NULL_ID;
  }

  textAt(group: number, key: number): string {
    return this.keys[key]?.texts[this.idAt(group, key)] ?? NULL_TEXT;
  }

  #find(ids: ArrayLike<number>): number {
    if (this.keys.length === 0) return this.#count - 1;
    const first = ids[0] ?? NULL_ID;
    if (this.keys.length === 1) return this.#single.get(first);
    let number = first;
    for (let at = 0; at < this.#pairs.length; at++) {
      number = this.#pairs[at]?.find(number, ids[at + 1] ?? NULL_ID) ?? -1;
      if (number < 0) return -1;
    }
    return number;
  }

  #add(ids: ArrayLike<number>): number {
    const group = this.#count++;
    for (let key = 0; key < this.keys.length; key++) this.#ids.push(ids[key] ?? NULL_ID);
    this.#held.add(this.keys.length * ID_BYTES);
    let number = ids[0] ?? NULL_ID;
    if (this.keys.length === 1) this.#single.set(number, group);
    // The last pair is new, and its number is the number of all pairs before it: the group.
    for (const [at, pairs] of this.#pairs.entries()) number = pairs.idOf(number, ids[at + 1] ?? NULL_ID);
    return group;
  }
}

const SLOT = 3;
const FIRST_CAPACITY = 16;

/** Numbers pairs of numbers, from 0. Clients choose the pairs, so slots are chosen by random multipliers. */
class PairNumbers {
  readonly #held: HeldBytes;
  readonly #factors: readonly [number, number];
  /** For each slot the first number plus one (0: empty), the second, and the pair's number. */
  #slots = new Int32Array(FIRST_CAPACITY * SLOT);
  #capacity = FIRST_CAPACITY;
  #count = 0;

  constructor(held: HeldBytes, random: () => number) {
    this.#held = held;
    this.#factors = [random() | 1, random() | 1];
  }

  /** Returns -1 if the pair has no number. */
  find(a: number, b: number): number {
    const at = this.#slotOf(a, b);
    return this.#slots[at] === 0 ? -1 : (this.#slots[at + 2] ?? -1);
  }

  idOf(a: number, b: number): number {
    const at = this.#slotOf(a, b);
    if (this.#slots[at] !== 0) return this.#slots[at + 2] ?? -1;
    this.#set(at, a, b, this.#count);
    this.#held.add(PAIR_BYTES);
    if (++this.#count * 2 > this.#capacity) this.#grow();
    return this.#count - 1;
  }

  #set(at: number, a: number, b: number, number: number): void {
    this.#slots[at] = a + 1;
    this.#slots[at + 1] = b;
    this.#slots[at + 2] = number;
  }

  #slotOf(a: number, b: number): number {
    const [first, second] = this.#factors;
    let at = scaled((Math.imul(a + 1, first) + Math.imul(b + 1, second)) >>> 0, this.#capacity) * SLOT;
    while (this.#slots[at] !== 0 && !(this.#slots[at] === a + 1 && this.#slots[at + 1] === b)) {
      at += SLOT;
      if (at === this.#slots.length) at = 0;
    }
    return at;
  }

  #grow(): void {
    const before = this.#slots;
    this.#capacity *= 2;
    this.#slots = new Int32Array(this.#capacity * SLOT);
    for (let at = 0; at < before.length; at += SLOT) {
      const a = (before[at] ?? 0) - 1;
      const b = before[at + 1] ?? 0;
      if (a >= 0) this.#set(this.#slotOf(a, b), a, b, before[at + 2] ?? 0);
    }
  }
}
