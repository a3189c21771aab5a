import { createHash } from "node:crypto";
import type { DoorEntry } from "../../doors/entry.ts";
import type { DoorEntries } from "../../doors/shared/door-entries.ts";
import type { TurnMeter } from "../../platform/turns.ts";
import type { StoredBefore } from "../../workspace/ingest-calls.ts";
import type { Idempotency } from "../../workspace/receipts.ts";

/** Entries, and bytes of their batches or of their JSON, that are stored at once. */
const PART_ENTRIES = 5_000;
const PART_BYTES = 2 * 1024 * 1024;
/** Bytes of a record's hash in the receipt of a part, and nanoseconds that it costs, besides those for each character. */
const HASH_BYTES = 8;
const HASH_COST = { record: 4_000, unit: 15 } as const;

export interface UploadPartFacts {
  /** Idempotency key: hash of the first record or of its id; `null` if the part is stored each time. */
  id: Uint8Array | null;
  /** What an earlier body has stored under the id. */
  stored: StoredBefore["stored"] | null;
  /** Whether records have no ids, so that they are compared with those that are stored. */
  isCompared: boolean;
  /** Whether any equal part is a repetition. Otherwise its times decide. */
  isAlways: boolean;
}

/**
 * Entries of a body that are stored at once. Where a part ends depends on its records only, not on how they arrive. The
 * receipt of a part whose records have no ids has their hashes.
 */
export class UploadPart {
  readonly entries: DoorEntries;
  readonly #meter: TurnMeter;
  readonly #facts: UploadPartFacts;
  /** Hashes of the records so far. */
  readonly #hashes: Uint8Array;
  #stored: UploadPartFacts["stored"];
  #size = 0;
  /** Whether an earlier body has stored other records that begin with an equal one. */
  #isOther = false;

  constructor(entries: DoorEntries, meter: TurnMeter, facts: UploadPartFacts) {
    this.entries = entries;
    this.#meter = meter;
    this.#facts = facts;
    this.#stored = facts.stored;
    this.#hashes = new Uint8Array(facts.isCompared ? PART_ENTRIES * HASH_BYTES : 0);
  }

  get isFull(): boolean {
    const size = this.#facts.isCompared ? this.#size : this.entries.batchBytes;
    return this.entries.records >= PART_ENTRIES || size >= PART_BYTES;
  }

  /** Whether an earlier body has stored these records, perhaps with others after them. */
  get isStored(): boolean {
    return Boolean(this.#stored) && this.#isRepetition;
  }

  /** Whether an earlier body has stored these records and has ended there. */
  get isComplete(): boolean {
    return this.entries.records === this.#stored?.entries;
  }

  /** The key under which the part is stored once; `null` if an equal part may be other events. */
  get idempotency(): Idempotency | null {
    const { id, isCompared } = this.#facts;
    if (id === null || !this.#isRepetition) return null;
    if (!isCompared) return { key: id, body: id };
    const body = this.#hashes.slice(0, this.entries.records * HASH_BYTES);
    return { key: this.#isOther ? hashOf(Buffer.concat([id, body])) : id, body };
  }

  /** Adds a record. @returns `false` if the part ends before it, because the records so far are stored and this one is not */
  add(entry: DoorEntry): boolean {
    if (this.#facts.isCompared && !this.#compare(JSON.stringify(entry))) return false;
    this.entries.add(entry);
    return true;
  }

  #compare(text: string): boolean {
    this.#meter.spend(HASH_COST.record + text.length * HASH_COST.unit);
    const hash = hashOf(text).subarray(0, HASH_BYTES);
    const at = this.entries.records * HASH_BYTES;
    if (this.#stored && Buffer.compare(hash, this.#stored.body.subarray(at, at + HASH_BYTES)) !== 0) {
      // One equal message may be another event of that millisecond. Several in the same order are a repetition.
      if (this.entries.records > 1 && this.#isRepetition) return false;
      this.#stored = null;
      this.#isOther = true;
    }
    this.#hashes.set(hash, at);
    this.#size += text.length;
    return true;
  }

  get #isRepetition(): boolean {
    const { isCompared, isAlways } = this.#facts;
    return !isCompared || isAlways || this.entries.isRepeatRetry;
  }
}

export function hashOf(content: string | Uint8Array): Uint8Array {
  return Uint8Array.from(createHash("sha256").update(content).digest());
}
