import { define } from "../../logs/ingest/validate.ts";
import { jsonNumber, type LogRecord, MAX_DEPTH, setTime } from "./mapping.ts";
import type { Resource, Scope } from "./shared-parts.ts";
import { FIXED32, FIXED64, LENGTH, VARINT, type Wire } from "./wire.ts";

/** Reads OTLP's messages: https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/logs/v1/logs.proto */

const TWO_TO_32 = 0x1_0000_0000;

/** Tags of `LogRecord`. */
const TIME = (1 << 3) | FIXED64;
const SEVERITY_NUMBER = (2 << 3) | VARINT;
const SEVERITY_TEXT = (3 << 3) | LENGTH;
const BODY = (5 << 3) | LENGTH;
const ATTRIBUTE = (6 << 3) | LENGTH;
const DROPPED_ATTRIBUTES = (7 << 3) | VARINT;
const FLAGS = (8 << 3) | FIXED32;
const TRACE_ID = (9 << 3) | LENGTH;
const SPAN_ID = (10 << 3) | LENGTH;
const OBSERVED_TIME = (11 << 3) | FIXED64;
const EVENT_NAME = (12 << 3) | LENGTH;

/** Tags of other messages, by field number and type. */
const FIRST_TEXT = (1 << 3) | LENGTH;
const SECOND_TEXT = (2 << 3) | LENGTH;
const THIRD_TEXT = (3 << 3) | LENGTH;
const SECOND_NUMBER = (2 << 3) | VARINT;
const FOURTH_NUMBER = (4 << 3) | VARINT;

/** Tags of `AnyValue`. */
const STRING_VALUE = (1 << 3) | LENGTH;
const BOOL_VALUE = (2 << 3) | VARINT;
const INT_VALUE = (3 << 3) | VARINT;
const DOUBLE_VALUE = (4 << 3) | FIXED64;
const ARRAY_VALUE = (5 << 3) | LENGTH;
const KVLIST_VALUE = (6 << 3) | LENGTH;
const BYTES_VALUE = (7 << 3) | LENGTH;

/** Reads the fields that `wire` is at into a record. */
export function readRecord(wire: Wire, record: LogRecord): void {
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
      case BODY:
        record.body = readAnyValue(wire, 1);
        break;
      case ATTRIBUTE:
        readKeyValue(wire, record.attributes, 1);
        break;
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
        wire.skip(tag);
    }
  }
}

/** Reads a `Resource` message into one that may have attributes already. */
export function readResource(wire: Wire, resource: Resource): void {
  for (let tag = wire.tag(); tag !== 0; tag = wire.tag()) {
    if (tag === FIRST_TEXT) {
      resource.attributes ??= {};
      readKeyValue(wire, resource.attributes, 2);
    } else if (tag === SECOND_NUMBER) {
      wire.varint();
      resource.droppedAttributes = wire.low;
    } else wire.skip(tag);
  }
}

/** Reads an `InstrumentationScope` message into one that may have members already. */
export function readScope(wire: Wire, scope: Scope): void {
  const members = scope.members ?? {};
  let attributes: Record<string, unknown> | null = null;
  for (let tag = wire.tag(); tag !== 0; tag = wire.tag()) {
    if (tag === FIRST_TEXT) members.name = wire.text();
    else if (tag === SECOND_TEXT) members.version = wire.text();
    else if (tag === THIRD_TEXT) {
      attributes ??= {};
      readKeyValue(wire, attributes, 3);
    } else if (tag === FOURTH_NUMBER) {
      wire.varint();
      members.droppedAttributes = wire.low;
    } else wire.skip(tag);
  }
  if (attributes !== null) members.attributes = attributes;
  if (Object.keys(members).length > 0) scope.members = members;
}

function readKeyValue(wire: Wire, into: Record<string, unknown>, depth: number): void {
  const outer = wire.enter();
  let key = "";
  let value: unknown = null;
  for (let tag = wire.tag(); tag !== 0; tag = wire.tag()) {
    if (tag === FIRST_TEXT) key = wire.text();
    else if (tag === SECOND_TEXT) value = readAnyValue(wire, depth);
    else wire.skip(tag);
  }
  wire.leave(outer);
  define(into, key, value);
}

/** @returns a value as JSON has it; `null` for a value that is not set */
function readAnyValue(wire: Wire, depth: number): unknown {
  if (depth > MAX_DEPTH || wire.values-- <= 0) return wire.base64();
  const outer = wire.enter();
  let value: unknown = null;
  for (let tag = wire.tag(); tag !== 0; tag = wire.tag()) {
    switch (tag) {
      case STRING_VALUE:
        value = wire.text();
        break;
      case BOOL_VALUE:
        wire.varint();
        value = wire.low !== 0 || wire.high !== 0;
        break;
      case INT_VALUE:
        wire.varint();
        value = integerOf(wire.high, wire.low);
        break;
      case DOUBLE_VALUE:
        value = jsonNumber(wire.double());
        break;
      case ARRAY_VALUE:
        value = readArray(wire, depth + 1);
        break;
      case KVLIST_VALUE:
        value = readKeyValueList(wire, depth + 1);
        break;
      case BYTES_VALUE:
        value = wire.base64();
        break;
      default:
        wire.skip(tag);
    }
  }
  wire.leave(outer);
  return value;
}

function readArray(wire: Wire, depth: number): unknown[] {
  const outer = wire.enter();
  const values: unknown[] = [];
  for (let tag = wire.tag(); tag !== 0; tag = wire.tag()) {
    if (tag === FIRST_TEXT) values.push(readAnyValue(wire, depth));
    else wire.skip(tag);
  }
  wire.leave(outer);
  return values;
}

function readKeyValueList(wire: Wire, depth: number): Record<string, unknown> {
  const outer = wire.enter();
  const members: Record<string, unknown> = {};
  for (let tag = wire.tag(); tag !== 0; tag = wire.tag()) {
    if (tag === FIRST_TEXT) readKeyValue(wire, members, depth);
    else wire.skip(tag);
  }
  wire.leave(outer);
  return members;
}

/** A signed 64-bit integer: a number, or its digits if a number cannot hold it. */
export function integerOf(high: number, low: number): number | string {
  const signed = (high | 0) * TWO_TO_32 + low;
  if (Number.isSafeInteger(signed)) return signed;
  return BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low)).toString();
}
