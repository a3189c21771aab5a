import { INGEST_LIMITS } from "../entry.ts";
import { type BuiltBatch, buildBatch } from "./build-batch.ts";
import { canonicalBatch } from "./canonical-body.ts";
import { type IngestMediaType, type ParseResult, parseEntries } from "./parse-entries.ts";

/** Why a body holds no entries at all. */
export type BodyFailure = Omit<Extract<ParseResult, { ok: false }>, "ok">;

/** What the body of a request holds. */
export interface IngestBody {
  /** Entries sent, good or bad; a body that holds none counts as one, one that holds too many as one more than it may. */
  units: number;
  failure: BodyFailure | null;
  /** @param oldest as for `buildBatch` */
  build(oldest: number | null): BuiltBatch;
}

const NOTHING: BuiltBatch = { batch: null, rejected: [], rejectedCount: 0 };

/** @param now epoch milliseconds of the receipt */
export function readIngestBody(bytes: Uint8Array, mediaType: IngestMediaType, now: number): IngestBody {
  const batch = canonicalBatch(bytes, mediaType, now);
  if (batch === null) return parsedBody(parseEntries(bytes, mediaType), now);
  return {
    units: batch.count,
    failure: null,
    build: (oldest) =>
      oldest === null
        ? { batch, rejected: [], rejectedCount: 0 }
        : parsedBody(parseEntries(bytes, mediaType), now).build(oldest),
  };
}

function parsedBody(parsed: ParseResult, now: number): IngestBody {
  if (parsed.ok) {
    const { entries } = parsed;
    return { units: entries.values.length, failure: null, build: (oldest) => buildBatch(entries, { now, oldest }) };
  }
  const units = parsed.reason === "too_many" ? INGEST_LIMITS.entries + 1 : 1;
  return { units, failure: parsed, build: () => NOTHING };
}
