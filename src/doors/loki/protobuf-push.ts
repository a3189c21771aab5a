import { define } from "../../logs/ingest/validate.ts";
import { textOfAny } from "../../platform/bytes.ts";
import { type Steps, TURN_COST, type TurnMeter } from "../../platform/turns.ts";
import { DoorBodyFault, type DoorDecoder } from "../decoder.ts";
import type { DoorEntrySink } from "../entry.ts";
import type { RecordReader } from "../shared/record-reader.ts";
import { LokiEntries, type LokiTime, labelsOf, lokiTimeOf, MAX_LABELS_LENGTH } from "./entries.ts";
import { FieldReader, ProtobufStream, textOf } from "./protobuf.ts";
import { SnappyReader } from "./snappy.ts";

/** Bytes of entries that wait for the labels of their stream, which clients send first. */
const EARLY_BYTES = 512 * 1024;
/** Nanoseconds for an entry and for a byte of it: its line may be JSON. */
const COST_OF_ENTRY = 3_000;
const COST_OF_BYTE = 20;
/** Nanoseconds for a stream, and for its labels, beside their bytes. */
const COST_OF_STREAM = 500;
const COST_OF_LABELS = 2_000;
const OPEN_BRACE = 0x7b;
const TWO_TO_63 = 2 ** 63;
const TWO_TO_64 = 2 ** 64;

/**
 * Reads Loki's `PushRequest`: a Snappy block of protobuf. Fields:
 * https://github.com/grafana/loki/blob/main/pkg/push/push.proto
 */
export class LokiProtobufDecoder implements DoorDecoder {
  readonly #meter: TurnMeter;
  readonly #entries: LokiEntries;
  readonly #snappy: SnappyReader;
  readonly #message: ProtobufStream;
  /** The first byte of the body; -1 before it. */
  #first = -1;
  #hasLabels = false;
  /** Entries whose stream's labels did not arrive yet, and their lengths as sent. */
  #early: { bytes: Uint8Array; length: number }[] = [];
  #earlyBytes = 0;
  /** Entries whose stream's labels have arrived, if they are much work: they are read before the next part of the body. */
  #ready: { bytes: Uint8Array; length: number }[] = [];

  /** @param limit maximum bytes after decompression */
  constructor(sink: DoorEntrySink, reader: RecordReader, meter: TurnMeter, limit: number) {
    this.#meter = meter;
    this.#entries = new LokiEntries(sink, reader);
    const stream = {
      begin: () => this.#beginStream(),
      fields: {
        1: (bytes: Uint8Array) => this.#setLabels(bytes),
        2: (bytes: Uint8Array, length: number) => this.#addEntry(bytes, length),
      },
      end: () => this.#flushEarly(),
    };
    this.#message = new ProtobufStream(meter, { messages: { 1: stream } });
    this.#snappy = new SnappyReader(meter, limit, (part) => this.#readMessage(part));
  }

  get held(): number {
    return this.#snappy.held + this.#message.held + this.#earlyBytes;
  }

  read(chunk: Uint8Array): Steps<void> {
    if (this.#first < 0) this.#first = chunk[0] ?? -1;
    return this.#explained(this.#snappy.read(chunk));
  }

  *#readMessage(part: Uint8Array): Steps<void> {
    // The message yields behind the field that made the meter due.
    for (const _ of this.#message.read(part)) {
      yield;
      yield* this.#readReady();
    }
  }

  *end(): Steps<void> {
    yield* this.#explained(this.#snappy.end());
    this.#message.end();
  }

  /** Tells clients that send JSON with another media type, as curl does, what to change. */
  *#explained(steps: Steps<void>): Steps<void> {
    try {
      yield* steps;
    } catch (error) {
      if (!(error instanceof DoorBodyFault) || this.#first !== OPEN_BRACE) throw error;
      throw new DoorBodyFault("The body is not a Snappy block. Send JSON with Content-Type: application/json.");
    }
  }

  #beginStream(): void {
    this.#meter.spend(COST_OF_STREAM);
    this.#hasLabels = false;
    this.#entries.setLabels(null);
  }

  #setLabels(bytes: Uint8Array): void {
    this.#hasLabels = true;
    this.#meter.spend(COST_OF_LABELS + bytes.length * COST_OF_BYTE);
    const text = textOfAny(bytes);
    this.#entries.setLabels(labelsOf(text), text);
    this.#flushEarly(text.length);
  }

  #addEntry(bytes: Uint8Array, length: number): void {
    if (!this.#hasLabels && this.#earlyBytes + bytes.length <= EARLY_BYTES) {
      this.#early.push({ bytes: new Uint8Array(bytes), length });
      this.#earlyBytes += bytes.length + EARLY_OVERHEAD;
      return;
    }
    this.#flushEarly();
    this.#readEntry(bytes, length);
  }

  /** @param labels characters that each of the entries gets */
  #flushEarly(labels = 0): void {
    const early = this.#early;
    if (early.length === 0) return;
    this.#early = [];
    this.#earlyBytes = 0;
    const work = early.length * Math.min(labels, MAX_LABELS_LENGTH) * COST_OF_BYTE;
    this.#meter.spend(Math.min(work, TURN_COST));
    if (labels > 0 && this.#meter.isDue) this.#ready = early;
    else for (const { bytes, length } of early) this.#readEntry(bytes, length);
  }

  *#readReady(): Steps<void> {
    const ready = this.#ready;
    this.#ready = [];
    for (const { bytes, length } of ready) {
      this.#readEntry(bytes, length);
      if (this.#meter.isDue) yield;
    }
  }

  #readEntry(bytes: Uint8Array, length: number): void {
    const isCut = length > bytes.length;
    const reader = new FieldReader(bytes, isCut);
    let time: LokiTime | null = null;
    let lineFrom = 0;
    let lineTo = 0;
    let sentLength: number | undefined;
    let metadata: Record<string, unknown> | null = null;
    while (reader.next()) {
      if (reader.wire !== 2) continue;
      if (reader.number === 1) time = timeOf(reader.inner());
      else if (reader.number === 2) {
        lineFrom = reader.start;
        lineTo = reader.end;
        if (reader.value > reader.end - reader.start) sentLength = reader.value;
      } else if (reader.number === 3) metadata = withPair(metadata ?? {}, reader.inner());
    }
    const isPlain = metadata === null && sentLength === undefined;
    if (isPlain && this.#entries.addPlain(time, bytes, lineFrom, lineTo)) return;
    this.#meter.spend(COST_OF_ENTRY + bytes.length * COST_OF_BYTE);
    this.#entries.add(time, textOf(bytes, lineFrom, lineTo), metadata, sentLength);
  }
}

/** Memory of a held entry beside its bytes. */
const EARLY_OVERHEAD = 200;

function timeOf(reader: FieldReader): LokiTime {
  let seconds = 0;
  let nanos = 0;
  while (reader.next()) {
    if (reader.wire !== 0) continue;
    if (reader.number === 1) seconds = reader.value;
    else if (reader.number === 2) nanos = reader.value;
  }
  // Times before 1970 are negative numbers of 64 bits.
  return lokiTimeOf(seconds < TWO_TO_63 ? seconds : seconds - TWO_TO_64, nanos < 1e9 ? nanos : 0);
}

function withPair(metadata: Record<string, unknown>, reader: FieldReader): Record<string, unknown> {
  let name = "";
  let value = "";
  while (reader.next()) {
    if (reader.wire !== 2) continue;
    if (reader.number === 1) name = reader.text;
    else if (reader.number === 2) value = reader.text;
  }
  define(metadata, name, value);
  return metadata;
}
