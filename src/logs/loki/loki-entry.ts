import { labelName } from "../../logql/labels.ts";
import type { LokiEntry } from "../../logql/pipeline.ts";
import type { Entry, OwnMember } from "../entry.ts";
import { isRecord } from "../query/data-path.ts";
import { type EntryPlace, readerOf } from "../search/entry-test.ts";

/** Labels that every stream may have, beside those that a client of Loki sent. */
export const STREAM_LABELS = ["project", "service", "level", "category", "type", "host"] as const;
export type StreamLabel = (typeof STREAM_LABELS)[number];

/** Members of `data` in which entries of Loki's clients keep the labels of their stream and their structured metadata. */
export const PUSHED_LABELS = "labels";
const PUSHED_METADATA = "metadata";

/** Member in which doors note what they changed of an entry. */
const MARK = "_taffrail";

/** Characters of a name or value that becomes a label. Longer ones stay in the line. */
const MAX_LABEL = 2048;

const READERS = { service: readerOf({ kind: "own", name: "service" }), host: readerOf({ kind: "own", name: "host" }) };

/**
 * Returns an entry as LogQL sees it (decision 55): six labels of the stream and those that its client sent, the level and ids
 * as structured metadata, and as the line the message, or with further data a JSON object of both.
 */
export function lokiEntryOf(entry: Entry, place: EntryPlace): LokiEntry {
  const { level, category, type, message, data } = entry;
  const pushed = textsOf(data?.[PUSHED_LABELS]);
  const sent = pushed === null ? null : textsOf(data?.[PUSHED_METADATA]);
  const stream = new Map<string, string>([["project", place.projectId]]);
  const [service, host] = [ownText("service", entry, place), ownText("host", entry, place)];
  if (service !== null) stream.set("service", service);
  stream.set("level", level).set("category", category).set("type", type);
  if (host !== null) stream.set("host", host);
  for (const [name, value] of pushed ?? []) if (!stream.has(name)) stream.set(name, value);
  let line: string | null = null;
  return {
    timestamp: place.timestamp,
    stream,
    get metadata() {
      return metadataOf(entry, sent);
    },
    get line() {
      line ??= lineOf(message, data, pushed !== null, sent !== null);
      return line;
    },
  };
}

/** Returns the first text, number or boolean of an own member as text; `null` without one. */
function ownText(name: OwnMember, entry: Entry, place: EntryPlace): string | null {
  const own = entry[name];
  if (own !== undefined) return own;
  if (entry.data === undefined) return null;
  let text: string | null = null;
  READERS[name](entry, place, (value) => {
    if (typeof value === "object") return false;
    text = String(value);
    return true;
  });
  return text === "" ? null : text;
}

function metadataOf(
  { level, session, traceId, spanId }: Entry,
  sent: ReadonlyMap<string, string> | null,
): Map<string, string> {
  const metadata = new Map(sent ?? []);
  // Grafana has no colour for `log`.
  metadata.set("detected_level", level === "log" ? "info" : level);
  for (const [name, value] of [
    ["session", session],
    ["trace_id", traceId],
    ["span_id", spanId],
  ] as const)
    if (value !== undefined && value !== "") metadata.set(name, value);
  return metadata;
}

/** Returns the members of an object whose values are all texts, by their names as labels; `null` for other values. */
function textsOf(value: unknown): Map<string, string> | null {
  if (!isRecord(value)) return null;
  const texts = new Map<string, string>();
  for (const [key, text] of Object.entries(value)) {
    const name = labelName(key);
    if (typeof text !== "string" || text.length > MAX_LABEL || name === "" || key.length > MAX_LABEL) return null;
    // An empty value is no label.
    if (text !== "") texts.set(name, text);
  }
  return texts;
}

function lineOf(message: string, data: Entry["data"], withoutLabels: boolean, withoutMetadata: boolean): string {
  if (data === undefined) return message;
  const line: Record<string, unknown> = {};
  let isPlain = true;
  for (const [name, value] of Object.entries(data)) {
    if (name === MARK || (withoutLabels && name === PUSHED_LABELS) || (withoutMetadata && name === PUSHED_METADATA))
      continue;
    isPlain = false;
    Object.defineProperty(line, name, { value, enumerable: true, configurable: true, writable: true });
  }
  if (isPlain) return message;
  const { message: other, ...members } = line;
  // A member of `data` that has the message's name keeps its path.
  return JSON.stringify({ message, ...members, ...(other === undefined ? {} : { data: { message: other } }) });
}
