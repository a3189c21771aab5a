import { type Block, readBlockIndex } from "../format/batch-table.ts";
import { CorruptSegment, type SegmentMeta } from "../format/segment.ts";
import { buildFilter, filterBytes } from "./bloom.ts";
import type { TokenTable } from "./token-table.ts";
import type { TokenForm, TokenTest } from "./token-tests.ts";
import { TOKEN_KIND, type TokenCollector, type TokenHash } from "./tokens.ts";

/**
 * The block filter states in which blocks of a segment of line blocks a token may occur. No version writes such segments any
 * more, so its tokens are those of earlier versions (`EXACT_KIND`). It is a Bloom filter of pairs of token and block. The
 * bits of all blocks for one position are adjacent and form a slot; a token's slots, combined, are the mask of its blocks. A
 * query gets the slots of its tokens with each segment, and then reads one block of it instead of thirty.
 */

/** With 8 bits and 4 slots a pair, 2.4 % of the blocks without a token pass. A needless read of a block costs 0.4 ms. */
export const SLOTS_PER_TOKEN = 4;
/** Segments of earlier versions have 5 bits a pair and only the first three slots: 9 % pass. */
const LEGACY_SLOTS = 3;
/** Flag in `blockKinds` of a segment whose tokens have all the slots. */
export const ALL_SLOTS = 32;

/** Maximum number of a query's tokens whose slots are selected. */
const MAX_TOKENS = 16;

/** Returns the position of a token's slot, in 2 ** 32. */
export function slotPosition(a: number, b: number, slot: number): number {
  return (b + Math.imul(slot, a | 1)) >>> 0;
}

/** Returns the first tests whose tokens fit into `MAX_TOKENS`. Their slots are selected. */
function testable(tests: readonly TokenTest[]): TokenForm[] {
  let tokens = 0;
  return tests
    .map(({ exact }) => exact)
    .filter((form) => form !== null)
    .filter(({ anyOf }) => {
      tokens += anyOf.length;
      return tokens <= MAX_TOKENS;
    });
}

/** Returns a column with the slots of the tests' tokens, concatenated in hexadecimal. `null` if there are no tests. */
export function slotsColumn(tests: readonly TokenTest[]): string | null {
  const parts = testable(tests).flatMap(({ anyOf }) => anyOf.flatMap(slotSql));
  return parts.length === 0 ? null : `CASE WHEN slot_bytes = 0 THEN '' ELSE ${concatenated(parts)} END`;
}

function slotSql({ a, b }: TokenHash): string[] {
  return Array.from({ length: SLOTS_PER_TOKEN }, (_, slot) => {
    const at = `slot_bytes * ((${slotPosition(a, b, slot)} * (length(frame_filter) / slot_bytes)) >> 32)`;
    return `hex(substr(frame_filter, 1 + ${at}, slot_bytes))`;
  });
}

/** Joins in halves, because D1 accepts expressions of depth 100 at most. */
function concatenated(parts: readonly string[]): string {
  if (parts.length <= 1) return parts[0] ?? "''";
  const half = parts.length >> 1;
  return `(${concatenated(parts.slice(0, half))} || ${concatenated(parts.slice(half))})`;
}

/** The block filter columns of a found segment. */
export interface BlockHits {
  /** Kinds of token in its block filter, and `ALL_SLOTS`. */
  blockKinds: number;
  slotBytes: number;
  /** Slots as selected by `slotsColumn`; "" if they were not selected. */
  slots: string;
  /** Whether each block may have an entry, by a filter in the bucket; absent without one. */
  groupHits?: readonly boolean[];
}

/** Returns whether a block may hold an entry that passes the tests whose slots were selected. */
export function blockMask(tests: readonly TokenTest[], hits: BlockHits): (block: number) => boolean {
  if (hits.slotBytes === 0 || hits.slots === "") return () => true;
  const mask = new Uint8Array(hits.slotBytes).fill(0xff);
  const digits = hits.slotBytes * 2;
  const slotCount = (hits.blockKinds & ALL_SLOTS) === 0 ? LEGACY_SLOTS : SLOTS_PER_TOKEN;
  let at = 0;
  for (const { kinds, anyOf } of testable(tests)) {
    const any = new Uint8Array(hits.slotBytes);
    for (const _ of anyOf) {
      const all = new Uint8Array(hits.slotBytes).fill(0xff);
      for (let slot = 0; slot < SLOTS_PER_TOKEN; slot++, at += digits) {
        if (slot < slotCount) and(all, Buffer.from(hits.slots.slice(at, at + digits), "hex"));
      }
      all.forEach((byte, index) => {
        any[index] = (any[index] ?? 0) | byte;
      });
    }
    if ((hits.blockKinds & kinds) === kinds) and(mask, any);
  }
  return (block) => ((mask[block >> 3] ?? 0) & (1 << (block & 7))) !== 0;
}

function and(into: Uint8Array, other: Uint8Array): void {
  for (let index = 0; index < into.length; index++) into[index] = (into[index] ?? 0) & (other[index] ?? 0);
}

/** Maximum size of each filter: a share of the body's bytes, or a number of bytes for each entry if that is more. */
const FILTER_SHARE = 1 / 5;
const FILTER_BYTES_PER_ENTRY = 6;
const SMALL_FILTER_BYTES = 2048;
const LARGEST_FILTER_BYTES = 128 * 1024;

/** The order in which kinds of token are added while they fit. */
const KINDS_BY_WORTH = [
  TOKEN_KIND.foldedId,
  TOKEN_KIND.foldedText,
  TOKEN_KIND.three,
  TOKEN_KIND.foldedScalar,
  TOKEN_KIND.four,
];

/**
 * Builds a filter of the kinds of token that fit, the most useful first. A query cannot test kinds that are left out, which
 * costs scans but never an entry.
 */
export function chooseFilter(
  tokens: TokenCollector,
  maxBytes: number,
  bitsPerToken?: number,
): { kinds: number; filter: Uint8Array } {
  const chosen: TokenTable[] = [];
  let kinds: number = TOKEN_KIND.names;
  let count = 0;
  for (const kind of KINDS_BY_WORTH) {
    const table = tokens.kinds.get(kind);
    if (table === undefined || filterBytes(count + table.size, bitsPerToken) > maxBytes) continue;
    chosen.push(table);
    kinds |= kind;
    count += table.size;
  }
  // A filter has at least one byte, so that it can also state that no token of its kinds occurs.
  return { kinds, filter: buildFilter(chosen, Math.max(1, filterBytes(count, bitsPerToken))) };
}

/** Returns the maximum size of each filter. */
export function maxFilterBytes(entries: number, bodyBytes: number): number {
  const fair = Math.max(SMALL_FILTER_BYTES, bodyBytes * FILTER_SHARE, entries * FILTER_BYTES_PER_ENTRY);
  return Math.min(LARGEST_FILTER_BYTES, fair);
}

/** The conditions by which blocks are chosen. */
export interface BlockSelection {
  /** Epoch milliseconds: `from <= timestamp < to`. `null`: unbounded. */
  from: number | null;
  to: number | null;
  levelMask: number;
  /** The tests with which the segment was found. */
  tests: readonly TokenTest[];
}

/**
 * Returns the blocks of a found segment that may hold a matching entry, in order.
 * @throws CorruptSegment
 */
export function blocksToRead(
  found: SegmentMeta & BlockHits,
  selection: BlockSelection,
  all: readonly Block[] = allBlocks(found),
): Block[] {
  const { from, to, levelMask, tests } = selection;
  const mask = blockMask(tests, found);
  const mayHold = (index: number) => mask(index) && found.groupHits?.[index] !== false;
  return all.filter(
    (block, index) =>
      (from === null || block.maxTimestamp >= from) &&
      (to === null || block.minTimestamp < to) &&
      (block.levelMask & levelMask) !== 0 &&
      mayHold(index),
  );
}

/** Returns the number of blocks of a segment; 0 if its index is corrupt. */
export function countBlocks(meta: SegmentMeta): number {
  try {
    return allBlocks(meta).length;
  } catch (error) {
    if (error instanceof CorruptSegment) return 0;
    throw error;
  }
}

/** @throws CorruptSegment */
export function allBlocks(meta: SegmentMeta): Block[] {
  let blocks: Block[];
  try {
    blocks = readBlockIndex(meta);
  } catch (error) {
    throw new CorruptSegment(meta, "its blocks cannot be read", error);
  }
  if (blocks.reduce((sum, { lines }) => sum + lines, 0) === meta.count) return blocks;
  throw new CorruptSegment(meta, "its blocks count other entries");
}
