import { detachBuffer } from "../../platform/isolate-memory.ts";
import { ByGroup, type HeldBytes } from "./by-group.ts";
import { Sketch, type SketchState, sketched } from "./sketch.ts";
import { EXACT_LIMITS, type ValueTotal } from "./totals.ts";

/** Values of one block of the list. */
const BLOCK_VALUES = 4096;
const BLOCK_BYTES = BLOCK_VALUES * 12;
/** Values from which a sketch takes less memory than a list, for values that are not spread on purpose. */
const SKETCH_FROM = 100;
/** Share of the list that may belong to groups with a sketch before it is moved there. */
const MOVED_SHARE = 0.25;
/** Values that are added between two blocks that are moved. */
const VALUES_PER_MOVE = 256;
/** Integers from 0 on that are counted each before they are added to a sketch, and groups in which they are. */
const COUNTED_INTEGERS = 4096;
const COUNTED_GROUPS = 64;
/** Work units: moving a value, and sorting it for each doubling of the list. */
const MOVE_WORK = 40;
const SORT_WORK = 4;

/** Values in the order in which they were added, with their groups. */
interface Block {
  groups: Int32Array;
  values: Float64Array;
  length: number;
}

export interface PercentileState {
  counts: Float64Array;
  groups: Int32Array;
  values: Float64Array;
  sketches: (readonly [group: number, sketch: SketchState])[];
}

/** The values of one field by group, as a list while that is exact and small, and as sketches beyond. */
export class Percentiles {
  readonly #total: ValueTotal;
  readonly #held: HeldBytes;
  readonly #counts: ByGroup;
  /** A queue: values that belong to sketches by now are moved there when their block comes to its front. */
  #blocks: Block[] = [];
  #listed = 0;
  readonly #sketches = new Map<number, Sketch>();
  /** Values in the list whose group has a sketch by now. */
  #toMove = 0;
  /** Blocks at the front of the queue that are still to be moved. */
  #blocksToMove = 0;
  /** Whether the list was moved because all groups together have too many values for it. */
  #isReduced = false;
  #added = 0;
  /** By group with a sketch: how often each small integer is still to be added to it. */
  readonly #integers: Uint32Array[] = [];
  #counted = 0;
  #sorted: SortedValues | null = null;

  constructor(held: HeldBytes, total: ValueTotal) {
    this.#held = held;
    this.#total = total;
    this.#counts = new ByGroup(held);
  }

  count(group: number): number {
    return this.#counts.get(group);
  }

  /** @param value finite */
  add(group: number, value: number): void {
    this.#total.add(1);
    this.#counts.add(group, 1);
    // The value is counted and not in the list yet.
    const sketch = this.#sketchOf(group, 1);
    if (sketch === null) this.#append(group, value);
    else sketch.add(value);
    this.#added++;
    if (!this.#isReduced && this.#total.isExceeded) {
      // Groups that get no further value would keep theirs in the list.
      this.#isReduced = true;
      this.#blocksToMove = this.#blocks.length;
    }
    if (this.#blocksToMove > 0 && this.#added % VALUES_PER_MOVE === 0) this.#moveBlock();
  }

  /**
   * Adds a column of values.
   * @param groups by value; a value with a negative group is left out
   * @param values finite, or NaN to be left out
   */
  addColumn(groups: Int32Array, values: Float64Array, from: number, to: number): void {
    let integers = 0;
    for (let at = from; at < to; at++) {
      const group = groups[at] ?? -1;
      const value = values[at] ?? Number.NaN;
      if (group < 0 || Number.isNaN(value)) continue;
      const counts = this.#integers[group];
      const integer = value | 0;
      if (counts !== undefined && integer === value && integer >= 0 && integer < COUNTED_INTEGERS) {
        counts[integer] = (counts[integer] ?? 0) + 1;
        this.#counts.add(group, 1);
        integers++;
      } else this.add(group, value + 0);
    }
    this.#total.add(integers);
  }

  /** Whether percentiles of a group are the values themselves. */
  isExact(group: number): boolean {
    return !this.#total.isExceeded && this.#counts.get(group) <= EXACT_LIMITS.group;
  }

  /** Prepares `valueAt`. Nothing may be added afterwards. Yields work units between two pieces of work. */
  *finish(groups: number): Generator<number> {
    yield* this.#addIntegers();
    for (let left = this.#blocks.length; left > 0; left--) {
      this.#moveBlock();
      yield BLOCK_VALUES * MOVE_WORK;
    }
    const sorted = new SortedValues(this.#counts, this.#sketches, groups);
    for (let block = this.#blocks.shift(); block; block = this.#blocks.shift()) {
      sorted.add(block);
      freeBlock(block);
      yield BLOCK_VALUES * MOVE_WORK;
    }
    this.#sorted = sorted;
  }

  /** Work units of the first call of `valueAt` for a group. */
  workOf(group: number): number {
    const count = this.#counts.get(group);
    return this.#sketches.has(group) ? Sketch.readWork : count * Math.log2(count + 1) * SORT_WORK;
  }

  /**
   * Returns the nearest-rank percentile of a group after `finish`; `null` if it has no values.
   * @param permille of values that are at most as large, 1 to 1,000
   */
  valueAt(group: number, permille: number): number | null {
    const count = this.#counts.get(group);
    if (count === 0) return null;
    const rank = Math.max(1, Math.ceil((count * permille) / 1000));
    const sketch = this.#sketches.get(group);
    if (sketch) return sketch.valueAt(rank);
    const value = this.#sorted?.valueAt(group, rank) ?? 0;
    return this.isExact(group) ? value : sketched(value);
  }

  *merge({ counts, groups, values, sketches }: PercentileState, own: Int32Array): Generator<number> {
    for (const [other, state] of sketches) {
      const group = own[other] ?? 0;
      const sketch = this.#sketches.get(group) ?? this.#makeSketch(group, this.#counts.get(group));
      sketch.merge(state);
      const count = counts[other] ?? 0;
      this.#counts.add(group, count);
      this.#total.add(count);
      yield Sketch.readWork;
    }
    const ownGroups = groups.map((group) => own[group] ?? 0);
    for (let at = 0; at < values.length; at += BLOCK_VALUES) {
      this.addColumn(ownGroups, values, at, Math.min(at + BLOCK_VALUES, values.length));
      yield BLOCK_VALUES * MOVE_WORK;
    }
  }

  /** @param count number of groups */
  state(count: number): PercentileState {
    for (const _ of this.#addIntegers());
    for (let left = this.#blocks.length; left > 0; left--) this.#moveBlock();
    const groups = new Int32Array(this.#listed);
    const values = new Float64Array(this.#listed);
    let at = 0;
    for (const block of this.#blocks) {
      groups.set(block.groups.subarray(0, block.length), at);
      values.set(block.values.subarray(0, block.length), at);
      at += block.length;
    }
    const sketches = [...this.#sketches].map(([group, sketch]) => [group, sketch.state()] as const);
    return { counts: this.#counts.copy(count), groups, values, sketches };
  }

  release(): void {
    for (const block of this.#blocks) freeBlock(block);
    this.#blocks = [];
  }

  /**
   * Returns the sketch of a group, which it creates if the group has become too large for the list.
   * @param unlisted values of the group that are counted and not in the list
   */
  #sketchOf(group: number, unlisted: number): Sketch | null {
    const known = this.#sketches.get(group);
    if (known) return known;
    const most = this.#total.isExceeded ? SKETCH_FROM : EXACT_LIMITS.group;
    const count = this.#counts.get(group);
    return count > most ? this.#makeSketch(group, count - unlisted) : null;
  }

  /** @param listed values of the group in the list */
  #makeSketch(group: number, listed: number): Sketch {
    const sketch = new Sketch(this.#held);
    this.#sketches.set(group, sketch);
    if (this.#counted < COUNTED_GROUPS) {
      this.#counted++;
      this.#integers[group] = new Uint32Array(COUNTED_INTEGERS);
      this.#held.add(COUNTED_INTEGERS * 4);
    }
    this.#toMove += listed;
    if (this.#blocksToMove === 0 && this.#toMove > this.#listed * MOVED_SHARE) this.#blocksToMove = this.#blocks.length;
    return sketch;
  }

  /** Adds the integers that were counted to their sketches. Yields work units between two groups. */
  *#addIntegers(): Generator<number> {
    for (const [group, sketch] of this.#sketches) {
      const counts = this.#integers[group];
      if (counts === undefined) continue;
      for (const [integer, count] of counts.entries()) if (count > 0) sketch.add(integer, count);
      counts.fill(0);
      yield COUNTED_INTEGERS * MOVE_WORK;
    }
  }

  #append(group: number, value: number): void {
    let block = this.#blocks.at(-1);
    if (block === undefined || block.length === BLOCK_VALUES) {
      block = { groups: new Int32Array(BLOCK_VALUES), values: new Float64Array(BLOCK_VALUES), length: 0 };
      this.#blocks.push(block);
      this.#held.add(BLOCK_BYTES);
    }
    block.groups[block.length] = group;
    block.values[block.length] = value;
    block.length++;
    this.#listed++;
  }

  /** Moves the values of the first block to the sketches of their groups, and the others to the end of the list. */
  #moveBlock(): void {
    const block = this.#blocks.shift();
    if (this.#blocksToMove > 0) this.#blocksToMove--;
    if (!block) return;
    this.#listed -= block.length;
    for (let at = 0; at < block.length; at++) {
      const group = block.groups[at] ?? 0;
      const value = block.values[at] ?? 0;
      // The values of a group without a sketch are all in the list.
      const sketch = this.#sketchOf(group, 0);
      if (sketch === null) this.#append(group, value);
      else {
        sketch.add(value);
        this.#toMove--;
      }
    }
    this.#held.add(-BLOCK_BYTES);
    freeBlock(block);
  }
}

function freeBlock({ groups, values }: Block): void {
  detachBuffer(new Uint8Array(groups.buffer));
  detachBuffer(new Uint8Array(values.buffer));
}

/** All values of a list, those of a group together. */
class SortedValues {
  readonly #starts: Float64Array;
  readonly #ends: Float64Array;
  readonly #values: Float64Array;
  readonly #isSorted = new Set<number>();

  constructor(counts: ByGroup, sketches: ReadonlyMap<number, unknown>, groups: number) {
    this.#starts = new Float64Array(groups);
    let at = 0;
    for (let group = 0; group < groups; group++) {
      this.#starts[group] = at;
      if (!sketches.has(group)) at += counts.get(group);
    }
    this.#ends = this.#starts.slice();
    this.#values = new Float64Array(at);
  }

  add({ groups, values, length }: Block): void {
    for (let at = 0; at < length; at++) {
      const group = groups[at] ?? 0;
      const end = this.#ends[group] ?? 0;
      this.#values[end] = values[at] ?? 0;
      this.#ends[group] = end + 1;
    }
  }

  /** @param rank from 1 */
  valueAt(group: number, rank: number): number {
    const start = this.#starts[group] ?? 0;
    const values = this.#values.subarray(start, this.#ends[group]);
    if (!this.#isSorted.has(group)) {
      values.sort();
      this.#isSorted.add(group);
    }
    return values[rank - 1] ?? 0;
  }
}
