import {
  ATTRIBUTE,
  BODY,
  BOOL_VALUE,
  DROPPED_ATTRIBUTES,
  EVENT_NAME,
  FLAGS,
  INT_VALUE,
  KEY,
  OBSERVED_TIME,
  SEVERITY_NUMBER,
  SEVERITY_TEXT,
  SPAN_ID,
  STRING_VALUE,
  TIME,
  TRACE_ID,
  VALUE,
} from "./fast-protobuf.ts";
import { LineWriter } from "./line-writer.ts";
import { setTime, type UnixNano } from "./mapping.ts";
import { nextRecord, ROLE } from "./names.ts";
import { integerOf } from "./protobuf-records.ts";
import type { Wire } from "./wire.ts";

const TRACE_BYTES = 16;
const SPAN_BYTES = 8;
const ATTRIBUTE_BYTES = 100 * 1024;
/** Bytes of an attribute beside its text. */
const NAME_BYTES = 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;

/** A range of bytes of the body; an end of 0 if the field was not sent or is empty. */
export interface Range {
  from: number;
  to: number;
}

/** Members of `data` of the record that is being read. One buffer for all: a record is written within one call. */
const attributes = new LineWriter(ATTRIBUTE_BYTES);
const NO_BYTES = Buffer.alloc(0);

/** Where the fields of one record are, and its attributes as JSON. @typeParam S holds the bytes of records */
export abstract class RecordFields<S> {
  /** The bytes in which the record is. */
  bytes: Buffer = NO_BYTES;
  readonly time: UnixNano = { ms: 0, nanos: 0 };
  readonly observed: UnixNano = { ms: 0, nanos: 0 };
  readonly severityText: Range = { from: 0, to: 0 };
  readonly body: Range = { from: 0, to: 0 };
  readonly trace: Range = { from: 0, to: 0 };
  readonly span: Range = { from: 0, to: 0 };
  readonly event: Range = { from: 0, to: 0 };
  readonly session: Range = { from: 0, to: 0 };
  severityNumber = 0;
  flags = 0;
  dropped = 0;
  /** Members of `data`. */
  readonly attributes = attributes;

  /** @returns `false` if the body is no text, an attribute no scalar, or another part is not usual */
  abstract read(source: S, from: number, to: number): boolean;

  /** Writes a text as the inside of a JSON string. @returns `false` if there may be no room for it */
  abstract writeText(line: LineWriter, range: Range): boolean;

  /** Writes a trace or span id in hexadecimal digits. */
  abstract writeId(line: LineWriter, range: Range): void;

  protected clear(): void {
    this.time.ms = 0;
    this.time.nanos = 0;
    this.observed.ms = 0;
    this.observed.nanos = 0;
    this.severityText.to = 0;
    this.body.to = 0;
    this.trace.to = 0;
    this.span.to = 0;
    this.event.to = 0;
    this.session.to = 0;
    this.severityNumber = 0;
    this.flags = 0;
    this.dropped = 0;
    attributes.at = 0;
  }
}

/** Reads records in protobuf. */
class ProtobufFields extends RecordFields<Wire> {
  read(wire: Wire, from: number, to: number): boolean {
    this.clear();
    this.bytes = wire.texts.bytes;
    wire.open(from, to);
    return this.#readFields(wire);
  }

  writeText(line: LineWriter, { from, to }: Range): boolean {
    return line.inside(this.bytes, from, to);
  }

  writeId(line: LineWriter, { from, to }: Range): void {
    line.hex(this.bytes, from, to);
  }

  #readFields(wire: Wire): boolean {
    const number = nextRecord();
    for (let tag = wire.tag(); tag !== 0; tag = wire.tag()) {
      switch (tag) {
        case TIME:
          wire.fixed64();
          setTime(this.time, wire.high, wire.low);
          break;
        case OBSERVED_TIME:
          wire.fixed64();
          setTime(this.observed, wire.high, wire.low);
          break;
        case SEVERITY_NUMBER:
          wire.varint();
          this.severityNumber = wire.low | 0;
          break;
        case SEVERITY_TEXT:
          this.#range(wire, this.severityText);
          break;
        case BODY: {
          const outer = wire.enter();
          if (wire.tag() !== STRING_VALUE) return false;
          this.#range(wire, this.body);
          if (wire.at !== wire.end) return false;
          wire.leave(outer);
          break;
        }
        case ATTRIBUTE:
          if (!this.#attribute(wire, number)) return false;
          break;
        case DROPPED_ATTRIBUTES:
          wire.varint();
          this.dropped = wire.low;
          break;
        case FLAGS:
          this.flags = wire.fixed32();
          break;
        case TRACE_ID:
          if (!this.#id(wire, this.trace, TRACE_BYTES)) return false;
          break;
        case SPAN_ID:
          if (!this.#id(wire, this.span, SPAN_BYTES)) return false;
          break;
        case EVENT_NAME:
          this.#range(wire, this.event);
          break;
        default:
          return false;
      }
    }
    return true;
  }

  #range(wire: Wire, range: Range): void {
    const to = wire.limit();
    range.from = wire.at;
    // An empty text counts as absent.
    range.to = to > range.from ? to : 0;
    wire.at = to;
  }

  #id(wire: Wire, range: Range, size: number): boolean {
    this.#range(wire, range);
    if (range.to === 0) return true;
    let isZero = true;
    for (let i = range.from; i < range.to && isZero; i++) isZero = this.bytes[i] === 0;
    if (isZero) range.to = 0;
    return isZero || range.to - range.from === size;
  }

  #attribute(wire: Wire, number: number): boolean {
    const outer = wire.enter();
    if (wire.tag() !== KEY) return false;
    const name = wire.name();
    if (name === null || name.record === number) return false;
    const { role } = name;
    if (role !== ROLE.plain && role !== ROLE.session) return false;
    name.record = number;
    if (wire.tag() !== VALUE) return false;
    const inner = wire.enter();
    if (!attributes.hasRoom(NAME_BYTES)) return false;
    if (attributes.at > 0) attributes.bytes[attributes.at++] = COMMA;
    attributes.raw(name.utf8);
    switch (wire.tag()) {
      case STRING_VALUE: {
        const to = wire.limit();
        if (role === ROLE.session) {
          this.session.from = wire.at;
          this.session.to = to > wire.at ? to : 0;
        }
        attributes.bytes[attributes.at++] = QUOTE;
        if (!attributes.inside(this.bytes, wire.at, to)) return false;
        attributes.bytes[attributes.at++] = QUOTE;
        wire.at = to;
        break;
      }
      case BOOL_VALUE:
        wire.varint();
        attributes.ascii(wire.low !== 0 || wire.high !== 0 ? "true" : "false");
        break;
      case INT_VALUE: {
        wire.varint();
        const integer = integerOf(wire.high, wire.low);
        if (typeof integer !== "number") return false;
        attributes.integer(integer);
        break;
      }
      default:
        return false;
    }
    if (wire.at !== wire.end) return false;
    wire.leave(inner);
    if (wire.at !== wire.end) return false;
    wire.leave(outer);
    return true;
  }
}

/** Of all decoders: a record is written within one call. */
export const protobufFields = new ProtobufFields();
