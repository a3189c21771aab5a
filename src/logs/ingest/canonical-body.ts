import { isUtf8 } from "node:buffer";
import type { Batch } from "../batch.ts";
import { encodeBody } from "../codec.ts";
import { INGEST_LIMITS } from "../entry.ts";
import { SummaryBuilder } from "../summary.ts";
import { CanonicalEntryReader } from "./canonical-entry.ts";
import { startsWith } from "./canonical-json.ts";
import type { IngestMediaType } from "./parse-entries.ts";

const COMMA = 0x2c;
const LINE_BREAK = 0x0a;

const encoder = new TextEncoder();
/** What a document may begin with before its first entry, and then ends with. */
const FRAMES = [
  { open: encoder.encode('[{"timestamp":"'), skip: 1, close: encoder.encode("]") },
  { open: encoder.encode('{"logs":[{"timestamp":"'), skip: 9, close: encoder.encode("]}") },
  { open: encoder.encode('{"timestamp":"'), skip: 0, close: new Uint8Array() },
];

/**
 * The batch of a body whose entries are written just as a batch holds them, which is how the client library writes them:
 * complete, in the order of `ENTRY_MEMBERS`, as `JSON.stringify` would. Such a body is looked through once, byte by byte,
 * and copied; to parse it and to write it again takes three times as long.
 *
 * Null for any other body, and for one with an entry that may have to be refused: `parseEntries` takes those.
 */
export function canonicalBatch(bytes: Uint8Array, mediaType: IngestMediaType, now: number): Batch | null {
  return mediaType === "application/x-ndjson" ? batchOfLines(bytes, now) : batchOfDocument(bytes, now);
}

function batchOfLines(bytes: Uint8Array, now: number): Batch | null {
  const end = bytes.at(-1) === LINE_BREAK ? bytes.length - 1 : bytes.length;
  return batchOf(bytes, 0, end, LINE_BREAK, now);
}

function batchOfDocument(bytes: Uint8Array, now: number): Batch | null {
  const frame = FRAMES.find(({ open }) => startsWith(bytes, 0, open));
  if (frame === undefined) return null;
  const end = bytes.length - frame.close.length;
  // A single entry is none of many.
  return startsWith(bytes, end, frame.close) ? batchOf(bytes, frame.skip, end, frame.skip > 0 ? COMMA : -1, now) : null;
}

/** @param separator byte between two entries; -1 where there is one only */
function batchOf(bytes: Uint8Array, start: number, end: number, separator: number, now: number): Batch | null {
  if (!isUtf8(bytes)) return null;
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
    if (at < 0 || at > end || at - from > INGEST_LIMITS.entryBytes) return null;
    const { ms, severity, place } = reader;
    if (ms < minTimestamp) minTimestamp = ms;
    if (ms > maxTimestamp) maxTimestamp = ms;
    levelMask |= 1 << severity;
    categoryMask |= place.bit;
    summary.add(ms, severity, place.category, place.type);
    if (at === end) break;
    if (bytes[at] !== separator || separators.push(at) === INGEST_LIMITS.entries) return null;
  }
  // A copy, whatever kind of array it is: the slice of a Buffer would be none.
  const raw = new Uint8Array(bytes.subarray(start, end));
  if (separator !== LINE_BREAK) for (const at of separators) raw[at - start] = LINE_BREAK;
  return {
    count: separators.length + 1,
    minTimestamp,
    maxTimestamp,
    levelMask,
    categoryMask,
    summary: summary.pack(reader.ids.toFilter()),
    size: raw.length,
    ...encodeBody(raw),
  };
}
