import { type LogRecord, setTime } from "./mapping.ts";
import { nextRecord, ROLE } from "./names.ts";
import { integerOf } from "./protobuf-records.ts";
import { FIXED32, FIXED64, LENGTH, VARINT, type Wire } from "./wire.ts";

/** Tags of `LogRecord` and of `AnyValue` as in `protobuf-records.ts`, all of them one byte. */
export const TIME = (1 << 3) | FIXED64;
export const SEVERITY_NUMBER = (2 << 3) | VARINT;
export const SEVERITY_TEXT = (3 << 3) | LENGTH;
export const BODY = (5 << 3) | LENGTH;
export const ATTRIBUTE = (6 << 3) | LENGTH;
export const DROPPED_ATTRIBUTES = (7 << 3) | VARINT;
export const FLAGS = (8 << 3) | FIXED32;
export const TRACE_ID = (9 << 3) | LENGTH;
export const SPAN_ID = (10 << 3) | LENGTH;
export const OBSERVED_TIME = (11 << 3) | FIXED64;
export const EVENT_NAME = (12 << 3) | LENGTH;
export const KEY = (1 << 3) | LENGTH;
export const VALUE = (2 << 3) | LENGTH;
export const STRING_VALUE = (1 << 3) | LENGTH;
export const BOOL_VALUE = (2 << 3) | VARINT;
export const INT_VALUE = (3 << 3) | VARINT;
const DOUBLE_VALUE = (4 << 3) | FIXED64;

/**
 * Reads a record whose body is a text and whose attributes are scalars, as nearly all are, with its attributes as JSON.
 * @returns `false` if the record has other parts, and must be read by `readRecord`
 */
export function readPlainRecord(wire: Wire, record: LogRecord): boolean {
  const number = nextRecord();
  let members = "";
  for (let tag = wire.tag(); tag !== 0; tag = wire.tag()) {
    switch (tag) {
      case TIME:
        wire.fixed64();
        setTime(record.time, wire.high, wire.low);
        break;
      case SEVERITY_NUMBER:
        wire.varint();
        record.severityNumber = wire.low | 0;
        break;
      case SEVERITY_TEXT:
        record.severityText = wire.text();
        break;
      case BODY: {
        const outer = wire.enter();
        if (wire.at < wire.end) {
          if (wire.tag() !== STRING_VALUE) return false;
          record.body = wire.text();
          if (wire.at !== wire.end) return false;
        }
        wire.leave(outer);
        break;
      }
      case ATTRIBUTE: {
        const member = readMember(wire, record, number);
        if (member === "") return false;
        members = members === "" ? member : `${members},${member}`;
        break;
      }
      case DROPPED_ATTRIBUTES:
        wire.varint();
        record.droppedAttributes = wire.low;
        break;
      case FLAGS:
        record.flags = wire.fixed32();
        break;
      case TRACE_ID:
        record.traceId = wire.hex();
        break;
      case SPAN_ID:
        record.spanId = wire.hex();
        break;
      case OBSERVED_TIME:
        wire.fixed64();
        setTime(record.observed, wire.high, wire.low);
        break;
      case EVENT_NAME:
        record.eventName = wire.text();
        break;
      default:
        return false;
    }
  }
  record.members = members;
  return true;
}

/** @returns an attribute as a member in JSON; `""` if it is not a name and then a scalar */
function readMember(wire: Wire, record: LogRecord, number: number): string {
  const outer = wire.enter();
  if (wire.tag() !== KEY) return "";
  const name = wire.name();
  if (name === null || name.role === ROLE.special || name.record === number) return "";
  name.record = number;
  if (wire.tag() !== VALUE) return "";
  const inner = wire.enter();
  let value = "";
  switch (wire.tag()) {
    case STRING_VALUE:
      if (name.role === ROLE.plain) value = wire.quoted();
      else {
        const text = wire.text();
        value = JSON.stringify(text);
        if (name.role === ROLE.service) record.service = text;
        else if (name.role === ROLE.host) record.host = text;
        else if (name.role === ROLE.session) record.session = text;
        else record.recordId = text;
      }
      break;
    case BOOL_VALUE:
      wire.varint();
      value = wire.low !== 0 || wire.high !== 0 ? "true" : "false";
      break;
    case INT_VALUE: {
      wire.varint();
      const integer = integerOf(wire.high, wire.low);
      value = typeof integer === "number" ? String(integer) : `"${integer}"`;
      break;
    }
    case DOUBLE_VALUE: {
      const double = wire.double();
      if (!Number.isFinite(double)) return "";
      value = JSON.stringify(double);
      break;
    }
    default:
      return "";
  }
  if (wire.at !== wire.end) return "";
  wire.leave(inner);
  if (wire.at !== wire.end) return "";
  wire.leave(outer);
  record.values++;
  return name.json + value;
}
