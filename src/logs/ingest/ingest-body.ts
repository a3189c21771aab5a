import { type Steps, TurnMeter } from "../../platform/turns.ts";
import { INGEST_LIMITS } from "../entry.ts";
import type { BuildOptions, BuildResult } from "./build-batch.ts";
import { canonicalBatch } from "./canonical-body.ts";
import { type BodyFailure, type IngestMediaType, parseEntries } from "./parse-entries.ts";

/** What the body of a request holds. */
export interface IngestBody {
  /** Entries sent, good or bad; a body that holds none counts as one, one that holds too many as one more than it may. */
  units: number;
  failure: BodyFailure | null;
  built: BuildResult;
}

const NOTHING: BuildResult = { batch: null, rejected: [], rejectedCount: 0 };

/** Reads a body, in steps: `meter` says when to pause, and how much memory the work holds beside the body. */
export function* readIngestBody(
  bytes: Uint8Array,
  mediaType: IngestMediaType,
  options: BuildOptions,
  meter = new TurnMeter(),
): Steps<IngestBody> {
  if (options.oldest === null) {
    const batch = yield* canonicalBatch(bytes, mediaType, options.now, meter);
    if (batch !== null) return { units: batch.count, failure: null, built: { batch, rejected: [], rejectedCount: 0 } };
  }
  const parsed = yield* parseEntries(bytes, mediaType, options, meter);
  if (parsed.ok) return { units: parsed.builder.entries, failure: null, built: parsed.builder.finish() };
  const units = parsed.reason === "too_many" ? INGEST_LIMITS.entries + 1 : 1;
  return { units, failure: parsed, built: NOTHING };
}
