import { ByteCache } from "../platform/isolate-memory.ts";
import {
  type Bucket,
  type BucketCounts,
  bytesOf,
  GROUP_WORK,
  NO_BYTES,
  newBucket,
  packedBytesOf,
  release,
  repack,
  workOf,
  workOfGroup,
} from "./bucket.ts";
import type { Group } from "./group.ts";
import { indexGroups, PackedGroup, packGroups, unpackGroup } from "./pack.ts";
import type { Watch } from "./rule.ts";
import { cellsOfSteps } from "./window-steps.ts";

/** Where the buckets of a run are stored. */
export interface BucketStorage {
  read(bucket: number): Uint8Array;
  write(bucket: number, groups: Uint8Array, counts: BucketCounts): void;
  /** Removes a bucket and those after it. */
  removeFrom(bucket: number): void;
}

/** Groups, cells and bytes of a bucket on average: a row has some 10 KB, at most 64 KB, unless one group has more. */
const BUCKET_GROUPS = 48;
const BUCKET_CELLS = 8000;
const BUCKET_BYTES = 16 * 1024;
/** Bytes that the groups of a project hold, beside a bucket, before what has changed is written. */
const HELD_BYTES = 4 * 1024 * 1024;
/** Buckets that one call of `removeSome` removes. */
const REMOVED_AT_ONCE = 64;

/** What the buckets of several runs have open, and what they have cost. */
export interface BucketUse {
  /** Approximate bytes in memory. */
  held: number;
  /** Work units. */
  work: number;
  /** Writes what has changed, so that all of it can be freed. */
  save(): void;
}

/** Groups that are kept between steps, of all runs in the isolate. */
const cache = new ByteCache<Bucket>(4 * 1024 * 1024, release);
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
  /** Bytes of all buckets as they are stored. */
  #bytes = 0;
  readonly #use: BucketUse;
  /** Buckets that are open since the last call of `save`; they are not evicted. */
  readonly #open = new Set<Bucket>();
  #held = 0;

  /**
   * @param watch returns how the run decides now
   * @param base a time near those of the groups: when the run began, epoch milliseconds
   * @param seed of the hash, 32 random bits: clients choose the keys
   * @param storage `null`: all groups stay in memory
   * @param stored the buckets in order
   * @param use shared by the runs of a project; `null`: this run has its own
   */
  constructor(
    watch: () => Watch,
    base: number,
    seed: number,
    storage: BucketStorage | null = null,
    stored: readonly BucketCounts[] = [],
    use: BucketUse | null = null,
  ) {
    this.#watch = watch;
    this.#base = base;
    this.#seed = seed;
    this.#storage = storage;
    this.#use = use ?? { held: 0, work: 0, save: () => this.save() };
    this.#buckets = stored.map((counts, index) => {
      return { ...counts, index, groups: null, bytes: NO_BYTES, isChanged: false };
    });
    if (stored.length === 0) this.#buckets.push(newBucket(0));
    for (const { live, cells, size } of this.#buckets) {
      this.#size += live;
      this.#cells += cells;
      this.#bytes += size;
    }
  }

  /** Number of buckets, and bytes of all of them as they are stored, as of the last `save`. */
  get extent(): { buckets: number; bytes: number } {
    return { buckets: this.#buckets.length, bytes: this.#bytes };
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
    const bucket = this.#bucketOf(key);
    return this.#unpacked(bucket, this.#opened(bucket), key);
  }

  /** Adds a group, or records that it has changed. Call it after the change, before any other group is read. */
  set(group: Group): void {
    const bucket = this.#bucketOf(group.key);
    const groups = this.#opened(bucket);
    if (!groups.has(group.key)) {
      this.#size++;
      this.#hold(bytesOf(group));
    }
    groups.set(group.key, group);
    this.#changed(bucket);
    const count = this.#buckets.length;
    const isLarge = this.#cells > count * BUCKET_CELLS || this.#bytes > count * BUCKET_BYTES;
    if (this.#size > count * BUCKET_GROUPS || isLarge) this.#split();
  }

  delete({ key }: Pick<Group, "key">): void {
    const bucket = this.#bucketOf(key);
    if (!this.#opened(bucket).delete(key)) return;
    this.#changed(bucket);
    this.#size--;
  }

  /** Returns all groups, one bucket after the other. The caller may change and delete the one that it has got last. */
  all(): Generator<Group> {
    return this.#some(
      () => true,
      () => true,
    );
  }

  /** Returns the groups that are due at a step or before, as `all` does. */
  due(step: number): Generator<Group> {
    return this.#some(isDue, isDue);
    function isDue({ due }: Pick<BucketCounts, "due">): boolean {
      return due !== null && due <= step;
    }
  }

  /** Returns the groups that fire, as `all` does. */
  firing(): Generator<Group> {
    return this.#some(
      ({ firing }) => firing > 0,
      ({ status }) => status === "firing",
    );
  }

  *#some(hasAny: (bucket: BucketCounts) => boolean, isOne: (group: Group | PackedGroup) => boolean): Generator<Group> {
    // A split may move groups of a bucket that has not been visited to a new one, at the end.
    for (const bucket of this.#buckets) {
      if (!bucket.isChanged && !hasAny(bucket)) continue;
      const found = [...this.#opened(bucket)].flatMap(([key, group]) => (isOne(group) ? key : []));
      for (const key of found) {
        const group = this.get(key);
        if (group !== undefined) yield group;
      }
    }
  }

  /** Writes what has changed since the last call. */
  save(): void {
    for (const bucket of this.#open) {
      if (this.#storage === null) {
        if (bucket.isChanged) this.#count(bucket);
        bucket.isChanged = false;
        continue;
      }
      const groups = bucket.groups ?? new Map<string, Group | PackedGroup>();
      if (bucket.isChanged) this.#write(bucket, groups, this.#storage);
      // What was read of it is as packed again.
      else repack(bucket, this.#watch());
      const bytes = packedBytesOf(bucket);
      if (bytes > cache.capacity) release(bucket);
      else cache.set(bucket, bucket, bytes);
    }
    this.#open.clear();
    this.#use.held -= this.#held;
    this.#held = 0;
    if (this.#size > 0 || this.#buckets.length <= 1) return;
    this.#storage?.removeFrom(1);
    for (const bucket of this.#buckets.splice(1)) cache.delete(bucket);
    this.#bytes = this.#buckets[0]?.size ?? 0;
  }

  /** Frees the memory of groups that stay stored. Nothing may be called afterwards. */
  close(): void {
    for (const bucket of this.#buckets) cache.delete(bucket);
  }

  /**
   * Removes some buckets of a run that has ended, the last ones first. Afterwards its groups cannot be found by key.
   * @returns whether none is left
   */
  removeSome(): boolean {
    const from = Math.max(0, this.#buckets.length - REMOVED_AT_ONCE);
    this.#storage?.removeFrom(from);
    for (const bucket of this.#buckets.splice(from)) {
      this.#open.delete(bucket);
      this.#size -= bucket.groups?.size ?? bucket.live;
      this.#cells -= bucket.cells;
      this.#bytes -= bucket.size;
      this.#use.work += workOf(bucket.size);
      cache.delete(bucket);
      release(bucket);
    }
    return from === 0;
  }

  #opened(bucket: Bucket): Map<string, Group | PackedGroup> {
    if (bucket.groups !== null && this.#open.has(bucket)) return bucket.groups;
    if (this.#storage !== null && this.#use.held > HELD_BYTES) this.#use.save();
    // An open bucket must not be evicted before it is written.
    const { groups: kept, bytes } = bucket;
    cache.delete(bucket);
    bucket.bytes = bytes;
    bucket.groups = kept ?? this.#read(bucket);
    this.#open.add(bucket);
    this.#hold(packedBytesOf(bucket));
    return bucket.groups;
  }

  #read(bucket: Bucket): Map<string, PackedGroup> {
    if (bucket.live === 0 || this.#storage === null) return new Map();
    bucket.bytes = this.#storage.read(bucket.index);
    this.#use.work += workOf(bucket.bytes.length);
    return indexGroups(bucket.bytes, this.#watch().measure);
  }

  #unpacked(bucket: Bucket, groups: Map<string, Group | PackedGroup>, key: string): Group | undefined {
    const found = groups.get(key);
    if (!(found instanceof PackedGroup)) return found;
    const group = unpackGroup(bucket.bytes, found, this.#watch().measure, this.#base);
    groups.set(key, group);
    this.#use.work += workOfGroup(found);
    this.#hold(bytesOf(group));
    return group;
  }

  #hold(bytes: number): void {
    this.#held += bytes;
    this.#use.held += bytes;
  }

  /** What a change costs is that of writing the bucket. */
  #changed(bucket: Bucket): void {
    this.#use.work += GROUP_WORK;
    if (!bucket.isChanged) this.#use.work += workOf(bucket.size);
    bucket.isChanged = true;
  }

  #write(bucket: Bucket, groups: ReadonlyMap<string, Group | PackedGroup>, storage: BucketStorage): void {
    const { bytes, packed } = packGroups(groups, bucket.bytes, this.#watch().measure, this.#base);
    bucket.groups = packed;
    bucket.bytes = bytes;
    this.#bytes += bytes.length - bucket.size;
    bucket.size = bytes.length;
    this.#count(bucket);
    bucket.isChanged = false;
    const { live, pending, firing, cells, due, size } = bucket;
    storage.write(bucket.index, bytes, { live, pending, firing, cells, due, size });
  }

  #count(bucket: Bucket): void {
    const watch = this.#watch();
    const before = bucket.cells;
    const groups = bucket.groups ?? new Map<string, Group | PackedGroup>();
    Object.assign(bucket, { live: groups.size, pending: 0, firing: 0, cells: 0, due: null });
    for (const group of groups.values()) {
      if (group.status !== "ok") bucket[group.status]++;
      bucket.cells += group instanceof PackedGroup ? group.cells : cellsOfSteps(watch, group.steps);
      if (group.due !== null) bucket.due = Math.min(bucket.due ?? group.due, group.due);
    }
    this.#cells += bucket.cells - before;
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
    const moved = new Map<string, Group | PackedGroup>();
    into.groups = moved;
    for (const key of [...kept.keys()]) {
      if (this.#bucketOf(key) !== into) continue;
      // Packed ones are in the bytes of the other bucket.
      const group = this.#unpacked(from, kept, key);
      if (group !== undefined) moved.set(key, group);
      kept.delete(key);
    }
    this.#changed(from);
    this.#changed(into);
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
