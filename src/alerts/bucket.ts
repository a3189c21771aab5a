import type { Group } from "./group.ts";
import { indexGroups, PackedGroup } from "./pack.ts";
import type { Watch } from "./rule.ts";

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

export const NO_BYTES = new Uint8Array();

export function newBucket(index: number): Bucket {
  const counts = { live: 0, pending: 0, firing: 0, cells: 0, due: null, size: 0 };
  return { ...counts, index, groups: new Map(), bytes: NO_BYTES, isChanged: false };
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

/** Work units of reading or writing a bucket. */
export function workOf(bytes: number): number {
  return BUCKET_WORK + (bytes / KIB) * KIB_WORK;
}

/** Work units of adding entries to a group whose bucket is not open: it is read and written. */
export function workOfHit({ buckets, bytes }: { buckets: number; bytes: number }): number {
  return 2 * workOf(bytes / Math.max(1, buckets)) + 3 * GROUP_WORK;
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
