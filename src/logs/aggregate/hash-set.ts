import { scaled } from "../cold/filter/bloom.ts";
import type { HeldBytes } from "./by-group.ts";

const SHARD_BITS = 5;
const SHARDS = 1 << SHARD_BITS;
/** Numbers of a slot: the group plus one (0: empty), and the two halves of a hash. */
const SLOT = 3;
const SLOT_BYTES = SLOT * 4;
const FIRST_CAPACITY = 32;
/** Share of a shard's slots that may be filled, and the growth beyond it. Memory counts more than speed here. */
const MAX_LOAD = 0.8;
const GROWTH = 1.25;

/** A part of the slots. It grows alone, so that growth never needs twice the memory of the whole set. */
interface Shard {
  slots: Int32Array;
  capacity: number;
  size: number;
}

/**
 * A set of hashes of 64 bits, each in a group. Its slots are chosen by random multipliers: clients choose the values,
 * and could otherwise choose many for the same slot.
 */
export class HashSet {
  readonly #shards: Shard[] = [];
  readonly #held: HeldBytes;
  readonly #factors: readonly [number, number, number];
  size = 0;

  /** @param random returns 32 random bits */
  constructor(held: HeldBytes, random: () => number) {
    this.#held = held;
    this.#factors = [random() | 1, random() | 1, random() | 1];
  }

  /** @returns whether the hash is new in its group */
  add(group: number, a: number, b: number): boolean {
    const position = this.#positionOf(group, a, b);
    const shard = this.#shardAt(position >>> (32 - SHARD_BITS));
    const at = slotOf(shard, position, group + 1, a, b);
    if (shard.slots[at] !== 0) return false;
    shard.slots[at] = group + 1;
    shard.slots[at + 1] = a;
    shard.slots[at + 2] = b;
    shard.size++;
    this.size++;
    if (shard.size > shard.capacity * MAX_LOAD) this.#rebuild(shard, Math.ceil(shard.capacity * GROWTH), () => true);
    return true;
  }

  /** Removes the hashes of a shard that are not kept. @param shard 0 to `HashSet.shards - 1` */
  retain(shard: number, keep: (group: number, a: number, b: number) => boolean): void {
    const found = this.#shards[shard];
    if (found) this.#rebuild(found, found.capacity, keep);
  }

  static readonly shards = SHARDS;

  forEach(visit: (group: number, a: number, b: number) => void): void {
    for (const { slots } of this.#shards) {
      for (let at = 0; at < slots.length; at += SLOT) {
        const group = slots[at] ?? 0;
        if (group !== 0) visit(group - 1, slots[at + 1] ?? 0, slots[at + 2] ?? 0);
      }
    }
  }

  #positionOf(group: number, a: number, b: number): number {
    const [first, second, third] = this.#factors;
    return (Math.imul(a, first) + Math.imul(b, second) + Math.imul(group, third)) >>> 0;
  }

  #shardAt(index: number): Shard {
    while (this.#shards.length <= index) {
      this.#shards.push({ slots: new Int32Array(FIRST_CAPACITY * SLOT), capacity: FIRST_CAPACITY, size: 0 });
      this.#held.add(FIRST_CAPACITY * SLOT_BYTES);
    }
    // The loop has created the shard.
    return this.#shards[index] ?? { slots: new Int32Array(SLOT), capacity: 1, size: 0 };
  }

  #rebuild(shard: Shard, capacity: number, keep: (group: number, a: number, b: number) => boolean): void {
    const { slots } = shard;
    this.#held.add((capacity - shard.capacity) * SLOT_BYTES);
    this.size -= shard.size;
    shard.slots = new Int32Array(capacity * SLOT);
    shard.capacity = capacity;
    shard.size = 0;
    for (let at = 0; at < slots.length; at += SLOT) {
      const group = slots[at] ?? 0;
      const a = slots[at + 1] ?? 0;
      const b = slots[at + 2] ?? 0;
      if (group === 0 || !keep(group - 1, a, b)) continue;
      const to = slotOf(shard, this.#positionOf(group - 1, a, b), group, a, b);
      shard.slots[to] = group;
      shard.slots[to + 1] = a;
      shard.slots[to + 2] = b;
      shard.size++;
    }
    this.size += shard.size;
  }
}

/** Returns the index of the slot that has the hash, or of the empty one where it belongs. */
function slotOf({ slots, capacity }: Shard, position: number, group: number, a: number, b: number): number {
  let at = scaled((position << SHARD_BITS) >>> 0, capacity) * SLOT;
  while (slots[at] !== 0 && !(slots[at] === group && slots[at + 1] === a && slots[at + 2] === b)) {
    at += SLOT;
    if (at === slots.length) at = 0;
  }
  return at;
}
