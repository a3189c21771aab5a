import type { Level } from "../../logs/entry.ts";
import { define } from "../../logs/ingest/validate.ts";
import type { DoorEntry } from "../entry.ts";
import { levelOfName } from "../shared/levels.ts";
import { clientId } from "../shared/record-ids.ts";
import { RECORD_ID, RESERVED } from "./names.ts";
import type { Shared } from "./shared-parts.ts";

/** From OTLP's records to entries, the same for both encodings. */

/** Nesting of a value at which it is kept as text. An entry's `data` may be nested 32 deep. */
export const MAX_DEPTH = 28;

/** A time as OTLP has it. */
export interface UnixNano {
  /** Whole milliseconds since the epoch; 0 if there is no time. */
  ms: number;
  /** The nanoseconds within the millisecond, 0 to 999,999. */
  nanos: number;
}

/** One record as both encodings have it. A decoder uses one object for all records. */
export class LogRecord {
  readonly time: UnixNano = { ms: 0, nanos: 0 };
  readonly observed: UnixNano = { ms: 0, nanos: 0 };
  severityNumber = 0;
  severityText = "";
  /** `undefined` without a body. */
  body: unknown = undefined;
  attributes: Record<string, unknown> = {};
  droppedAttributes = 0;
  flags = 0;
  traceId = "";
  spanId = "";
  eventName = "";
  /** Lengths of what was cut, by path. */
  cut: Record<string, number> | null = null;
  /**
   * The attributes as members in JSON, in place of `attributes`, for a record with a text as its body; `null` for others.
   * Then the next members are set, too.
   */
  members: string | null = null;
  /** Number of values in `members`. */
  values = 0;
  service = "";
  host = "";
  session = "";
  /** `log.record.uid`; "" without. */
  recordId = "";

  clear(): void {
    this.time.ms = 0;
    this.time.nanos = 0;
    this.observed.ms = 0;
    this.observed.nanos = 0;
    this.severityNumber = 0;
    this.severityText = "";
    this.body = undefined;
    this.attributes = {};
    this.droppedAttributes = 0;
    this.flags = 0;
    this.traceId = "";
    this.spanId = "";
    this.eventName = "";
    this.cut = null;
    this.members = null;
    this.values = 0;
    this.service = "";
    this.host = "";
    this.session = "";
    this.recordId = "";
  }
}

/** Levels of severity numbers 1 to 24, four for each. */
const LEVEL_OF_FOUR: readonly Level[] = ["trace", "debug", "info", "warn", "error", "fatal"];

/** Values of `data.otel` at most. */
const OTEL_VALUES = 10;

/** Returns a record as an entry, whose data have the attributes object and the shared objects themselves. */
export function entryOf(record: LogRecord, shared: Shared): DoorEntry {
  const { time, observed } = record;
  const own = isTime(time) ? time : observed;
  const level = levelOf(record);
  const entry: DoorEntry = { time: isTime(own) ? own.ms + own.nanos / 1e6 : null, level, message: null, data: {} };
  if (own.nanos > 0) entry.sentTime = textOfTime(own);
  if (record.traceId !== "") entry.traceId = record.traceId;
  if (record.spanId !== "") entry.spanId = record.spanId;
  const marks = marksOfRecord(record, shared);
  if (marks !== null) entry.marks = marks;
  const otel = otelOf(record, shared, own, level);
  if (record.members === null) setData(entry, record, shared, otel);
  else setJson(entry, record, record.members, shared, otel);
  if (shared.service !== undefined) entry.service = shared.service;
  if (shared.host !== undefined) entry.host = shared.host;
  return entry;
}

function setData(entry: DoorEntry, record: LogRecord, shared: Shared, otel: string): void {
  const { attributes } = record;
  const data = hasReserved(attributes) ? setReservedAside(attributes) : attributes;
  entry.data = data;
  entry.message = setBody(record, data);
  const names = { service: "service.name", host: "host.name", session: "session.id" } as const;
  for (const member of ["service", "host", "session"] as const) {
    const text = textOf(attributes[names[member]]);
    if (text !== undefined) entry[member] = text;
  }
  if (shared.resource !== null) data.resource = shared.resource;
  if (shared.scope !== null) data.scope = shared.scope;
  if (otel !== "") data.otel = JSON.parse(`{${otel}}`);
  const id = textOf(attributes[RECORD_ID]);
  if (id !== undefined) entry.id = clientId("otlp", id, false);
}

function setJson(entry: DoorEntry, record: LogRecord, attributes: string, shared: Shared, otel: string): void {
  let members = attributes;
  if (shared.members !== "") members = members === "" ? shared.members : `${members},${shared.members}`;
  if (otel !== "") members = `${members}${members === "" ? "" : ","}"otel":{${otel}}`;
  entry.json = { members, values: record.values + shared.values + OTEL_VALUES };
  const { body, eventName } = record;
  const message = typeof body === "string" && body !== "" ? body : eventName;
  entry.message = message === "" ? null : message;
  if (record.service !== "") entry.service = record.service;
  if (record.host !== "") entry.host = record.host;
  if (record.session !== "") entry.session = record.session;
  if (record.recordId !== "") entry.id = clientId("otlp", record.recordId, false);
}

function marksOfRecord({ cut }: LogRecord, { marks }: Shared): Record<string, unknown> | null {
  if (cut === null) return marks;
  return { ...marks, cut: { ...(marks?.cut ?? {}), ...cut } };
}

/** Sets `data.body` for a body that is not a text. @returns the message, `null` without one */
function setBody({ body, eventName }: LogRecord, data: Record<string, unknown>): string | null {
  if (typeof body === "string" && body !== "") return body;
  if (body === undefined || body === null || body === "") return eventName === "" ? null : eventName;
  data.body = body;
  if (typeof body !== "object") return String(body);
  if (!Array.isArray(body)) {
    // SAFETY: a decoder makes values of scalars, arrays and plain objects.
    const { message, msg } = body as Record<string, unknown>;
    if (typeof message === "string" && message !== "") return message;
    if (typeof msg === "string" && msg !== "") return msg;
  }
  return eventName === "" ? JSON.stringify(body) : eventName;
}

function levelOf({ severityNumber, severityText }: LogRecord): Level | null {
  const known = LEVEL_OF_FOUR[(severityNumber - 1) >> 2];
  if (known !== undefined && severityNumber >= 1) return known;
  return severityText === "" ? null : (levelOfName(severityText)?.level ?? null);
}

/** What else a record has: the members of `data.otel` in JSON. A severity that follows from the level is left out. */
function otelOf(record: LogRecord, shared: Shared, own: UnixNano, level: Level | null): string {
  const { severityNumber, severityText, observed } = record;
  let otel = "";
  if (severityNumber !== 0 && LEVEL_OF_FOUR.indexOf(level ?? "log") * 4 + 1 !== severityNumber) {
    otel += `,"severityNumber":${severityNumber}`;
  }
  if (severityText !== "" && severityText !== level && severityText.toLowerCase() !== level) {
    otel += `,"severityText":${JSON.stringify(severityText)}`;
  }
  if (observed !== own && (observed.ms !== own.ms || observed.nanos !== own.nanos) && isTime(observed)) {
    otel += `,"observedTimeUnixNano":"${textOfTime(observed)}"`;
  }
  if (record.eventName !== "") otel += `,"eventName":${JSON.stringify(record.eventName)}`;
  if (record.flags !== 0) otel += `,"flags":${record.flags}`;
  if (record.droppedAttributes !== 0) otel += `,"droppedAttributes":${record.droppedAttributes}`;
  if (shared.otel !== "") otel += `,${shared.otel}`;
  return otel.slice(1);
}

function isTime({ ms, nanos }: UnixNano): boolean {
  return ms > 0 || nanos > 0;
}

function hasReserved(attributes: Record<string, unknown>): boolean {
  for (const name of RESERVED) if (Object.hasOwn(attributes, name)) return true;
  return false;
}

function setReservedAside(attributes: Record<string, unknown>): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  const aside: Record<string, unknown> = {};
  for (const name of Object.keys(attributes)) define(RESERVED.has(name) ? aside : data, name, attributes[name]);
  data.attributes = aside;
  return data;
}

/** Sets a time from the halves of a 64-bit number of nanoseconds. */
export function setTime(time: UnixNano, high: number, low: number): void {
  // 2 ** 32 is 4,294 million and 967,296, so no part of the sum exceeds 2 ** 53.
  const rest = high * 967_296 + low;
  const ms = Math.floor(rest / 1e6);
  time.ms = high * 4294 + ms;
  time.nanos = rest - ms * 1e6;
}

/** A time as decimal nanoseconds. */
function textOfTime({ ms, nanos }: UnixNano): string {
  return `${ms}${String(nanos).padStart(6, "0")}`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A double as JSON can hold it. */
export function jsonNumber(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}
