import { ByteReader, ByteWriter } from "../platform/varint.ts";
import { scaled, spread } from "./cold/filter/bloom.ts";
import { BUILT_IN_CATEGORIES, CATEGORY_TYPES } from "./entry.ts";

/** Milliseconds of a summary's time bucket. */
export const SUMMARY_BUCKET_MS = 60_000;

/** One count of a batch: entries of a minute, level, category and type. */
export interface SummaryRow {
  /** Minutes since the epoch. */
  minute: number;
  /** Severity, 0..6. */
  level: number;
  category: string;
  type: string;
  count: number;
}

/** Pairs of category and type, numbered. Built-in pairs come first and are never written to a summary. */
const BUILT_IN_PAIRS: readonly (readonly [string, string])[] = [
  ...BUILT_IN_CATEGORIES.flatMap((category) => CATEGORY_TYPES[category].map((type) => [category, type] as const)),
  ["custom", "log"],
];

const BUILT_IN_INDEX = new Map<string, Map<string, number>>();
BUILT_IN_PAIRS.forEach(([category, type], index) => {
  const types = BUILT_IN_INDEX.get(category) ?? new Map<string, number>();
  BUILT_IN_INDEX.set(category, types.set(type, index));
});

const NO_CATEGORY = new Uint8Array();

/** More pairs than a segment can have. Level and pair together stay a small integer, which a Map stores unboxed. */
const PAIR_SPAN = 16_384;

/**
 * Counts a batch by minute, level, category and type while it is validated.
 *
 * Packed form: number of custom pairs, each as two blobs (category, type); then, in order, rows of (minute minus the
 * row before's, level, pair, count). A pair below the number of built-in pairs is built in.
 *
 * A batch's summary has one more custom pair: the last one has an empty category, and its type is the filter of the
 * batch's ids. No row refers to it, so code that counts ignores it, in versions without filters, too.
 */
export class SummaryBuilder {
  /** Counts by minute, then by level and pair. */
  readonly #minutes = new Map<number, Map<number, number>>();
  /** The minute of the entry before. Entries of a batch lie close together. */
  #minute = -1;
  #counts = new Map<number, number>();
  readonly #own: [string, string][] = [];
  readonly #ownIndex = new Map<string, Map<string, number>>();

  add(timestamp: number, level: number, category: string, type: string, count = 1): void {
    const minute = Math.floor(timestamp / SUMMARY_BUCKET_MS);
    if (minute !== this.#minute) this.#enter(minute);
    const key = level * PAIR_SPAN + (BUILT_IN_INDEX.get(category)?.get(type) ?? this.#ownPair(category, type));
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
  }

  /** @param ids filter of a batch's ids */
  pack(ids: Uint8Array | null = null): Uint8Array {
    const writer = new ByteWriter();
    const encoder = new TextEncoder();
    writer.varint(this.#own.length + (ids === null ? 0 : 1));
    for (const pair of this.#own) for (const name of pair) writer.blob(encoder.encode(name));
    if (ids !== null) {
      writer.blob(NO_CATEGORY);
      writer.blob(ids);
    }
    let previous = 0;
    for (const minute of [...this.#minutes.keys()].sort((a, b) => a - b)) {
      for (const [key, count] of this.#minutes.get(minute) ?? []) {
        writer.varint(minute - previous);
        writer.varint(Math.floor(key / PAIR_SPAN));
        writer.varint(key % PAIR_SPAN);
        writer.varint(count);
        previous = minute;
      }
    }
    return writer.toBytes();
  }

  #enter(minute: number): void {
    this.#minute = minute;
    this.#counts = this.#minutes.get(minute) ?? new Map();
    this.#minutes.set(minute, this.#counts);
  }

  #ownPair(category: string, type: string): number {
    const types = this.#ownIndex.get(category) ?? new Map<string, number>();
    this.#ownIndex.set(category, types);
    const known = types.get(type);
    if (known !== undefined) return known;
    const pair = BUILT_IN_PAIRS.length + this.#own.length;
    this.#own.push([category, type]);
    types.set(type, pair);
    return pair;
  }
}

/**
 * Returns the filter of ids in a batch's summary; `null` if an older version wrote the summary, or if it is damaged.
 */
export function idFilterOf(packed: Uint8Array): Uint8Array | null {
  return findIds(packed)?.filter ?? null;
}

/** Returns a batch's summary without its filter. */
export function countsOf(packed: Uint8Array): Uint8Array {
  const found = findIds(packed);
  if (found === null) return packed;
  const own = new ByteWriter();
  own.varint(found.own - 1);
  return Buffer.concat([own.toBytes(), packed.subarray(found.pairs, found.start), packed.subarray(found.end)]);
}

/** Finds the beginning of the custom pairs, and the position of the last one if it is the filter. */
function findIds(packed: Uint8Array) {
  const reader = new ByteReader(packed);
  try {
    const own = reader.varint();
    if (own === 0) return null;
    const pairs = reader.at;
    for (let blob = 2; blob < 2 * own; blob++) reader.blob();
    const start = reader.at;
    if (reader.blob().length > 0) return null;
    return { own, pairs, start, filter: reader.blob(), end: reader.at };
  } catch (error) {
    // The summary is incomplete. The code that counts will report it.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

export function* readSummary(packed: Uint8Array): Generator<SummaryRow> {
  const reader = new ByteReader(packed);
  const decoder = new TextDecoder();
  const pairs = [...BUILT_IN_PAIRS];
  for (let own = reader.varint(); own > 0; own--)
    pairs.push([decoder.decode(reader.blob()), decoder.decode(reader.blob())]);
  let minute = 0;
  while (!reader.done) {
    minute += reader.varint();
    const level = reader.varint();
    const [category, type] = pairs[reader.varint()] ?? ["", ""];
    yield { minute, level, category, type, count: reader.varint() };
  }
}

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
 * Whether a batch may have all of the given ids. A batch without a filter, stored by an older version, may have any.
 */
export function mayContainIds(filter: Uint8Array | null, hashes: readonly number[]): boolean {
  return filter === null || hashes.every((hash) => mayContainId(filter, hash));
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
