import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { spread } from "./bloom.ts";
import { EXACT_KIND, TOKEN_KIND, type TokenHash } from "./tokens.ts";

/**
 * Bloom filters of merged segments, in files of the bucket.
 *
 * A filter is divided into blocks of 64 bytes, and all bits of a token are in one block. A file has the filters of up to eight
 * segments, interleaved: first block 0 of each, then block 1 of each. So one range of a few hundred bytes tells which of them
 * may have a token. All filters of a file have the same number of blocks: a power of two times a number below 16. A filter is made
 * smaller by combining its halves, and larger by repeating it.
 *
 * Names begin with `j`, and the filters are those of the row groups of up to eight segments, all of a segment behind each other: a
 * token leads to the row groups that may have it. Files of earlier versions lack the names of members: `h`. Before, they had powers of two as numbers
 * of blocks: `g`, or one filter for each segment: `i`, or `f`, whose tokens are those of `EXACT_KIND` beside grams.
 */

export const FILTER_BLOCK_BYTES = 64;
const BLOCK_BITS = FILTER_BLOCK_BYTES * 8;
/** Segments whose filters are in one file. Interleaving them takes the memory of all. */
export const SEGMENTS_OF_FILE = 8;
/** Bits of a token. */
const PROBES = 6;
/** Blocks of a filter that is being built: 2 MiB, and of the smallest. */
const MAX_BLOCKS = 32_768;
const MIN_BLOCKS = 64;
/** Share of the bits that are set, at most, after a filter was made smaller: 2.5 % of the absent tokens pass. */
const MAX_FILL = 0.54;
const WORDS = FILTER_BLOCK_BYTES / 4;

/** Bits of a token in a filter that is as full as `MAX_FILL` allows. */
const TOKEN_BITS = 7.9;
/** Numbers of blocks divided by a power of two: a filter has at most an eighth more bits than its tokens need. */
const BASES = [8, 9, 10, 11, 12, 13, 14, 15];

/**
 * Returns the blocks with which the filters of some row groups are built, so that all of them have the bytes of the
 * largest one. Halving them leads to a number that hardly exceeds what the largest one needs.
 * @param tokens about as many as the largest row group has
 */
export function blocksOfGroups(groups: number, tokens: number): number {
  const most = MAX_BLOCKS / Math.max(1, groups);
  const needed = Math.max(MIN_BLOCKS, Math.min(most, (tokens * TOKEN_BITS) / BLOCK_BITS));
  const scale = 2 ** Math.floor(Math.log2(needed / 8));
  const base = BASES.find((own) => own * scale >= needed) ?? 16;
  const doublings = Math.max(0, Math.floor(Math.log2(most / (base * scale))));
  return base * scale * 2 ** doublings;
}

/** Builds a filter whose number of tokens is not known. */
export class WideFilterBuilder {
  readonly #blocks: number;
  readonly #words: Uint32Array<ArrayBuffer>;

  /** @param blocks of the filter while it is built, see `blocksOfGroups`: 2 MiB unless given */
  constructor(blocks = MAX_BLOCKS) {
    this.#blocks = blocks;
    this.#words = new Uint32Array(blocks * WORDS);
  }

  add(a: number, b: number): void {
    const words = this.#words;
    const start = ((a >>> 0) % this.#blocks) * WORDS;
    const first = spread(b);
    const second = secondOf(a, b);
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = bitOf(probe, first, second);
      const at = start + (bit >> 5);
      words[at] = (words[at] ?? 0) | (1 << (bit & 31));
    }
  }

  /**
   * Returns, in steps of some milliseconds, the smallest filter that is not too full; `null` if there are so many tokens
   * that it would exclude nothing. Call once.
   */
  *finish(): Generator<null, Uint8Array | null> {
    let words = this.#words;
    if (fill(words) > 0.9) {
      detachBuffer(words);
      return null;
    }
    yield null;
    while (words.length > MIN_BLOCKS * WORDS && (words.length / WORDS) % 2 === 0) {
      const half = halved(words);
      if (fill(half) > MAX_FILL) {
        detachBuffer(half);
        break;
      }
      detachBuffer(words);
      words = half;
      yield null;
    }
    return new Uint8Array(words.buffer);
  }
}

function halved(words: Uint32Array): Uint32Array<ArrayBuffer> {
  const half = words.slice(0, words.length / 2);
  for (let at = 0; at < half.length; at++) half[at] = (half[at] ?? 0) | (words[half.length + at] ?? 0);
  return half;
}

function fill(words: Uint32Array): number {
  let set = 0;
  for (let at = 0; at < words.length; at++) {
    let word = words[at] ?? 0;
    word -= (word >>> 1) & 0x55555555;
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
    set += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return set / (words.length * 32);
}

/** Whether a block of a filter may have a token. */
export function blockMayContain(block: Uint8Array, { a, b }: TokenHash): boolean {
  const first = spread(b);
  const second = secondOf(a, b);
  for (let probe = 0; probe < PROBES; probe++) {
    const bit = bitOf(probe, first, second);
    if (((block[bit >> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

function secondOf(a: number, b: number): number {
  return spread(b ^ Math.imul(a, 0x9e3779b1));
}

/** Returns one of a token's bits. Each hash gives three. */
function bitOf(probe: number, first: number, second: number): number {
  return probe < 3 ? (first >>> (probe * 9)) & (BLOCK_BITS - 1) : (second >>> ((probe - 3) * 9)) & (BLOCK_BITS - 1);
}

/** Size of a filter file. */
export interface FilterSize {
  /** Filters that the file has. */
  filters: number;
  /** Blocks of each. */
  blocks: number;
}

/** What the key of a filter file tells. */
export interface FilterForm extends FilterSize {
  /** Sum of the kinds of token that the filters hold. */
  kinds: number;
  /** Segments, each with a filter for each of its row groups; `null`: one filter for each segment. */
  segments: number | null;
}

/**
 * Returns a number that is equal for filters of which the smaller one can be repeated to the blocks of the larger one: the odd
 * factor of their blocks.
 */
export function sizeClass({ blocks }: FilterSize): number {
  let odd = blocks;
  while (odd > 0 && odd % 2 === 0) odd /= 2;
  return odd;
}

/** Returns where the blocks for a token are in a filter file. */
export function rangeOfToken({ filters, blocks }: FilterSize, { a }: TokenHash): { start: number; end: number } {
  const start = ((a >>> 0) % blocks) * filters * FILTER_BLOCK_BYTES;
  return { start, end: start + filters * FILTER_BLOCK_BYTES };
}

/** Interleaves filters one by one, so that only one is in memory beside the file. */
export class FilterFileBuilder {
  readonly #form: FilterSize;
  readonly bytes: Uint8Array;

  constructor(form: FilterSize) {
    this.#form = form;
    this.bytes = new Uint8Array(form.blocks * form.filters * FILTER_BLOCK_BYTES);
  }

  /**
   * Adds filters, in steps of some milliseconds. Those with fewer blocks are repeated.
   * @param slot of the first filter
   * @param own filters that are interleaved in `bytes`
   */
  *put(slot: number, bytes: Uint8Array, own = 1): Generator<null, void> {
    const { filters, blocks } = this.#form;
    const width = own * FILTER_BLOCK_BYTES;
    for (let block = 0; block < blocks; block++) {
      const from = (block * width) % bytes.length;
      this.bytes.set(bytes.subarray(from, from + width), (block * filters + slot) * FILTER_BLOCK_BYTES);
      if (block % 8192 === 8191) yield null;
    }
  }
}

const NAME = /\/(?:([ghj])-(\d{1,3})|([fi]))-(\d{1,5})-(\d{1,6})-[0-9a-f]{16}$/;

/** All kinds of this version, those of files without names of members, and those of files that begin with `f`. */
export const ALL_KINDS = Object.values(TOKEN_KIND).reduce((all, kind) => all | kind, 0);
const NAMELESS_KINDS = ALL_KINDS & ~TOKEN_KIND.names;
const FORMER_KINDS = EXACT_KIND.id | EXACT_KIND.text | EXACT_KIND.scalar | TOKEN_KIND.three | TOKEN_KIND.four;

/**
 * Returns the key of a filter file.
 * @param folder of the project's files, without a slash at its end
 * @param segments whose row groups have the filters
 * @param kinds of all filters
 */
export function filterKey(
  folder: string,
  segments: number,
  { filters, blocks }: FilterSize,
  sha256: string,
  kinds = ALL_KINDS,
): string {
  const letter = kinds === ALL_KINDS ? "j" : "h";
  return `${folder}/${letter}-${segments}-${filters}-${blocks}-${sha256.slice(0, 16)}`;
}

/** Returns the form of a filter file from its key; `null` if the key is not of one. */
export function formOfKey(key: string): FilterForm | null {
  const [, grouped, segments, single, filters, blocks] = NAME.exec(key) ?? [];
  if (filters === undefined || blocks === undefined) return null;
  return {
    filters: Number(filters),
    blocks: Number(blocks),
    kinds: grouped === "j" ? ALL_KINDS : single === "f" ? FORMER_KINDS : NAMELESS_KINDS,
    segments: segments === undefined ? null : Number(segments),
  };
}
