import { ByteCache } from "../platform/isolate-memory.ts";
import type { Group } from "./group.ts";
import { indexGroups, PackedGroup } from "./pack.ts";
import type { Watch } from "./rule.ts";
import { cellsOfSteps } from "./window-steps.ts";

/** Some groups of a run, which are read and written together, and what that costs. */

/** Numbers of a bucket's groups that are known without reading it. */
export interface BucketCounts {
  live: number;
  pending: number;
  firing: number;
  /** See `ALERT_LIMITS.groupCells`. */
  cells: number;
  /** The earliest `Group.due`. */
  due: number | null;
  /** Bytes as it is stored. */
  size: number;
}

export interface Bucket extends BucketCounts {
  index: number;
  /** By key; a group stays packed until it is needed. `null`: to be read. */
  groups: Map<string, Group | PackedGroup> | null;
  /** Where the packed ones are. */
  bytes: Uint8Array;
  isChanged: boolean;
}

/** Groups one after the other. The caller may change and delete the one that it has got last. */
export type Groups = Generator<Group, undefined>;

export const isFiring = ({ status }: Pick<Group, "status">) => status === "firing";

/** Where the buckets of a run are stored. */
export interface BucketStorage {
  read(bucket: number): Uint8Array;
  write(bucket: number, groups: Uint8Array, counts: BucketCounts): void;
  /** Removes a bucket and those after it. */
  removeFrom(bucket: number): void;
}

/** What a run has left out. */
export interface LeftOut {
  /** Entries whose group had no room. */
  overflow: number;
  /** Entries that were received after a window with their time was decided. */
  late: number;
}

/** What is stored of a run. */
export interface StoredRun extends LeftOut {
  seed: number;
  storage: BucketStorage | null;
  buckets: readonly BucketCounts[];
  changedMutes: ChangedMutes | null;
}

/** A change of mutes after which not all groups that fire were checked. */
export interface ChangedMutes {
  /** The next bucket to check. */
  from: number;
  /** When they were changed, epoch milliseconds. */
  at: number;
}

/** Bytes that the groups of a project hold, beside a bucket, before what has changed is written. */
export const HELD_BYTES = 4 * 1024 * 1024;
/** Buckets that one turn removes of a run that is over. */
export const REMOVED_AT_ONCE = 64;

/** Groups, cells and bytes of a bucket on average: a row has some 10 KB, at most 64 KB, unless one group has more. */
const BUCKET_GROUPS = 48;
const BUCKET_CELLS = 8000;
const BUCKET_BYTES = 16 * 1024;
/** Approximate bytes in memory of a group, of a packed one, of a step, and of a number. */
const GROUP_BYTES = 400;
const PACKED_BYTES = 150;
const STEP_BYTES = 100;
const NUMBER_BYTES = 8;
const KIB = 1024;
/** Work units, about a microsecond of a slow thread each: of reading or writing a bucket, of a KiB of it, and of a group. */
const BUCKET_WORK = 40;
const KIB_WORK = 12;
export const GROUP_WORK = 5;
/** Hits of groups that a part has in any case, and at most. */
const HITS = { least: 50, most: 1000 };
/** Work units of a hit whose bucket is open: new groups split buckets. */
const OPEN_HIT_WORK = 15;

export const NO_BYTES = new Uint8Array();

export function newBucket(index: number): Bucket {
  const counts = { live: 0, pending: 0, firing: 0, cells: 0, due: null, size: 0 };
  return { ...counts, index, groups: new Map(), bytes: NO_BYTES, isChanged: false };
}

/** Groups that are kept between steps, of all runs in the isolate. */
export const cache = new ByteCache<Bucket>(4 * 1024 * 1024, release);

/** Keeps the groups of a bucket that is written, as far as there is room. */
export function keep(bucket: Bucket): void {
  const bytes = packedBytesOf(bucket);
  if (bytes > cache.capacity) release(bucket);
  else cache.set(bucket, bucket, bytes);
}

export function release(bucket: Bucket): void {
  bucket.groups = null;
  bucket.bytes = NO_BYTES;
}

/** Packs what was read of a bucket that has not changed. */
export function repack(bucket: Bucket, { measure }: Watch): void {
  const isPacked = [...(bucket.groups?.values() ?? [])].every((group) => group instanceof PackedGroup);
  if (!isPacked) bucket.groups = indexGroups(bucket.bytes, measure);
}

/**
 * Work units, about a microsecond of a slow thread, after which a turn ends, and after which what has changed is written: a
 * clock cannot tell, because that of the production runtime stands still within a turn.
 */
const MAX_WORK = 20_000;
/** Work units of a turn that also writes as much. */
const MAX_REST = 1000;

/** What the buckets of several runs have open, and what they cost the present turn. */
export class BucketUse {
  /** Approximate bytes in memory. */
  held = 0;
  /** Work units of the turn, without those of writing. */
  work = 0;
  /** Work units of writing what has changed. */
  unwritten = 0;
  /** Whether a later turn may write what this one changes. */
  mayHold = false;
  /** Whether something is written already that belongs in one transaction with all that has changed. */
  isPartlyWritten = false;
  readonly #write: () => void;

  /** @param write writes what has changed */
  constructor(write: () => void) {
    this.#write = write;
  }

  /** Whether the turn may end without writing what has changed. */
  get holds(): boolean {
    return this.mayHold && !this.isPartlyWritten;
  }

  /** Whether the turn has done as much as it should. */
  get isSpent(): boolean {
    return this.work + (this.holds ? 0 : this.unwritten) >= MAX_WORK;
  }

  /** Whether so much has changed that it must be written before more does. */
  get isFull(): boolean {
    return this.unwritten >= MAX_WORK;
  }

  /** Whether a later turn is to write what has changed. */
  get isTooMuch(): boolean {
    return this.work > MAX_REST && this.work + this.unwritten > MAX_WORK;
  }

  /** Writes what has changed, so that its memory can be freed. */
  makeRoom(): void {
    this.#write();
    this.unwritten = 0;
    this.isPartlyWritten = true;
  }

  save(): void {
    this.makeRoom();
    this.isPartlyWritten = false;
  }

  /** A turn that may not leave writing to a later one has written, or has nothing to write. */
  endTurn(): void {
    this.work = 0;
    if (!this.mayHold) this.unwritten = 0;
  }
}

/** Work units of reading or writing a bucket. */
export function workOf(bytes: number): number {
  return BUCKET_WORK + (bytes / KIB) * KIB_WORK;
}

export function bytesOf({ key, steps }: Group): number {
  let bytes = GROUP_BYTES + key.length + steps.length * STEP_BYTES;
  for (const { part } of steps) bytes += (part?.numbers.length ?? 0) * NUMBER_BYTES;
  return bytes;
}

/** Bytes in memory of a bucket of which no group was read. */
export function packedBytesOf({ bytes, groups }: Bucket): number {
  // Keys are in the bytes and again as texts.
  return bytes.length * 2 + (groups?.size ?? 0) * PACKED_BYTES;
}

/** Work units of reading a packed group, or of changing one. */
export function workOfGroup({ start, end }: Pick<PackedGroup, "start" | "end">): number {
  return GROUP_WORK + ((end - start) / KIB) * KIB_WORK;
}

/** Counts the groups of a bucket again. */
export function countGroups(bucket: Bucket, watch: Watch): void {
  const groups = bucket.groups ?? new Map<string, Group | PackedGroup>();
  Object.assign(bucket, { live: groups.size, pending: 0, firing: 0, cells: 0, due: null });
  for (const group of groups.values()) {
    if (group.status !== "ok") bucket[group.status]++;
    bucket.cells += group instanceof PackedGroup ? group.cells : cellsOfSteps(watch, group.steps);
    if (group.due !== null) bucket.due = Math.min(bucket.due ?? group.due, group.due);
  }
}

/**
 * Returns how many hits of groups may be written together: few if each may need a bucket of its own, and all buckets cannot be
 * written together.
 */
export function hitsAtOnceOf({ buckets, bytes }: { buckets: number; bytes: number }): number {
  const bucketWork = workOf(bytes / Math.max(1, buckets));
  if (bucketWork * buckets <= MAX_WORK) return HITS.most;
  // Each is read and written.
  const hits = MAX_WORK / (2 * bucketWork + 3 * GROUP_WORK + OPEN_HIT_WORK);
  return Math.floor(Math.min(HITS.most, Math.max(HITS.least, hits)));
}

/** Returns the number of groups of buckets by status. */
export function sumOf(buckets: readonly BucketCounts[]): Record<"live" | "pending" | "firing", number> {
  const sum = { live: 0, pending: 0, firing: 0 };
  for (const { live, pending, firing } of buckets) {
    sum.live += live;
    sum.pending += pending;
    sum.firing += firing;
  }
  return sum;
}

/** Returns the earliest step for which a decision is due; `null` if none is. */
export function earliestDue(buckets: readonly BucketCounts[]): number | null {
  let next: number | null = null;
  for (const { due } of buckets) if (due !== null && (next === null || due < next)) next = due;
  return next;
}

/** Whether a run has more groups, or larger ones, than so many buckets should hold. */
export function isMoreThan(
  buckets: number,
  { live, cells, size }: Pick<BucketCounts, "live" | "cells" | "size">,
): boolean {
  return live > buckets * BUCKET_GROUPS || cells > buckets * BUCKET_CELLS || size > buckets * BUCKET_BYTES;
}

/**
 * Returns the index of the bucket of a key by linear hashing.
 * @param seed 32 random bits
 * @param count number of buckets
 */
export function placeOf(key: string, seed: number, count: number): number {
  const power = lowerPower(count);
  const hash = hashOf(key, seed);
  const wide = hash % (power * 2);
  return wide < count ? wide : hash % power;
}

/** Returns a seed of the hash: clients choose the keys. */
export function randomSeed(): number {
  const [seed = 1] = crypto.getRandomValues(new Uint32Array(1));
  return seed;
}

/** Returns the index of the bucket that is split when another one is added to so many. */
export function splitAt(count: number): number {
  return count - lowerPower(count);
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
