import { spread } from "./bloom.ts";
import { EXACT_KIND, TOKEN_KIND, type TokenHash } from "./tokens.ts";

/**
 * Bloom filters of merged segments, in files of the bucket.
 *
 * A filter is divided into blocks of 64 bytes, and all bits of a token are in one block. A file has the filters of up to eight
 * segments, interleaved: first block 0 of each, then block 1 of each. So one range of a few hundred bytes tells which of them
 * may have a token. All filters of a file have the same number of blocks, a power of two: a filter is made smaller by
 * combining its halves, and larger by repeating it.
 *
 * Names begin with `i`. Files of earlier versions begin with `f`: their tokens are those of `EXACT_KIND` beside grams.
 */

export const FILTER_BLOCK_BYTES = 64;
const BLOCK_BITS = FILTER_BLOCK_BYTES * 8;
/** Filters of one file. Interleaving them takes the memory of all. */
export const FILTERS_OF_FILE = 8;
/** Bits of a token. */
const PROBES = 6;
/** Blocks of a filter that is being built: 2 MiB, and of the smallest. */
const MAX_BLOCKS = 32_768;
const MIN_BLOCKS = 64;
/** Share of the bits that are set, at most, after a filter was made smaller: 2 % of the absent tokens pass. */
const MAX_FILL = 0.52;
const WORDS = FILTER_BLOCK_BYTES / 4;

/** Builds the filter of a segment whose number of tokens is not known. */
export class WideFilterBuilder {
  readonly #blocks: number;
  readonly #words: Uint32Array;

  /** @param blocks of the filter while it is built, a power of two: 2 MiB unless given */
  constructor(blocks = MAX_BLOCKS) {
    this.#blocks = blocks;
    this.#words = new Uint32Array(blocks * WORDS);
  }

  add(a: number, b: number): void {
    const words = this.#words;
    const start = ((a >>> 0) & (this.#blocks - 1)) * WORDS;
    const first = spread(b);
    const second = secondOf(a, b);
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = bitOf(probe, first, second);
      const at = start + (bit >> 5);
      words[at] = (words[at] ?? 0) | (1 << (bit & 31));
    }
  }

  /** Returns, in steps of some milliseconds, the smallest filter that is not too full; `null` if there are so many tokens that it would exclude nothing. */
  *finish(): Generator<null, Uint8Array | null> {
    let words = this.#words;
    if (fill(words) > 0.9) return null;
    yield null;
    while (words.length > MIN_BLOCKS * WORDS) {
      const half = halved(words);
      if (fill(half) > MAX_FILL) break;
      words = half;
      yield null;
    }
    return new Uint8Array(words.slice().buffer);
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
}

/** Returns where the blocks for a token are in a filter file. */
export function rangeOfToken({ filters, blocks }: FilterSize, { a }: TokenHash): { start: number; end: number } {
  const start = ((a >>> 0) & (blocks - 1)) * filters * FILTER_BLOCK_BYTES;
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

  /** Adds a filter, in steps of some milliseconds. One with fewer blocks is repeated. */
  *put(slot: number, filter: Uint8Array): Generator<null, void> {
    const { filters, blocks } = this.#form;
    for (let block = 0; block < blocks; block++) {
      const from = (block * FILTER_BLOCK_BYTES) % filter.length;
      this.bytes.set(filter.subarray(from, from + FILTER_BLOCK_BYTES), (block * filters + slot) * FILTER_BLOCK_BYTES);
      if (block % 8192 === 8191) yield null;
    }
  }
}

const NAME = /\/([fi])-(\d{1,3})-(\d{1,6})-[0-9a-f]{16}$/;

/** All kinds of this version, and of the versions whose files begin with `f`. */
export const ALL_KINDS = Object.values(TOKEN_KIND).reduce((all, kind) => all | kind, 0);
const FORMER_KINDS = EXACT_KIND.id | EXACT_KIND.text | EXACT_KIND.scalar | TOKEN_KIND.three | TOKEN_KIND.four;

/** Returns the key of a filter file. @param folder of the project's files, without a slash at its end */
export function filterKey(folder: string, { filters, blocks }: FilterSize, sha256: string): string {
  return `${folder}/i-${filters}-${blocks}-${sha256.slice(0, 16)}`;
}

/** Returns the form of a filter file from its key; `null` if the key is not of one. */
export function formOfKey(key: string): FilterForm | null {
  const [, letter, filters, blocks] = NAME.exec(key) ?? [];
  if (filters === undefined || blocks === undefined) return null;
  return { filters: Number(filters), blocks: Number(blocks), kinds: letter === "i" ? ALL_KINDS : FORMER_KINDS };
}
