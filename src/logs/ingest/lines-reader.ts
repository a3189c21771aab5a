import { isUtf8 } from "node:buffer";
import { type Steps, TurnMeter } from "../../platform/turns.ts";
import { type Batch, bytesOf, decodeBody, freeBatches } from "../batch.ts";
import { INGEST_LIMITS } from "../entry.ts";
import { type BodyFailure, NO_ENTRY, notUtf8, tooManyEntries } from "./body-failure.ts";
import { BatchBuilder, type BuildOptions } from "./build-batch.ts";
import { markLength } from "./entry-offsets.ts";
import { canonicalLines, failedBody, type IngestBody, readIngestDocument } from "./ingest-body.ts";
import { LineCutter } from "./line-cutter.ts";
import { type IngestMediaType, parseLines } from "./parse-entries.ts";
import type { Rejection } from "./rejection.ts";

/** Nanoseconds for copying a byte, searching it for line breaks and hashing it, on a fast machine. */
const COST_OF_BYTE = 3;
/** Nanoseconds for a stored byte of a line that is read and written again. */
const COST_OF_REBUILT_BYTE = 20;

const utf8 = new TextDecoder();

/** Consecutive entries of a body: at most one batch of the valid ones. */
interface Section {
  /** Number of entries before the section. */
  first: number;
  /** `null` if no entry is valid, and after `take`. */
  batch: Batch | null;
  /** The first rejected entries; `index` counts from the section's first entry. */
  rejected: Rejection[];
  rejectedCount: number;
}

/**
 * Reads a body of lines (NDJSON), whole or while it arrives, and makes batches of its entries. One invalid entry does not
 * affect the others. A body with an invalid character or too many entries fails, and then no batch remains.
 */
export class LinesReader {
  readonly #now: number;
  readonly #meter: TurnMeter;
  readonly #sections: Section[] = [];
  #oldest: number | null = null;
  #cutter: LineCutter | null = null;
  #entries = 0;
  #held = 0;
  #failure: BodyFailure | null = null;

  /** @param now epoch milliseconds at which the request was received */
  constructor(now: number, meter: TurnMeter) {
    this.#now = now;
    this.#meter = meter;
  }

  /** Entries so far, valid or not. */
  get entries(): number {
    return this.#entries;
  }

  /** Bytes of the batches that were not taken. */
  get batchBytes(): number {
    return this.#held;
  }

  /** Approximate bytes in memory, the batches included. */
  get held(): number {
    return this.#held + this.#meter.held + (this.#cutter?.held ?? 0);
  }

  /** Timestamps before this are rejected, epoch milliseconds; `null` if the retention is not known yet. */
  get oldest(): number | null {
    return this.#oldest;
  }

  /** Reads a body that is in memory. */
  *readWhole(bytes: Uint8Array): Steps<void> {
    for (let at = markLength(bytes); at < bytes.length && this.#failure === null; ) {
      at += yield* this.#readPiece(at === 0 ? bytes : bytes.subarray(at));
    }
  }

  /**
   * Reads the next bytes of a body.
   * @param length bytes of the whole body, if they are known
   */
  *readChunk(chunk: Uint8Array, length?: number): Steps<void> {
    this.#meter.spend(chunk.length * COST_OF_BYTE);
    this.#cutter ??= new LineCutter(length);
    for (let at = 0; at < chunk.length && this.#failure === null; ) {
      at = this.#cutter.fill(chunk, at);
      yield* this.#readPieces(this.#cutter);
    }
  }

  /** Reads the rest of a body that was passed to `readChunk`. */
  *readEnd(): Steps<void> {
    if (this.#cutter === null || this.#failure !== null) return;
    this.#cutter.end();
    yield* this.#readPieces(this.#cutter);
    this.#dropCutter();
  }

  /** Returns what was read. `batches` has those that were not taken. */
  finish(): IngestBody {
    const failure: BodyFailure | null =
      this.#failure ?? (this.#entries === 0 ? { reason: "invalid", message: NO_ENTRY } : null);
    if (failure !== null) return failedBody(failure, INGEST_LIMITS.linesEntries);
    const rejected = this.#sections.flatMap(({ first, rejected }) => {
      return rejected.map((rejection) => ({ ...rejection, index: first + rejection.index }));
    });
    return {
      units: this.#entries,
      failure: null,
      batches: this.batches(),
      rejected: rejected.slice(0, INGEST_LIMITS.rejectedListed),
      rejectedCount: this.#sections.reduce((sum, { rejectedCount }) => sum + rejectedCount, 0),
    };
  }

  /** The batches that were not taken, in order. */
  batches(): Batch[] {
    return this.#sections.flatMap(({ batch }) => (batch === null ? [] : [batch]));
  }

  /** Frees the batches that `batches` returns, which are stored now. */
  take(): void {
    freeBatches(this.batches());
    for (const section of this.#sections) section.batch = null;
    this.#held = 0;
  }

  /** Rejects entries older than this, those of the batches and those to come. */
  *dropOlder(oldest: number): Steps<void> {
    this.#oldest = oldest;
    for (const section of this.#sections) {
      const { batch } = section;
      if (batch === null || batch.minTimestamp >= oldest) continue;
      this.#meter.spend(batch.size * COST_OF_REBUILT_BYTE);
      this.#rebuild(section, batch, oldest);
      if (this.#meter.isDue) yield;
    }
  }

  *#readPieces(cutter: LineCutter): Steps<void> {
    while (this.#failure === null) {
      const piece = cutter.next();
      if (piece === null) return;
      if (piece.kind === "lines") cutter.advance(yield* this.#readPiece(piece.bytes));
      else if (piece.kind === "large") this.#refuseLarge();
      else this.#fail({ reason: "invalid", message: notUtf8(new Uint8Array()) });
    }
  }

  /** @param bytes whole lines @returns how many of them were read: at most the lines of one batch */
  *#readPiece(bytes: Uint8Array): Steps<number> {
    if (!isUtf8(bytes)) {
      this.#fail({ reason: "invalid", message: notUtf8(this.#entries === 0 ? bytes : new Uint8Array()) });
      return bytes.length;
    }
    const canonical = yield* canonicalLines(bytes, this.#now, this.#meter);
    this.#meter.held = 0;
    if (canonical !== null && (this.#oldest === null || canonical.batch.minTimestamp >= this.#oldest)) {
      this.#add(canonical.batch.count, { batch: canonical.batch, rejected: [], rejectedCount: 0 });
      return canonical.next;
    }
    const options = { now: this.#now, oldest: this.#oldest };
    const { builder, next } = yield* parseLines(bytes, options, this.#meter);
    if (builder.entries > 0) this.#add(builder.entries, builder.finish());
    this.#meter.held = 0;
    return next;
  }

  #refuseLarge(): void {
    const message = `The entry is larger than ${INGEST_LIMITS.entryBytes} bytes.`;
    this.#add(1, { batch: null, rejected: [{ index: 0, code: "ENTRY_TOO_LARGE", message }], rejectedCount: 1 });
  }

  #add(entries: number, section: Omit<Section, "first">): void {
    this.#sections.push({ first: this.#entries, ...section });
    this.#entries += entries;
    if (section.batch !== null) this.#held += bytesOf([section.batch]);
    if (this.#entries > INGEST_LIMITS.linesEntries) this.#fail(tooManyEntries(INGEST_LIMITS.linesEntries));
  }

  #fail(failure: BodyFailure): void {
    this.#failure = failure;
    this.take();
    this.#sections.length = 0;
    this.#dropCutter();
  }

  #dropCutter(): void {
    this.#cutter?.free();
    this.#cutter = null;
  }

  /** Replaces a section's batch by one of the entries that are not too old. */
  #rebuild(section: Section, batch: Batch, oldest: number): void {
    const lines = utf8.decode(decodeBody(batch.encoding, batch.body)).split("\n");
    const values: unknown[] = lines.map((line) => JSON.parse(line));
    const builder = new BatchBuilder({ now: this.#now, oldest });
    builder.add(values, () => values);
    const built = builder.finish();
    const tooOld = built.rejected.map((rejection) => ({
      ...rejection,
      index: indexOfAccepted(section.rejected, rejection.index),
    }));
    const rejected = [...section.rejected, ...tooOld].sort((a, b) => a.index - b.index);
    section.rejected = rejected.slice(0, INGEST_LIMITS.rejectedListed);
    section.rejectedCount += built.rejectedCount;
    section.batch = built.batch;
    this.#held += bytesOf(built.batch === null ? [] : [built.batch]) - bytesOf([batch]);
    freeBatches([batch]);
  }
}

/** Reads a body that is in memory. `meter` decides when to pause, and counts the memory held in addition to the body. */
export function* readIngestBody(
  bytes: Uint8Array,
  mediaType: IngestMediaType,
  options: BuildOptions,
  meter = new TurnMeter(),
): Steps<IngestBody> {
  if (mediaType === "application/json") return yield* readIngestDocument(bytes, options, meter);
  const reader = new LinesReader(options.now, meter);
  if (options.oldest !== null) yield* reader.dropOlder(options.oldest);
  yield* reader.readWhole(bytes);
  return reader.finish();
}

/**
 * Returns the index in its section of an accepted entry. Wrong only if more entries before it were rejected than are
 * listed; such an entry is not listed either.
 * @param accepted the entry's index among the accepted ones
 */
function indexOfAccepted(rejected: readonly Rejection[], accepted: number): number {
  let index = accepted;
  for (const rejection of rejected) {
    if (rejection.index > index) break;
    index++;
  }
  return index;
}
