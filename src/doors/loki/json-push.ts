import { textOfAny } from "../../platform/bytes.ts";
import { type Steps, TURN_COST, type TurnMeter } from "../../platform/turns.ts";
import { DoorBodyFault, type DoorDecoder } from "../decoder.ts";
import type { DoorEntrySink } from "../entry.ts";
import { JsonCutter, type JsonNode } from "../shared/json-cutter.ts";
import { NOT_JSON, parseText } from "../shared/parse-text.ts";
import type { RecordReader } from "../shared/record-reader.ts";
import { timeOf } from "../shared/times.ts";
import { LokiEntries, type LokiTime, labelsOf, lokiTime, MAX_LABELS_LENGTH, type UnreadTime } from "./entries.ts";

/** Bytes of entries that wait for the labels of their stream, which clients send first. */
const EARLY_BYTES = 512 * 1024;
/** Memory of such an entry beside its bytes. */
const EARLY_OVERHEAD = 200;
/** Characters that are kept of a time that cannot be read. */
const UNREAD_LENGTH = 256;
/** Nanoseconds for an entry and for a byte of it: its line may be JSON. */
const COST_OF_ENTRY = 3_000;
const COST_OF_BYTE = 25;
/** Nanoseconds for a stream, and for its labels, beside their bytes. */
const COST_OF_STREAM = 500;
const COST_OF_LABELS = 2_000;

/** `labels` and `entries` are of the first version of the protocol, which some libraries still send. */
const PUSH: JsonNode = {
  name: "push",
  members: {
    streams: {
      name: "streams",
      items: {
        name: "stream",
        members: {
          stream: { name: "labels" },
          labels: { name: "labels" },
          values: { name: "values", items: { name: "entry" } },
          entries: { name: "values", items: { name: "entry" } },
        },
      },
    },
  },
};

/** Reads Loki's push as JSON: https://grafana.com/docs/loki/latest/reference/loki-http-api/#ingest-logs */
export class LokiJsonDecoder implements DoorDecoder {
  readonly #meter: TurnMeter;
  readonly #entries: LokiEntries;
  readonly #cutter: JsonCutter;
  #hasStreams = false;
  #hasLabels = false;
  /** Entries whose stream's labels did not arrive yet. */
  #early: { text: string; cutLength: number | undefined }[] = [];
  #earlyBytes = 0;
  /** Entries whose stream's labels have arrived, if they are much work: they are read before the next part of the body. */
  #ready: { text: string; cutLength: number | undefined }[] = [];

  constructor(sink: DoorEntrySink, reader: RecordReader, meter: TurnMeter) {
    this.#meter = meter;
    this.#entries = new LokiEntries(sink, reader);
    const parts = {
      value: (name: string, bytes: Uint8Array, length: number) => {
        const text = textOfAny(bytes);
        if (name === "labels") this.#setLabels(text);
        else if (name === "entry") this.#addEntry(text, length > bytes.length ? length : undefined);
        // Encoders of Go write `null` for an empty list.
        else if (name === "stream") this.#entries.reject("The stream is not an object.");
        else if (name === "values" && text !== "null") this.#entries.reject("The values are not an array.");
      },
      open: (name: string) => {
        if (name === "streams") this.#hasStreams = true;
        else if (name === "stream") this.#beginStream();
      },
      close: (name: string) => {
        if (name === "stream") this.#flushEarly();
      },
    };
    this.#cutter = new JsonCutter(PUSH, parts, meter);
  }

  get held(): number {
    return this.#cutter.held + this.#earlyBytes;
  }

  *read(chunk: Uint8Array): Steps<void> {
    // The cutter yields behind the part that made the meter due.
    for (const _ of this.#cutter.read(chunk)) {
      yield;
      yield* this.#readReady();
    }
  }

  // biome-ignore lint/correctness/useYield: nothing is left but a bracket.
  *end(): Steps<void> {
    this.#cutter.end();
    if (!this.#hasStreams) throw new DoorBodyFault("The body is not a push of Loki: it has no array `streams`.");
  }

  #beginStream(): void {
    this.#meter.spend(COST_OF_STREAM);
    this.#hasLabels = false;
    this.#entries.setLabels(null);
  }

  #setLabels(text: string): void {
    this.#meter.spend(COST_OF_LABELS + text.length * COST_OF_BYTE);
    const labels = parseText(text);
    this.#hasLabels = true;
    // SAFETY: an object of JSON that is not an array.
    if (isObject(labels)) this.#entries.setLabels(labels as Record<string, unknown>, text);
    else if (typeof labels === "string") this.#entries.setLabels(labelsOf(labels), labels);
    else this.#entries.setLabels({ labels: labels === NOT_JSON || labels === undefined ? text : labels }, text);
    this.#flushEarly(text.length);
  }

  #addEntry(text: string, cutLength: number | undefined): void {
    if (!this.#hasLabels && this.#earlyBytes + text.length <= EARLY_BYTES) {
      this.#early.push({ text, cutLength });
      this.#earlyBytes += 2 * text.length + EARLY_OVERHEAD;
      return;
    }
    this.#flushEarly();
    this.#readEntry(text, cutLength);
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
    else for (const { text, cutLength } of early) this.#readEntry(text, cutLength);
  }

  *#readReady(): Steps<void> {
    const ready = this.#ready;
    this.#ready = [];
    for (const { text, cutLength } of ready) {
      this.#readEntry(text, cutLength);
      if (this.#meter.isDue) yield;
    }
  }

  /**
   * @param text `["<nanoseconds>", "<line>", {<metadata>}?]`, or an object with `ts` and `line`
   * @param cutLength the length as sent if the text is only its beginning
   */
  #readEntry(text: string, cutLength: number | undefined): void {
    this.#meter.spend(COST_OF_ENTRY + text.length * COST_OF_BYTE);
    if (cutLength !== undefined) {
      this.#entries.add(null, text, null, cutLength);
      return;
    }
    const value = parseText(text);
    if (Array.isArray(value)) {
      this.#entries.add(lokiTime(value[0]) ?? unreadTime(value[0]), lineOf(value[1]), metadataOf(value[2]));
    } else if (isObject(value)) this.#addObject(value);
    // More values than an entry may have.
    else if (value === undefined) this.#entries.add(null, text, null);
    else this.#entries.reject("The entry is not an array of a time and a line.");
  }

  #addObject(value: object): void {
    const { ts, timestamp, line } = value as { ts?: unknown; timestamp?: unknown; line?: unknown };
    const sent = ts ?? timestamp;
    const read = lokiTime(sent) ?? fromTime(timeOf(sent)) ?? unreadTime(sent);
    this.#entries.add(read, lineOf(line ?? value), null);
  }
}

function fromTime(read: { time: number; sent?: string | number } | null): LokiTime | null {
  if (read === null) return null;
  return read.sent === undefined ? { ms: read.time } : { ms: read.time, sent: String(read.sent) };
}

/** @returns `null` without a time */
function unreadTime(sent: unknown): UnreadTime | null {
  if (sent === undefined || sent === null || sent === "") return null;
  const text = typeof sent === "string" ? sent : JSON.stringify(sent);
  return { unread: text.slice(0, UNREAD_LENGTH).toWellFormed() };
}

function lineOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

function metadataOf(value: unknown): Record<string, unknown> | null {
  // SAFETY: an object of JSON that is not an array.
  return isObject(value) ? (value as Record<string, unknown>) : null;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
