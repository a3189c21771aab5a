import { TokenHasher } from "../cold/filter/bloom.ts";
import { ByGroup, type HeldBytes } from "./by-group.ts";
import { Cardinality } from "./cardinality.ts";
import { HashSet } from "./hash-set.ts";
import { EXACT_LIMITS, type ValueTotal } from "./totals.ts";

/** Different values from which a sketch takes less memory than the set. */
const SKETCH_FROM = 2048;
/** Count of a group with a sketch: more than may be exact. */
const TOO_MANY = EXACT_LIMITS.group + 1;
/** Share of the set that may belong to groups with a sketch before it is moved there. */
const MOVED_SHARE = 0.25;
/** Values that are added between two shards that are moved. */
const VALUES_PER_MOVE = 1024;
/** Work units of adding or moving a hash. */
const HASH_WORK = 60;
const MERGE_PIECE = 4096;
/** Starts of the two halves of a hash. Parts of one answer need the same ones. */
const SEED_A = 0x2545f491;
const SEED_B = 0x61c88647;

export interface DistinctState {
  /** Different values by group; one more than may be exact for a group with a sketch. */
  counts: Float64Array;
  /** Group and hash of each value, three numbers each. */
  hashes: Int32Array;
  sketches: (readonly [group: number, registers: Uint8Array])[];
}

/** A hash of 64 bits: the chance that among a million values two have the same one is 1 in 36 million. */
export interface ValueHash {
  readonly a: number;
  readonly b: number;
}

const hasher = new TokenHasher();

/** Returns the hash of a value by its JSON text (bytes of UTF-8, one character each). Valid until the next call. */
export function hashOf(text: string): ValueHash {
  return hasher.reset(SEED_A, SEED_B).text(text).finish();
}

/** The different values of one field by group: a set of hashes while that is exact and small, and sketches beyond. */
export class Distinct {
  readonly #total: ValueTotal;
  readonly #held: HeldBytes;
  readonly #counts: ByGroup;
  readonly #set: HashSet;
  readonly #sketches = new Map<number, Cardinality>();
  /** Hashes in the set whose group has a sketch by now. */
  #toMove = 0;
  /** Shards that are still to be moved. */
  #shardsToMove = 0;
  #added = 0;

  /** @param random returns 32 random bits */
  constructor(held: HeldBytes, total: ValueTotal, random: () => number) {
    this.#held = held;
    this.#total = total;
    this.#counts = new ByGroup(held);
    this.#set = new HashSet(held, random);
  }

  add(group: number, { a, b }: ValueHash): void {
    const sketch = this.#sketches.get(group);
    if (sketch) sketch.add(a, b);
    else if (this.#set.add(group, a | 0, b | 0)) this.#counted(group);
    if (this.#shardsToMove > 0 && ++this.#added % VALUES_PER_MOVE === 0) this.#moveShard(--this.#shardsToMove);
  }

  /** Whether the count of a group is the number of its different values. */
  isExact(group: number): boolean {
    return this.#counts.get(group) <= this.#most;
  }

  /** Prepares `valueAt`. Nothing may be added afterwards. Yields work units between two pieces of work. */
  *finish(groups: number): Generator<number> {
    for (let group = 0; group < groups; group++) {
      if (!this.isExact(group) && !this.#sketches.has(group)) this.#makeSketch(group);
    }
    for (let shard = 0; this.#toMove > 0 && shard < HashSet.shards; shard++) {
      this.#moveShard(shard);
      yield (this.#set.size / HashSet.shards) * HASH_WORK;
    }
  }

  workOf(group: number): number {
    return this.#sketches.has(group) ? Cardinality.readWork : 1;
  }

  /** Returns the number of different values of a group after `finish`, an estimate unless it `isExact`. */
  valueAt(group: number): number {
    return this.#sketches.get(group)?.estimate() ?? this.#counts.get(group);
  }

  *merge({ hashes, sketches }: DistinctState, own: Int32Array): Generator<number> {
    for (const [other, registers] of sketches) {
      const group = own[other] ?? 0;
      (this.#sketches.get(group) ?? this.#makeSketch(group)).merge(registers);
      yield Cardinality.readWork;
    }
    for (let at = 0; at < hashes.length; at += 3) {
      this.add(own[hashes[at] ?? 0] ?? 0, { a: (hashes[at + 1] ?? 0) >>> 0, b: (hashes[at + 2] ?? 0) >>> 0 });
      if (at % MERGE_PIECE === 0) yield MERGE_PIECE * HASH_WORK;
    }
  }

  /** @param count number of groups */
  state(count: number): DistinctState {
    for (const _ of this.finish(count));
    const hashes = new Int32Array(this.#set.size * 3);
    let at = 0;
    this.#set.forEach((group, a, b) => {
      hashes[at++] = group;
      hashes[at++] = a;
      hashes[at++] = b;
    });
    const sketches = [...this.#sketches].map(([group, { registers }]) => [group, registers.slice()] as const);
    return { counts: this.#counts.copy(count), hashes, sketches };
  }

  /** Different values that a group may have in the set. */
  get #most(): number {
    return this.#total.isExceeded ? SKETCH_FROM : EXACT_LIMITS.group;
  }

  #counted(group: number): void {
    this.#counts.add(group, 1);
    this.#total.add(1);
    if (!this.isExact(group)) this.#makeSketch(group);
  }

  #makeSketch(group: number): Cardinality {
    const sketch = new Cardinality();
    this.#sketches.set(group, sketch);
    this.#held.add(Cardinality.bytes);
    const count = this.#counts.get(group);
    // All counts above the bound count alike, so that the total does not depend on when a sketch was made.
    this.#total.add(TOO_MANY - count);
    this.#counts.set(group, TOO_MANY);
    this.#toMove += count;
    if (this.#shardsToMove === 0 && this.#toMove > this.#set.size * MOVED_SHARE) this.#shardsToMove = HashSet.shards;
    return sketch;
  }

  /** Moves the hashes of a shard whose group has a sketch there. */
  #moveShard(shard: number): void {
    this.#set.retain(shard, (group, a, b) => {
      const sketch = this.#sketches.get(group);
      if (sketch === undefined) return true;
      sketch.add(a >>> 0, b >>> 0);
      this.#toMove--;
      return false;
    });
  }
}
