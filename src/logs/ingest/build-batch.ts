import { detachBuffer } from "../../platform/isolate-memory.ts";
import { type Batch, BodyEncoder, encodeBody } from "../batch.ts";
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
}

/** Characters of lines that are held before they are encoded: few calls of the encoder and little memory. */
const TEXT_LENGTH = 128 * 1024;

/** Validates entries and builds a batch of the valid ones. An invalid entry does not affect the others. */
export class BatchBuilder {
  readonly #oldest: number | null;
  readonly #now: number;
  readonly #validator: EntryValidator;
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
  #encoder: BodyEncoder | null = null;
  #values = 0;

  constructor({ now, oldest }: BuildOptions) {
    this.#now = now;
    this.#oldest = oldest;
    this.#validator = new EntryValidator(now);
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

  /** Approximate number of bytes that the builder holds. */
  get held(): number {
    return 2 * this.#text.length + (this.#encoder?.held ?? 0);
  }

  /**
   * Validates the next entries. An `EntryRejected` among the values is an entry that is not JSON.
   * @param exactly returns the same values parsed by `parseExactly`; called only if digits may have been lost
   */
  add(values: readonly unknown[], exactly: () => readonly unknown[]): void {
    let exact: readonly unknown[] | null = null;
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

  #store({ entry, ms, severity, values }: ValidEntry): void {
    if (ms < this.#minTimestamp) this.#minTimestamp = ms;
    if (ms > this.#maxTimestamp) this.#maxTimestamp = ms;
    this.#levelMask |= 1 << severity;
    this.#categoryMask |= categoryBit(entry.category);
    this.#summary.add(ms, severity, entry.category, entry.type);
    this.#ids.addEntry(entry);
    this.#values += values;
    this.#text += this.#count++ === 0 ? JSON.stringify(entry) : `\n${JSON.stringify(entry)}`;
    if (this.#text.length >= TEXT_LENGTH) this.#encode();
  }

  #encode(): void {
    this.#encoder ??= new BodyEncoder();
    const raw = encoder.encode(this.#text);
    this.#encoder.add(raw);
    detachBuffer(raw);
    this.#text = "";
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
    if (this.#encoder === null) {
      const raw = encoder.encode(this.#text);
      const batch = { ...columns, size: raw.length, ...encodeBody(raw) };
      if (batch.body !== raw) detachBuffer(raw);
      return batch;
    }
    this.#encode();
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
