import type { Bucket, FileRange } from "../../../platform/bucket.ts";
import { BucketFailure } from "../../../platform/bucket-failure.ts";
import { type TokenTest, tokensFor } from "../filter/token-tests.ts";
import type { TokenHash } from "../filter/tokens.ts";
import { blockMayContain, FILTER_BLOCK_BYTES, formOfKey, rangeOfToken } from "../filter/wide-filter.ts";
import { readCached } from "./small-ranges.ts";

/** Where the filter of a merged segment is. */
export interface FilterPlace {
  /** Key in the bucket. */
  file: string;
  /** The position of its filter, or of that of its first row group, among the filters of the file, from 0. */
  slot: number;
}

/** A segment, and for each of its row groups whether it may have an entry; without it all may. */
export type Left<S> = S & { groupHits?: readonly boolean[] };

/** Tests of one lookup: of many files, and of few. The first tests of a query exclude most. */
const MAX_TESTS = 2;
const MAX_TESTS_OF_FEW = 4;
const FEW_FILES = 6;
/** Alternatives of a test. Each is one read for each file. */
const MAX_ALTERNATIVES = 4;
/** Ranges of one lookup, and their bytes: a page of 256 segments has 32 files of 200 filters, which take 13 KB for a token. */
const MAX_RANGES = 256;
const MAX_BYTES = 1024 * 1024;

/**
 * Leaves out segments, and names their row groups, that filters in the bucket exclude: one range for each token and file, all in one round. Segments
 * beyond the bounds of a lookup stay, and all stay if the bucket fails: the read of their files reports the failure.
 * @param groupsOf returns the number of row groups of a segment
 */
export async function withoutExcluded<S extends { filterPlace?: FilterPlace | null }>(
  bucket: Bucket,
  segments: readonly S[],
  tests: readonly TokenTest[],
  groupsOf: (segment: S) => number,
): Promise<Left<S>[]> {
  const files = [...new Set(segments.flatMap(({ filterPlace }) => filterPlace?.file ?? []))];
  const most = files.length <= FEW_FILES ? MAX_TESTS_OF_FEW : MAX_TESTS;
  const wanted = new Map(files.map((file) => [file, wantedOf(file, tests, most)]));
  const ranges: (FileRange & { token: TokenHash })[] = [];
  let bytes = 0;
  for (const [key, alternatives] of wanted) {
    const form = formOfKey(key);
    const tokens = alternatives.flat();
    if (form === null || ranges.length + tokens.length > MAX_RANGES) continue;
    bytes += tokens.length * form.filters * FILTER_BLOCK_BYTES;
    if (bytes > MAX_BYTES) break;
    for (const token of tokens) ranges.push({ key, ...rangeOfToken(form, token), token });
  }
  if (ranges.length === 0) return [...segments];
  const blocks = await readBlocks(bucket, ranges);
  const blocksOf = new Map(ranges.map(({ key, token }, index) => [`${key} ${token.a} ${token.b}`, blocks[index]]));
  return segments.flatMap((segment): Left<S>[] => {
    const { filterPlace } = segment;
    if (!filterPlace) return [segment];
    const { file, slot } = filterPlace;
    const passes = (filter: number): boolean => {
      const mayHave = ({ a, b }: TokenHash): boolean => {
        const own = blocksOf
          .get(`${file} ${a} ${b}`)
          ?.subarray(filter * FILTER_BLOCK_BYTES, (filter + 1) * FILTER_BLOCK_BYTES);
        // Without the filter nothing is excluded.
        return own === undefined || own.length === 0 || blockMayContain(own, { a, b });
      };
      return wanted.get(file)?.every((anyOf) => anyOf.some(mayHave)) ?? true;
    };
    const isByGroup = (formOfKey(file)?.segments ?? null) !== null;
    if (!isByGroup) return passes(slot) ? [segment] : [];
    const groupHits = Array.from({ length: groupsOf(segment) }, (_, group) => passes(slot + group));
    return groupHits.length === 0 || groupHits.includes(true) ? [{ ...segment, groupHits }] : [];
  });
}

/** Returns the tokens of the first tests on which the filters of a file can decide: one of each list must be there. */
function wantedOf(file: string, tests: readonly TokenTest[], most: number): (readonly TokenHash[])[] {
  const kinds = formOfKey(file)?.kinds ?? 0;
  return tests
    .map((test) => tokensFor(test, kinds))
    .filter((anyOf) => anyOf !== null)
    .filter(({ length }) => length <= MAX_ALTERNATIVES)
    .slice(0, most);
}

async function readBlocks(bucket: Bucket, ranges: readonly FileRange[]): Promise<(Uint8Array | null)[]> {
  try {
    return await readCached(
      bucket,
      ranges.map(({ key, start, end }) => ({ key, start, end })),
    );
  } catch (error) {
    if (error instanceof BucketFailure) return [];
    throw error;
  }
}
