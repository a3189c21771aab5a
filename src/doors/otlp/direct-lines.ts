import { DEFAULT_CATEGORY, DEFAULT_TYPE, INGEST_LIMITS, LEVELS } from "../../logs/entry.ts";
import type { IdCollector } from "../../logs/id-filter.ts";
import type { LineSink, WrittenEntry } from "../entry.ts";
import type { Range, RecordFields } from "./direct-fields.ts";
import { LineWriter } from "./line-writer.ts";
import type { UnixNano } from "./mapping.ts";
import type { Shared, WrittenShared } from "./shared-parts.ts";

/** Bytes of a record that is written directly. */
const RECORD_BYTES = 16 * 1024;
/** Bytes of a line beside texts, ids and what records share. */
const OTHER_BYTES = 1024;
const LINE_BYTES = 256 * 1024;

const encoder = new TextEncoder();
const encode = (text: string): Uint8Array => encoder.encode(text);
const START = encode('{"timestamp":"');
const MESSAGE = encode('","category":"custom","type":"log","message":"');
const SESSION = encode('","session":"');
const TRACE = encode('","traceId":"');
const SPAN = encode('","spanId":"');
const LEVEL = encode('Z","level":"');
const DATA = encode(',"data":{');
const OTEL = encode('"otel":{');
const SEVERITY_TEXT_NAME = encode('"severityText":"');
const SEVERITY_NUMBER_NAME = encode('"severityNumber":');
const OBSERVED_NAME = encode('"observedTimeUnixNano":"');
const EVENT_NAME_NAME = encode('"eventName":"');
const FLAGS_NAME = encode('"flags":');
const DROPPED_NAME = encode('"droppedAttributes":');
const MARK = encode('"_taffrail":{"timestamp":"');
const LEVEL_BYTES = LEVELS.map(encode);
/** Severity by severity number: four numbers each; `log` has none. */
const SEVERITIES = LEVELS.flatMap((level, severity) => (level === "log" ? [] : [severity]));

const QUOTE = 0x22;
const COMMA = 0x2c;
const CLOSE_BRACE = 0x7d;
const DOT = 0x2e;

/** The buffer of all decoders: a record is written within one call. */
const line = new LineWriter(LINE_BYTES);

/** The line in the buffer. */
class WrittenLine implements WrittenEntry {
  ms = 0;
  severity = 0;
  readonly category = DEFAULT_CATEGORY;
  readonly type = DEFAULT_TYPE;
  isFine = false;
  size = 0;
  /** Where session and trace id are, without quotes; an end of 0 without one. */
  readonly session: Range = { from: 0, to: 0 };
  readonly trace: Range = { from: 0, to: 0 };

  addIds(ids: IdCollector): void {
    if (this.session.to > 0) ids.addBytes(0, line.bytes, this.session.from, this.session.to);
    if (this.trace.to > 0) ids.addBytes(1, line.bytes, this.trace.from, this.trace.to);
  }

  readonly write = (target: Uint8Array, at: number): number => {
    target.set(line.bytes.subarray(0, this.size), at);
    return at + this.size;
  };
}

/** Writes the lines of records straight from their bytes. @typeParam S holds the bytes of records */
export class DirectLines<S> {
  readonly #source: S;
  readonly #fields: RecordFields<S>;
  readonly #sink: LineSink;
  #second = Number.NaN;
  #secondBytes: Uint8Array = new Uint8Array();
  readonly #written = new WrittenLine();

  constructor(source: S, fields: RecordFields<S>, sink: LineSink) {
    this.#source = source;
    this.#fields = fields;
    this.#sink = sink;
  }

  /**
   * Stores a record whose body is a text, whose attributes are scalars and whose time may be stored, as nearly all are.
   * @returns `false` for any other record, of which nothing was stored
   */
  store(from: number, to: number, shared: Shared): boolean {
    const { written } = shared;
    if (written === null || to - from > RECORD_BYTES) return false;
    const fields = this.#fields;
    if (!fields.read(this.#source, from, to)) return false;
    const { time, observed } = fields;
    // Less than a millisecond after the epoch.
    if ((time.ms === 0 && time.nanos > 0) || (observed.ms === 0 && observed.nanos > 0)) return false;
    const own = time.ms > 0 ? time : observed;
    const four = (fields.severityNumber - 1) >> 2;
    const severity = SEVERITIES[four];
    if (own.ms <= 0 || severity === undefined || fields.severityNumber < 1 || !this.#sink.accepts(own.ms)) return false;
    if (fields.body.to === 0 || !this.#write(own, severity, shared, written)) return false;
    const entry = this.#written;
    entry.ms = own.ms;
    entry.severity = severity;
    entry.isFine = own.nanos > 0 || own.ms % 1000 !== 0;
    entry.size = line.at;
    this.#sink.addWritten(entry);
    return true;
  }

  #write(own: UnixNano, severity: number, shared: Shared, written: WrittenShared): boolean {
    const fields = this.#fields;
    const { attributes } = fields;
    const entry = this.#written;
    line.at = 0;
    line.raw(START);
    this.#writeTime(own.ms);
    line.raw(LEVEL);
    line.raw(LEVEL_BYTES[severity] ?? LEVEL);
    line.raw(MESSAGE);
    if (!fields.writeText(line, fields.body)) return false;
    entry.session.to = 0;
    entry.trace.to = 0;
    if (fields.session.to > 0) {
      line.raw(SESSION);
      entry.session.from = line.at;
      if (!fields.writeText(line, fields.session)) return false;
      entry.session.to = line.at;
    }
    if (
      !line.hasRoom(attributes.at + written.own.length + written.members.length + shared.otel.length * 3 + OTHER_BYTES)
    ) {
      return false;
    }
    if (fields.trace.to > 0) {
      line.raw(TRACE);
      entry.trace.from = line.at;
      fields.writeId(line, fields.trace);
      entry.trace.to = line.at;
    }
    if (fields.span.to > 0) {
      line.raw(SPAN);
      fields.writeId(line, fields.span);
    }
    line.bytes[line.at++] = QUOTE;
    line.raw(written.own);
    line.raw(DATA);
    const dataAt = line.at;
    line.bytes.set(attributes.bytes.subarray(0, attributes.at), line.at);
    line.at += attributes.at;
    if (written.members.length > 0) {
      this.#comma(dataAt);
      line.raw(written.members);
    }
    if (!this.#writeOtel(own, severity, dataAt, written)) return false;
    if (own.nanos > 0) {
      this.#comma(dataAt);
      line.raw(MARK);
      this.#writeNanos(own);
      line.bytes[line.at++] = QUOTE;
      line.bytes[line.at++] = CLOSE_BRACE;
    }
    // Without data there is no member of that name.
    if (line.at === dataAt) line.at -= DATA.length;
    else line.bytes[line.at++] = CLOSE_BRACE;
    line.bytes[line.at++] = CLOSE_BRACE;
    return line.at <= INGEST_LIMITS.entryBytes;
  }

  #writeTime(ms: number): void {
    const second = ms - (ms % 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#secondBytes = encode(new Date(second).toISOString().slice(0, 19));
    }
    line.raw(this.#secondBytes);
    line.bytes[line.at++] = DOT;
    line.digits(ms % 1000, 3);
  }

  #writeNanos({ ms, nanos }: UnixNano): void {
    line.digits(ms, 0);
    line.digits(nanos, 6);
  }

  #comma(from: number): void {
    if (line.at > from) line.bytes[line.at++] = COMMA;
  }

  /** Writes `data.otel` as `otelOf` does. */
  #writeOtel(own: UnixNano, severity: number, dataAt: number, { otel }: WrittenShared): boolean {
    const fields = this.#fields;
    const before = line.at;
    this.#comma(dataAt);
    line.raw(OTEL);
    const from = line.at;
    if ((fields.severityNumber - 1) % 4 !== 0) {
      line.raw(SEVERITY_NUMBER_NAME);
      line.digits(fields.severityNumber, 0);
    }
    if (fields.severityText.to > 0 && !isLevel(fields.bytes, fields.severityText, LEVEL_BYTES[severity] ?? LEVEL)) {
      this.#comma(from);
      line.raw(SEVERITY_TEXT_NAME);
      if (!fields.writeText(line, fields.severityText)) return false;
      line.bytes[line.at++] = QUOTE;
    }
    const observed = fields.observed;
    if (observed !== own && observed.ms > 0 && (observed.ms !== own.ms || observed.nanos !== own.nanos)) {
      this.#comma(from);
      line.raw(OBSERVED_NAME);
      this.#writeNanos(observed);
      line.bytes[line.at++] = QUOTE;
    }
    if (fields.event.to > 0) {
      this.#comma(from);
      line.raw(EVENT_NAME_NAME);
      if (!fields.writeText(line, fields.event)) return false;
      line.bytes[line.at++] = QUOTE;
    }
    if (fields.flags > 0) {
      this.#comma(from);
      line.raw(FLAGS_NAME);
      line.digits(fields.flags, 0);
    }
    if (fields.dropped > 0) {
      this.#comma(from);
      line.raw(DROPPED_NAME);
      line.digits(fields.dropped, 0);
    }
    if (otel.length > 0) {
      this.#comma(from);
      line.raw(otel);
    }
    if (line.at === from) line.at = before;
    else line.bytes[line.at++] = CLOSE_BRACE;
    return line.hasRoom(OTHER_BYTES);
  }
}

/** Whether a text is the name of a level in any case. */
function isLevel(bytes: Uint8Array, { from, to }: Range, level: Uint8Array): boolean {
  if (to - from !== level.length) return false;
  for (let i = 0; i < level.length; i++) if (((bytes[from + i] ?? 0) | 0x20) !== level[i]) return false;
  return true;
}
