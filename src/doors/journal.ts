import { isUtf8 } from "node:buffer";
import { INGEST_LIMITS } from "../logs/entry.ts";
import type { Steps, TurnMeter } from "../platform/turns.ts";
import { DoorBodyFault, type DoorDecoder } from "./decoder.ts";
import type { DoorEntry, DoorEntrySink } from "./entry.ts";
import { PendingBytes } from "./pending-bytes.ts";
import { levelOfName } from "./shared/levels.ts";
import { clientId } from "./shared/record-ids.ts";
import type { RecordReader } from "./shared/record-reader.ts";
import { timeOfText } from "./shared/times.ts";
import { addData } from "./syslog/message.ts";

const LINE_BREAK = 0x0a;
const EQUALS = 0x3d;
/** Bytes of the length of a binary value. */
const LENGTH_BYTES = 8;
/** Bytes of a field's name. systemd allows 64. */
const MAX_NAME = 256;
/** Fields of an entry. systemd allows 1,024. */
const MAX_FIELDS = 2_048;
/** Bytes of a value, and of the values of an entry. The rest is dropped, with a mark. */
const MAX_VALUE = INGEST_LIMITS.entryBytes;
const MAX_VALUES = 3 * INGEST_LIMITS.entryBytes;
/** Nanoseconds for a byte and for a field. */
const COST_OF_BYTE = 10;
const COST_OF_FIELD = 700;
/** Nanoseconds for the end of an entry, which may have no fields. */
const COST_OF_END = 100;

const utf8 = new TextDecoder();

const MESSAGE = "MESSAGE";
/** When the journal received the entry, microseconds since the epoch. */
const RECEIVED = "__REALTIME_TIMESTAMP";

/**
 * Reads the Journal Export Format, as `systemd-journal-upload` and `journalctl -o export` write it: fields as
 * `NAME=value`, or as the name, a line break, the length (64 bits, little endian), the bytes and a line break. An empty
 * line ends an entry.
 */
export class JournalDecoder implements DoorDecoder {
  readonly #sink: DoorEntrySink;
  readonly #meter: TurnMeter;
  readonly #records: RecordReader;
  readonly #pending = new PendingBytes();
  #entry = new JournalEntry();
  /** Pending bytes of a text that have no line break. */
  #searched = 0;
  /** A text that is too long, until its line ends. */
  #long: { name: string; value: string; length: number } | null = null;
  /** Bytes of a binary value that are to be dropped, with the line break behind it. */
  #toDrop = 0;

  constructor(sink: DoorEntrySink, meter: TurnMeter, records: RecordReader) {
    this.#sink = sink;
    this.#meter = meter;
    this.#records = records;
  }

  get held(): number {
    return this.#pending.held + 2 * this.#entry.bytes + (this.#long === null ? 0 : 2 * MAX_VALUE);
  }

  *read(chunk: Uint8Array): Steps<void> {
    const bytes = this.#pending.join(chunk);
    let at = 0;
    while (at < bytes.length) {
      const next = this.#next(bytes, at);
      if (next === null) break;
      at = next;
      if (this.#meter.isDue) yield;
    }
    this.#pending.keep(bytes, at);
  }

  *end(): Steps<void> {
    // The last line break may be missing.
    yield* this.read(Uint8Array.of(LINE_BREAK));
    const isWhole = this.#pending.held === 0 && this.#toDrop === 0;
    this.#pending.free();
    if (!isWhole) throw new DoorBodyFault("The body ends within a field.");
    this.#endEntry();
  }

  /** Reads the next field or empty line. @returns where it ends, `null` if its end has not arrived */
  #next(bytes: Uint8Array, at: number): number | null {
    if (this.#toDrop > 0) {
      const dropped = Math.min(this.#toDrop, bytes.length - at);
      this.#toDrop -= dropped;
      return at + dropped;
    }
    if (this.#long !== null) return this.#readLong(this.#long, bytes, at);
    if (bytes[at] === LINE_BREAK) {
      this.#endEntry();
      return at + 1;
    }
    const end = endOfName(bytes, at);
    if (end === null) return null;
    const name = utf8.decode(bytes.subarray(at, end));
    return bytes[end] === EQUALS ? this.#readText(name, bytes, end + 1, at) : this.#readBinary(name, bytes, end + 1);
  }

  #readText(name: string, bytes: Uint8Array, start: number, at: number): number | null {
    const found = bytes.indexOf(LINE_BREAK, Math.max(start, at + this.#searched));
    const length = (found < 0 ? bytes.length : found) - start;
    this.#searched = 0;
    if (found < 0 && length <= MAX_VALUE) {
      this.#searched = bytes.length - at;
      return null;
    }
    if (found < 0) {
      this.#long = { name, value: utf8.decode(bytes.subarray(start, start + MAX_VALUE)), length };
      return bytes.length;
    }
    this.#add(name, bytes.subarray(start, start + Math.min(length, MAX_VALUE)), length);
    return found + 1;
  }

  #readLong(long: { name: string; value: string; length: number }, bytes: Uint8Array, at: number): number {
    const found = bytes.indexOf(LINE_BREAK, at);
    long.length += (found < 0 ? bytes.length : found) - at;
    if (found < 0) return bytes.length;
    this.#entry.add(long.name, long.value, MAX_VALUE, long.length);
    this.#long = null;
    return found + 1;
  }

  #readBinary(name: string, bytes: Uint8Array, at: number): number | null {
    const start = at + LENGTH_BYTES;
    if (start > bytes.length) return null;
    const length = Number(new DataView(bytes.buffer, bytes.byteOffset + at, LENGTH_BYTES).getBigUint64(0, true));
    if (length > INGEST_LIMITS.linesBodyBytes) throw new DoorBodyFault("A field is longer than a body may be.");
    const isWhole = length <= MAX_VALUE;
    const end = start + (isWhole ? length + 1 : MAX_VALUE);
    if (end > bytes.length) return null;
    if (isWhole && bytes[end - 1] !== LINE_BREAK)
      throw new DoorBodyFault("A binary field does not end with a line break.");
    this.#toDrop = isWhole ? 0 : length - MAX_VALUE + 1;
    this.#add(name, bytes.subarray(start, isWhole ? end - 1 : end), length);
    return end;
  }

  /** @param length bytes of the value as sent */
  #add(name: string, bytes: Uint8Array, length: number): void {
    this.#meter.spend(bytes.length * COST_OF_BYTE + COST_OF_FIELD);
    const isText = isUtf8(bytes) || bytes.length < length;
    const value = isText ? utf8.decode(bytes) : { base64: Buffer.from(bytes).toString("base64") };
    this.#entry.add(name, value, bytes.length, length);
  }

  #endEntry(): void {
    const entry = this.#entry;
    this.#meter.spend(COST_OF_END);
    if (entry.bytes === 0) return;
    this.#entry = new JournalEntry();
    this.#sink.add(entry.read(this.#records));
  }
}

/** The fields of an entry that has not ended. */
class JournalEntry {
  readonly #fields = new Map<string, unknown>();
  readonly #cut: Record<string, number> = {};
  #droppedFields = 0;
  #count = 0;
  bytes = 0;

  /** @param bytes of the value, of which `length` were sent */
  add(name: string, value: unknown, bytes: number, length: number): void {
    if (++this.#count > MAX_FIELDS || this.bytes + bytes > MAX_VALUES) {
      this.#droppedFields++;
      this.bytes++;
      return;
    }
    this.bytes += name.length + bytes + 1;
    const present = this.#fields.get(name);
    // A field may have several values.
    if (Array.isArray(present)) present.push(value);
    else this.#fields.set(name, present === undefined ? value : [present, value]);
    if (length > bytes) this.#cut[name === MESSAGE ? "message" : `data.${name}`] = length;
  }

  read(records: RecordReader): DoorEntry {
    const entry = records.readLine(this.#text(MESSAGE) ?? "");
    const received = this.#text(RECEIVED);
    const time = timeOfText(received ?? this.#text("_SOURCE_REALTIME_TIMESTAMP") ?? "", "us");
    const own = new Set([MESSAGE]);
    if (entry.time === null && time !== null) {
      own.add(RECEIVED);
      entry.time = time.time;
      if (time.sent !== undefined) entry.sentTime = time.sent;
    }
    entry.level ??= levelOfName(this.#text("PRIORITY") ?? "", "syslog")?.level ?? null;
    const service = this.#service();
    const host = this.#text("_HOSTNAME");
    if (service !== undefined) entry.service ??= service;
    if (host !== undefined) entry.host ??= host;
    for (const [name, value] of this.#fields) {
      if (!own.has(name) || typeof value !== "string") addData(entry, name, value);
    }
    if (this.#droppedFields > 0) this.#cut.fields = this.#count;
    return {
      ...entry,
      ...(Object.keys(this.#cut).length > 0 && { marks: { cut: this.#cut } }),
      ...(this.#fields.has("__CURSOR") && { id: clientId("journal", this.#text("__CURSOR") ?? "", true) }),
    };
  }

  /** The container, the unit if it is a service, or the name that the program gave itself. */
  #service(): string | undefined {
    const unit = /^(.+)\.service$/.exec(this.#text("_SYSTEMD_UNIT") ?? "")?.[1];
    const program = this.#text("SYSLOG_IDENTIFIER") ?? this.#text("_COMM");
    // Programs of a user's session are below the unit of the session.
    return this.#text("CONTAINER_NAME") ?? (unit?.startsWith("user@") ? program : unit) ?? program;
  }

  #text(name: string): string | undefined {
    const value = this.#fields.get(name);
    return typeof value === "string" ? value : undefined;
  }
}

/** Returns the index of the character behind a name, `null` if it has not arrived. */
function endOfName(bytes: Uint8Array, at: number): number | null {
  for (let index = at; index <= at + MAX_NAME; index++) {
    const byte = bytes[index];
    if (byte === undefined) return null;
    if (byte === LINE_BREAK || byte === EQUALS) {
      if (index === at) throw new DoorBodyFault("A field has no name.");
      return index;
    }
  }
  throw new DoorBodyFault(`The name of a field is longer than ${MAX_NAME} bytes.`);
}
