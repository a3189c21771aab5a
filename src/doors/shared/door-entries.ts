import type { Batch } from "../../logs/batch.ts";
import { BATCH_ENTRIES, INGEST_LIMITS } from "../../logs/entry.ts";
import { type BodyFailure, tooManyEntries } from "../../logs/ingest/body-failure.ts";
import { BatchBuilder, type PlainEntry } from "../../logs/ingest/build-batch.ts";
import { failedBody, type IngestBody } from "../../logs/ingest/ingest-body.ts";
import type { Rejection } from "../../logs/ingest/rejection.ts";
import { copyBytes } from "../../platform/bytes.ts";
import { detachBuffer } from "../../platform/isolate-memory.ts";
import { type Steps, TurnMeter } from "../../platform/turns.ts";
import type { ClientId, DoorEntry, DoorEntrySink, LineSink, WrittenEntry } from "../entry.ts";
import { EntryBatches, EXPECTED_RATIO, REQUEST_BYTES, TOO_LARGE } from "./entry-batches.ts";
import { EntryFitter, type FittedEntry } from "./entry-fitter.ts";
import { EMPTY_ENVELOPE } from "./plain-envelope.ts";
import type { PlainLines } from "./plain-lines.ts";
import { ID_COST, type Line, type RecordIds } from "./record-ids.ts";
import { RepeatFacts } from "./repeat-facts.ts";

/** Bytes of lines of one batch, as for bodies of lines. */
const BATCH_BYTES = 512 * 1024;
/** Costs in nanoseconds for the worst input, on a fast machine. */
const COST = { entry: 1_000, value: 150, unit: 15, plainByte: 8, cutUnit: 40 } as const;

type Write = WrittenEntry["write"];

/**
 * Receives the records of one request of another client's protocol and makes batches of them. What can be kept is kept: a
 * time out of range becomes the time of receipt, a text that is too long is cut, and `data._taffrail` says so.
 */
export class DoorEntries implements DoorEntrySink, LineSink {
  readonly #now: number;
  readonly #meter: TurnMeter;
  readonly #fitter: EntryFitter;
  readonly #batches: EntryBatches;
  readonly #rejected: Rejection[] = [];
  readonly #rejectedIndexes: number[] = [];
  /** `null` if records are not recognized. */
  readonly #ids: RecordIds | null;
  readonly #repeats = new RepeatFacts();
  /** `null` before the first record of a batch. */
  #builder: BatchBuilder | null = null;
  #entries = 0;
  #bytes = 0;
  #allowed: number = REQUEST_BYTES.most;
  #received = 0;
  #failure: BodyFailure | null = null;

  /**
   * @param now epoch milliseconds at which the request was received
   * @param meter counts the work of the decoder, too
   * @param ids collects the ids of records; `null` if they are not recognized
   */
  constructor(now: number, meter = new TurnMeter(), ids: RecordIds | null = null) {
    this.#now = now;
    this.#ids = ids;
    this.#meter = meter;
    this.#fitter = new EntryFitter(now);
    this.#batches = new EntryBatches(meter, this.#fitter);
  }

  /** Epoch milliseconds of the receipt. */
  get now(): number {
    return this.#now;
  }

  /** Counts the work on the request. A decoder yields when it is due. */
  get meter(): TurnMeter {
    return this.#meter;
  }

  /** Records so far, stored or rejected. */
  get records(): number {
    return this.#entries;
  }

  /** Bytes of the batches that were not taken. */
  get batchBytes(): number {
    return this.#batches.held;
  }

  /** Approximate bytes in memory, the batches included. */
  get held(): number {
    return this.#batches.held + (this.#builder?.held ?? 0) + (this.#ids?.held ?? 0);
  }

  /** Entries with an earlier time get the time of receipt, epoch milliseconds; `null` if the retention is not known yet. */
  get oldest(): number | null {
    return this.#fitter.oldest;
  }

  /** Why the request has no entries: it has too many. Nothing is added then. */
  get failure(): BodyFailure | null {
    return this.#failure;
  }

  /** Indexes of the rejected records, all of them, in order. */
  get rejectedIndexes(): readonly number[] {
    return this.#rejectedIndexes;
  }

  /** Indexes of the records that are left out, because they are stored already, in order. */
  get mergedIndexes(): readonly number[] {
    return this.#ids?.mergedIndexes ?? [];
  }

  /** Number of the entries that were taken. */
  get taken(): number {
    return this.#batches.taken;
  }

  /** Whether the same body again can only be a repetition of this request. */
  get isRepeatRetry(): boolean {
    return this.#entries > 0 && this.#repeats.isRetry;
  }

  get lines(): LineSink {
    return this;
  }

  accepts(ms: number): boolean {
    return this.#fitter.accepts(ms);
  }

  addWritten(entry: WrittenEntry): void {
    if (!this.#begin()) return;
    this.#repeats.noteTime(entry.ms, entry.isFine);
    this.#meter.spend(COST.entry + entry.size * COST.plainByte);
    this.#addBytes(entry, entry.size, entry.write, undefined, true);
    this.#added(entry.size);
  }

  /** Counts bytes of the body before they are decoded, which bound the bytes of the entries. */
  receive(bytes: number): void {
    this.#received += bytes;
    const { most, least, perByte } = REQUEST_BYTES;
    this.#allowed = Math.min(most, least + perByte * this.#received);
  }

  add(sent: DoorEntry): void {
    if (!this.#begin()) return;
    const hasTime = this.#isTime(sent.time);
    this.#repeats.note(sent, hasTime);
    const fitted = this.#fit(sent, hasTime);
    if (fitted === null) return;
    this.#meter.spend(COST.entry + fitted.values * COST.value + fitted.line.length * COST.unit);
    if (fitted.sent !== undefined) {
      this.#meter.spend(fitted.sent.values * COST.value + fitted.sent.length * COST.cutUnit);
    }
    this.#open().addLine(fitted, fitted.line);
    this.#added(fitted.line.length);
  }

  /** Makes an entry of a record. @returns `null` if the request has the record already */
  #fit(sent: DoorEntry, hasTime: boolean): FittedEntry | null {
    const ids = this.#ids;
    if (ids?.needsLine(sent.id, hasTime)) {
      const { oldest } = this.#fitter;
      // The line of a repetition has the record's own time, whatever is known of the retention.
      this.#fitter.oldest = null;
      const fitted = this.#fitter.fit(sent);
      this.#fitter.oldest = oldest;
      if (!this.#identify(sent.id, fitted.line, hasTime)) return null;
      return oldest !== null && fitted.ms < oldest ? this.#fitter.moved(fitted.line, oldest) : fitted;
    }
    return this.#identify(sent.id, null, hasTime) ? this.#fitter.fit(sent) : null;
  }

  /** @returns `false` if the request has the record already */
  #identify(id: ClientId | undefined, line: Line | null, hasTime: boolean): boolean {
    const ids = this.#ids;
    if (ids === null) return true;
    if (id !== undefined || line !== null) this.#meter.spend(ID_COST.record + (line?.length ?? 0) * ID_COST.byte);
    return ids.add(this.#entries - 1, id, line, hasTime);
  }

  /** Stores an entry that writes its own line, unless the request has the record already. */
  #addBytes(entry: PlainEntry, size: number, write: Write, id: ClientId | undefined, hasTime: boolean): void {
    if (!this.#ids?.needsLine(id, hasTime)) {
      if (this.#identify(id, null, hasTime)) this.#open().addBytes(entry, size, write);
      return;
    }
    const written = new Uint8Array(size);
    const line = written.subarray(0, write(written, 0));
    if (this.#identify(id, line, hasTime)) {
      this.#open().addBytes(entry, line.length, (target, at) => copyBytes(target, at, line));
    }
    detachBuffer(written);
  }

  #added(bytes: number): void {
    this.#bytes += bytes;
    const { entries, size } = this.#open();
    if (entries === BATCH_ENTRIES || size >= BATCH_BYTES) this.#close();
    if (this.#bytes > this.#allowed) this.#fail(TOO_LARGE);
  }

  /**
   * Stores a record whose line can be written without parsing it, with what the envelope around it says.
   * @param bytes valid UTF-8
   * @returns `false` if the record must be parsed; nothing is stored then
   */
  addPlain(lines: PlainLines, bytes: Uint8Array, from: number, to: number, envelope = EMPTY_ENVELOPE): boolean {
    if (this.#failure !== null) return true;
    this.#meter.spend((to - from) * COST.plainByte);
    if (!lines.read(bytes, from, to, this.#now, this.#fitter.oldest, envelope)) return false;
    if (!this.#begin()) return true;
    const hasTime = this.#isTime(lines.time);
    if (envelope.id === undefined) this.#repeats.noteTime(hasTime ? lines.time : null, lines.isFine);
    const before = this.#open().size;
    this.#addBytes(lines, lines.size, lines.writeLine, envelope.id, hasTime);
    this.#added(this.#open().size - before);
    return true;
  }

  reject(reason: string): void {
    if (!this.#begin()) return;
    const index = this.#entries - 1;
    this.#rejectedIndexes.push(index);
    if (this.#rejected.length < INGEST_LIMITS.rejectedListed) {
      this.#rejected.push({ index, code: "INVALID_ENTRY", message: reason });
    }
  }

  /** Returns what was read. `batches` has those that were not taken. */
  finish(): IngestBody {
    if (this.#failure !== null) return failedBody(this.#failure, INGEST_LIMITS.linesEntries);
    this.#close();
    return {
      units: Math.max(1, this.#entries),
      failure: null,
      batches: [...this.batches()],
      rejected: this.#rejected,
      rejectedCount: this.#rejectedIndexes.length,
    };
  }

  /** The finished batches that were not taken, in order. */
  batches(): readonly Batch[] {
    return this.#batches.all;
  }

  /** Ids of the records of `batches`, or of all entries, those that were taken included; `undefined` if none has one. */
  idsOf(part: "batches" | "all"): Uint8Array | undefined {
    if (part === "all") return this.#ids?.slice();
    return this.#ids?.slice(this.#batches.taken, this.#batches.count);
  }

  /** Frees the batches that `batches` returns, which are stored now. */
  take(): void {
    this.#batches.take();
  }

  /** Gives older entries the time of receipt: those of the batches and those to come. */
  *moveOlder(oldest: number): Steps<void> {
    this.#close();
    this.#fitter.oldest = oldest;
    yield* this.#batches.moveOlder(oldest);
  }

  /**
   * Leaves out entries whose records are stored already.
   * @param positions of them among all entries, in order; none of them was taken
   */
  *leaveOut(positions: readonly number[]): Steps<void> {
    this.#close();
    this.#ids?.remove(positions, this.#rejectedIndexes);
    yield* this.#batches.leaveOut(new Set(positions));
  }

  /** Counts a record. @returns `false` if the request has failed */
  #begin(): boolean {
    if (this.#failure !== null) return false;
    if (++this.#entries > INGEST_LIMITS.linesEntries) this.#fail(tooManyEntries(INGEST_LIMITS.linesEntries));
    return this.#failure === null;
  }

  /** Whether a record's time may be one, epoch milliseconds. */
  #isTime(time: number | null): boolean {
    return time !== null && this.#fitter.isPlausible(time);
  }

  #close(): void {
    const batch = this.#builder?.finish().batch ?? null;
    this.#builder = null;
    if (batch !== null) this.#batches.add(batch);
  }

  #open(): BatchBuilder {
    const expectedBytes = Math.ceil(this.#received * EXPECTED_RATIO);
    this.#builder ??= new BatchBuilder({ now: this.#now, oldest: null, expectedBytes });
    return this.#builder;
  }

  #fail(failure: BodyFailure): void {
    this.#failure = failure;
    this.take();
    this.#builder = null;
  }
}
