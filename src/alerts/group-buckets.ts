import { ByteCache } from "../platform/isolate-memory.ts";
import type { Group } from "./group.ts";
import { packGroups, unpackGroups } from "./pack.ts";
import type { Watch } from "./rule.ts";
import { cellsOfSteps } from "./window-steps.ts";

/** Numbers of a bucket's groups that are known without reading it. */
export interface BucketCounts {
  live: number;
  pending: number;
  firing: number;
  /** See `ALERT_LIMITS.groupCells`. */
  cells: number;
  /** The earliest `Group.due`. */
  due: number | null;
}

/** Where the buckets of a run are stored. */
export interface BucketStorage {
  read(bucket: number): Uint8Array;
  write(bucket: number, groups: Uint8Array, counts: BucketCounts): void;
  /** Removes a bucket and those after it. */
  removeFrom(bucket: number): void;
}

interface Bucket extends BucketCounts {
  index: number;
  /** `null`: to be read. */
  groups: Map<string, Group> | null;
  isChanged: boolean;
}

/** Groups and cells of a bucket on average: a row has some 10 KB, at most 64 KB, unless one group has more. */
const BUCKET_GROUPS = 48;
const BUCKET_CELLS = 8000;
/** Approximate bytes in memory of a group, of a step, and of a number. */
const GROUP_BYTES = 400;
const STEP_BYTES = 100;
const NUMBER_BYTES = 8;
/** Bytes that one step of a project holds, beside a bucket, before it writes what has changed. */
const HELD_BYTES = 2 * 1024 * 1024;

/** Groups that are kept between steps, of all runs in the isolate. */
const cache = new ByteCache<Bucket>(4 * 1024 * 1024, (bucket) => {
  bucket.groups = null;
});

/**
 * The groups of a run, in buckets by the hash of their keys (linear hashing): a bucket is split when there are too many
 * groups, so that one insertion never moves more than one bucket. Buckets are read when a group of them is needed.
 */
export class GroupBuckets {
  readonly #watch: () => Watch;
  readonly #base: number;
  readonly #seed: number;
  readonly #storage: BucketStorage | null;
  #buckets: Bucket[] = [];
  #size = 0;
  #cells = 0;
  /** Buckets that are open since the last call of `save`; they are not evicted. */
  readonly #open = new Set<Bucket>();
  #held = 0;

  /**
   * @param watch returns how the run decides now
   * @param base a time near those of the groups: when the run began, epoch milliseconds
   * @param seed of the hash, 32 random bits: clients choose the keys
   * @param storage `null`: all groups stay in memory
   * @param stored the buckets in order
   */
  constructor(
    watch: () => Watch,
    base: number,
    seed: number,
    storage: BucketStorage | null = null,
    stored: readonly BucketCounts[] = [],
  ) {
    this.#watch = watch;
    this.#base = base;
    this.#seed = seed;
    this.#storage = storage;
    this.#buckets = stored.map((counts, index) => ({ ...counts, index, groups: null, isChanged: false }));
    if (stored.length === 0) this.#buckets.push(newBucket(0));
    for (const { live, cells } of this.#buckets) {
      this.#size += live;
      this.#cells += cells;
    }
  }

  get size(): number {
    return this.#size;
  }

  /** Values that all groups keep, as of the last `save`. */
  get cells(): number {
    return this.#cells;
  }

  /** Number of groups by status, after `save`. */
  counts(): Record<"live" | "pending" | "firing", number> {
    const sum = { live: 0, pending: 0, firing: 0 };
    for (const bucket of this.#buckets) {
      sum.live += bucket.live;
      sum.pending += bucket.pending;
      sum.firing += bucket.firing;
    }
    return sum;
  }

  /** Returns the earliest step for which a decision is due, after `save`; `null` if none is. */
  dueAt(): number | null {
    let next: number | null = null;
    for (const { due } of this.#buckets) if (due !== null && (next === null || due < next)) next = due;
    return next;
  }

  get(key: string): Group | undefined {
    return this.#opened(this.#bucketOf(key)).get(key);
  }

  /** Adds a group, or records that it has changed. Call it after the change, before any other group is read. */
  set(group: Group): void {
    const bucket = this.#bucketOf(group.key);
    const groups = this.#opened(bucket);
    if (!groups.has(group.key)) this.#size++;
    groups.set(group.key, group);
    bucket.isChanged = true;
    const count = this.#buckets.length;
    if (this.#size > count * BUCKET_GROUPS || this.#cells > count * BUCKET_CELLS) this.#split();
  }

  delete({ key }: Pick<Group, "key">): void {
    const bucket = this.#bucketOf(key);
    if (!this.#opened(bucket).delete(key)) return;
    bucket.isChanged = true;
    this.#size--;
  }

  /** Returns all groups, one bucket after the other. The caller may change and delete the one that it has got last. */
  *all(): Generator<Group> {
    for (const bucket of [...this.#buckets]) yield* [...this.#opened(bucket).values()];
  }

  /** Returns the groups that are due at a step or before, as `all` does. */
  *due(step: number): Generator<Group> {
    for (const bucket of [...this.#buckets]) {
      if (!bucket.isChanged && (bucket.due === null || bucket.due > step)) continue;
      for (const group of [...this.#opened(bucket).values()]) if (group.due !== null && group.due <= step) yield group;
    }
  }

  /** Returns the groups that fire, as `all` does. */
  *firing(): Generator<Group> {
    for (const bucket of [...this.#buckets]) {
      if (!bucket.isChanged && bucket.firing === 0) continue;
      for (const group of [...this.#opened(bucket).values()]) if (group.status === "firing") yield group;
    }
  }

  /** Writes what has changed since the last call. */
  save(): void {
    for (const bucket of this.#open) {
      if (bucket.isChanged) this.#write(bucket);
      if (this.#storage === null) continue;
      const bytes = bytesOf(bucket);
      if (bytes > cache.capacity) bucket.groups = null;
      else cache.set(bucket, bucket, bytes);
    }
    this.#open.clear();
    this.#held = 0;
    if (this.#size > 0 || this.#buckets.length === 1) return;
    this.#storage?.removeFrom(1);
    for (const bucket of this.#buckets.splice(1)) cache.delete(bucket);
  }

  /** Frees the memory of groups that stay stored. Nothing may be called afterwards. */
  close(): void {
    for (const bucket of this.#buckets) cache.delete(bucket);
  }

  #opened(bucket: Bucket): Map<string, Group> {
    if (bucket.groups !== null && this.#open.has(bucket)) return bucket.groups;
    if (this.#storage !== null && this.#held > HELD_BYTES) this.save();
    // An open bucket must not be evicted before it is written.
    const kept = bucket.groups;
    cache.delete(bucket);
    bucket.groups = kept ?? this.#read(bucket);
    this.#open.add(bucket);
    this.#held += bytesOf(bucket);
    return bucket.groups;
  }

  #read({ index, live }: Bucket): Map<string, Group> {
    if (live === 0 || this.#storage === null) return new Map();
    const groups = unpackGroups(this.#storage.read(index), this.#watch().measure, this.#base);
    return new Map(groups.map((group) => [group.key, group]));
  }

  #write(bucket: Bucket): void {
    const groups = [...(bucket.groups?.values() ?? [])];
    const watch = this.#watch();
    const before = bucket.cells;
    Object.assign(bucket, { live: groups.length, pending: 0, firing: 0, cells: 0, due: null });
    for (const group of groups) {
      if (group.status !== "ok") bucket[group.status]++;
      bucket.cells += cellsOfSteps(watch, group.steps);
      if (group.due !== null) bucket.due = Math.min(bucket.due ?? group.due, group.due);
    }
    this.#cells += bucket.cells - before;
    bucket.isChanged = false;
    const { live, pending, firing, cells, due } = bucket;
    const packed = () => packGroups(groups, watch.measure, this.#base);
    if (this.#storage !== null) this.#storage.write(bucket.index, packed(), { live, pending, firing, cells, due });
  }

  /** Moves half of the groups of the next bucket to a new one. */
  #split(): void {
    const count = this.#buckets.length;
    const from = this.#buckets[count - lowerPower(count)];
    if (from === undefined) return;
    const into = newBucket(count);
    const kept = this.#opened(from);
    this.#buckets.push(into);
    // Opening it as usual might close the other one.
    this.#open.add(into);
    const moved = new Map<string, Group>();
    into.groups = moved;
    for (const [key, group] of kept) {
      if (this.#bucketOf(key) !== into) continue;
      moved.set(key, group);
      kept.delete(key);
    }
    from.isChanged = true;
    into.isChanged = true;
  }

  #bucketOf(key: string): Bucket {
    const count = this.#buckets.length;
    const power = lowerPower(count);
    const hash = hashOf(key, this.#seed);
    const wide = hash % (power * 2);
    const bucket = this.#buckets[wide < count ? wide : hash % power];
    if (bucket === undefined) throw new RangeError("A key has no bucket.");
    return bucket;
  }
}

function newBucket(index: number): Bucket {
  return { index, live: 0, pending: 0, firing: 0, cells: 0, due: null, groups: new Map(), isChanged: false };
}

/** Returns the largest power of two that is not larger. */
function lowerPower(count: number): number {
  return 2 ** (31 - Math.clz32(count));
}

function hashOf(key: string, seed: number): number {
  let hash = seed | 0;
  for (let at = 0; at < key.length; at++) {
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x85ebca77);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash, 0xc2b2ae3d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

function bytesOf({ groups }: Bucket): number {
  let bytes = 0;
  for (const { key, steps } of groups?.values() ?? []) {
    bytes += GROUP_BYTES + key.length + steps.length * STEP_BYTES;
    for (const { part } of steps) bytes += (part?.numbers.length ?? 0) * NUMBER_BYTES;
  }
  return bytes;
}
