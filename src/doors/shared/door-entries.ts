import { type Batch, bytesOf, decodeBody, freeBatches } from "../../logs/batch.ts";
import { BATCH_ENTRIES, INGEST_LIMITS } from "../../logs/entry.ts";
import { type BodyFailure, tooManyEntries } from "../../logs/ingest/body-failure.ts";
import { BatchBuilder } from "../../logs/ingest/build-batch.ts";
import { failedBody, type IngestBody } from "../../logs/ingest/ingest-body.ts";
import type { Rejection } from "../../logs/ingest/rejection.ts";
import { type Steps, TurnMeter } from "../../platform/turns.ts";
import type { DoorEntry, DoorEntrySink, LineSink, WrittenEntry } from "../entry.ts";
import { EntryFitter } from "./entry-fitter.ts";
import { EMPTY_ENVELOPE } from "./plain-envelope.ts";
import type { PlainLines } from "./plain-lines.ts";

/** Bytes of lines of one batch, as for bodies of lines. */
const BATCH_BYTES = 512 * 1024;
/**
 * Bytes of lines of one request. A body may be 20 MiB, and its records may share parts that are stored with each of them: 64
 * MiB is 20,000 records of 3 KiB. A small body may become this many bytes and 16 times its size (records of 200 bytes
 * with a resource of 3 KB), or it would fill the memory: batches are sent to the object between the chunks of a body only.
 */
const REQUEST_BYTES = { most: 64 * 1024 * 1024, least: 2 * 1024 * 1024, perByte: 16 } as const;
/** Costs in nanoseconds for the worst input, on a fast machine. */
const COST = { entry: 1_000, value: 150, unit: 15, rebuiltByte: 20, plainByte: 8, cutUnit: 40 } as const;

/** Consecutive entries of a request: one batch. */
interface Section {
  /** `null` after `take`. */
  batch: Batch | null;
}

const utf8 = new TextDecoder();
/** A time as sent with a fraction, or in nanoseconds, that is no whole second. A number cannot hold all its digits. */
const FINE = /\.\d*[1-9]|^\d{10}\d*[1-9]/;

/**
 * Receives the records of one request of another client's protocol and makes batches of them. What can be kept is kept: a
 * time out of range becomes the time of receipt, a text that is too long is cut, and `data._taffrail` says so.
 */
export class DoorEntries implements DoorEntrySink, LineSink {
  readonly #now: number;
  readonly #meter: TurnMeter;
  readonly #fitter: EntryFitter;
  readonly #sections: Section[] = [];
  readonly #rejected: Rejection[] = [];
  readonly #rejectedIndexes: number[] = [];
  #builder: BatchBuilder;
  #entries = 0;
  #held = 0;
  #bytes = 0;
  #allowed: number = REQUEST_BYTES.most;
  #received = 0;
  #failure: BodyFailure | null = null;
  #isEachKnown = true;
  #isFine = false;
  #isTimed = false;

  /**
   * @param now epoch milliseconds at which the request was received
   * @param meter counts the work of the decoder, too
   */
  constructor(now: number, meter = new TurnMeter()) {
    this.#now = now;
    this.#meter = meter;
    this.#fitter = new EntryFitter(now);
    this.#builder = this.#newBuilder();
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
    return this.#held;
  }

  /** Approximate bytes in memory, the batches included. */
  get held(): number {
    return this.#held + this.#builder.held;
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

  /**
   * Whether the same body again can only be a repetition of this request: every record has an id of the client's, or a
   * time that may be one, and these times are not all whole seconds.
   */
  get isRepeatRetry(): boolean {
    return this.#entries > 0 && this.#isEachKnown && (this.#isFine || !this.#isTimed);
  }

  get lines(): LineSink {
    return this;
  }

  accepts(ms: number): boolean {
    return this.#fitter.accepts(ms);
  }

  addWritten(entry: WrittenEntry): void {
    if (!this.#begin()) return;
    this.#isTimed = true;
    if (entry.isFine) this.#isFine = true;
    this.#meter.spend(COST.entry + entry.size * COST.plainByte);
    this.#builder.addBytes(entry, entry.size, entry.write);
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
    this.#note(sent);
    const fitted = this.#fitter.fit(sent);
    this.#meter.spend(COST.entry + fitted.values * COST.value + fitted.line.length * COST.unit);
    if (fitted.sent !== undefined) {
      this.#meter.spend(fitted.sent.values * COST.value + fitted.sent.length * COST.cutUnit);
    }
    this.#builder.addLine(fitted, fitted.line);
    this.#added(fitted.line.length);
  }

  #added(bytes: number): void {
    this.#bytes += bytes;
    if (this.#builder.entries === BATCH_ENTRIES || this.#builder.size >= BATCH_BYTES) this.#close();
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
    if (!envelope.hasId) this.#noteTime(lines.time, lines.isFine);
    const before = this.#builder.size;
    this.#builder.addBytes(lines, lines.size, lines.writeLine);
    this.#added(this.#builder.size - before);
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
      batches: this.batches(),
      rejected: this.#rejected,
      rejectedCount: this.#rejectedIndexes.length,
    };
  }

  /** The finished batches that were not taken, in order. */
  batches(): Batch[] {
    return this.#sections.flatMap(({ batch }) => (batch === null ? [] : [batch]));
  }

  /** Frees the batches that `batches` returns, which are stored now. */
  take(): void {
    freeBatches(this.batches());
    this.#sections.length = 0;
    this.#held = 0;
  }

  /** Gives older entries the time of receipt: those of the batches and those to come. */
  *moveOlder(oldest: number): Steps<void> {
    this.#close();
    this.#fitter.oldest = oldest;
    for (const section of this.#sections) {
      const { batch } = section;
      if (batch === null || batch.minTimestamp >= oldest) continue;
      this.#meter.spend(batch.size * COST.rebuiltByte);
      section.batch = this.#moved(batch, oldest);
      this.#held += bytesOf([section.batch]) - bytesOf([batch]);
      freeBatches([batch]);
      if (this.#meter.isDue) yield;
    }
  }

  /** Counts a record. @returns `false` if the request has failed */
  #begin(): boolean {
    if (this.#failure !== null) return false;
    if (++this.#entries > INGEST_LIMITS.linesEntries) this.#fail(tooManyEntries(INGEST_LIMITS.linesEntries));
    return this.#failure === null;
  }

  #note({ time, sentTime, hasId }: DoorEntry): void {
    if (hasId === true) return;
    this.#noteTime(time, sentTime !== undefined && FINE.test(String(sentTime)));
  }

  /** @param isFine whether the time as sent has more digits than `time`, which are no zeros */
  #noteTime(time: number | null, isFine: boolean): void {
    // A duration or an uptime under the name of a time occurs again in another record.
    if (time === null || !this.#fitter.isPlausible(time)) {
      this.#isEachKnown = false;
      return;
    }
    this.#isTimed = true;
    if (isFine || time % 1000 !== 0) this.#isFine = true;
  }

  #close(): void {
    if (this.#builder.entries === 0) return;
    const { batch } = this.#builder.finish();
    this.#builder = this.#newBuilder();
    if (batch === null) return;
    this.#sections.push({ batch });
    this.#held += bytesOf([batch]);
  }

  #moved(batch: Batch, oldest: number): Batch {
    const builder = this.#newBuilder();
    for (const line of utf8.decode(decodeBody(batch.encoding, batch.body)).split("\n")) {
      const fitted = this.#fitter.moved(line, oldest);
      builder.addLine(fitted, fitted.line);
    }
    const { batch: moved } = builder.finish();
    if (moved === null) throw new Error("A batch has entries.");
    return moved;
  }

  #newBuilder(): BatchBuilder {
    return new BatchBuilder({ now: this.#now, oldest: null });
  }

  #fail(failure: BodyFailure): void {
    this.#failure = failure;
    this.take();
    this.#builder = this.#newBuilder();
  }
}

const TOO_LARGE: BodyFailure = {
  reason: "too_many",
  message: `With what records share in each of them, the entries are too large: more than ${REQUEST_BYTES.most} bytes, or ${REQUEST_BYTES.perByte} times the body.`,
};
