import { define } from "../../logs/ingest/validate.ts";
import { isRecord } from "../../logs/query/data-path.ts";
import { jsonNumber, type LogRecord, MAX_DEPTH, type UnixNano } from "./mapping.ts";
import type { Resource, Scope } from "./shared-parts.ts";

/**
 * Reads OTLP's messages as JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding. Accepts what encoders
 * send beside the specification: numbers for 64-bit integers, names of the original field, names of enum values.
 */

type Members = Record<string, unknown>;

/** Digits, and what may be written instead of a number. */
const INTEGER = /^-?\d{1,20}$/;
const UNSIGNED = /^\d{0,20}$/;
const HEX = /^[0-9a-f]+$/;
const ZEROS = /^0*$/;
const DIGITS_OF_MS = 6;
const SEVERITY_NAME = /^SEVERITY_NUMBER_(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)([234]?)$/;
const SEVERITIES = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];

/** A JSON text's tokens that are strings, and integers that a number may not hold. */
const STRING_OR_LONG = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d{16,}(?![\d.eE])/gs;

/** Reads messages from parsed JSON. */
export class JsonRecords {
  /** An integer that was read may have lost digits. */
  #isInexact = false;

  /** @returns `false` if the text is not JSON */
  readRecord(text: string, record: LogRecord): boolean {
    const parsed = this.#parse(text, (value) => {
      record.clear();
      if (isRecord(value)) this.#readRecord(value, record);
      else record.body = value;
    });
    return parsed;
  }

  readResource(text: string, resource: Resource): boolean {
    return this.#parse(text, (value) => {
      if (!isRecord(value)) return;
      resource.attributes = this.#attributes(value.attributes, 2);
      resource.droppedAttributes = count(value.droppedAttributesCount ?? value.dropped_attributes_count);
    });
  }

  readScope(text: string, scope: Scope): boolean {
    return this.#parse(text, (value) => {
      if (!isRecord(value)) return;
      const { name, version } = value;
      const members: Members = {};
      if (name !== undefined && name !== null && name !== "") members.name = name;
      if (version !== undefined && version !== null && version !== "") members.version = version;
      const attributes = this.#attributes(value.attributes, 3);
      if (attributes !== null) members.attributes = attributes;
      const dropped = count(value.droppedAttributesCount ?? value.dropped_attributes_count);
      if (dropped > 0) members.droppedAttributes = dropped;
      scope.members = Object.keys(members).length === 0 ? null : members;
    });
  }

  #parse(text: string, read: (value: unknown) => void): boolean {
    this.#isInexact = false;
    try {
      read(JSON.parse(text));
      if (this.#isInexact) {
        read(JSON.parse(text.replace(STRING_OR_LONG, (token) => (token.startsWith('"') ? token : `"${token}"`))));
      }
      return true;
    } catch (error) {
      if (error instanceof SyntaxError) return false;
      throw error;
    }
  }

  #readRecord(sent: Members, record: LogRecord): void {
    for (const name in sent) {
      const value = sent[name];
      if (value === null) continue;
      if (!this.#readMember(name, value, record)) define(record.attributes, name, value);
    }
  }

  /** @returns `false` if the value is not of the member's type */
  #readMember(name: string, value: unknown, record: LogRecord): boolean {
    switch (name) {
      case "timeUnixNano":
      case "time_unix_nano":
        return this.#readTime(value, record.time);
      case "observedTimeUnixNano":
      case "observed_time_unix_nano":
        return this.#readTime(value, record.observed);
      case "severityNumber":
      case "severity_number":
        record.severityNumber = severityOf(value);
        return record.severityNumber >= 0;
      case "severityText":
      case "severity_text":
        if (typeof value !== "string") return false;
        record.severityText = value;
        return true;
      case "body":
        record.body = this.#anyValue(value, 1);
        return true;
      case "attributes":
        return this.#readAttributes(value, record.attributes, 1);
      case "droppedAttributesCount":
      case "dropped_attributes_count":
        record.droppedAttributes = count(value);
        return true;
      case "flags":
        record.flags = count(value);
        return true;
      case "traceId":
      case "trace_id":
        if (typeof value !== "string") return false;
        record.traceId = idOf(value);
        return true;
      case "spanId":
      case "span_id":
        if (typeof value !== "string") return false;
        record.spanId = idOf(value);
        return true;
      case "eventName":
      case "event_name":
        if (typeof value !== "string") return false;
        record.eventName = value;
        return true;
      default:
        // Unknown members are ignored, as the specification demands.
        return true;
    }
  }

  #readTime(value: unknown, time: UnixNano): boolean {
    if (typeof value === "number") {
      this.#check(value);
      if (!(value >= 0) || !Number.isFinite(value)) return false;
      time.ms = Math.floor(value / 1e6);
      time.nanos = Math.floor(value) - time.ms * 1e6;
      return true;
    }
    if (typeof value !== "string" || !UNSIGNED.test(value)) return false;
    time.ms = Number(value.slice(0, -DIGITS_OF_MS));
    time.nanos = Number(value.slice(-DIGITS_OF_MS));
    return true;
  }

  #attributes(value: unknown, depth: number): Members | null {
    const attributes: Members = {};
    this.#readAttributes(value, attributes, depth);
    return Object.keys(attributes).length === 0 ? null : attributes;
  }

  /** @param value a list of `{key, value}`; an object, which is not OTLP, is taken as it is */
  #readAttributes(value: unknown, into: Members, depth: number): boolean {
    if (isRecord(value)) {
      for (const name in value) define(into, name, this.#plain(value[name], depth));
      return true;
    }
    if (!Array.isArray(value)) return false;
    for (const item of value) {
      if (!isRecord(item)) continue;
      const { key } = item;
      define(into, typeof key === "string" ? key : "", this.#anyValue(item.value, depth));
    }
    return true;
  }

  /** Returns the value that an `AnyValue` stands for. Any other value is returned unchanged. */
  #anyValue(value: unknown, depth: number): unknown {
    if (!isRecord(value)) return this.#plain(value, depth);
    for (const name in value) {
      const own = value[name];
      switch (name) {
        case "stringValue":
        case "string_value":
        case "bytesValue":
        case "bytes_value":
          return this.#plain(own, depth);
        case "boolValue":
        case "bool_value":
          return own === "true" ? true : own === "false" ? false : this.#plain(own, depth);
        case "intValue":
        case "int_value":
          return this.#integer(own, depth);
        case "doubleValue":
        case "double_value":
          if (typeof own === "number") return jsonNumber(own);
          return typeof own === "string" ? doubleOf(own) : this.#plain(own, depth);
        case "arrayValue":
        case "array_value":
          return this.#array(own, depth + 1);
        case "kvlistValue":
        case "kvlist_value":
          return this.#keyValueList(own, depth + 1);
        default:
      }
    }
    // `{}` is a value that is not set.
    return Object.keys(value).length === 0 ? null : this.#plain(value, depth);
  }

  #array(value: unknown, depth: number): unknown {
    if (depth > MAX_DEPTH) return JSON.stringify(value);
    const values = isRecord(value) ? (value.values ?? []) : value;
    return Array.isArray(values) ? values.map((item) => this.#anyValue(item, depth)) : this.#plain(value, depth);
  }

  #keyValueList(value: unknown, depth: number): unknown {
    if (depth > MAX_DEPTH) return JSON.stringify(value);
    const members: Members = {};
    const values = isRecord(value) ? (value.values ?? []) : value;
    return this.#readAttributes(values, members, depth) ? members : this.#plain(value, depth);
  }

  #integer(value: unknown, depth: number): unknown {
    if (typeof value !== "string" || !INTEGER.test(value)) return this.#plain(value, depth);
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : BigInt(value).toString();
  }

  /** A value that is kept as it was sent. */
  #plain(value: unknown, depth: number): unknown {
    if (typeof value === "number") {
      this.#check(value);
      return jsonNumber(value);
    }
    if (typeof value !== "object") return value ?? null;
    if (depth > MAX_DEPTH) return JSON.stringify(value);
    if (Array.isArray(value)) return value.map((item) => this.#plain(item, depth + 1));
    if (value === null) return null;
    const members: Members = {};
    for (const [name, own] of Object.entries(value)) define(members, name, this.#plain(own, depth + 1));
    return members;
  }

  #check(value: number): void {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) this.#isInexact = true;
  }
}

function doubleOf(text: string): number | string {
  const value = Number(text);
  return text.trim() === "" ? text : jsonNumber(value);
}

/** @returns -1 if the value is no severity */
function severityOf(value: unknown): number {
  if (typeof value === "number") return Number.isInteger(value) ? value : -1;
  if (typeof value !== "string") return -1;
  if (/^\d{1,2}$/.test(value)) return Number(value);
  if (value === "" || value === "SEVERITY_NUMBER_UNSPECIFIED") return 0;
  const [, name = "", step = ""] = SEVERITY_NAME.exec(value) ?? [];
  return name === "" ? -1 : SEVERITIES.indexOf(name) * 4 + Number(step || 1);
}

/** A count, 0 for any other value. */
function count(value: unknown): number {
  const number = typeof value === "string" && INTEGER.test(value) ? Number(value) : value;
  return typeof number === "number" && number > 0 && Number.isSafeInteger(number) ? number : 0;
}

/** An id in lower case, `""` if all its digits are 0. An id that is not hexadecimal stays as it is. */
function idOf(text: string): string {
  if (ZEROS.test(text)) return "";
  const lower = text.toLowerCase();
  return HEX.test(lower) ? lower : text;
}
