import { createHash } from "node:crypto";
import { Gunzip } from "fflate";
import { INGEST_LIMITS } from "../logs/entry.ts";
import type { Steps, TurnMeter } from "../platform/turns.ts";
import { DoorBodyFault, type DoorDecoder } from "./decoder.ts";
import { type BoundedSink, Content, Full } from "./firehose-content.ts";
import { JsonCutter, type JsonNode } from "./shared/json-cutter.ts";
import { parseText } from "./shared/parse-text.ts";
import type { RecordReader } from "./shared/record-reader.ts";

const REQUEST: JsonNode = {
  name: "request",
  members: {
    requestId: { name: "requestId" },
    records: { name: "records", items: { name: "record", members: { data: { name: "data" } } } },
  },
};
/** Bytes of a request id with its quotes; Firehose sends 38. */
const MAX_ID = 130;
/** Base64 of a record of 1,000 KiB, the largest that Firehose sends, with its quotes. */
const MAX_DATA = 1_400_000;
/** What base64, also its form for URLs, does not have. Padding may be missing. */
const NOT_BASE64 = /[^\w+/=-]|=[^=]|={3}/;
/** Bytes of a chunk that are read before its records are. */
const STEP_BYTES = 32 * 1024;
/** Bytes of a compressed record that are inflated at once. They become 1 MiB at most. */
const INFLATE_BYTES = 1024;
/** Nanoseconds for a byte that is inflated, and for one that is decoded from base64. */
const COST_OF_INFLATED_BYTE = 10;
const COST_OF_BASE64_BYTE = 3;
/** Nanoseconds for a record, for one that is compressed in addition, and for its hash beside its bytes. */
const COST_OF_RECORD = 3_000;
const COST_OF_INFLATER = 20_000;
const COST_OF_HASH = 1_000;

const utf8 = new TextDecoder();

/**
 * Reads requests of Amazon Data Firehose. A record holds lines, JSON objects, or a message of CloudWatch Logs, each perhaps
 * compressed by gzip.
 */
export class FirehoseDecoder implements DoorDecoder {
  readonly #sink: BoundedSink;
  readonly #meter: TurnMeter;
  readonly #records: RecordReader;
  readonly #cutter: JsonCutter;
  #isFull = false;
  /** Records that have arrived and were not read, as decoded from base64. */
  #waiting: Uint8Array[] = [];
  #content: Content | null = null;
  #inflated = 0;
  #hasRecords = false;
  /** Whether the record that is read has `data`. */
  #hasData = false;
  #requestId: string | null = null;
  readonly #hash = createHash("sha256");

  constructor(sink: BoundedSink, meter: TurnMeter, records: RecordReader) {
    this.#sink = sink;
    this.#meter = meter;
    this.#records = records;
    const value = (name: string, bytes: Uint8Array, length: number) => {
      if (name === "requestId") this.#requestId = idOf(bytes, length);
      else if (name === "data") this.#receive(bytes, length);
      else if (name === "record") this.#sink.reject("The record is not an object.");
    };
    const open = (name: string) => {
      this.#hasRecords ||= name === "records";
      if (name === "record") this.#hasData = false;
    };
    const close = (name: string) => {
      if (name === "record" && !this.#hasData) this.#sink.reject("The record has no `data`.");
    };
    this.#cutter = new JsonCutter(REQUEST, { value, open, close }, meter, false, MAX_DATA);
  }

  get held(): number {
    const waiting = this.#waiting.reduce((sum, record) => sum + record.length, 0);
    return this.#cutter.held + waiting + (this.#content?.held ?? 0);
  }

  /** The id of the request, which all of its attempts share; `null` if none was read. */
  get requestId(): string | null {
    return this.#requestId;
  }

  /** SHA-256 of the records, which all attempts of a request share. */
  get contentHash(): Uint8Array {
    return Uint8Array.from(this.#hash.copy().digest());
  }

  *read(chunk: Uint8Array): Steps<void> {
    for (let at = 0; at < chunk.length && !this.#isFull; at += STEP_BYTES) {
      yield* this.#cutter.read(chunk.subarray(at, at + STEP_BYTES));
      yield* this.#readWaiting();
    }
  }

  *end(): Steps<void> {
    if (this.#isFull) return;
    this.#cutter.end();
    if (!this.#hasRecords) throw new DoorBodyFault("The body has no `records`.");
    yield* this.#readWaiting();
  }

  #receive(bytes: Uint8Array, length: number): void {
    this.#meter.spend(COST_OF_RECORD + bytes.length * COST_OF_BASE64_BYTE);
    this.#meter.spend(COST_OF_HASH + bytes.length);
    this.#hash.update(bytes);
    this.#hasData = true;
    if (length > bytes.length) {
      this.#sink.reject(`The record is larger than ${MAX_DATA} bytes of base64.`);
      return;
    }
    const record = recordOf(utf8.decode(bytes));
    if (record === null) this.#sink.reject("`data` is not a text of base64.");
    else this.#waiting.push(record);
  }

  *#readWaiting(): Steps<void> {
    for (let record = this.#waiting.shift(); record !== undefined; record = this.#waiting.shift()) {
      if (this.#meter.isDue) yield;
      this.#content = new Content(this.#sink, this.#meter, this.#records);
      try {
        if (this.#sink.failure) throw new Full();
        if (record[0] === 0x1f && record[1] === 0x8b) yield* this.#inflate(record, this.#content);
        else yield* this.#content.read(record);
        yield* this.#content.end();
        // It counts as a record, so that there cannot be any number of them.
        if (this.#content.isEmpty) this.#sink.reject("The record is empty.");
      } catch (error) {
        if (error instanceof Full) {
          this.#isFull = true;
          this.#waiting = [];
          return;
        }
        // A record that is not valid does not affect the others: Firehose would send all of them again.
        if (!(error instanceof DoorBodyFault) || this.#inflated > INGEST_LIMITS.linesBodyBytes) throw error;
        this.#sink.reject(error.message);
      }
      this.#content = null;
    }
  }

  *#inflate(record: Uint8Array, content: Content): Steps<void> {
    this.#meter.spend(COST_OF_INFLATER);
    let pieces: Uint8Array[] = [];
    const inflater = new Gunzip((piece) => pieces.push(piece));
    for (let at = 0; at < record.length; at += INFLATE_BYTES) {
      try {
        inflater.push(record.subarray(at, at + INFLATE_BYTES), at + INFLATE_BYTES >= record.length);
      } catch {
        throw new DoorBodyFault("The record is not valid gzip.");
      }
      for (const piece of pieces) {
        this.#inflated += piece.length;
        if (this.#inflated > INGEST_LIMITS.linesBodyBytes) {
          throw new DoorBodyFault(`The records are larger than ${INGEST_LIMITS.linesBodyBytes} bytes when inflated.`);
        }
        this.#meter.spend(piece.length * COST_OF_INFLATED_BYTE);
        yield* content.read(piece);
      }
      pieces = [];
      if (this.#meter.isDue) yield;
    }
  }
}

/** @param data JSON @returns `null` if it is not a text of base64 */
function recordOf(data: string): Uint8Array | null {
  const text = data.includes("\\") ? parseText(data) : data.startsWith('"') ? data.slice(1, -1) : null;
  if (typeof text !== "string" || NOT_BASE64.test(text)) return null;
  const digits = text.indexOf("=") < 0 ? text.length : text.indexOf("=");
  // One digit has 6 bits only.
  return digits % 4 === 1 ? null : Buffer.from(text, "base64");
}

function idOf(bytes: Uint8Array, length: number): string | null {
  const text = length > MAX_ID ? "" : utf8.decode(bytes);
  return /^"([\x21\x23-\x5b\x5d-\x7e]+)"$/.exec(text)?.[1] ?? null;
}
