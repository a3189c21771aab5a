import type { Steps, TurnMeter } from "../../platform/turns.ts";
import type { DoorEntry, DoorEntrySink } from "../entry.ts";
import type { HeldBytes } from "./held-bytes.ts";
import { entryOf, LogRecord } from "./mapping.ts";
import { type Resource, type Scope, Shared } from "./shared-parts.ts";

/**
 * Bytes of records that wait for the end of their resource. Encoders write its schema URL, and some write the resource and
 * the scope, after the records.
 */
const WAITING_BYTES = 2 * 1024 * 1024;
/** Records that wait, so that empty ones take little memory. */
const WAITING_RECORDS = 16_384;
/** Bytes of a resource, and of the scopes of records that wait. Their parsed form is kept. */
const SHARED_BYTES = 512 * 1024;
/** Memory of a parsed form relative to its bytes. */
const SHARED_FACTOR = 4;
/** Nanoseconds for a record and for a byte of it. */
const COST_OF_RECORD = 1_500;
const COST_OF_BYTE = 15;

/** Reads the bytes of one record into a `LogRecord` that is empty. @returns `false` if there is no record in them */
export type ReadRecord = (record: LogRecord, from: number, to: number) => boolean;

/** Stores a record straight from its bytes. @returns `false` if it must be read instead */
export type StoreRecord = (from: number, to: number, shared: Shared) => boolean;

interface Group {
  scope: Scope;
  /** Index of the first record of the group among those that wait. */
  from: number;
}

/** The records of one resource that were found and not read, with what they share. */
export class RecordQueue {
  resource: Resource = newResource();
  readonly #input: HeldBytes;
  readonly #sink: DoorEntrySink;
  readonly #meter: TurnMeter;
  readonly #read: ReadRecord;
  readonly #direct: StoreRecord | null;
  /** Positions in the body. */
  #starts: number[] = [];
  #ends: number[] = [];
  #groups: Group[] = [{ scope: newScope(), from: 0 }];
  readonly #record = new LogRecord();
  /** Records of this resource were stored before its end. */
  #isSplit = false;
  /** Bytes of the resource, and of the scopes whose records wait. */
  #resourceBytes = 0;
  #scopeBytes = 0;
  #shared: { of: Scope; value: Shared } | null = null;

  /** @param direct stores records that need not be read; it has stored nothing of those for which it returns `false` */
  constructor(
    input: HeldBytes,
    sink: DoorEntrySink,
    meter: TurnMeter,
    read: ReadRecord,
    direct: StoreRecord | null = null,
  ) {
    this.#direct = direct;
    this.#input = input;
    this.#sink = sink;
    this.#meter = meter;
    this.#read = read;
  }

  /** Position of the first byte that is still needed, at most `at`. */
  keep(at: number): number {
    return this.#starts[0] ?? at;
  }

  /** Approximate bytes of memory beside the body's bytes. */
  get held(): number {
    return 16 * this.#starts.length + SHARED_FACTOR * (this.#resourceBytes + this.#scopeBytes);
  }

  /** The scope of the records that come next. */
  get scope(): Scope {
    return this.#groups.at(-1)?.scope ?? this.beginScope();
  }

  beginScope(): Scope {
    const scope = newScope();
    // A scope without records leaves nothing.
    if (this.#groups.at(-1)?.from === this.#starts.length) this.#groups.pop();
    this.#groups.push({ scope, from: this.#starts.length });
    return scope;
  }

  beginResource(): void {
    this.resource = newResource();
    this.#groups = [];
    this.#isSplit = false;
    this.#resourceBytes = 0;
    this.#scopeBytes = 0;
  }

  /** Counts bytes of the resource. @returns `false` if they are too many to be kept */
  noteResource(bytes: number): boolean {
    if (this.#resourceBytes + bytes > SHARED_BYTES) return false;
    this.#resourceBytes += bytes;
    return true;
  }

  /** Counts bytes of the scope. @returns `false` if they are too many to be kept */
  noteScope(bytes: number): boolean {
    const { scope } = this;
    scope.bytes += bytes;
    this.#scopeBytes += bytes;
    return scope.bytes <= SHARED_BYTES;
  }

  /** Whether records have to be stored before their resource ends. */
  isFull(at: number): boolean {
    if (this.#starts.length === 0) return false;
    const isFull = this.#starts.length >= WAITING_RECORDS || this.#scopeBytes > SHARED_BYTES;
    return isFull || at - (this.#starts[0] ?? at) > WAITING_BYTES;
  }

  add(from: number, to: number): void {
    this.#starts.push(from);
    this.#ends.push(to);
  }

  /** Passes an entry on that was not read from the queue, after those that wait. */
  *addRead(record: LogRecord): Steps<void> {
    yield* this.#store();
    this.#sink.add(this.#entryOf(record, this.scope));
  }

  /** Reads the records that wait although their resource has not ended. */
  *split(): Steps<void> {
    this.#isSplit = true;
    yield* this.#store();
  }

  /** Ends the resource: reads all its records. */
  *endResource(): Steps<void> {
    yield* this.#store();
    this.beginResource();
  }

  *#store(): Steps<void> {
    const { base } = this.#input;
    const record = this.#record;
    const groups = this.#groups;
    this.#shared = null;
    for (let group = 0, i = 0; group < groups.length; group++) {
      const scope = groups[group]?.scope ?? newScope();
      const until = groups[group + 1]?.from ?? this.#starts.length;
      for (; i < until; i++) {
        const from = this.#starts[i] ?? 0;
        const to = this.#ends[i] ?? 0;
        this.#meter.spend(COST_OF_RECORD + COST_OF_BYTE * (to - from));
        if (this.#direct?.(from - base, to - base, this.#sharedOf(scope)) === true) {
          if (this.#meter.isDue) yield;
          continue;
        }
        record.clear();
        if (this.#read(record, from - base, to - base)) this.#sink.add(this.#entryOf(record, scope));
        else this.#sink.reject("The log record is null.");
        if (this.#meter.isDue) yield;
      }
    }
    this.#starts = [];
    this.#ends = [];
    const last = groups.at(-1)?.scope;
    this.#groups = last === undefined ? [] : [{ scope: last, from: 0 }];
    this.#scopeBytes = last?.bytes ?? 0;
    this.#shared = null;
  }

  #entryOf(record: LogRecord, scope: Scope): DoorEntry {
    return entryOf(record, this.#sharedOf(scope));
  }

  #sharedOf(scope: Scope): Shared {
    if (this.#shared?.of !== scope) {
      this.#shared = { of: scope, value: new Shared(this.resource, scope, this.#isSplit) };
    }
    return this.#shared.value;
  }
}

function newResource(): Resource {
  return { attributes: null, droppedAttributes: 0, schemaUrl: "" };
}

function newScope(): Scope {
  return { members: null, schemaUrl: "", bytes: 0 };
}
