import { type BatchEncoding, decodeBody } from "../../logs/batch.ts";
import type { DecodedBatch, SeqRange } from "../../logs/cold/format/lines.ts";
import type { ColdTier } from "../../logs/cold/store/cold-tier.ts";
import { RangeFiles } from "../../logs/cold/store/range-files.ts";
import type { SegmentTotals } from "../../logs/cold/store/writer.ts";
import { type CatalogFile, encodeFiles } from "../../logs/segments/encode/encode-rows.ts";
import type { Bucket } from "../../platform/bucket.ts";
import { BucketFailure } from "../../platform/bucket-failure.ts";
import { detachBuffer } from "../../platform/isolate-memory.ts";

/** A batch as stored in the object. */
export interface FlushBatch {
  commit: number;
  firstSeq: number;
  count: number;
  /** Epoch milliseconds. */
  receivedAt: number;
  encoding: BatchEncoding;
  /** Bytes of the body before compression; absent from objects of an older version. */
  size?: number;
  body: Uint8Array;
}

/** One range to be written to the cold tier. */
export interface FlushCall {
  workspaceId: string;
  projectId: string;
  range: SeqRange;
  /** The project's watermark: entries up to this `seq` are read from the cold tier, all others from the object. */
  watermark: number;
  /** The range's batches in order, except those in `bad`. */
  batches: FlushBatch[];
  /** Batches that the object itself cannot read completely. */
  bad: QuarantinedBatch[];
  /**
   * Epoch milliseconds after which nothing is sent to D1. A call may outlive the object that made it, and cleanup of a
   * deleted project must know when no write can arrive any longer.
   */
  deadline: number;
  /** Name of the database to write to; absent from objects of an older version, which write to `COLD_DB`. */
  database?: string;
}

/** A batch that the cold tier cannot take, and the reason, without any of its content. */
export interface QuarantinedBatch {
  commit: number;
  reason: string;
}

export type FlushOutcome =
  /** The range is in D1, by this call or an earlier one. Bytes as stored there. */
  | {
      outcome: "stored";
      segments: number;
      bytes: number;
      /** Other segments were in its place and have been replaced. */
      hasReplaced: boolean;
      /** Bytes of the database after the write; 0 or absent if they are not known. */
      databaseBytes?: number;
    }
  /** These batches can never be stored. This call has written nothing of the range. */
  | { outcome: "bad"; batches: QuarantinedBatch[] }
  /** D1 may or may not have the range. Retry. */
  | { outcome: "failed"; reason: string };

/** The functions of the cold tier that the writer requires. */
export type RangeStore = Pick<ColdTier, "insertSegments" | "replaceSegments" | "segmentsBySeq" | "noteFiles">;

/** Where a range is written. */
export interface RangeTarget {
  store: RangeStore;
  /** `null`: everything goes to D1. */
  bucket: Bucket | null;
  /** Epoch milliseconds. */
  now: () => number;
  /** Called when the range is encoded, with the bytes of its files. */
  encoded?: (bytes: number) => void;
}

/** Encodes a range to segment files and stores them. Safe to repeat. Throws nothing. */
export async function writeRange(target: RangeTarget, call: FlushCall): Promise<FlushOutcome> {
  try {
    return await write(target, call);
  } catch (error) {
    if (error instanceof BucketFailure) return { outcome: "failed", reason: error.message };
    const code = codeOf(error);
    if (code !== null && REFUSALS.has(code))
      return { outcome: "bad", batches: allOf(call, `D1 refuses its range: ${code}`) };
    return { outcome: "failed", reason: code === null ? "D1 cannot be reached" : `D1 fails with ${code}` };
  }
}

/**
 * Milliseconds after the deadline of a call until which it may put a file again that a row names. With an attempt of the
 * bucket, this is before `LATE_WRITES_MS`.
 */
const CONFIRM_MS = 120_000;

async function write(target: RangeTarget, call: FlushCall): Promise<FlushOutcome> {
  const { store } = target;
  const encoded = await encode(target, call);
  // A range that cannot be encoded now may have been stored by an earlier call whose response was lost.
  if (!encoded.ok) return (await findStored(store, call)) ?? { outcome: "bad", batches: encoded.batches };
  target.encoded?.(encoded.files.bytes);
  try {
    return await storeFiles(target, call, encoded.files);
  } finally {
    encoded.files.release();
  }
}

async function storeFiles(target: RangeTarget, call: FlushCall, files: RangeFiles): Promise<FlushOutcome> {
  const { store, now } = target;
  const { workspaceId, range, watermark } = call;
  const tooLate: FlushOutcome = { outcome: "failed", reason: "The writer was too late." };
  if (now() > call.deadline) return tooLate;
  await files.put(store, workspaceId, now(), call.deadline);
  if (now() > call.deadline) return tooLate;
  const count = range.lastSeq - range.firstSeq + 1;
  const confirmBy = call.deadline + CONFIRM_MS;
  const stored = await store.insertSegments(workspaceId, files.rows, watermark);
  // The files of another writer may be missing only if the bucket has lost them, or is another one now.
  if (stored.entries === count && (await files.confirm(stored.files, confirmBy)))
    return { outcome: "stored", ...sizeOf(stored), hasReplaced: false };
  // An earlier writer that is late must replace nothing: a later one may have moved the watermark.
  if (now() > call.deadline) return tooLate;
  // Replaces the other segments. If the batches were quarantined instead, readers would get both once the watermark
  // passes them.
  const replaced = await store.replaceSegments(workspaceId, files.rows, watermark, now());
  if (replaced.entries !== count)
    return { outcome: "bad", batches: allOf(call, "the cold tier has other segments in its place") };
  if (!(await files.confirm(replaced.files, confirmBy)))
    return { outcome: "failed", reason: "The bucket lacks a file" };
  return { outcome: "stored", ...sizeOf(replaced), hasReplaced: true };
}

function sizeOf({ segments, bytes }: SegmentTotals) {
  return { segments, bytes };
}

type Encoded = { ok: true; files: RangeFiles } | { ok: false; batches: QuarantinedBatch[] };

/** Pauses between steps, because locally the writers share the thread with this code. */
async function encode(target: RangeTarget, call: FlushCall): Promise<Encoded> {
  const { workspaceId } = call;
  if (call.bad.length > 0) return { ok: false, batches: call.bad };
  const opened: Uint8Array[] = [];
  try {
    const files: CatalogFile[] = [];
    const batches = decoded(call.batches, opened);
    for (const step of encodeFiles(call.projectId, batches, call.range, target.bucket !== null)) {
      if (step !== null) files.push(step);
      else await new Promise((resolve) => setTimeout(resolve, 0));
    }
    return { ok: true, files: new RangeFiles(target.bucket, workspaceId, files) };
  } catch {
    const batches = call.batches.filter((batch) => !isGood(call.projectId, batch));
    if (batches.length === 0) return { ok: false, batches: allOf(call, "its range cannot be encoded") };
    return { ok: false, batches: batches.map(({ commit }) => ({ commit, reason: "it cannot be read" })) };
  } finally {
    for (const body of opened) detachBuffer(body);
  }
}

/** @param opened receives the bodies that the caller frees */
function* decoded(batches: readonly FlushBatch[], opened: Uint8Array[]): Generator<DecodedBatch> {
  for (const { encoding, body, ...batch } of batches) {
    const lines = decodeBody(encoding, body);
    // An uncompressed body is the call's own.
    if (lines !== body) opened.push(lines);
    yield { ...batch, body: lines };
  }
}

function isGood(projectId: string, batch: FlushBatch): boolean {
  const range = { firstSeq: batch.firstSeq, lastSeq: batch.firstSeq + batch.count - 1 };
  const opened: Uint8Array[] = [];
  try {
    for (const _ of encodeFiles(projectId, decoded([batch], opened), range, true));
    return true;
  } catch {
    return false;
  } finally {
    for (const body of opened) detachBuffer(body);
  }
}

/** A range has few segments, of a thousand entries and more each. */
const MAX_SEGMENTS = 100;

async function findStored(store: RangeStore, call: FlushCall): Promise<FlushOutcome | null> {
  const { workspaceId, projectId, range } = call;
  const seqs = { from: range.firstSeq, to: range.lastSeq };
  const segments = await store.segmentsBySeq(workspaceId, projectId, seqs, null, MAX_SEGMENTS);
  const sum = (of: "count" | "storedBytes") => segments.reduce((total, segment) => total + segment[of], 0);
  if (sum("count") !== range.lastSeq - range.firstSeq + 1) return null;
  return { outcome: "stored", segments: segments.length, bytes: sum("storedBytes"), hasReplaced: false };
}

function allOf({ batches }: FlushCall, reason: string): QuarantinedBatch[] {
  return batches.map(({ commit }) => ({ commit, reason }));
}

/** The code in D1's message. The rest of a message is not exposed. */
const CODE = /\b(?:SQLITE|D1)_[A-Z_]{2,40}\b/g;

/** Errors that no retry changes. D1 has no flags for them. */
const REFUSALS: ReadonlySet<string> = new Set(["SQLITE_TOOBIG", "SQLITE_CONSTRAINT", "SQLITE_MISMATCH"]);

function codeOf(error: unknown): string | null {
  const codes = error instanceof Error ? error.message.match(CODE) : null;
  return codes?.find((code) => code.startsWith("SQLITE")) ?? codes?.[0] ?? null;
}
