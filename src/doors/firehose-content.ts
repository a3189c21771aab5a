import { INGEST_LIMITS } from "../logs/entry.ts";
import { textOfAny } from "../platform/bytes.ts";
import { inOneTurn, type Steps, type TurnMeter } from "../platform/turns.ts";
import { DoorBodyFault } from "./decoder.ts";
import type { DoorEntry, DoorEntrySink } from "./entry.ts";
import { JsonCutter, type JsonNode, MAX_VALUE_BYTES } from "./shared/json-cutter.ts";
import { COST_OF_JSON_BYTE, objectOf, RECORDS } from "./shared/json-records.ts";
import { levelOfName } from "./shared/levels.ts";
import { LineReader } from "./shared/line-reader.ts";
import { clientId } from "./shared/record-ids.ts";
import type { RecordReader } from "./shared/record-reader.ts";
import { timeOf } from "./shared/times.ts";

/** A message of a CloudWatch Logs subscription. */
const CLOUDWATCH: JsonNode = {
  name: "message",
  members: {
    messageType: { name: "messageType" },
    owner: { name: "owner" },
    logGroup: { name: "logGroup" },
    logStream: { name: "logStream" },
    subscriptionFilters: { name: "subscriptionFilters" },
    logEvents: { name: "logEvents", items: { name: "logEvent" } },
  },
};
/** A member that comes first in messages of CloudWatch Logs. */
const CLOUDWATCH_START = /^\s*\{\s*"messageType"\s*:/;
const START_BYTES = 64;
/** Nanoseconds for a line or a part of a message beside its bytes. */
const COST_OF_PART = 1_000;
/** Nanoseconds for a value of a line beside its bytes. */
const COST_OF_VALUE = 300;
/** Characters of a line that is read in steps. */
const LONG_LINE = 16 * 1024;
/** Bytes of a member that the events of a message of CloudWatch Logs share. The rest of a longer one is dropped, with a mark. */
const MAX_SHARED = 4 * 1024;
/**
 * Levels in lines of Lambda functions: of Node, behind time and request, which is `undefined` while the function starts, and
 * of Python, in brackets.
 */
const LAMBDA_LEVEL = /^(?:\S{20,30}\t(?:[0-9a-f-]{36}|undefined)\t([A-Z]{4,5})\t|\[([A-Z]{4,8})\]\t)/;

const utf8 = new TextDecoder();

/** A sink that may take no more records. */
export interface BoundedSink extends DoorEntrySink {
  /** Why no more records are taken. */
  readonly failure?: object | null;
}

/** Ends the reading of a record, which may inflate to millions of lines, if no more are taken. */
export class Full extends Error {}

/** What of the message of CloudWatch Logs its events share. */
type Shared = Record<string, unknown>;

/** Reads the content of one record. */
export class Content {
  readonly #sink: BoundedSink;
  readonly #meter: TurnMeter;
  readonly #records: RecordReader;
  #reader: { held: number; read(chunk: Uint8Array): Steps<void>; end(): Steps<void> | void } | null = null;
  #shared: Shared = {};
  /** Original lengths of what is shared and was cut, by path. */
  #cut: Record<string, number> = {};
  /** Lines that wait for a long one before them, which is read in steps. */
  #lines: { line: string; length: number }[] = [];
  /** Whether nothing but white space was read. */
  isEmpty = true;

  constructor(sink: BoundedSink, meter: TurnMeter, records: RecordReader) {
    this.#sink = sink;
    this.#meter = meter;
    this.#records = records;
  }

  get held(): number {
    return (this.#reader?.held ?? 0) + this.#lines.reduce((sum, { line }) => sum + 3 * line.length, 0);
  }

  *read(bytes: Uint8Array): Steps<void> {
    if (bytes.length === 0) return;
    this.#reader ??= CLOUDWATCH_START.test(utf8.decode(bytes.subarray(0, START_BYTES)))
      ? new JsonCutter(CLOUDWATCH, { value: (...part) => this.#addPart(...part) }, this.#meter, true)
      : new LineReader((line, length) => this.#receiveLine(line, length), this.#meter);
    for (const _ of this.#reader.read(bytes)) {
      yield;
      yield* this.#readLines();
    }
    yield* this.#readLines();
  }

  *end(): Steps<void> {
    const rest = this.#reader?.end();
    if (rest) yield* rest;
    yield* this.#readLines();
  }

  #addPart(name: string, bytes: Uint8Array, length: number): void {
    if (this.#sink.failure) throw new Full();
    this.isEmpty = false;
    this.#meter.spend(COST_OF_PART + bytes.length * COST_OF_JSON_BYTE);
    const text = textOfAny(bytes);
    if (name === "logEvent") {
      // Control messages check whether the destination can be reached.
      if (this.#shared.messageType === "CONTROL_MESSAGE") return;
      const event = objectOf(text);
      const cut = length > bytes.length ? { marks: { cut: { message: length } } } : {};
      this.#sink.add(event === null ? { ...this.#records.readLine(text), ...cut } : this.#logEvent(event));
      return;
    }
    if (name === "messageType") {
      this.#shared = {};
      this.#cut = {};
    }
    // Every event gets it.
    if (length > MAX_SHARED) {
      this.#shared[name] = utf8.decode(bytes.subarray(0, MAX_SHARED));
      this.#cut[`data.cloudwatch.${name}`] = length;
      return;
    }
    try {
      this.#shared[name] = JSON.parse(text);
    } catch {
      this.#shared[name] = text;
    }
  }

  #logEvent(event: Record<string, unknown>): DoorEntry {
    const { message, timestamp, id, ...rest } = event;
    const text = typeof message === "string" ? message.trimEnd() : JSON.stringify(message ?? rest);
    const entry = this.#records.readLine(text);
    const time = timeOf(timestamp, "ms");
    const isUnused = timestamp !== undefined && (time === null || (entry.time !== null && entry.time !== time.time));
    entry.time ??= time?.time ?? null;
    const [, ofNode, ofPython] = LAMBDA_LEVEL.exec(text) ?? [];
    entry.level ??= levelOfName(ofNode ?? ofPython ?? "")?.level ?? null;
    const { messageType: _, ...shared } = this.#shared;
    const group = typeof shared.logGroup === "string" ? shared.logGroup.split("/").at(-1) : undefined;
    if (group !== undefined && group !== "") entry.service ??= group;
    entry.data.cloudwatch = {
      ...shared,
      ...rest,
      ...(id !== undefined && { id }),
      ...(isUnused && { timestamp }),
    };
    for (const _ in this.#cut) {
      entry.marks = { cut: { ...this.#cut } };
      break;
    }
    return typeof id === "string" ? { ...entry, id: clientId("cloudwatch", id, true) } : entry;
  }

  #receiveLine(line: string, length: number): void {
    this.isEmpty = false;
    this.#meter.spend(COST_OF_PART);
    if (line.length > LONG_LINE || this.#lines.length > 0) this.#lines.push({ line, length });
    else inOneTurn(this.#addLine(line, length));
  }

  *#readLines(): Steps<void> {
    if (this.#lines.length === 0) return;
    const lines = this.#lines;
    for (const { line, length } of lines) {
      yield* this.#addLine(line, length);
      if (this.#meter.isDue) yield;
    }
    this.#lines = [];
  }

  *#addLine(line: string, length: number): Steps<void> {
    if (this.#sink.failure) throw new Full();
    const values = yield* valuesOf(line, this.#meter);
    if (values === null) {
      this.#meter.spend(line.length * COST_OF_JSON_BYTE);
      this.#sink.add({
        ...this.#records.readLine(line),
        ...(length > MAX_VALUE_BYTES && { marks: { cut: { message: length } } }),
      });
      return;
    }
    for (const value of values) {
      if (this.#sink.failure) throw new Full();
      this.#meter.spend(COST_OF_PART + value.length * COST_OF_JSON_BYTE);
      this.#sink.add(this.#records.readLine(value));
      if (this.#meter.isDue) yield;
    }
  }
}

/** Cuts a line into the JSON objects that it consists of; `null` for any other line. */
function* valuesOf(line: string, meter: TurnMeter): Steps<string[] | null> {
  if (!/^\s*(?:\{\s*"|\[\s*\{)/.test(line)) return null;
  const values: string[] = [];
  const value = (_: string, bytes: Uint8Array) => {
    meter.spend(COST_OF_VALUE);
    // With one more than a request may have, it is refused.
    if (values.length <= INGEST_LIMITS.linesEntries) values.push(utf8.decode(bytes));
  };
  const cutter = new JsonCutter(RECORDS, { value }, meter, true);
  try {
    yield* cutter.read(Buffer.from(line));
    cutter.end();
  } catch (error) {
    if (error instanceof DoorBodyFault) return null;
    throw error;
  }
  return values;
}
