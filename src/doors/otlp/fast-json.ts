import type { ByteTexts } from "./byte-texts.ts";
import type { LogRecord, UnixNano } from "./mapping.ts";
import { type Name, nameAt, nextRecord, ROLE } from "./names.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;

/** Digits that a number holds exactly. */
const EXACT_DIGITS = 15;
const DIGITS_OF_MS = 6;
/** Lower-case digits of an id, which is stored as it is. */
const ID = /^[0-9a-f]+$/;
const ZEROS = /^0+$/;
/** A number as `JSON.stringify` writes it, in the forms that occur. */
const DOUBLE = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,14})?$/;

/**
 * Reads records in JSON as encoders write them: without white space, names of the specification, a text as the body and
 * scalar attributes, which are copied as JSON. Any other record has to be read by `JsonRecords`.
 */
export class PlainJsonReader {
  readonly #texts: ByteTexts;
  #bytes: Buffer;
  #at = 0;
  #to = 0;
  #number = 0;
  #hasEscapes = false;

  constructor(texts: ByteTexts) {
    this.#texts = texts;
    this.#bytes = texts.bytes;
  }

  /** @returns `false` if the record has another form, or is not JSON */
  read(from: number, to: number, record: LogRecord): boolean {
    this.#bytes = this.#texts.bytes;
    this.#at = from;
    this.#to = to;
    this.#number = nextRecord();
    record.members = "";
    if (!this.#skip(OPEN_BRACE)) return false;
    for (;;) {
      const name = this.#name();
      if (name === null || !this.#readMember(name.text, record)) return false;
      if (this.#skip(COMMA)) continue;
      return this.#skip(CLOSE_BRACE) && this.#at === to;
    }
  }

  #readMember(name: string, record: LogRecord): boolean {
    switch (name) {
      case "timeUnixNano":
        return this.#readTime(record.time);
      case "observedTimeUnixNano":
        return this.#readTime(record.observed);
      case "severityNumber":
        record.severityNumber = this.#count();
        return record.severityNumber >= 0;
      case "severityText": {
        const text = this.#string();
        record.severityText = text ?? "";
        return text !== null;
      }
      case "body": {
        const text = this.#skip(OPEN_BRACE) && this.#name()?.text === "stringValue" ? this.#string() : null;
        record.body = text;
        return text !== null && this.#skip(CLOSE_BRACE);
      }
      case "attributes":
        return record.members === "" && this.#readAttributes(record);
      case "droppedAttributesCount":
        record.droppedAttributes = this.#count();
        return record.droppedAttributes >= 0;
      case "flags":
        record.flags = this.#count();
        return record.flags >= 0;
      case "traceId": {
        const id = this.#id();
        record.traceId = id ?? "";
        return id !== null;
      }
      case "spanId": {
        const id = this.#id();
        record.spanId = id ?? "";
        return id !== null;
      }
      case "eventName": {
        const text = this.#string();
        record.eventName = text ?? "";
        return text !== null;
      }
      default:
        return false;
    }
  }

  #readAttributes(record: LogRecord): boolean {
    if (!this.#skip(OPEN_BRACKET)) return false;
    if (this.#skip(CLOSE_BRACKET)) return true;
    let members = "";
    do {
      const member = this.#attribute(record);
      if (member === "") return false;
      members = members === "" ? member : `${members},${member}`;
    } while (this.#skip(COMMA));
    record.members = members;
    return this.#skip(CLOSE_BRACKET);
  }

  /** @returns `{"key":...,"value":{...}}` as a member; `""` for any other form */
  #attribute(record: LogRecord): string {
    if (!this.#skip(OPEN_BRACE) || this.#name()?.text !== "key") return "";
    const name = this.#text();
    if (name === null || name.role === ROLE.special || name.record === this.#number) return "";
    name.record = this.#number;
    if (!this.#skip(COMMA) || this.#name()?.text !== "value" || !this.#skip(OPEN_BRACE)) return "";
    const value = this.#scalar(this.#name()?.text, name, record);
    if (value === "" || !this.#skip(CLOSE_BRACE) || !this.#skip(CLOSE_BRACE)) return "";
    record.values++;
    return name.json + value;
  }

  #scalar(kind: string | undefined, name: Name, record: LogRecord): string {
    switch (kind) {
      case "stringValue": {
        const from = this.#at + 1;
        const end = this.#endOfString();
        if (end < 0) return "";
        if (name.role === ROLE.plain && !this.#hasEscapes) return this.#texts.quoted(from, end);
        const text = this.#textOf(from, end);
        if (text === null) return "";
        if (name.role !== ROLE.plain) this.#setRole(name, text, record);
        return JSON.stringify(text);
      }
      case "intValue":
        return this.#integer();
      case "boolValue":
        return this.#word("true") || this.#word("false");
      case "doubleValue": {
        const from = this.#at;
        while (this.#at < this.#to && isNumberByte(this.#bytes[this.#at] ?? 0)) this.#at++;
        const text = this.#texts.ascii(from, this.#at);
        if (!DOUBLE.test(text)) return "";
        return JSON.stringify(Number(text));
      }
      default:
        return "";
    }
  }

  #setRole({ role }: Name, text: string, record: LogRecord): void {
    if (role === ROLE.service) record.service = text;
    else if (role === ROLE.host) record.host = text;
    else if (role === ROLE.session) record.session = text;
    else record.recordId = text;
  }

  /** Reads `504` or `"504"`. */
  #integer(): string {
    const isQuoted = this.#skip(QUOTE);
    const from = this.#at;
    if (this.#bytes[this.#at] === MINUS) this.#at++;
    const digits = this.#at;
    while (this.#at < this.#to && isDigit(this.#bytes[this.#at] ?? 0)) this.#at++;
    const length = this.#at - digits;
    if (length === 0 || length > EXACT_DIGITS) return "";
    // -0, 007
    if (this.#bytes[digits] === ZERO && this.#at - from > 1) return "";
    const text = this.#texts.ascii(from, this.#at);
    return isQuoted && !this.#skip(QUOTE) ? "" : text;
  }

  /** Reads nanoseconds as text. */
  #readTime(time: UnixNano): boolean {
    if (!this.#skip(QUOTE)) return false;
    const from = this.#at;
    const bytes = this.#bytes;
    while (this.#at < this.#to && isDigit(bytes[this.#at] ?? 0)) this.#at++;
    const end = this.#at;
    if (!this.#skip(QUOTE) || end - from > DIGITS_OF_MS + EXACT_DIGITS) return false;
    const split = Math.max(from, end - DIGITS_OF_MS);
    let ms = 0;
    let nanos = 0;
    for (let i = from; i < split; i++) ms = ms * 10 + (bytes[i] ?? 0) - ZERO;
    for (let i = split; i < end; i++) nanos = nanos * 10 + (bytes[i] ?? 0) - ZERO;
    time.ms = ms;
    time.nanos = nanos;
    return true;
  }

  /** @returns a number of up to 9 digits; -1 for anything else */
  #count(): number {
    const from = this.#at;
    let value = 0;
    for (let byte = this.#bytes[from] ?? 0; isDigit(byte) && this.#at < this.#to; byte = this.#bytes[this.#at] ?? 0) {
      value = value * 10 + byte - ZERO;
      this.#at++;
    }
    const length = this.#at - from;
    return length === 0 || length > 9 || (length > 1 && this.#bytes[from] === ZERO) ? -1 : value;
  }

  #id(): string | null {
    const from = this.#at + 1;
    const end = this.#endOfString();
    if (end < 0 || this.#hasEscapes) return null;
    const text = this.#texts.utf8(from, end);
    return text === "" || ZEROS.test(text) ? "" : ID.test(text) ? text : null;
  }

  #string(): string | null {
    const from = this.#at + 1;
    const end = this.#endOfString();
    return end < 0 ? null : this.#textOf(from, end);
  }

  /** The text of the string that was passed last; `null` if it is not JSON. */
  #textOf(from: number, end: number): string | null {
    if (!this.#hasEscapes) return this.#texts.utf8(from, end);
    try {
      // SAFETY: a text in quotes is a string, if it is JSON.
      return JSON.parse(this.#texts.utf8(from - 1, end + 1)) as string;
    } catch {
      return null;
    }
  }

  /** Reads a string that is a name. */
  #text(): Name | null {
    const from = this.#at + 1;
    const end = this.#endOfString();
    return end < 0 || this.#hasEscapes ? null : nameAt(this.#bytes, from, end);
  }

  /** Reads the name of a member, and its colon. */
  #name(): Name | null {
    const name = this.#text();
    return name !== null && this.#skip(COLON) ? name : null;
  }

  /** Passes a string, and notes whether it has escapes. @returns the index of its closing quote; -1 for anything else */
  #endOfString(): number {
    const bytes = this.#bytes;
    const to = this.#to;
    let at = this.#at;
    if (bytes[at] !== QUOTE) return -1;
    at++;
    this.#hasEscapes = false;
    for (let byte = bytes[at] ?? 0; byte !== QUOTE; byte = bytes[at] ?? 0) {
      if (byte < SPACE) return -1;
      at++;
      if (byte === BACKSLASH) {
        this.#hasEscapes = true;
        at++;
      }
      if (at >= to) return -1;
    }
    this.#at = at + 1;
    return at;
  }

  #word(word: string): string {
    const from = this.#at;
    if (this.#texts.ascii(from, Math.min(from + word.length, this.#to)) !== word) return "";
    this.#at += word.length;
    return word;
  }

  #skip(byte: number): boolean {
    if (this.#bytes[this.#at] !== byte || this.#at >= this.#to) return false;
    this.#at++;
    return true;
  }
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function isNumberByte(byte: number): boolean {
  return isDigit(byte) || byte === MINUS || byte === 0x2e || byte === 0x2b || byte === 0x65 || byte === 0x45;
}
