import { isUtf8 } from "node:buffer";
import { define, isOwnText } from "../../logs/ingest/validate.ts";
import { isAsciiRange } from "../../platform/bytes.ts";
import type { DoorEntry, DoorEntrySink } from "../entry.ts";
import { cutEntry, Enveloped } from "../shared/enveloped.ts";
import { EMPTY_ENVELOPE, type PlainEnvelope } from "../shared/plain-envelope.ts";
import type { PlainLines } from "../shared/plain-lines.ts";
import type { RecordReader } from "../shared/record-reader.ts";
import type { ReadTime } from "../shared/times.ts";

/** The time of an entry of Loki. */
export interface LokiTime {
  /** Epoch milliseconds with a fraction. */
  ms: number;
  /** Nanoseconds as digits, if `ms` does not say all of it. */
  sent?: string;
}

/** A time that cannot be read, which is kept as it was sent. */
export interface UnreadTime {
  unread: string;
}

/** The level that Loki and its agents find in a line: metadata, or a label. */
const LABELS = "labels";
/** Bytes of the most labels that are written beside lines that are not parsed. */
const ENVELOPE_LENGTH = 4_096;
/** Characters of a stream's labels, and their number, that become members. More are one text, of which the end is cut. */
export const MAX_LABELS_LENGTH = 64 * 1024;
const MAX_LABELS = 1_000;
const OPEN_BRACE = 0x7b;
const DETECTED_LEVEL = "detected_level";

const encoder = new TextEncoder();

/** Makes entries of the lines of a push. The labels of a stream come before its lines. */
export class LokiEntries {
  readonly #sink: DoorEntrySink;
  readonly #reader: RecordReader;
  #labels: Record<string, unknown> | null = null;
  /** What the labels say about each entry of the stream. */
  #common: DoorEntry | null = null;
  /** Characters of the labels as sent, if they were cut. */
  #cutLabels: number | null = null;
  readonly #lines: PlainLines;
  /** The same for lines that are not parsed; `null` if lines must be. */
  #envelope: PlainEnvelope | null = { ...EMPTY_ENVELOPE };

  constructor(sink: DoorEntrySink, reader: RecordReader) {
    this.#sink = sink;
    this.#reader = reader;
    this.#lines = reader.linesBeside(LABELS);
  }

  /**
   * Begins a stream.
   * @param sent the labels, `null` for a stream without
   * @param text of the labels, which bounds the work for each line
   */
  setLabels(sent: Record<string, unknown> | null, text = ""): void {
    const isLarge = text.length > MAX_LABELS_LENGTH || (sent !== null && Object.keys(sent).length > MAX_LABELS);
    const labels = isLarge ? { [LABELS]: text.slice(0, MAX_LABELS_LENGTH).toWellFormed() } : sent;
    this.#cutLabels = text.length > MAX_LABELS_LENGTH ? text.length : null;
    this.#labels = labels;
    this.#common = null;
    this.#envelope = { ...EMPTY_ENVELOPE };
    if (labels === null) return;
    this.#common = this.#reader.read(labels);
    const { job, [DETECTED_LEVEL]: level } = labels;
    if (this.#common.level === null) new Enveloped(this.#common).setLevelOf(level);
    if (this.#common.service === undefined && typeof job === "string" && job !== "") this.#common.service = job;
    this.#envelope = envelopeOf(labels, this.#common);
  }

  /**
   * Stores a line that is a JSON object without parsing it.
   * @param bytes of the entry, in which the line is
   * @returns `false` if it must be added as text
   */
  addPlain(time: LokiTime | null, bytes: Uint8Array, from: number, to: number): boolean {
    const envelope = this.#envelope;
    if (envelope === null || bytes[from] !== OPEN_BRACE || !this.#sink.addPlain) return false;
    if (!isAsciiRange(bytes, from, to) && !isUtf8(bytes.subarray(from, to))) return false;
    envelope.time = time === null ? null : readTime(time);
    return this.#sink.addPlain(this.#lines, bytes, from, to, envelope);
  }

  /**
   * @param metadata the entry's structured metadata; `null` without
   * @param sentLength the length of a line of which only the beginning is passed
   */
  add(
    time: LokiTime | UnreadTime | null,
    line: string,
    metadata: Record<string, unknown> | null,
    sentLength?: number | undefined,
  ): void {
    const read = sentLength === undefined ? this.#reader.readLine(line) : cutEntry(line, sentLength);
    const entry = new Enveloped(read);
    const own = metadata === null ? null : this.#reader.read(metadata);
    const common = this.#common;
    if (time !== null && "unread" in time) entry.setUnreadTime(time.unread);
    else if (time !== null) entry.setTime(time.ms, time.sent);
    // The level that Loki's own tools show.
    if (own !== null && own.level !== null) entry.setLevel(own);
    else if (!entry.setLevelOf(metadata?.[DETECTED_LEVEL]) && common !== null) entry.setLevel(common);
    if (own !== null) entry.fill(own);
    if (common !== null) entry.fill(common);
    if (this.#labels !== null) entry.setMember(LABELS, this.#labels);
    if (metadata !== null) entry.setMember("metadata", metadata);
    const finished = entry.finish("line");
    if (this.#cutLabels !== null) {
      const path = `data.${LABELS}.${LABELS}`;
      finished.marks = { cut: { ...(sentLength !== undefined && { message: sentLength }), [path]: this.#cutLabels } };
    }
    this.#sink.add(finished);
  }

  reject(reason: string): void {
    this.#sink.reject(reason);
  }
}

/** @returns `null` if lines must be parsed, because the labels say more than an envelope can */
function envelopeOf(labels: Record<string, unknown>, common: DoorEntry): PlainEnvelope | null {
  const { level, sentLevel, service, host, traceId, spanId, session } = common;
  const members = encoder.encode(`"${LABELS}":${JSON.stringify(labels)}`);
  const isMore = traceId !== undefined || spanId !== undefined || session !== undefined;
  if (isMore || members.length > ENVELOPE_LENGTH || !isOwnOrNone(service) || !isOwnOrNone(host)) return null;
  return {
    ...EMPTY_ENVELOPE,
    members,
    level: level === null ? null : { level, isExact: sentLevel === undefined },
    sentLevel: encoder.encode(JSON.stringify(sentLevel ?? null)),
    service: encoder.encode(JSON.stringify(service ?? "").slice(1, -1)),
    host: encoder.encode(JSON.stringify(host ?? "").slice(1, -1)),
  };
}

function readTime({ ms, sent }: LokiTime): ReadTime {
  return sent === undefined ? { time: ms } : { time: ms, sent };
}

function isOwnOrNone(text: string | undefined): boolean {
  return text === undefined || isOwnText(text);
}

/** Returns the time of nanoseconds as Loki's JSON has it: digits, also as a number; `null` for anything else. */
export function lokiTime(value: unknown): LokiTime | null {
  if (typeof value === "number" && Number.isFinite(value)) return { ms: value / 1e6 };
  if (typeof value !== "string" || !/^-?\d{1,20}$/.test(value)) return null;
  if (value.length < 14 || value.startsWith("-")) return { ms: Number(value) / 1e6, sent: value };
  const below = value.slice(-6);
  const ms = Number(value.slice(0, -6));
  return below === "000000" ? { ms } : { ms: ms + Number(below) / 1e6, sent: value };
}

/** Returns the time of protobuf's seconds and nanoseconds. */
export function lokiTimeOf(seconds: number, nanos: number): LokiTime {
  const ms = seconds * 1000 + nanos / 1e6;
  return nanos % 1e6 === 0 ? { ms } : { ms, sent: `${seconds}${String(nanos).padStart(9, "0")}` };
}

const LABEL = /\s*([^\s=,{}"]+)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(,|$)/sy;
const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))/gs;
const ESCAPED: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" };

/** Reads labels as text, `{job="api", level="info"}`. A text of another form becomes one label of the name `labels`. */
export function labelsOf(text: string): Record<string, unknown> {
  const trimmed = text.trim();
  const labels: Record<string, unknown> = {};
  const isLarge = text.length > MAX_LABELS_LENGTH;
  if (isLarge || !trimmed.startsWith("{") || !trimmed.endsWith("}")) return { [LABELS]: text };
  const inner = trimmed.slice(1, -1).trim();
  for (LABEL.lastIndex = 0; LABEL.lastIndex < inner.length; ) {
    const match = LABEL.exec(inner);
    if (match === null) return { labels: text };
    const [, name = "", value = ""] = match;
    define(labels, name, unquoted(value));
  }
  return labels;
}

function unquoted(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(ESCAPE, (_, hex, short, long, octal, single) => {
    const code = Number.parseInt(hex ?? short ?? long ?? octal ?? "", octal === undefined ? 16 : 8);
    if (Number.isNaN(code)) return ESCAPED[single] ?? single;
    return code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
}
