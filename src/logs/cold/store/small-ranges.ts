import type { Bucket, FileRange } from "../../../platform/bucket.ts";
import { ByteCache, ISOLATE_BUDGET } from "../../../platform/isolate-memory.ts";

/**
 * Bytes of a range that is kept: a block of a filter, or a column of a few row groups that hardly varies. A read of the bucket takes
 * as long as 200 KiB, so these are reads for next to nothing.
 */
const MAX_BYTES = 4096;
/** Approximate bytes of a cached range beside its own. */
const ENTRY_BYTES = 300;

// Module state: one instance per isolate, shared by all its requests and objects.
const ranges = new ByteCache<Uint8Array, string>(ISOLATE_BUDGET.smallRanges);

/**
 * Reads ranges of files, and keeps small ones. Files never change, because their keys contain the hashes of their bytes. The
 * caller owns what it receives.
 */
export async function readCached(
  bucket: Pick<Bucket, "readRanges">,
  wanted: readonly FileRange[],
): Promise<(Uint8Array | null)[]> {
  const names = wanted.map(nameOf);
  const known = names.map((name) => (name === null ? undefined : ranges.get(name)));
  const missing = wanted.filter((_, index) => known[index] === undefined);
  const read = missing.length === 0 ? [] : await bucket.readRanges(missing);
  let next = 0;
  return known.map((bytes, index) => {
    if (bytes !== undefined) return bytes.slice();
    const found = read[next++] ?? null;
    const name = names[index] ?? null;
    if (found !== null && name !== null) ranges.set(name, new Uint8Array(found), found.length + ENTRY_BYTES);
    return found;
  });
}

function nameOf({ key, start, end }: FileRange): string | null {
  return end - start > MAX_BYTES ? null : `${key} ${start} ${end}`;
}
