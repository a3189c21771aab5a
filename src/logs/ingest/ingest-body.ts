import { isUtf8 } from "node:buffer";
import { detachBuffer } from "../../platform/isolate-memory.ts";
import type { Steps, TurnMeter } from "../../platform/turns.ts";
import { type Batch, BodyEncoder, type EncodedBody, encodeBody } from "../batch.ts";
import { BATCH_ENTRIES, INGEST_LIMITS } from "../entry.ts";
import { SummaryBuilder } from "../summary.ts";
import type { BodyFailure } from "./body-failure.ts";
import type { BuildOptions } from "./build-batch.ts";
import { CanonicalEntryReader } from "./canonical-entry.ts";
import { startsWith } from "./canonical-json.ts";
import { countValues } from "./check-json.ts";
import { parseEntries } from "./parse-entries.ts";
import type { Rejection } from "./rejection.ts";

const COMMA = 0x2c;
const LINE_BREAK = 0x0a;

/** Bytes that are copied and compressed at once. */
const PIECE_BYTES = 128 * 1024;
/** Worst-case nanoseconds for scanning or compressing a byte, with many short names. */
const COST_OF_BYTE = 10;

const encoder = new TextEncoder();
/** What a document may begin with before its first entry, with the matching end. */
const WRAPPERS = [
  { open: encoder.encode('[{"timestamp":"'), skip: 1, close: encoder.encode("]") },
  { open: encoder.encode('{"logs":[{"timestamp":"'), skip: 9, close: encoder.encode("]}") },
  { open: encoder.encode('{"timestamp":"'), skip: 0, close: new Uint8Array() },
];

/**
 * Builds the batch of a JSON body whose entries are canonical, as the client library writes them: complete, with members
 * in the order of `ENTRY_MEMBERS`, formatted like `JSON.stringify`. Scans the body once, byte by byte, and copies it.
 * Parsing and writing it again takes three times as long.
 *
 * Returns `null` for any other body, and for a body with an entry that may have to be rejected. `parseEntries` reads
 * those.
 */
export function* canonicalBatch(bytes: Uint8Array, now: number, meter: TurnMeter): Steps<Batch | null> {
  const location = locationInDocument(bytes);
  if (location === null || !isUtf8(bytes)) return null;
  return (yield* batchOf(bytes, location, now, meter))?.batch ?? null;
}

/** The batch of the first lines, and the index of the first line that is not in it. */
export interface CanonicalLines {
  batch: Batch;
  next: number;
}

/**
 * Like `canonicalBatch`, for lines: as many as one batch may have.
 * @param bytes valid UTF-8
 */
export function canonicalLines(bytes: Uint8Array, now: number, meter: TurnMeter): Steps<CanonicalLines | null> {
  const end = bytes.at(-1) === LINE_BREAK ? bytes.length - 1 : bytes.length;
  return batchOf(bytes, { start: 0, end, separator: LINE_BREAK }, now, meter);
}

/** The position of the entries in a body. */
interface EntriesLocation {
  start: number;
  end: number;
  /** Byte between two entries; -1 if there is only one entry. */
  separator: number;
}

function locationInDocument(bytes: Uint8Array): EntriesLocation | null {
  const wrapper = WRAPPERS.find(({ open }) => startsWith(bytes, 0, open));
  if (wrapper === undefined) return null;
  const end = bytes.length - wrapper.close.length;
  if (!startsWith(bytes, end, wrapper.close)) return null;
  // A single entry has no separator.
  return { start: wrapper.skip, end, separator: wrapper.skip > 0 ? COMMA : -1 };
}

function* batchOf(
  bytes: Uint8Array,
  { start, end: bodyEnd, separator }: EntriesLocation,
  now: number,
  meter: TurnMeter,
): Steps<CanonicalLines | null> {
  let end = bodyEnd;
  const summary = new SummaryBuilder();
  const reader = new CanonicalEntryReader(bytes, now);
  const separators: number[] = [];
  let minTimestamp = Number.POSITIVE_INFINITY;
  let maxTimestamp = Number.NEGATIVE_INFINITY;
  let levelMask = 0;
  let categoryMask = 0;
  for (let at = start; ; at++) {
    const from = at;
    at = reader.read(at);
    if (at < 0 || at > end || isLarge(bytes, from, at)) return null;
    const { ms, severity, names } = reader;
    if (ms < minTimestamp) minTimestamp = ms;
    if (ms > maxTimestamp) maxTimestamp = ms;
    levelMask |= 1 << severity;
    categoryMask |= names.bit;
    summary.add(ms, severity, names.category, names.type);
    if (at === end) break;
    if (bytes[at] !== separator) return null;
    if (separators.length + 1 === BATCH_ENTRIES) {
      // A document must not have more entries; the next lines are another batch.
      if (separator !== LINE_BREAK) return null;
      end = at;
      break;
    }
    separators.push(at);
    meter.spend((at - from) * COST_OF_BYTE);
    if (meter.isDue) yield;
  }
  const body = yield* encoded(bytes, { start, end, separator }, separators, meter);
  const batch = {
    count: separators.length + 1,
    minTimestamp,
    maxTimestamp,
    levelMask,
    categoryMask,
    summary: summary.pack(reader.ids.toFilter()),
    size: end - start,
    ...body,
  };
  return { batch, next: Math.min(end + 1, bytes.length) };
}

/** Whether an entry must be rejected for its size or for the number of its values. */
function isLarge(bytes: Uint8Array, from: number, to: number): boolean {
  const { entryBytes, entryValues } = INGEST_LIMITS;
  const size = to - from;
  return size > entryBytes || (size > 2 * entryValues && countValues(bytes, from, to) > entryValues);
}

/**
 * Yields the entries as lines.
 * @param separators ends of all entries except the last one
 */
function* encoded(
  bytes: Uint8Array,
  { start, end, separator }: EntriesLocation,
  separators: readonly number[],
  meter: TurnMeter,
): Steps<EncodedBody> {
  if (end - start <= PIECE_BYTES) {
    const raw = lines(bytes, start, end, separator, separators);
    const encodedBody = encodeBody(raw);
    if (encodedBody.body.buffer === bytes.buffer) return { encoding: 0, body: new Uint8Array(raw) };
    if (encodedBody.body !== raw && raw.buffer !== bytes.buffer) detachBuffer(raw);
    return encodedBody;
  }
  const encoder = new BodyEncoder();
  let next = 0;
  for (let from = start; from < end; ) {
    const to = Math.min(end, from + PIECE_BYTES);
    const first = next;
    while ((separators[next] ?? end) < to) next++;
    const piece = lines(bytes, from, to, separator, separators.slice(first, next));
    encoder.add(piece);
    if (piece.buffer !== bytes.buffer) detachBuffer(piece);
    meter.spend((to - from) * COST_OF_BYTE);
    meter.held = encoder.held;
    if (meter.isDue) yield;
    from = to;
  }
  return encoder.finish();
}

function lines(
  bytes: Uint8Array,
  from: number,
  to: number,
  separator: number,
  separators: readonly number[],
): Uint8Array {
  // Lines are compressed where they are. A copy of each piece would be garbage that is collected late.
  if (separator === LINE_BREAK) return bytes.subarray(from, to);
  // Makes a copy for any kind of array: `slice` of a Buffer would share its memory.
  const raw = new Uint8Array(bytes.subarray(from, to));
  for (const at of separators) raw[at - from] = LINE_BREAK;
  return raw;
}

/** The content of a request body. */
export interface IngestBody {
  /**
   * Number of entries sent, valid or not. A body without entries counts as one; a body with too many as the maximum
   * plus one.
   */
  units: number;
  failure: BodyFailure | null;
  /** Consecutive batches of the valid entries; none without such entries. */
  batches: Batch[];
  /** The first 100 rejected entries, in order. */
  rejected: Rejection[];
  /** Number of all rejected entries. */
  rejectedCount: number;
}

/** Reads a JSON body in steps. `meter` decides when to pause, and counts the memory held in addition to the body. */
export function* readIngestDocument(bytes: Uint8Array, options: BuildOptions, meter: TurnMeter): Steps<IngestBody> {
  if (options.oldest === null) {
    const batch = yield* canonicalBatch(bytes, options.now, meter);
    if (batch !== null) {
      return { units: batch.count, failure: null, batches: [batch], rejected: [], rejectedCount: 0 };
    }
  }
  const parsed = yield* parseEntries(bytes, options, meter);
  if (!parsed.ok) return failedBody(parsed, INGEST_LIMITS.entries);
  const { batch, ...rejections } = parsed.builder.finish();
  return { units: parsed.builder.entries, failure: null, batches: batch === null ? [] : [batch], ...rejections };
}

/** @param limit maximum number of entries of such a body */
export function failedBody({ reason, message }: BodyFailure, limit: number): IngestBody {
  const units = reason === "too_many" ? limit + 1 : 1;
  return { units, failure: { reason, message }, batches: [], rejected: [], rejectedCount: 0 };
}
