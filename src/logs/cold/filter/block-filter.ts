import { type Block, readBlockIndex } from "../format/batch-table.ts";
import { CorruptSegment, type SegmentMeta } from "../format/segment.ts";
import { buildFilter, filterBytes, scaled } from "./bloom.ts";
import type { TokenTable } from "./token-table.ts";
import { TOKEN_KIND, type TokenCollector, type TokenHash, type TokenTest } from "./tokens.ts";

/**
 * Tells in which frames of a segment a token may be. A Bloom filter of pairs of token and frame, in which the bits of all
 * frames for one place lie side by side, as one slot: a token's few slots, combined, are the mask of its frames. So a
 * query gets the slots of its tokens with each segment found and reads one frame of it rather than thirty.
 */

/** With 8 bits and 4 slots a pair, 2.4 % of the frames without a token pass. To read one for nothing costs 0.4 ms. */
const BITS_PER_PAIR = 8;
const SLOTS_PER_TOKEN = 4;
/** Segments made before had 5 bits, and the first three of the slots: 9 % pass. */
const FORMER_SLOTS = 3;
/** Among the kinds of a segment whose tokens have all the slots. */
export const ALL_SLOTS = 32;

/** Tokens of a query that slots are asked for. */
const MAX_TOKENS = 16;

/** Bytes of a slot: a bit for each frame. None for a single frame, where there is nothing to tell. */
export function slotBytes(blocks: number): number {
  return blocks < 2 ? 0 : Math.ceil(blocks / 8);
}

/** Bytes of a filter of so many pairs. */
export function blockFilterBytes(pairs: number, blocks: number): number {
  return blocks < 2 ? 0 : Math.max(1, Math.ceil((pairs * BITS_PER_PAIR) / blocks)) * slotBytes(blocks);
}

export function buildBlockFilter(tables: readonly TokenTable[], blocks: number): Uint8Array {
  const width = slotBytes(blocks);
  const pairs = tables.reduce((sum, { pairCount }) => sum + pairCount, 0);
  if (width === 0) return new Uint8Array(0);
  const filter = new Uint8Array(blockFilterBytes(pairs, blocks));
  const slots = filter.length / width;
  for (const table of tables) {
    table.forEachPair((a, b, block) => {
      for (let turn = 0; turn < SLOTS_PER_TOKEN; turn++) {
        const byte = scaled(place(a, b, turn), slots) * width + (block >> 3);
        filter[byte] = (filter[byte] ?? 0) | (1 << (block & 7));
      }
    });
  }
  return filter;
}

function place(a: number, b: number, turn: number): number {
  return (b + Math.imul(turn, a | 1)) >>> 0;
}

/** The tests whose slots are asked for: the first ones, up to so many tokens. */
function asked(tests: readonly TokenTest[]): TokenTest[] {
  let tokens = 0;
  return tests.filter(({ anyOf }) => {
    tokens += anyOf.length;
    return tokens <= MAX_TOKENS;
  });
}

/** A column with the slots of the tests' tokens, in hexadecimal, one behind the other. Null where there is nothing to ask. */
export function slotsColumn(tests: readonly TokenTest[]): string | null {
  const parts = asked(tests).flatMap(({ anyOf }) => anyOf.flatMap(slotSql));
  return parts.length === 0 ? null : `CASE WHEN slot_bytes = 0 THEN '' ELSE ${concatenated(parts)} END`;
}

function slotSql({ a, b }: TokenHash): string[] {
  return Array.from({ length: SLOTS_PER_TOKEN }, (_, turn) => {
    const at = `slot_bytes * ((${place(a, b, turn)} * (length(frame_filter) / slot_bytes)) >> 32)`;
    return `hex(substr(frame_filter, 1 + ${at}, slot_bytes))`;
  });
}

/** In halves: D1 takes expressions of depth 100. */
function concatenated(parts: readonly string[]): string {
  if (parts.length <= 1) return parts[0] ?? "''";
  const half = parts.length >> 1;
  return `(${concatenated(parts.slice(0, half))} || ${concatenated(parts.slice(half))})`;
}

/** What a segment answers with about its frames. */
export interface BlockHits {
  /** Kinds of token that its frame filter knows, and `ALL_SLOTS`. */
  blockKinds: number;
  slotBytes: number;
  /** As `slotsColumn` selects them; empty where they were not asked for. */
  slots: string;
}

/** Whether a frame may hold an entry that passes the tests which the slots were asked with. */
export function blockMask(tests: readonly TokenTest[], hits: BlockHits): (block: number) => boolean {
  if (hits.slotBytes === 0 || hits.slots === "") return () => true;
  const mask = new Uint8Array(hits.slotBytes).fill(0xff);
  const digits = hits.slotBytes * 2;
  const turns = (hits.blockKinds & ALL_SLOTS) === 0 ? FORMER_SLOTS : SLOTS_PER_TOKEN;
  let at = 0;
  for (const { kind, anyOf } of asked(tests)) {
    const any = new Uint8Array(hits.slotBytes);
    for (const _ of anyOf) {
      const all = new Uint8Array(hits.slotBytes).fill(0xff);
      for (let turn = 0; turn < SLOTS_PER_TOKEN; turn++, at += digits) {
        if (turn < turns) and(all, Buffer.from(hits.slots.slice(at, at + digits), "hex"));
      }
      all.forEach((byte, index) => {
        any[index] = (any[index] ?? 0) | byte;
      });
    }
    if ((hits.blockKinds & kind) !== 0) and(mask, any);
  }
  return (block) => ((mask[block >> 3] ?? 0) & (1 << (block & 7))) !== 0;
}

function and(into: Uint8Array, other: Uint8Array): void {
  for (let index = 0; index < into.length; index++) into[index] = (into[index] ?? 0) & (other[index] ?? 0);
}

/** What each of a segment's filters may take: a part of its body's bytes, or so many bytes an entry where that is more. */
const FILTER_SHARE = 1 / 5;
const FILTER_BYTES_PER_ENTRY = 6;
const SMALL_FILTER_BYTES = 2048;
const LARGEST_FILTER_BYTES = 128 * 1024;

/** Which kinds come first where not all can be in the filter. */
const KINDS_BY_WORTH = [TOKEN_KIND.id, TOKEN_KIND.text, TOKEN_KIND.three, TOKEN_KIND.scalar, TOKEN_KIND.four];

/** A filter of the kinds of token that fit. What is left out is not told apart, so it costs scans and never an entry. */
export function chooseFilter(tokens: TokenCollector, most: number): { kinds: number; filter: Uint8Array } {
  const { kinds, count, chosen } = fitting(tokens, most, ({ size }) => size, filterBytes);
  // At least a byte: what has no token of a kind is told by that, too.
  return { kinds, filter: buildFilter(chosen, Math.max(1, filterBytes(count))) };
}

/** The same by frame. */
export function chooseBlockFilter(
  tokens: TokenCollector,
  most: number,
  blocks: number,
): { kinds: number; filter: Uint8Array } {
  const bytes = (pairs: number) => blockFilterBytes(pairs, blocks);
  const { kinds, chosen } = fitting(tokens, most, ({ pairCount }) => pairCount, bytes);
  return { kinds: kinds | ALL_SLOTS, filter: buildBlockFilter(chosen, blocks) };
}

/** What each of the filters may take. */
export function maxFilterBytes(entries: number, bodyBytes: number): number {
  const fair = Math.max(SMALL_FILTER_BYTES, bodyBytes * FILTER_SHARE, entries * FILTER_BYTES_PER_ENTRY);
  return Math.min(LARGEST_FILTER_BYTES, fair);
}

/** The kinds that fit into so many bytes, the worthiest first. */
function fitting(
  tokens: TokenCollector,
  most: number,
  size: (table: TokenTable) => number,
  bytes: (count: number) => number,
): { kinds: number; count: number; chosen: TokenTable[] } {
  const chosen: TokenTable[] = [];
  let kinds = 0;
  let count = 0;
  for (const kind of KINDS_BY_WORTH) {
    const table = tokens.kinds.get(kind);
    if (table === undefined || bytes(count + size(table)) > most) continue;
    chosen.push(table);
    kinds |= kind;
    count += size(table);
  }
  return { kinds, count, chosen };
}

/** What a query asks of a frame. */
export interface BlockSelection {
  /** Epoch milliseconds: `from <= timestamp < to`. Null: open. */
  from: number | null;
  to: number | null;
  levelMask: number;
  /** The tests that the segment was found with. */
  tests: readonly TokenTest[];
}

/**
 * The frames of a segment found that may hold an entry wanted, in order.
 * @throws CorruptSegment
 */
export function blocksToRead(
  found: SegmentMeta & BlockHits,
  selection: BlockSelection,
  all: readonly Block[] = allBlocks(found),
): Block[] {
  const { from, to, levelMask, tests } = selection;
  const mayHold = blockMask(tests, found);
  return all.filter(
    (block, index) =>
      (from === null || block.maxTimestamp >= from) &&
      (to === null || block.minTimestamp < to) &&
      (block.levelMask & levelMask) !== 0 &&
      mayHold(index),
  );
}

/** @throws CorruptSegment */
export function allBlocks(meta: SegmentMeta): Block[] {
  let blocks: Block[];
  try {
    blocks = readBlockIndex(meta);
  } catch (error) {
    throw new CorruptSegment(meta, "its frames cannot be read", error);
  }
  if (blocks.reduce((sum, { lines }) => sum + lines, 0) === meta.count) return blocks;
  throw new CorruptSegment(meta, "its frames count other entries");
}
