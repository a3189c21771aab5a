import { endOfString } from "../../logs/ingest/canonical-json.ts";
import type { ByteTexts } from "./byte-texts.ts";
import { type Range, RecordFields } from "./direct-fields.ts";
import type { LineWriter } from "./line-writer.ts";
import type { UnixNano } from "./mapping.ts";
import { type Name, nameAt, nextRecord, ROLE } from "./names.ts";

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const SMALL_A = 0x61;
const SMALL_F = 0x66;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Digits that a number holds exactly. */
const EXACT_DIGITS = 15;
const DIGITS_OF_MS = 6;
const COUNT_DIGITS = 9;
const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;
/** Bytes of an attribute beside its text. */
const NAME_BYTES = 1024;
/** Bytes of UTF-8 for an invalid byte. */
const MAX_BYTE_BYTES = 3;

const TRUE = Buffer.from("true");
const FALSE = Buffer.from("false");
const BODY = Buffer.from('{"stringValue":');
/** What encoders write around the name and the value of an attribute. */
const BEFORE_NAME = Buffer.from('{"key":');
const BEFORE_VALUE = Buffer.from(',"value":{"');
const STRING = Buffer.from('stringValue":');
const INTEGER = Buffer.from('intValue":');
const BOOLEAN = Buffer.from('boolValue":');

/** Reads records in JSON as encoders write them: without white space, and with the escapes that `JSON.stringify` writes. */
class JsonFields extends RecordFields<ByteTexts> {
  #at = 0;
  #to = 0;
  #number = 0;

  read({ bytes }: ByteTexts, from: number, to: number): boolean {
    this.clear();
    this.bytes = bytes;
    this.#at = from;
    this.#to = to;
    this.#number = nextRecord();
    if (!this.#skip(OPEN_BRACE)) return false;
    do {
      const name = this.#memberName();
      if (name === null || !this.#member(name.text)) return false;
    } while (this.#skip(COMMA));
    return this.#skip(CLOSE_BRACE) && this.#at === to;
  }

  /** The text is the inside of a JSON string already. */
  writeText(line: LineWriter, { from, to }: Range): boolean {
    return line.ownInside(this.bytes, from, to);
  }

  writeId(line: LineWriter, { from, to }: Range): void {
    for (let at = from; at < to; at++) line.bytes[line.at++] = this.bytes[at] ?? 0;
  }

  #member(name: string): boolean {
    switch (name) {
      case "timeUnixNano":
        return this.#time(this.time);
      case "observedTimeUnixNano":
        return this.#time(this.observed);
      case "severityNumber":
        this.severityNumber = this.#count();
        return this.severityNumber >= 0;
      case "severityText":
        return this.#string(this.severityText);
      case "body":
        return this.#skipAll(BODY) && this.#string(this.body) && this.#skip(CLOSE_BRACE);
      case "attributes":
        return this.attributes.at === 0 && this.#attributes();
      case "droppedAttributesCount":
        this.dropped = this.#count();
        return this.dropped >= 0;
      case "flags":
        this.flags = this.#count();
        return this.flags >= 0;
      case "traceId":
        return this.#id(this.trace, TRACE_DIGITS);
      case "spanId":
        return this.#id(this.span, SPAN_DIGITS);
      case "eventName":
        return this.#string(this.event);
      default:
        return false;
    }
  }

  #attributes(): boolean {
    if (!this.#skip(OPEN_BRACKET)) return false;
    if (this.#skip(CLOSE_BRACKET)) return true;
    const { attributes } = this;
    do {
      if (attributes.at > 0) attributes.bytes[attributes.at++] = COMMA;
      if (!this.#attribute(attributes)) return false;
    } while (this.#skip(COMMA));
    return this.#skip(CLOSE_BRACKET);
  }

  /** Reads `{"key":...,"value":{...}}` and writes it as a member. */
  #attribute(attributes: LineWriter): boolean {
    if (!attributes.hasRoom(NAME_BYTES + MAX_BYTE_BYTES * (this.#to - this.#at))) return false;
    if (!this.#skipAll(BEFORE_NAME)) return false;
    const name = this.#name();
    if (name === null || name.record === this.#number) return false;
    const { role } = name;
    if (role !== ROLE.plain && role !== ROLE.session) return false;
    name.record = this.#number;
    if (!this.#skipAll(BEFORE_VALUE)) return false;
    attributes.raw(name.utf8);
    return this.#scalar(role, attributes) && this.#skip(CLOSE_BRACE) && this.#skip(CLOSE_BRACE);
  }

  #scalar(role: number, attributes: LineWriter): boolean {
    if (this.#skipAll(STRING)) return this.#text(role, attributes);
    if (this.#skipAll(INTEGER)) return this.#integer(attributes);
    return this.#skipAll(BOOLEAN) && (this.#word(TRUE, attributes) || this.#word(FALSE, attributes));
  }

  #text(role: number, attributes: LineWriter): boolean {
    const from = this.#at + 1;
    if (!this.#skip(QUOTE)) return false;
    attributes.bytes[attributes.at++] = QUOTE;
    let end = attributes.plainInside(this.bytes, from, this.#to);
    if (end < 0) {
      end = endOfString(this.bytes, from);
      if (end < 0 || end >= this.#to || !attributes.ownInside(this.bytes, from, end)) return false;
    }
    attributes.bytes[attributes.at++] = QUOTE;
    if (role === ROLE.session) this.#set(this.session, from, end);
    this.#at = end + 1;
    return true;
  }

  /** Reads `504` or `"504"`. */
  #integer(attributes: LineWriter): boolean {
    const { bytes } = this;
    const isQuoted = this.#skip(QUOTE);
    const from = this.#at;
    let at = from;
    if (bytes[at] === MINUS) at++;
    const digits = at;
    while (at < this.#to && isDigit(bytes[at] ?? 0)) at++;
    // -0, 007
    const isPlain = bytes[digits] !== ZERO || at - from === 1;
    if (at === digits || at - digits > EXACT_DIGITS || !isPlain) return false;
    for (let i = from; i < at; i++) attributes.bytes[attributes.at++] = bytes[i] ?? 0;
    this.#at = at;
    return !isQuoted || this.#skip(QUOTE);
  }

  #word(word: Uint8Array, attributes: LineWriter): boolean {
    if (!this.#skipAll(word)) return false;
    attributes.raw(word);
    return true;
  }

  /** Reads nanoseconds as text. */
  #time(time: UnixNano): boolean {
    if (!this.#skip(QUOTE)) return false;
    const { bytes } = this;
    const from = this.#at;
    let end = from;
    while (end < this.#to && isDigit(bytes[end] ?? 0)) end++;
    this.#at = end;
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
    const { bytes } = this;
    const from = this.#at;
    let at = from;
    let value = 0;
    for (let byte = bytes[at] ?? 0; isDigit(byte) && at < this.#to; byte = bytes[++at] ?? 0)
      value = value * 10 + byte - ZERO;
    this.#at = at;
    const length = at - from;
    return length === 0 || length > COUNT_DIGITS || (length > 1 && bytes[from] === ZERO) ? -1 : value;
  }

  /** Reads an id in lower-case digits; an id of only zeros counts as absent. */
  #id(range: Range, digits: number): boolean {
    const { bytes } = this;
    const from = this.#at + 1;
    const end = from + digits;
    range.to = 0;
    if (!this.#skip(QUOTE)) return false;
    if (this.#skip(QUOTE)) return true;
    if (end >= this.#to || bytes[end] !== QUOTE) return false;
    let isZero = true;
    for (let at = from; at < end; at++) {
      const byte = bytes[at] ?? 0;
      if (!isDigit(byte) && (byte < SMALL_A || byte > SMALL_F)) return false;
      if (byte !== ZERO) isZero = false;
    }
    if (!isZero) this.#set(range, from, end);
    this.#at = end + 1;
    return true;
  }

  #string(range: Range): boolean {
    const from = this.#at + 1;
    if (!this.#skip(QUOTE)) return false;
    const end = endOfString(this.bytes, from);
    if (end < 0 || end >= this.#to) return false;
    this.#set(range, from, end);
    this.#at = end + 1;
    return true;
  }

  /** An empty text counts as absent. */
  #set(range: Range, from: number, end: number): void {
    range.from = from;
    range.to = end > from ? end : 0;
  }

  #memberName(): Name | null {
    const name = this.#name();
    return name !== null && this.#skip(COLON) ? name : null;
  }

  #name(): Name | null {
    const from = this.#at + 1;
    if (!this.#skip(QUOTE)) return null;
    const { bytes } = this;
    let end = from;
    for (let byte = bytes[end] ?? 0; byte !== QUOTE; byte = bytes[++end] ?? 0) {
      if (byte < SPACE || end >= this.#to) return null;
    }
    this.#at = end + 1;
    // A name with an escape is `special`, and no member has one.
    return nameAt(bytes, from, end);
  }

  /** Passes over these bytes, if they come next. */
  #skipAll(expected: Uint8Array): boolean {
    const { bytes } = this;
    const at = this.#at;
    const { length } = expected;
    if (at + length > this.#to) return false;
    for (let i = 0; i < length; i++) if (bytes[at + i] !== expected[i]) return false;
    this.#at = at + length;
    return true;
  }

  #skip(byte: number): boolean {
    if (this.bytes[this.#at] !== byte || this.#at >= this.#to) return false;
    this.#at++;
    return true;
  }
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

/** Of all decoders: a record is written within one call. */
export const jsonFields = new JsonFields();
