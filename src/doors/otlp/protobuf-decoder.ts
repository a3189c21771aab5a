import type { Steps, TurnMeter } from "../../platform/turns.ts";
import { DoorBodyFault, type DoorDecoder } from "../decoder.ts";
import type { DoorEntrySink } from "../entry.ts";
import { protobufFields } from "./direct-fields.ts";
import { DirectLines } from "./direct-lines.ts";
import { readPlainRecord } from "./fast-protobuf.ts";
import { HeldBytes } from "./held-bytes.ts";
import { LogRecord } from "./mapping.ts";
import { readRecord, readResource, readScope } from "./protobuf-records.ts";
import { RecordQueue } from "./record-queue.ts";
import { FIXED32, FIXED64, LENGTH, VARINT, Wire } from "./wire.ts";

/** Bytes of a record that is read whole. Of a longer one each field is read up to `PART_BYTES`. */
const RECORD_BYTES = 1024 * 1024;
const PART_BYTES = 256 * 1024;
/** Bytes of a resource, a scope or a schema URL that is read. A longer one is not kept. */
const SHARED_BYTES = 512 * 1024;
/** The longest tag and length. */
const MAX_HEADER_BYTES = 20;
const TWO_TO_32 = 0x1_0000_0000;
/** Nanoseconds for a field outside of records. */
const COST_OF_FIELD = 30;

const REQUEST = 0;
const RESOURCE_LOGS = 1;
const SCOPE_LOGS = 2;
const LOG_RECORD = 3;

/** Length-delimited fields of messages, as `message << 3 | field`. */
const RESOURCE_LOGS_OF_REQUEST = (REQUEST << 3) | 1;
const RESOURCE = (RESOURCE_LOGS << 3) | 1;
const SCOPE_LOGS_OF_RESOURCE = (RESOURCE_LOGS << 3) | 2;
const RESOURCE_SCHEMA_URL = (RESOURCE_LOGS << 3) | 3;
const SCOPE = (SCOPE_LOGS << 3) | 1;
const RECORD = (SCOPE_LOGS << 3) | 2;
const SCOPE_SCHEMA_URL = (SCOPE_LOGS << 3) | 3;

/** Names of a record's fields that can be long, for the note of what was cut. */
const LONG_FIELDS: Readonly<Record<number, string>> = {
  3: "severityText",
  5: "message",
  6: "attributes",
  12: "eventName",
};

/** Reads an `ExportLogsServiceRequest` in protobuf. */
export class ProtobufLogsDecoder implements DoorDecoder {
  readonly #meter: TurnMeter;
  readonly #input = new HeldBytes();
  readonly #wire = new Wire();
  readonly #queue: RecordQueue;
  #at = 0;
  /** Messages that are open, outermost first, and the positions at which they end. */
  readonly #kinds: number[] = [REQUEST];
  readonly #ends: number[] = [Number.POSITIVE_INFINITY];
  /** Bytes to pass over. */
  #skip = 0;
  /** A record too long to be read whole. */
  #long: LogRecord | null = null;
  /** Bytes of its values that were read. */
  #longBytes = 0;
  /** Bytes of the next field's header, value included if `#need` is set; without them nothing can be read. */
  #need = 0;

  constructor(sink: DoorEntrySink, meter: TurnMeter) {
    this.#meter = meter;
    const direct = sink.lines === undefined ? null : new DirectLines(this.#wire, protobufFields, sink.lines);
    const read = (record: LogRecord, from: number, to: number) => {
      this.#wire.open(from, to);
      if (readPlainRecord(this.#wire, record)) return true;
      record.clear();
      this.#wire.open(from, to);
      readRecord(this.#wire, record);
      return true;
    };
    this.#queue = new RecordQueue(this.#input, sink, meter, read, direct?.store.bind(direct) ?? null);
  }

  get held(): number {
    return this.#input.held + this.#queue.held;
  }

  *read(chunk: Uint8Array): Steps<void> {
    this.#input.add(chunk, this.#queue.keep(this.#at));
    this.#wire.use(this.#input.bytes);
    while (this.#at + this.#need <= this.#input.end && (yield* this.#step())) if (this.#meter.isDue) yield;
    this.#input.settle(this.#queue.keep(this.#at));
  }

  *end(): Steps<void> {
    this.#wire.use(this.#input.bytes);
    while (yield* this.#step()) if (this.#meter.isDue) yield;
    if (this.#at !== this.#input.end || this.#skip > 0 || this.#kinds.length > 1) {
      throw new DoorBodyFault("The protobuf message ends early.");
    }
    this.#input.free();
  }

  get #available(): number {
    return this.#input.end - this.#at;
  }

  /** Reads one field outside of records, or one record. @returns `false` if its bytes have not arrived */
  *#step(): Steps<boolean> {
    this.#need = 0;
    this.#meter.spend(COST_OF_FIELD);
    if (this.#skip > 0) {
      const skipped = Math.min(this.#skip, this.#available);
      this.#at += skipped;
      this.#skip -= skipped;
      return skipped > 0;
    }
    const kind = this.#kinds.at(-1) ?? REQUEST;
    const messageEnd = this.#ends.at(-1) ?? 0;
    if (this.#at === messageEnd) {
      yield* this.#close(kind);
      return true;
    }
    const { base, end } = this.#input;
    const limit = Math.min(end, messageEnd, this.#at + MAX_HEADER_BYTES);
    // The end of what has arrived is no end of the message.
    if (!this.#hasHeader(limit)) {
      if (limit === messageEnd || limit === this.#at + MAX_HEADER_BYTES) {
        throw new DoorBodyFault("A protobuf message ends within a field.");
      }
      return false;
    }
    const wire = this.#wire;
    wire.open(this.#at - base, limit - base);
    const tag = wire.tag();
    const size = this.#sizeOf(tag);
    const start = wire.at + base;
    if (start + size > messageEnd) throw new DoorBodyFault("A protobuf field is longer than its message.");
    return yield* this.#field(kind, tag, start, size);
  }

  /** Whether a tag and what gives the size of its value have arrived before a position. */
  #hasHeader(limit: number): boolean {
    const { bytes, base } = this.#input;
    let at = this.#at - base;
    const to = limit - base;
    const first = at;
    while (at < to && (bytes[at] ?? 0) >= 0x80) at++;
    if (at >= to) return false;
    const type = (bytes[first] ?? 0) & 7;
    if (type !== VARINT && type !== LENGTH) return true;
    at++;
    while (at < to && (bytes[at] ?? 0) >= 0x80) at++;
    return at < to;
  }

  /** Bytes of a value; `wire` is at the value, or behind it and its size is 0. */
  #sizeOf(tag: number): number {
    const wire = this.#wire;
    switch (tag & 7) {
      case VARINT:
        wire.varint();
        return 0;
      case FIXED64:
        return 8;
      case FIXED32:
        return 4;
      case LENGTH:
        wire.varint();
        return wire.high * TWO_TO_32 + wire.low;
      default:
        wire.wrong(tag);
        return 0;
    }
  }

  *#field(kind: number, tag: number, start: number, size: number): Steps<boolean> {
    const isLength = (tag & 7) === LENGTH;
    if (kind === LOG_RECORD) return this.#fieldOfLongRecord(tag, start, size);
    const field = isLength && tag >> 3 < 8 ? (kind << 3) | (tag >> 3) : -1;
    switch (field) {
      case RESOURCE_LOGS_OF_REQUEST:
        this.#queue.beginResource();
        this.#open(RESOURCE_LOGS, start, size);
        return true;
      case SCOPE_LOGS_OF_RESOURCE:
        this.#queue.beginScope();
        this.#open(SCOPE_LOGS, start, size);
        return true;
      case RECORD:
        if (size > RECORD_BYTES) {
          yield* this.#queue.split();
          this.#long = new LogRecord();
          this.#longBytes = 0;
          this.#open(LOG_RECORD, start, size);
          return true;
        }
        if (!this.#hasArrived(start, size)) return false;
        this.#queue.add(start, start + size);
        this.#at = start + size;
        if (this.#queue.isFull(this.#at)) yield* this.#queue.split();
        return true;
      case RESOURCE:
      case SCOPE:
      case RESOURCE_SCHEMA_URL:
      case SCOPE_SCHEMA_URL:
        return this.#readShared(field, start, size);
      default:
        this.#at = start;
        this.#skip = size;
        return true;
    }
  }

  /** Whether a value's bytes are all there. If not, no step is useful before. */
  #hasArrived(start: number, size: number): boolean {
    if (start + size <= this.#input.end) return true;
    this.#need = start + size - this.#at;
    return false;
  }

  #open(kind: number, start: number, size: number): void {
    this.#at = start;
    this.#kinds.push(kind);
    this.#ends.push(start + size);
  }

  *#close(kind: number): Steps<void> {
    this.#kinds.pop();
    this.#ends.pop();
    if (kind === RESOURCE_LOGS) yield* this.#queue.endResource();
    if (kind !== LOG_RECORD || this.#long === null) return;
    const record = this.#long;
    this.#long = null;
    yield* this.#queue.addRead(record);
  }

  #readShared(field: number, start: number, size: number): boolean {
    const queue = this.#queue;
    const { resource, scope } = queue;
    const isOfResource = field === RESOURCE || field === RESOURCE_SCHEMA_URL;
    if (size <= SHARED_BYTES && !this.#hasArrived(start, size)) return false;
    const isKept = size <= SHARED_BYTES && (isOfResource ? queue.noteResource(size) : queue.noteScope(size));
    this.#at = start;
    if (!isKept) {
      (isOfResource ? resource : scope).cut = size;
      this.#skip = size;
      return true;
    }
    const wire = this.#wire;
    const { base } = this.#input;
    wire.open(start - base, start + size - base);
    if (field === RESOURCE) readResource(wire, resource);
    else if (field === SCOPE) readScope(wire, scope);
    else if (field === RESOURCE_SCHEMA_URL) resource.schemaUrl = wire.rest();
    else scope.schemaUrl = wire.rest();
    this.#at += size;
    return true;
  }

  /** Reads a field of a record that is too long: the first part of its value. */
  #fieldOfLongRecord(tag: number, start: number, size: number): boolean {
    const read = Math.min(size, PART_BYTES, RECORD_BYTES - this.#longBytes);
    if (!this.#hasArrived(start, read)) return false;
    this.#longBytes += read;
    const record = this.#long ?? new LogRecord();
    const { base } = this.#input;
    this.#wire.open(this.#at - base, start + read - base, true);
    const name = LONG_FIELDS[tag >> 3];
    if (read === size || name !== undefined) readRecord(this.#wire, record);
    if (read < size && name !== undefined) {
      record.cut ??= {};
      record.cut[name] = (record.cut[name] ?? 0) + size;
    }
    this.#at = start + read;
    this.#skip = size - read;
    return true;
  }
}
