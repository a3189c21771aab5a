import { textOfAny } from "../platform/bytes.ts";
import type { Steps, TurnMeter } from "../platform/turns.ts";
import { DoorBodyFault, type DoorDecoder } from "./decoder.ts";
import type { DoorEntry, DoorEntrySink } from "./entry.ts";
import { cutEntry, Enveloped } from "./shared/enveloped.ts";
import { JsonCutter, type JsonNode, MAX_VALUE_BYTES } from "./shared/json-cutter.ts";
import { LineReader } from "./shared/line-reader.ts";
import { parseText } from "./shared/parse-text.ts";
import { type RecordReader, recordOf } from "./shared/record-reader.ts";
import { timeOf } from "./shared/times.ts";

/** Reads events of Splunk's HTTP event collector: https://docs.splunk.com/Documentation/Splunk/latest/Data/FormateventsforHTTPEventCollector */

/** What the query of a request says about all its events. */
export interface HecDefaults {
  host?: string | undefined;
  source?: string | undefined;
  sourcetype?: string | undefined;
  index?: string | undefined;
}

const KEPT = ["source", "sourcetype", "index"] as const;

/**
 * Reads one event: an envelope with `event`, or else the event without an envelope, as Fluent Bit sends it with
 * `splunk_send_raw`.
 */
export function hecEntry(record: Record<string, unknown>, defaults: HecDefaults, reader: RecordReader): DoorEntry {
  if (!Object.hasOwn(record, "event")) return enveloped(reader.read(record), { ...defaults }, reader);
  const { event } = record;
  const inner = typeof event === "string" ? reader.readLine(event) : reader.readValue(event);
  return enveloped(inner ?? { time: null, level: null, message: null, data: {} }, { ...defaults, ...record }, reader);
}

function enveloped(inner: DoorEntry, envelope: Record<string, unknown>, reader: RecordReader): DoorEntry {
  const entry = new Enveloped(inner);
  const { event: _, time, host, source, sourcetype, index, fields, ...others } = envelope;
  const read = timeOf(time);
  if (read !== null) entry.setTime(read.time, read.sent);
  else if (time !== undefined && time !== null) entry.setMember("time", time);
  if (typeof host === "string") entry.setText("host", host);
  else if (host !== undefined && host !== null) entry.setMember("host", host);
  for (const [at, value] of [source, sourcetype, index].entries()) {
    const name = KEPT[at];
    if (name !== undefined && value !== undefined && value !== null) entry.setMember(name, value);
  }
  if (typeof fields === "object" && fields !== null && !Array.isArray(fields)) {
    // SAFETY: an object of JSON that is not an array.
    const members = fields as Record<string, unknown>;
    const said = reader.read(members);
    if (inner.level === null) entry.setLevel(said);
    entry.fill(said);
    for (const name of Object.keys(members)) entry.setMember(name, members[name]);
  } else if (fields !== undefined && fields !== null) {
    entry.setMember("fields", fields);
  }
  for (const name of Object.keys(others)) entry.setMember(name, others[name]);
  return entry.finish("event");
}

/** Nanoseconds for an event and for a byte of one. */
const COST_OF_EVENT = 2_000;
const COST_OF_BYTE = 15;

/** A body without a valid event. */
export class HecFault extends DoorBodyFault {
  /** Code of Splunk: 5 no data, 6 invalid data format. */
  readonly code: 5 | 6;
  /** Index of the first event that is not valid. */
  readonly event: number;

  constructor(message: string, code: 5 | 6, event: number) {
    super(message);
    this.code = code;
    this.event = event;
  }
}

const EVENTS: JsonNode = { name: "event", items: { name: "event" } };
/**
 * Reads the body of the event endpoint: JSON objects one after the other, or an array of them. As in Splunk, one that is not
 * JSON does not affect those before it.
 */
export class HecEventDecoder implements DoorDecoder {
  readonly #sink: DoorEntrySink;
  readonly #reader: RecordReader;
  readonly #meter: TurnMeter;
  readonly #defaults: HecDefaults;
  readonly #cutter: JsonCutter;
  #events = 0;
  #stored = 0;
  #invalidEvent: number | null = null;
  /** Whether the rest of the body cannot be read. */
  #isBroken = false;

  constructor(sink: DoorEntrySink, reader: RecordReader, meter: TurnMeter, defaults: HecDefaults) {
    this.#sink = sink;
    this.#reader = reader;
    this.#meter = meter;
    this.#defaults = defaults;
    this.#cutter = new JsonCutter(EVENTS, { value: (_, bytes, length) => this.#read(bytes, length) }, meter, true);
  }

  get held(): number {
    return this.#cutter.held;
  }

  /** Index of the first event that is not valid; `null` if all are. */
  get invalidEvent(): number | null {
    return this.#invalidEvent;
  }

  *read(chunk: Uint8Array): Steps<void> {
    if (this.#isBroken) return;
    try {
      yield* this.#cutter.read(chunk);
    } catch (error) {
      this.#break(error);
    }
  }

  // biome-ignore lint/correctness/useYield: one event is left at most.
  *end(): Steps<void> {
    try {
      if (!this.#isBroken) this.#cutter.end();
    } catch (error) {
      this.#break(error);
    }
    if (this.#events === 0) throw new HecFault("No data", 5, 0);
    if (this.#stored === 0) throw new HecFault("Invalid data format", 6, this.#invalidEvent ?? 0);
  }

  #read(bytes: Uint8Array, length: number): void {
    this.#meter.spend(COST_OF_EVENT + bytes.length * COST_OF_BYTE);
    const entry = this.#entryOf(bytes, length);
    if (entry === null) {
      this.#reject();
      return;
    }
    this.#events++;
    this.#stored++;
    this.#sink.add(entry);
  }

  #entryOf(bytes: Uint8Array, length: number): DoorEntry | null {
    const text = textOfAny(bytes);
    if (length > bytes.length) return enveloped(cutEntry(text, length), { ...this.#defaults }, this.#reader);
    const event = parseText(text);
    // More values than an entry may have.
    if (event === undefined) return enveloped(recordOf(text), { ...this.#defaults }, this.#reader);
    if (typeof event !== "object" || event === null) return null;
    // SAFETY: an object of JSON; the cutter has opened an array.
    return hecEntry(event as Record<string, unknown>, this.#defaults, this.#reader);
  }

  #break(error: unknown): void {
    if (!(error instanceof DoorBodyFault)) throw error;
    this.#isBroken = true;
    this.#reject();
  }

  #reject(): void {
    this.#invalidEvent ??= this.#events;
    this.#events++;
    this.#sink.reject("Invalid data format");
  }
}

/** Reads the body of the raw endpoint: every line is an event. */
export class HecRawDecoder implements DoorDecoder {
  readonly #lines: LineReader;
  #events = 0;

  constructor(sink: DoorEntrySink, reader: RecordReader, meter: TurnMeter, defaults: HecDefaults) {
    const onLine = (line: string, length: number) => {
      meter.spend(COST_OF_EVENT + line.length * COST_OF_BYTE);
      const event = length > MAX_VALUE_BYTES ? cutEntry(line, length) : reader.readLine(line);
      sink.add(enveloped(event, { ...defaults }, reader));
      this.#events++;
    };
    this.#lines = new LineReader(onLine, meter);
  }

  get held(): number {
    return this.#lines.held;
  }

  read(chunk: Uint8Array): Steps<void> {
    return this.#lines.read(chunk);
  }

  // biome-ignore lint/correctness/useYield: one line is left at most.
  *end(): Steps<void> {
    this.#lines.end();
    if (this.#events === 0) throw new HecFault("No data", 5, 0);
  }
}
