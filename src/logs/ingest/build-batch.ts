import { type Batch, BodyEncoder, encodeBody } from "../batch.ts";
import { categoryBit, INGEST_LIMITS } from "../entry.ts";
import { IdCollector, SummaryBuilder } from "../summary.ts";
import { EntryRejected, MaybeInexact, type Rejection, type RejectionCode } from "./rejection.ts";
import { EntryValidator, type ValidEntry } from "./validate.ts";

/** What became of a request's entries. */
export interface BuildResult {
  /** Null when no entry is valid. */
  batch: Batch | null;
  /** The first 100 refused entries, in order. */
  rejected: Rejection[];
  /** How many entries were refused in all. */
  rejectedCount: number;
}

export interface BuildOptions {
  /** Epoch milliseconds of the receipt. */
  now: number;
  /** Entries with an older timestamp are refused; the workspace object knows it and sends it back when it matters. */
  oldest: number | null;
}

/** Characters of lines that are held before they become bytes: few calls of the encoder, and little memory. */
const TEXT_LENGTH = 128 * 1024;

/** Checks entries one after the other and makes one batch of the good ones: a bad entry never costs a good one. */
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
  /** Lines that are not in the encoder yet. */
  #text = "";
  #encoder: BodyEncoder | null = null;
  #values = 0;

  constructor({ now, oldest }: BuildOptions) {
    this.#now = now;
    this.#oldest = oldest;
    this.#validator = new EntryValidator(now);
  }

  /** Entries so far, good or bad. */
  get entries(): number {
    return this.#count + this.#rejectedCount;
  }

  /** Values in `data` of all entries so far, which their checks have looked at. */
  get values(): number {
    return this.#values;
  }

  /** Bytes that the builder holds, about. */
  get held(): number {
    return 2 * this.#text.length + (this.#encoder?.held ?? 0);
  }

  /**
   * Takes the next entries. An `EntryRejected` stands for one that is not even JSON.
   * @param exactly the same values by `parseExactly`; only called where digits may have been lost
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

  /** Takes the next entry as one that is refused. */
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
    this.#encoder.add(encoder.encode(this.#text));
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
      return { ...columns, size: raw.length, ...encodeBody(raw) };
    }
    this.#encode();
    return { ...columns, size: this.#encoder.size, ...this.#encoder.finish() };
  }
}

const encoder = new TextEncoder();

/** One batch of values that are in memory as a whole, and whose numbers are what was meant. */
export function buildBatch(values: readonly unknown[], options: BuildOptions): BuildResult {
  const builder = new BatchBuilder(options);
  builder.add(values, () => values);
  return builder.finish();
}
