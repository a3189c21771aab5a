import { detachBuffer } from "../platform/isolate-memory.ts";
import { scaled, spread } from "./cold/filter/bloom.ts";

/** With 10 bits and 4 probes an id, 1.2 % of the batches without an id pass. */
const BITS_PER_ID = 10;
const PROBES = 4;

/** Members whose ids are in the filter, by their number in it. */
export const ID_MEMBERS = ["session", "traceId"] as const;

const PRIME = 0x85ebca77;
/** Initial hash of each member's ids. */
const SEEDS = [0x811c9dc5, 0x1f83d9ab];
const FIRST_CAPACITY = 32;

/**
 * Collects the ids of a batch's entries for the batch's Bloom filter. A query for an id gets only the batches that may
 * have it; without the filter their bodies would have to be decompressed. Segments have separate filters. An id equal
 * to the one before it of the same member counts once.
 */
export class IdCollector {
  #hashes = new Uint32Array(FIRST_CAPACITY);
  #count = 0;
  readonly #last = SEEDS.map(() => -1);

  /** Adds an id as written in JSON, without its quotes. */
  addBytes(member: number, bytes: Uint8Array, from: number, to: number): void {
    this.#add(member, hashOf(member, bytes, from, to));
  }

  /** Adds the ids of an entry. */
  addEntry({ session, traceId }: { session?: string; traceId?: string }): void {
    if (session !== undefined) this.#add(0, hashOfId(0, session));
    if (traceId !== undefined) this.#add(1, hashOfId(1, traceId));
  }

  /** Returns the filter; empty if there are no ids. */
  toFilter(): Uint8Array {
    const filter = new Uint8Array(Math.ceil((this.#count * BITS_PER_ID) / 8));
    const bits = filter.length * 8;
    for (let at = 0; at < this.#count; at++) {
      let position = this.#hashes[at] ?? 0;
      const step = stepOf(position);
      for (let probe = 0; probe < PROBES; probe++, position = (position + step) >>> 0) {
        const bit = scaled(position, bits);
        filter[bit >> 3] = (filter[bit >> 3] ?? 0) | (1 << (bit & 7));
      }
    }
    return filter;
  }

  #add(member: number, hash: number): void {
    if (this.#last[member] === hash) return;
    this.#last[member] = hash;
    if (this.#count === this.#hashes.length) {
      const grown = new Uint32Array(this.#count * 2);
      grown.set(this.#hashes);
      detachBuffer(this.#hashes);
      this.#hashes = grown;
    }
    this.#hashes[this.#count++] = hash;
  }
}

/** Returns the hashes of the ids that every matching entry has. */
export function idHashesOf(wanted: { session: string | null; traceId: string | null }): number[] {
  return ID_MEMBERS.flatMap((name, member) => {
    const id = wanted[name];
    return id === null ? [] : [hashOfId(member, id)];
  });
}

/**
 * Whether an entry of a batch may have all of the given ids. A batch without filters, stored by an older version, may have
 * any.
 */
export function mayContainIds(filters: readonly Uint8Array[] | null, hashes: readonly number[]): boolean {
  return filters?.some((filter) => hashes.every((hash) => mayContainId(filter, hash))) ?? true;
}

function mayContainId(filter: Uint8Array, hash: number): boolean {
  if (filter.length === 0) return false;
  const step = stepOf(hash);
  for (let probe = 0, position = hash; probe < PROBES; probe++, position = (position + step) >>> 0) {
    const bit = scaled(position, filter.length * 8);
    if (((filter[bit >> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

const encoder = new TextEncoder();
/** Matches text that JSON writes unchanged, with one byte for each character. */
const PLAIN = /^[ !#-[\]-~]*$/;
/** A plain id fits into this buffer. */
const scratch = new Uint8Array(256);

function hashOfId(member: number, id: string): number {
  if (id.length > scratch.length || !PLAIN.test(id)) {
    const bytes = encoder.encode(JSON.stringify(id));
    return hashOf(member, bytes, 1, bytes.length - 1);
  }
  for (let at = 0; at < id.length; at++) scratch[at] = id.charCodeAt(at);
  return hashOf(member, scratch, 0, id.length);
}

/** Hashes four bytes at a time. Byte by byte, each step would wait for the one before. */
function hashOf(member: number, bytes: Uint8Array, from: number, to: number): number {
  let hash = SEEDS[member] ?? 0;
  let at = from;
  for (; at + 4 <= to; at += 4) {
    const four =
      (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
    hash = mixed(hash, four);
  }
  for (; at < to; at++) hash = mixed(hash, bytes[at] ?? 0);
  return spread(mixed(hash, to - from));
}

function mixed(hash: number, unit: number): number {
  const product = Math.imul(hash ^ unit, PRIME);
  return product ^ (product >>> 15);
}

/** Returns the distance between an id's positions, in 2 ** 32. */
function stepOf(hash: number): number {
  return spread(hash) | 1;
}
