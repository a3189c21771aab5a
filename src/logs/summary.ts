import { ByteReader, ByteWriter } from "../platform/varint.ts";
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
/** The category of a pair with several filters: never UTF-8, so that no name has it. */
const SEVERAL = Uint8Array.of(0xff);

/** More pairs than a segment can have. Level and pair together stay a small integer, which a Map stores unboxed. */
const PAIR_SPAN = 16_384;

/**
 * Counts a batch by minute, level, category and type while it is validated.
 *
 * Packed form: number of custom pairs, each as two blobs (category, type); then, in order, rows of (minute minus the
 * row before's, level, pair, count). A pair below the number of built-in pairs is built in.
 *
 * A batch's summary has one more custom pair: the last one has an empty category, and its type is the filter of the
 * batch's ids. No row refers to it, so code that counts ignores it, in versions without filters, too. If several batches
 * share a row, the category is the byte 0xff, and the type has the filter of each as a blob. Versions that cannot read it
 * see no filter.
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

  /** @param ids filter of a batch's ids, or the filters of several batches */
  pack(ids: Uint8Array | readonly Uint8Array[] | null = null): Uint8Array {
    const writer = new ByteWriter();
    const encoder = new TextEncoder();
    writer.varint(this.#own.length + (ids === null ? 0 : 1));
    for (const pair of this.#own) for (const name of pair) writer.blob(encoder.encode(name));
    if (ids !== null) {
      writer.blob(ids instanceof Uint8Array ? NO_CATEGORY : SEVERAL);
      writer.blob(ids instanceof Uint8Array ? ids : packBlobs(ids));
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
    return writer.finish();
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

/** Returns the summary of batches that share a row. It has no filter if one of them has none. */
export function mergeSummaries(summaries: readonly Uint8Array[]): Uint8Array {
  const merged = new SummaryBuilder();
  const filters: Uint8Array[] = [];
  let isFiltered = true;
  for (const packed of summaries) {
    for (const { minute, level, category, type, count } of readSummary(packed)) {
      merged.add(minute * SUMMARY_BUCKET_MS, level, category, type, count);
    }
    const found = idFiltersOf(packed);
    if (found === null) isFiltered = false;
    else filters.push(...found);
  }
  return merged.pack(isFiltered ? filters : null);
}

function packBlobs(blobs: readonly Uint8Array[]): Uint8Array {
  const writer = new ByteWriter();
  for (const blob of blobs) writer.blob(blob);
  return writer.finish();
}

/**
 * Returns the filters of ids in a batch's summary, one for each request whose entries it has; `null` if an older version
 * wrote the summary, or if it is damaged.
 */
export function idFiltersOf(packed: Uint8Array): Uint8Array[] | null {
  return findIds(packed)?.filters ?? null;
}

/** Returns a batch's summary without its filter. */
export function countsOf(packed: Uint8Array): Uint8Array {
  const found = findIds(packed);
  if (found === null) return packed;
  const own = new ByteWriter();
  own.varint(found.own - 1);
  return Buffer.concat([own.finish(), packed.subarray(found.pairs, found.start), packed.subarray(found.end)]);
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
    const category = reader.blob();
    const isSeveral = category.length === 1 && category[0] === SEVERAL[0];
    if (category.length > 0 && !isSeveral) return null;
    const type = reader.blob();
    return { own, pairs, start, filters: isSeveral ? readBlobs(type) : [type], end: reader.at };
  } catch (error) {
    // The summary is incomplete. The code that counts will report it.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function readBlobs(packed: Uint8Array): Uint8Array[] {
  const reader = new ByteReader(packed);
  const blobs: Uint8Array[] = [];
  while (!reader.done) blobs.push(reader.blob());
  return blobs;
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
