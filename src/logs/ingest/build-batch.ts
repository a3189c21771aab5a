import { detachBuffer } from "../../platform/isolate-memory.ts";
import { type Batch, BodyEncoder, type EncodedBody, encodeBody } from "../batch.ts";
import { categoryBit, INGEST_LIMITS } from "../entry.ts";
import { IdCollector } from "../id-filter.ts";
import { SummaryBuilder } from "../summary.ts";
import { EntryRejected, MaybeInexact, type Rejection, type RejectionCode } from "./rejection.ts";
import { EntryValidator, type ValidEntry } from "./validate.ts";

/** The result of validating a request's entries. */
export interface BuildResult {
  /** `null` if no entry is valid. */
  batch: Batch | null;
  /** The first 100 rejected entries, in order. */
  rejected: Rejection[];
  /** Number of all rejected entries. */
  rejectedCount: number;
}

export interface BuildOptions {
  /** Epoch milliseconds at which the request was received. */
  now: number;
  /**
   * Rejects entries with an older timestamp. `null` if the retention is not known yet; the workspace object returns it.
   */
  oldest: number | null;
  /** Bytes of lines to expect, for a buffer that need not grow. It takes at most a block and a line. */
  expectedBytes?: number;
}

/** Characters of lines that are held before they are encoded: few calls of the encoder and little memory. */
const TEXT_LENGTH = 128 * 1024;
/** Bytes of the buffer of lines that are written as bytes: a block and a line, and at first. */
const LINES_BYTES = TEXT_LENGTH + 4 * 1024;
const FIRST_LINES_BYTES = 4 * 1024;
const NO_LINES: Uint8Array = new Uint8Array();
const LINE_BREAK = 0x0a;

/** What a batch counts of an entry whose line is written as bytes. */
export interface PlainEntry {
  ms: number;
  severity: number;
  category: string;
  type: string;
  addIds(ids: IdCollector): void;
}

/** Validates entries and builds a batch of the valid ones. An invalid entry does not affect the others. */
export class BatchBuilder {
  readonly #oldest: number | null;
  readonly #now: number;
  readonly #firstLinesBytes: number;
  #validator: EntryValidator | null = null;
  #exactValidator: EntryValidator | null = null;
  readonly #rejected: Rejection[] = [];
  #rejectedCount = 0;
  #count = 0;
  #minTimestamp = Number.POSITIVE_INFINITY;
  #maxTimestamp = Number.NEGATIVE_INFINITY;
  #levelMask = 0;
  #categoryMask = 0;
  readonly #summary = new SummaryBuilder();
  readonly #ids = new IdCollector();
  /** Lines that are not encoded yet. */
  #text = "";
  /** Lines of which the bytes were written, that are not encoded yet: the first `#written` bytes. */
  #lines = NO_LINES;
  #written = 0;
  #encoder: BodyEncoder | null = null;
  #values = 0;

  constructor({ now, oldest, expectedBytes = 0 }: BuildOptions) {
    this.#now = now;
    this.#oldest = oldest;
    this.#firstLinesBytes = Math.min(Math.max(expectedBytes, FIRST_LINES_BYTES), LINES_BYTES);
  }

  /** Number of entries so far, valid or not. */
  get entries(): number {
    return this.#count + this.#rejectedCount;
  }

  /** Number of rejected entries so far. */
  get rejectedCount(): number {
    return this.#rejectedCount;
  }

  /** Number of values in `data` of all entries so far, as a measure of the validation work. */
  get values(): number {
    return this.#values;
  }

  /** Approximate bytes of the lines so far. */
  get size(): number {
    return this.#text.length + this.#written + (this.#encoder?.size ?? 0);
  }

  /** Approximate number of bytes that the builder holds. */
  get held(): number {
    return 2 * this.#text.length + this.#lines.length + (this.#encoder?.held ?? 0);
  }

  /**
   * Validates the next entries. An `EntryRejected` among the values is an entry that is not JSON.
   * @param exactly returns the same values parsed by `parseExactly`; called only if digits may have been lost
   */
  add(values: readonly unknown[], exactly: () => readonly unknown[]): void {
    let exact: readonly unknown[] | null = null;
    this.#validator ??= new EntryValidator(this.#now);
    for (let i = 0; i < values.length; i++) {
      let checked = this.#check(this.#validator, values[i]);
      if (checked instanceof MaybeInexact) {
        this.#exactValidator ??= new EntryValidator(this.#now, true);
        exact ??= exactly();
        checked = this.#check(this.#exactValidator, exact[i]);
      }
      if (checked instanceof EntryRejected) this.refuse(checked.code, checked.message);
      else this.#store(checked);
    }
  }

  /** Rejects the next entry. */
  refuse(code: RejectionCode, message: string): void {
    const index = this.entries;
    if (++this.#rejectedCount <= INGEST_LIMITS.rejectedListed) this.#rejected.push({ index, code, message });
  }

  finish(): BuildResult {
    const batch = this.#count === 0 ? null : this.#pack();
    return { batch, rejected: this.#rejected, rejectedCount: this.#rejectedCount };
  }

  #check(validator: EntryValidator, value: unknown): ValidEntry | EntryRejected {
    if (value instanceof EntryRejected) return value;
    try {
      const valid = validator.check(value);
      if (this.#oldest === null || valid.ms >= this.#oldest) return valid;
      return new EntryRejected("TIMESTAMP_TOO_OLD", "timestamp is older than the workspace's retention.");
    } catch (error) {
      if (error instanceof EntryRejected) return error;
      throw error;
    }
  }

  #store(valid: ValidEntry): void {
    this.addLine(valid, JSON.stringify(valid.entry));
  }

  /** Adds a valid entry. @param line the entry as JSON */
  addLine({ entry, ms, severity, values }: ValidEntry, line: string): void {
    if (this.#written > 0) this.#encodeLines();
    this.#countEntry(ms, severity, entry.category, entry.type);
    this.#ids.addEntry(entry);
    this.#values += values;
    this.#text += this.#count++ === 0 ? line : `\n${line}`;
    if (this.#text.length >= TEXT_LENGTH) this.#encode();
  }

  /**
   * Adds a valid entry whose line is written as bytes.
   * @param size maximum bytes of the line
   * @param write returns the index after the line that it wrote at an index
   */
  addBytes(valid: PlainEntry, size: number, write: (target: Uint8Array, at: number) => number): void {
    if (this.#text !== "") this.#encode();
    this.#countEntry(valid.ms, valid.severity, valid.category, valid.type);
    valid.addIds(this.#ids);
    const target = this.#room(size + 1);
    if (this.#count++ > 0) target[this.#written++] = LINE_BREAK;
    this.#written = write(target, this.#written);
    if (this.#written >= TEXT_LENGTH) this.#encodeLines();
  }

  #countEntry(ms: number, severity: number, category: string, type: string): void {
    if (ms < this.#minTimestamp) this.#minTimestamp = ms;
    if (ms > this.#maxTimestamp) this.#maxTimestamp = ms;
    this.#levelMask |= 1 << severity;
    this.#categoryMask |= categoryBit(category);
    this.#summary.add(ms, severity, category, type);
  }

  /** Returns the buffer of written lines with room for more bytes. */
  #room(size: number): Uint8Array {
    const needed = this.#written + size;
    if (needed <= this.#lines.length) return this.#lines;
    const grown = new Uint8Array(Math.max(needed, Math.min(2 * needed, LINES_BYTES), this.#firstLinesBytes));
    grown.set(this.#lines.subarray(0, this.#written));
    detachBuffer(this.#lines);
    this.#lines = grown;
    return grown;
  }

  #encodeLines(): void {
    this.#encoder ??= new BodyEncoder();
    this.#encoder.add(this.#lines.subarray(0, this.#written));
    this.#written = 0;
  }

  #freeLines(): void {
    detachBuffer(this.#lines);
    this.#lines = NO_LINES;
    this.#written = 0;
  }

  #encode(): void {
    this.#encoder ??= new BodyEncoder();
    const raw = encoder.encode(this.#text);
    this.#encoder.add(raw);
    detachBuffer(raw);
    this.#text = "";
  }

  /** Encodes written lines that are less than one block, without collecting them. */
  #packLines(): EncodedBody & { size: number } {
    const raw = this.#lines.subarray(0, this.#written);
    const { encoding, body } = encodeBody(raw);
    // Plain, the body must be a buffer of its own.
    const packed = { size: raw.length, encoding, body: encoding === 0 ? raw.slice() : body };
    this.#freeLines();
    return packed;
  }

  #pack(): Batch {
    const columns = {
      count: this.#count,
      minTimestamp: this.#minTimestamp,
      maxTimestamp: this.#maxTimestamp,
      levelMask: this.#levelMask,
      categoryMask: this.#categoryMask,
      summary: this.#summary.pack(this.#ids.toFilter()),
    };
    if (this.#written > 0 && this.#encoder !== null) this.#encodeLines();
    if (this.#encoder === null) {
      if (this.#written > 0) return { ...columns, ...this.#packLines() };
      const raw = encoder.encode(this.#text);
      const batch = { ...columns, size: raw.length, ...encodeBody(raw) };
      if (batch.body !== raw) detachBuffer(raw);
      return batch;
    }
    this.#freeLines();
    if (this.#text !== "") this.#encode();
    return { ...columns, size: this.#encoder.size, ...this.#encoder.finish() };
  }
}

const encoder = new TextEncoder();

/** Builds a batch of values that are in memory and whose numbers have lost no digits. */
export function buildBatch(values: readonly unknown[], options: BuildOptions): BuildResult {
  const builder = new BatchBuilder(options);
  builder.add(values, () => values);
  return builder.finish();
}
