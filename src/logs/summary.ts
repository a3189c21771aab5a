import { ByteReader, ByteWriter } from "../bytes/varint.ts";
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

/** Category and type as one number: built-in names first, so that they are never written out. */
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

/** More pairs than there can be in a segment: level and pair together stay a small integer, which a Map holds unboxed. */
const PAIR_SPAN = 16_384;

/**
 * Counts a batch by minute, level, category and type while it is validated.
 *
 * Packed form: number of own pairs, each as two blobs (category, type); then, in order, rows of
 * (minute minus the row before's, level, pair, count). A pair below the number of built-in pairs is built in.
 *
 * A batch's has one own pair more: the last one has no category, and its type is the filter of the batch's ids
 * (`id-filter.ts`). No row names it, so that who counts passes it over, in versions before there were filters, too.
 */
export class SummaryBuilder {
  /** Minute to (level and pair) to count. */
  readonly #minutes = new Map<number, Map<number, number>>();
  /** The minute of the entry before: entries of a batch lie close together. */
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

/** The filter of ids in a batch's summary; null in one of a version that made none, and in a damaged one. */
export function idFilterOf(packed: Uint8Array): Uint8Array | null {
  return findIds(packed)?.filter ?? null;
}

/** A batch's summary without its filter: the counts alone. */
export function countsOf(packed: Uint8Array): Uint8Array {
  const found = findIds(packed);
  if (found === null) return packed;
  const own = new ByteWriter();
  own.varint(found.own - 1);
  return Buffer.concat([own.toBytes(), packed.subarray(found.pairs, found.start), packed.subarray(found.end)]);
}

/** Where own pairs begin, and the last one's place if it is the filter's. */
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
    // It ends in the middle: who counts will say so.
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
