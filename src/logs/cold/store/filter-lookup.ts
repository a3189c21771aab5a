import type { Bucket, FileRange } from "../../../platform/bucket.ts";
import { BucketFailure } from "../../../platform/bucket-failure.ts";
import { type TokenTest, tokensFor } from "../filter/token-tests.ts";
import type { TokenHash } from "../filter/tokens.ts";
import { blockMayContain, FILTER_BLOCK_BYTES, formOfKey, rangeOfToken } from "../filter/wide-filter.ts";

/** Where the filter of a merged segment is. */
export interface FilterPlace {
  /** Key in the bucket. */
  file: string;
  /** Its position among the filters of the file, from 0. */
  slot: number;
}

/** Tests of one lookup. The first tests of a query exclude most. */
const MAX_TESTS = 2;
/** Alternatives of a test. Each is one read for each file. */
const MAX_ALTERNATIVES = 4;
/** Ranges of one lookup, 512 bytes each: a page of 256 segments has 32 files. */
const MAX_RANGES = 256;

/**
 * Leaves out segments whose filters in the bucket exclude them: one range for each token and file, all in one round. Segments
 * beyond the bounds of a lookup stay, and all stay if the bucket fails: the read of their files reports the failure.
 */
export async function withoutExcluded<S extends { filterPlace?: FilterPlace | null }>(
  bucket: Bucket,
  segments: readonly S[],
  tests: readonly TokenTest[],
): Promise<S[]> {
  const files = [...new Set(segments.flatMap(({ filterPlace }) => filterPlace?.file ?? []))];
  const wanted = new Map(files.map((file) => [file, wantedOf(file, tests)]));
  const ranges: (FileRange & { token: TokenHash })[] = [];
  for (const [key, alternatives] of wanted) {
    const form = formOfKey(key);
    const tokens = alternatives.flat();
    if (form === null || ranges.length + tokens.length > MAX_RANGES) continue;
    for (const token of tokens) ranges.push({ key, ...rangeOfToken(form, token), token });
  }
  if (ranges.length === 0) return [...segments];
  const blocks = await readBlocks(bucket, ranges);
  return segments.filter(({ filterPlace }) => {
    if (!filterPlace) return true;
    const { file, slot } = filterPlace;
    const mayHave = (token: TokenHash): boolean => {
      const bytes = blocks[ranges.findIndex((range) => range.key === file && range.token === token)];
      if (bytes === null || bytes === undefined) return true;
      return blockMayContain(bytes.subarray(slot * FILTER_BLOCK_BYTES, (slot + 1) * FILTER_BLOCK_BYTES), token);
    };
    return wanted.get(file)?.every((anyOf) => anyOf.some(mayHave)) ?? true;
  });
}

/** Returns the tokens of the first tests on which the filters of a file can decide: one of each list must be there. */
function wantedOf(file: string, tests: readonly TokenTest[]): (readonly TokenHash[])[] {
  const kinds = formOfKey(file)?.kinds ?? 0;
  return tests
    .map((test) => tokensFor(test, kinds))
    .filter((anyOf) => anyOf !== null)
    .filter(({ length }) => length <= MAX_ALTERNATIVES)
    .slice(0, MAX_TESTS);
}

async function readBlocks(bucket: Bucket, ranges: readonly FileRange[]): Promise<(Uint8Array | null)[]> {
  try {
    return await bucket.readRanges(ranges.map(({ key, start, end }) => ({ key, start, end })));
  } catch (error) {
    if (error instanceof BucketFailure) return [];
    throw error;
  }
}
