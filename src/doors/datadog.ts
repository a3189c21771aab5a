import { define } from "../logs/ingest/validate.ts";
import { textOfAny } from "../platform/bytes.ts";
import type { Steps, TurnMeter } from "../platform/turns.ts";
import type { DoorDecoder } from "./decoder.ts";
import type { DoorEntry, DoorEntrySink } from "./entry.ts";
import { cutEntry, Enveloped } from "./shared/enveloped.ts";
import { type JsonNode, MAX_VALUE_BYTES } from "./shared/json-cutter.ts";
import { LinesOrDocuments } from "./shared/lines-or-documents.ts";
import { NOT_JSON, parseText } from "./shared/parse-text.ts";
import type { RecordReader } from "./shared/record-reader.ts";

/** Reads logs of Datadog's intake: https://docs.datadoghq.com/api/latest/logs/#send-logs */

/** What the query of a request says about all its logs. */
export interface DatadogDefaults {
  ddsource?: string | undefined;
  ddtags?: string | undefined;
  service?: string | undefined;
  hostname?: string | undefined;
}

/** Nanoseconds for a log and for a byte of one. */
const COST_OF_LOG = 3_000;
const COST_OF_BYTE = 20;
/** Characters and number of tags that become members. More are kept as text. */
const MAX_TAGS_LENGTH = 64 * 1024;
const MAX_TAGS = 1_000;

const LOGS: JsonNode = { name: "log", items: { name: "log" } };
/**
 * Reads an array of logs, logs one after the other, and lines. A line that is neither a log nor an array of logs is a
 * message.
 */
export class DatadogDecoder implements DoorDecoder {
  readonly #body: LinesOrDocuments;

  constructor(sink: DoorEntrySink, reader: RecordReader, meter: TurnMeter, defaults: DatadogDefaults) {
    const addLog = (log: unknown, text: string) => {
      const record = logOf(log, text);
      if (record === undefined) sink.reject("The log is not valid JSON.");
      // Agents send an object without members to test the connection.
      else if (record !== null) sink.add(datadogEntry(record, defaults, reader));
    };
    const value = (bytes: Uint8Array, length: number) => {
      meter.spend(COST_OF_LOG + bytes.length * COST_OF_BYTE);
      const text = textOfAny(bytes);
      if (length > bytes.length) sink.add(withDefaults(cutEntry(text, length), defaults));
      else addLog(parseText(text), text);
    };
    const line = (message: string, length: number) => {
      meter.spend(COST_OF_LOG + message.length * COST_OF_BYTE);
      const log = length <= MAX_VALUE_BYTES && MAY_BE_LOG.test(message) ? parseText(message) : NOT_JSON;
      if (length > MAX_VALUE_BYTES) sink.add(withDefaults(cutEntry(message, length), defaults));
      else if (log === NOT_JSON) sink.add(datadogEntry({ message }, defaults, reader));
      else if (Array.isArray(log)) for (const one of log) addLog(one, message);
      else addLog(log, message);
    };
    this.#body = new LinesOrDocuments({ line, value, documents: () => LOGS }, meter);
  }

  get held(): number {
    return this.#body.held;
  }

  *read(chunk: Uint8Array): Steps<void> {
    yield* this.#body.read(chunk);
  }

  *end(): Steps<void> {
    yield* this.#body.end();
  }
}

const MAY_BE_LOG = /^\s*(?:\{|\[\s*\{)/;

/** @returns `null` for an object without members, `undefined` for a value that is not JSON */
function logOf(log: unknown, text: string): Record<string, unknown> | null | undefined {
  if (log === NOT_JSON) return undefined;
  // More values than an entry may have.
  if (log === undefined) return { message: text };
  if (typeof log !== "object" || log === null) return { message: String(log) };
  for (const _ in log) {
    // SAFETY: an object of JSON with a member, or an array in an array.
    return log as Record<string, unknown>;
  }
  return null;
}

/**
 * Reads one log. A message that is a JSON object is read as a record, as Datadog does it: its level and time are
 * preferred.
 */
export function datadogEntry(
  record: Record<string, unknown>,
  defaults: DatadogDefaults,
  reader: RecordReader,
): DoorEntry {
  const outer = withDefaults(withStatus(reader.read(record)), defaults);
  const { message } = outer;
  if (message === null || !message.startsWith("{")) return outer;
  const inner = withStatus(reader.readLine(message));
  if (inner.message === message) return outer;
  return joined(inner, outer);
}

/** Reads the level of `status`. */
function withStatus(entry: DoorEntry): DoorEntry {
  const { data } = entry;
  if (entry.level === null && new Enveloped(entry).setLevelOf(data.status)) delete data.status;
  return entry;
}

function withDefaults(entry: DoorEntry, { ddsource, ddtags, service, hostname }: DatadogDefaults): DoorEntry {
  const { data } = entry;
  const tags = data.ddtags ?? ddtags;
  if (typeof tags === "string" && tags !== "") data.ddtags = tagsOf(tags);
  if (ddsource !== undefined) data.ddsource ??= ddsource;
  if (service !== undefined) entry.service ??= service;
  if (hostname !== undefined) entry.host ??= hostname;
  return entry;
}

/** The log around a record that was its message. */
function joined(inner: DoorEntry, outer: DoorEntry): DoorEntry {
  const entry = new Enveloped(inner);
  for (const name of Object.keys(outer.data)) entry.setMember(name, outer.data[name]);
  if (inner.time === null && outer.time !== null) entry.setTime(outer.time, outer.sentTime);
  else if (outer.time !== null) entry.setMember("timestamp", outer.sentTime ?? outer.time);
  if (inner.level === null) entry.setLevel(outer);
  else if (outer.level !== null && outer.level !== inner.level) {
    entry.setMember("status", outer.sentLevel ?? outer.level);
  }
  entry.setText("service", outer.service);
  entry.setText("host", outer.host);
  entry.fill(outer);
  return entry.finish("message");
}

/**
 * Returns tags, `env:prod,team:web`, as members. A name that occurs twice has an array, one without a value is `true`. Very
 * many tags are returned as text.
 */
export function tagsOf(text: string): Record<string, unknown> | string {
  const tags: Record<string, unknown> = {};
  const parts = text.length > MAX_TAGS_LENGTH ? [] : text.split(",", MAX_TAGS + 1);
  if (parts.length === 0 || parts.length > MAX_TAGS) return text;
  for (const part of parts) {
    const tag = part.trim();
    if (tag === "") continue;
    const colon = tag.indexOf(":");
    const name = colon < 0 ? tag : tag.slice(0, colon);
    const value = colon < 0 ? true : tag.slice(colon + 1);
    const before = Object.hasOwn(tags, name) ? tags[name] : undefined;
    if (before === undefined) define(tags, name, value);
    else if (Array.isArray(before)) before.push(value);
    else define(tags, name, [before, value]);
  }
  return tags;
}
