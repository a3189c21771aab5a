import {
  type Bucket,
  type BucketCounts,
  type BucketStorage,
  BucketUse,
  bytesOf,
  cache,
  countGroups,
  earliestDue,
  GROUP_WORK,
  type Groups,
  HELD_BYTES,
  isFiring,
  isMoreThan,
  keep,
  NO_BYTES,
  newBucket,
  packedBytesOf,
  placeOf,
  REMOVED_AT_ONCE,
  release,
  repack,
  splitAt,
  sumOf,
  workOf,
  workOfGroup,
} from "./bucket.ts";
import type { Group } from "./group.ts";
import { indexGroups, PackedGroup, packGroups, unpackGroup } from "./pack.ts";
import type { Watch } from "./rule.ts";

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
    this.#use = use ?? new BucketUse(() => this.save());
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
    return sumOf(this.#buckets);
  }

  /** Returns the earliest step for which a decision is due, after `save`; `null` if none is. */
  dueAt(): number | null {
    return earliestDue(this.#buckets);
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
      this.#use.unwritten += workOf(group.key.length);
    }
    groups.set(group.key, group);
    this.#changed(bucket);
    if (isMoreThan(this.#buckets.length, { live: this.#size, cells: this.#cells, size: this.#bytes })) this.#split();
  }

  delete({ key }: Pick<Group, "key">): void {
    const bucket = this.#bucketOf(key);
    if (!this.#opened(bucket).delete(key)) return;
    this.#changed(bucket);
    this.#size--;
  }

  /** Returns the groups that are due at a step or before, one bucket after the other. */
  due(step: number): Groups {
    const isDue = ({ due }: Pick<BucketCounts, "due">) => due !== null && due <= step;
    return this.#some(isDue, isDue);
  }

  /** Returns the groups that fire, one bucket after the other. */
  firing(): Groups {
    return this.#some(({ firing }) => firing > 0, isFiring);
  }

  /** Returns the groups of a bucket that fire. */
  *firingIn(index: number): Groups {
    const bucket = this.#buckets[index];
    if (bucket !== undefined && (bucket.isChanged || bucket.firing > 0)) yield* this.#someOf(bucket, isFiring);
  }

  *#some(hasAny: (bucket: BucketCounts) => boolean, isOne: (group: Group | PackedGroup) => boolean): Groups {
    // A split may move groups of a bucket that has not been visited to a new one, at the end.
    for (const bucket of this.#buckets) if (bucket.isChanged || hasAny(bucket)) yield* this.#someOf(bucket, isOne);
  }

  *#someOf(bucket: Bucket, isOne: (group: Group | PackedGroup) => boolean): Groups {
    this.#use.work += GROUP_WORK;
    const found = [...this.#opened(bucket)].flatMap(([key, group]) => (isOne(group) ? key : []));
    for (const key of found) {
      const group = this.get(key);
      if (group !== undefined) yield group;
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
      keep(bucket);
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
    if (this.#storage !== null && this.#use.held > HELD_BYTES) this.#use.makeRoom();
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

  #changed(bucket: Bucket): void {
    this.#use.work += GROUP_WORK;
    if (!bucket.isChanged) this.#use.unwritten += workOf(bucket.size);
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
    const before = bucket.cells;
    countGroups(bucket, this.#watch());
    this.#cells += bucket.cells - before;
  }

  /** Moves half of the groups of the next bucket to a new one. */
  #split(): void {
    const count = this.#buckets.length;
    const from = this.#buckets[splitAt(count)];
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
    const bucket = this.#buckets[placeOf(key, this.#seed, this.#buckets.length)];
    if (bucket === undefined) throw new RangeError("A key has no bucket.");
    return bucket;
  }
}
