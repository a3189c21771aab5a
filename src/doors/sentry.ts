import { INGEST_LIMITS } from "../logs/entry.ts";
import type { ClientDrops } from "../logs/ingest/client-drops.ts";
import { define } from "../logs/ingest/validate.ts";
import type { Steps, TurnMeter } from "../platform/turns.ts";
import { DoorBodyFault, type DoorDecoder } from "./decoder.ts";
import type { DoorEntry, DoorEntrySink } from "./entry.ts";
import { addClientReport } from "./sentry-report.ts";
import { JsonCutter, type JsonNode } from "./shared/json-cutter.ts";
import { addRecord, COST_OF_JSON_BYTE, JsonRecords, objectOf } from "./shared/json-records.ts";
import { KeptBytes } from "./shared/kept-bytes.ts";
import { levelOf } from "./shared/levels.ts";
import { clientId } from "./shared/record-ids.ts";
import { timeOf } from "./shared/times.ts";

const LINE_BREAK = 0x0a;
/** Nanoseconds for a byte that is skipped, and for a header or an item beside its bytes. */
const COST_OF_BYTE = 3;
const COST_OF_HEADER = 500;
const COST_OF_ITEM = 2_000;
/** Bytes of the header of an envelope or of an item. */
const MAX_HEADER = 64 * 1024;
const LOGS: JsonNode = { name: "logs", members: { items: { name: "items", items: { name: "log" } } } };
const EVENT: JsonNode = { name: "event" };
const REPORT: JsonNode = { name: "report" };
/** What is read of each type of item. Other items, such as spans, sessions and replays, are no logs. */
const ROOTS: Readonly<Record<string, JsonNode>> = { log: LOGS, event: EVENT, client_report: REPORT };

const utf8 = new TextDecoder();

/**
 * Reads Sentry envelopes: a header line, then items, each with a header line and a payload that ends after its length or, without
 * one, at a line break. Logs and events (captured messages and exceptions) become entries. Client reports say what was dropped.
 */
export class SentryDecoder implements DoorDecoder {
  /** Logs and events that the client says it has dropped. */
  readonly drops: ClientDrops = {};
  readonly #sink: DoorEntrySink;
  readonly #meter: TurnMeter;
  readonly #header = new KeptBytes(MAX_HEADER);
  #isFirst = true;
  #items = 0;
  /** Bytes of the payload to come; infinite: to the line break. `null` in a header. */
  #left: number | null = null;
  /** Reads the payload; `null` if it is skipped. */
  #payload: JsonCutter | null = null;

  constructor(sink: DoorEntrySink, meter: TurnMeter) {
    this.#sink = sink;
    this.#meter = meter;
  }

  get held(): number {
    return this.#header.held + (this.#payload?.held ?? 0);
  }

  *read(chunk: Uint8Array): Steps<void> {
    for (let at = 0; at < chunk.length; ) {
      if (this.#left === null) at = this.#readHeader(chunk, at);
      else at = yield* this.#readPayload(chunk, at, this.#left);
      if (this.#meter.isDue) yield;
    }
  }

  *end(): Steps<void> {
    yield* [];
    if (this.#left === null && this.#header.length > 0) this.#endHeader();
    const isEarly = this.#left !== null && Number.isFinite(this.#left) && this.#left > 0;
    if (isEarly) throw new DoorBodyFault("The envelope ends within an item.");
    this.#endPayload();
    if (this.#isFirst) throw new DoorBodyFault("The envelope has no header.");
    this.#header.free();
  }

  #readHeader(chunk: Uint8Array, from: number): number {
    let at = from;
    // Line breaks separate items, and one may follow the last item.
    if (!this.#isFirst && this.#header.length === 0) while (chunk[at] === LINE_BREAK) at++;
    this.#meter.spend((at - from) * COST_OF_BYTE);
    if (at === chunk.length) return at;
    const found = chunk.indexOf(LINE_BREAK, at);
    this.#meter.spend(COST_OF_HEADER + ((found < 0 ? chunk.length : found) - at) * COST_OF_JSON_BYTE);
    this.#header.add(chunk, at, found < 0 ? chunk.length : found);
    if (this.#header.length > MAX_HEADER) throw new DoorBodyFault(`A header is longer than ${MAX_HEADER} bytes.`);
    if (found < 0) return chunk.length;
    this.#endHeader();
    return found + 1;
  }

  #endHeader(): void {
    const text = utf8.decode(this.#header.bytes).trim();
    this.#header.clear();
    if (text === "" && !this.#isFirst) return;
    const header = objectOf(text);
    if (header === null) throw new DoorBodyFault("A header of the envelope is not a JSON object.");
    if (this.#isFirst) {
      this.#isFirst = false;
      return;
    }
    this.#meter.spend(COST_OF_ITEM);
    if (++this.#items > INGEST_LIMITS.linesEntries) {
      throw new DoorBodyFault(`The envelope has more than ${INGEST_LIMITS.linesEntries} items.`);
    }
    const { type, length } = header;
    if (length !== undefined && !(typeof length === "number" && Number.isSafeInteger(length) && length >= 0)) {
      throw new DoorBodyFault("The length of an item is not a number of bytes.");
    }
    this.#left = length ?? Number.POSITIVE_INFINITY;
    const root = typeof type === "string" && Object.hasOwn(ROOTS, type) ? ROOTS[type] : undefined;
    this.#payload = root === undefined ? null : this.#readerOf(root);
    if (this.#left === 0) this.#endPayload();
  }

  *#readPayload(chunk: Uint8Array, at: number, left: number): Steps<number> {
    const isToLineEnd = !Number.isFinite(left);
    const found = isToLineEnd ? chunk.indexOf(LINE_BREAK, at) : -1;
    const end = found >= 0 ? found : Math.min(chunk.length, at + left);
    this.#meter.spend((end - at) * COST_OF_BYTE);
    if (this.#payload !== null) yield* this.#payload.read(chunk.subarray(at, end));
    this.#left = left - (end - at);
    if (found < 0 && this.#left > 0) return end;
    this.#endPayload();
    return found < 0 ? end : found + 1;
  }

  #readerOf(root: JsonNode): JsonCutter {
    const value = (name: string, bytes: Uint8Array, length: number) => {
      this.#meter.spend(bytes.length * COST_OF_JSON_BYTE);
      const cut = length > bytes.length ? length : null;
      if (name === "report") addClientReport(this.drops, objectOf(utf8.decode(bytes)) ?? {});
      else if (name === "log") addRecord(this.#sink, utf8.decode(bytes), cut, readLog);
      else if (name === "event") addRecord(this.#sink, utf8.decode(bytes), cut, readEvent);
    };
    return new JsonCutter(root, { value }, this.#meter);
  }

  #endPayload(): void {
    this.#left = null;
    this.#payload?.end();
    this.#payload = null;
  }
}

/** Reads the body of the former `store` route: one event. */
export function sentryEventDecoder(sink: DoorEntrySink, meter: TurnMeter): DoorDecoder {
  return new JsonRecords(sink, meter, readEvent);
}

/** An id of only zeros counts as absent, too. */
const NONE = /^0*$/;

/** @see https://develop.sentry.dev/sdk/telemetry/logs/ */
function readLog(log: Record<string, unknown>): DoorEntry {
  const { timestamp, level, body, trace_id, span_id, severity_number, attributes, ...rest } = log;
  const data: Record<string, unknown> = {};
  for (const [name, attribute] of Object.entries(isObject(attributes) ? attributes : {})) {
    define(data, name, isObject(attribute) && Object.hasOwn(attribute, "value") ? attribute.value : attribute);
  }
  const severity = levelOf(severity_number, "otlp");
  const readLevel = levelOf(level) ?? severity;
  const isSaid = severity?.isExact === true && severity.level === readLevel?.level;
  const others = {
    ...rest,
    ...(typeof body !== "string" && { body }),
    ...(typeof trace_id !== "string" && { trace_id }),
    ...(typeof span_id !== "string" && { span_id }),
    ...(!isObject(attributes) && { attributes }),
    ...(!isSaid && { severity_number }),
  };
  for (const [name, value] of Object.entries(others)) if (value !== undefined) define(data, name, value);
  return {
    ...timeMembers(timestamp, data),
    level: readLevel?.level ?? null,
    ...(readLevel === null && level !== undefined && { sentLevel: String(level) }),
    message: typeof body === "string" ? body : null,
    ...textMember("traceId", trace_id),
    ...textMember("spanId", span_id ?? data["sentry.trace.parent_span_id"]),
    ...textMember("service", data["service.name"]),
    ...textMember("host", data["server.address"]),
    data,
  };
}

/** @see https://develop.sentry.dev/sdk/foundations/envelopes/event-payloads/ */
function readEvent(event: Record<string, unknown>): DoorEntry {
  const { timestamp, level, ...data } = event;
  const trace = isObject(data.contexts) && isObject(data.contexts.trace) ? data.contexts.trace : {};
  const exception = exceptionText(data.exception);
  const readLevel = levelOf(level);
  return {
    ...timeMembers(timestamp, data),
    // Sentry's default level of events.
    level: readLevel?.level ?? "error",
    ...(readLevel === null && level !== undefined && { sentLevel: String(level) }),
    message: messageText(data.logentry) ?? messageText(data.message) ?? exception ?? null,
    type: exception === undefined ? "message" : "exception",
    ...textMember("traceId", trace.trace_id),
    ...textMember("spanId", trace.span_id),
    ...textMember("host", data.server_name),
    ...(typeof data.event_id === "string" && { id: clientId("sentry", data.event_id, true) }),
    data,
  };
}

function timeMembers(sent: unknown, data: Record<string, unknown>): Pick<DoorEntry, "time" | "sentTime"> {
  const read = timeOf(sent, typeof sent === "number" ? "s" : "any");
  if (read !== null) return { time: read.time, ...(read.sent !== undefined && { sentTime: read.sent }) };
  if (sent !== undefined && sent !== null) define(data, "timestamp", sent);
  return { time: null };
}

/** A text, or what it was made of: `{formatted, message, params}`. */
function messageText(value: unknown): string | undefined {
  const text = isObject(value) ? (value.formatted ?? value.message) : value;
  return typeof text === "string" && text !== "" ? text : undefined;
}

/** `Type: value` of the last exception, which was thrown last. */
function exceptionText(exception: unknown): string | undefined {
  const values = isObject(exception) ? exception.values : exception;
  const last: unknown = Array.isArray(values) ? values.at(-1) : values;
  if (!isObject(last)) return undefined;
  const parts = [last.type, last.value].filter((part) => typeof part === "string" && part !== "");
  return parts.length === 0 ? undefined : parts.join(": ");
}

function textMember<K extends "traceId" | "spanId" | "service" | "host">(
  name: K,
  value: unknown,
): { [P in K]?: string } {
  // SAFETY: an object with this one member.
  return (typeof value === "string" && !NONE.test(value) ? { [name]: value } : {}) as { [P in K]?: string };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
