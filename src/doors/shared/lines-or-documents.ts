import { latin1Text } from "../../platform/bytes.ts";
import type { Steps, TurnMeter } from "../../platform/turns.ts";
import { DoorBodyFault, type DoorDecoder } from "../decoder.ts";
import { JsonCutter, type JsonNode } from "./json-cutter.ts";
import { KeptBytes } from "./kept-bytes.ts";
import { LineReader } from "./line-reader.ts";
import { NOT_JSON, parseText, stringEnd } from "./parse-text.ts";

const LINE_BREAK = 0x0a;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
/** Bytes of a body by which its form is decided. A longer first line is not of the form of lines. */
const START_BYTES = 128 * 1024;
/** Of a body that begins with a bracket. */
const ARRAY_START_BYTES = 4 * 1024;

/** Control characters that are rare in a text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for them.
const CONTROLS = /[\0-\x08\x0e-\x1a\x1c-\x1f]/g;
/** Bytes of a body by which binary data are recognized. */
const SAMPLE_BYTES = 1024;
/** A text of UTF-8 has one control character, or fewer than one of so many bytes. A text of another encoding has none. */
const BYTES_OF_CONTROL = 16;
const NOT_TEXT = "The body is neither JSON nor text.";

const utf8 = new TextDecoder();

/** What a body of lines or of JSON documents is read into. */
export interface BodyParts {
  /**
   * A line of text, of NDJSON or of neither.
   * @param length of the line in bytes. The text has less of it if it is longer than 1 MiB.
   */
  line(text: string, length: number): void;
  /** Gets a line of valid UTF-8 first, as its bytes. If it returns `false`, `line` gets the line, too. */
  lineBytes?(bytes: Uint8Array, from: number, to: number): boolean;
  /** A value that was cut out of the documents, as `JsonParts.value`. */
  value(bytes: Uint8Array, length: number): void;
  /** Returns the shape of documents that begin so. */
  documents(start: string): JsonNode;
  /**
   * Called if the body does not begin as JSON.
   * @throws DoorBodyFault if the body is refused for it
   */
  checkText?(start: Uint8Array): void;
  /**
   * Whether documents that turn out not to be JSON are read as lines from there on. Without it they are a fault, unless a line of
   * text follows whole documents; `false`: in any case.
   */
  isAnyText?: boolean;
}

/**
 * Reads bodies that are lines, each of text or one JSON object, or JSON documents over any lines. The first line decides: lines
 * of text may begin with a bracket or a brace, too.
 */
export class LinesOrDocuments implements DoorDecoder {
  readonly #parts: BodyParts;
  readonly #meter: TurnMeter;
  readonly #lines: LineReader;
  #start: KeptBytes | null = new KeptBytes(START_BYTES);
  #cutter: JsonCutter | null = null;

  constructor(parts: BodyParts, meter: TurnMeter) {
    this.#parts = parts;
    this.#meter = meter;
    const { lineBytes } = parts;
    this.#lines = new LineReader((line, length) => parts.line(line, length), meter, lineBytes ?? null);
  }

  get held(): number {
    return (this.#start?.held ?? 0) + (this.#cutter?.held ?? 0) + this.#lines.held;
  }

  *read(chunk: Uint8Array): Steps<void> {
    const start = this.#start;
    if (start === null) return yield* this.#read(chunk);
    if (start.length === 0 && isDecided(chunk)) return yield* this.#decide(chunk);
    const taken = Math.min(chunk.length, START_BYTES - start.length);
    start.add(chunk, 0, taken);
    if (!isDecided(start.bytes) && start.length < START_BYTES) return;
    yield* this.#decide(start.bytes);
    start.free();
    if (taken < chunk.length) yield* this.#read(chunk.subarray(taken));
  }

  *end(): Steps<void> {
    const start = this.#start;
    if (start !== null) {
      yield* this.#decide(start.bytes);
      start.free();
    }
    try {
      this.#cutter?.end();
    } catch (error) {
      yield* this.#rest(error, new Uint8Array());
    }
    this.#lines.end();
  }

  *#decide(bytes: Uint8Array): Steps<void> {
    this.#start = null;
    const start = withoutMark(bytes);
    const root = this.#rootOf(start);
    if (root !== null) {
      const value = (_: string, bytes: Uint8Array, length: number) => this.#parts.value(bytes, length);
      this.#cutter = new JsonCutter(root, { value }, this.#meter, true);
      this.#cutter.takesBareValues = this.#parts.isAnyText === false;
    }
    yield* this.#read(start);
  }

  /** @returns `null` for lines */
  #rootOf(start: Uint8Array): JsonNode | null {
    const from = start.findIndex((byte) => byte > 0x20);
    const first = start[from];
    if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      const lineBreak = start.indexOf(LINE_BREAK, from);
      const end = first === OPEN_BRACKET ? from + ARRAY_START_BYTES : start.length;
      const isWhole = lineBreak >= 0 && lineBreak <= end;
      const line = utf8.decode(start.subarray(from, isWhole ? lineBreak : end));
      const isText = isWhole && this.#parts.isAnyText !== false && hasScalarsAlone(line);
      if (!isText && startsAsJson(line, isWhole)) {
        // The first members may be in several lines.
        const root = this.#parts.documents(utf8.decode(start.subarray(from, from + ARRAY_START_BYTES)));
        return first === OPEN_BRACE && root.members === undefined && parseText(line) !== NOT_JSON ? null : root;
      }
    }
    if (first !== undefined) this.#parts.checkText?.(start);
    return first === undefined ? this.#parts.documents("") : null;
  }

  *#read(chunk: Uint8Array): Steps<void> {
    if (this.#cutter === null) return yield* this.#lines.read(chunk);
    try {
      yield* this.#cutter.read(chunk);
    } catch (error) {
      yield* this.#rest(error, chunk);
    }
  }

  /** Reads as lines what the cutter could not. */
  *#rest(error: unknown, chunk: Uint8Array): Steps<void> {
    const cutter = this.#cutter;
    if (!(error instanceof DoorBodyFault) || cutter === null) throw error;
    if (this.#parts.isAnyText !== true && !cutter.isAtText) throw error;
    this.#cutter = null;
    yield* this.#lines.read(cutter.kept.bytes);
    cutter.kept.free();
    yield* this.#lines.read(chunk.subarray(cutter.at));
  }
}

/** Whether the bytes have what decides the form of the body. */
function isDecided(bytes: Uint8Array): boolean {
  const from = bytes.findIndex((byte) => byte > 0x20);
  if (from < 0) return false;
  return (
    (bytes[from] === OPEN_BRACKET && bytes.length - from >= ARRAY_START_BYTES) || bytes.indexOf(LINE_BREAK, from) >= 0
  );
}

/** A byte order mark before JSON says nothing. */
function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** An element of an array that is no string, array or object. Only that of a cut text may be incomplete. */
const SCALAR = /[^\s,[\]{}":]+/y;
const WHOLE_SCALAR = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|NaN|-?Infinity)$/;

/**
 * Whether a text may be the beginning of JSON objects and arrays that follow each other. A first object that ends in it is
 * parsed. Others, and what arrays have, may have faults of their own.
 * @param isLine whether a line break follows, otherwise the text may be cut anywhere
 */
function startsAsJson(text: string, isLine: boolean): boolean {
  for (let at = spaceEnd(text, 0); at < text.length; at = spaceEnd(text, at)) {
    if (text[at] !== "{" && text[at] !== "[") return false;
    const end = text[at] === "{" ? objectEnd(text, at, isLine) : arrayEnd(text, at, isLine);
    if (end === null) return false;
    if (at === 0 && text[0] === "{" && end > 0 && parseText(text.slice(0, end)) === NOT_JSON) return false;
    if (end < 0) return true;
    at = end;
  }
  return true;
}

/** Whether a line in brackets has words and numbers, but no string and no object: `[1]` is more likely text than a list of records. */
function hasScalarsAlone(line: string): boolean {
  return !/["{]/.test(line) && /[^\s,[\]]/.test(line);
}

/** @returns index behind the object, -1 if it does not end, `null` if it is no object */
function objectEnd(text: string, from: number, isLine: boolean): number | null {
  const first = spaceEnd(text, from + 1);
  if (first < text.length && text[first] !== '"' && text[first] !== "}") return null;
  return nestedEnd(text, from, isLine);
}

function arrayEnd(text: string, from: number, isLine: boolean): number | null {
  for (let at = spaceEnd(text, from + 1), isFirst = true; at < text.length; isFirst = false) {
    if (isFirst && text[at] === "]") return at + 1;
    const end = elementEnd(text, at, isLine);
    if (end === null || end < 0) return end;
    at = spaceEnd(text, end);
    if (text[at] === "]") return at + 1;
    if (at < text.length && text[at] !== ",") return null;
    at = spaceEnd(text, at + 1);
  }
  return -1;
}

function elementEnd(text: string, at: number, isLine: boolean): number | null {
  if (text[at] === '"') {
    const end = stringEnd(text, at);
    return end < 0 && isLine ? null : end;
  }
  if (text[at] === "{" || text[at] === "[") return nestedEnd(text, at, false);
  SCALAR.lastIndex = at;
  const [scalar = ""] = SCALAR.exec(text) ?? [];
  const end = at + scalar.length;
  if (end === text.length && !isLine) return -1;
  return WHOLE_SCALAR.test(scalar) ? end : null;
}

/** Returns the end of an object or array by its brackets. A string in a line must end there. */
function nestedEnd(text: string, from: number, isLine: boolean): number | null {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      at = stringEnd(text, at) - 1;
      if (at < 0) return isLine ? null : -1;
    } else if (char === "{" || char === "[") depth++;
    else if ((char === "}" || char === "]") && --depth === 0) return at + 1;
  }
  return -1;
}

function spaceEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
  return at;
}

/**
 * Refuses binary data, such as a compressed body without its `Content-Encoding`. Text has any encoding of single bytes, or UTF-8.
 * @throws DoorBodyFault
 */
export function checkText(start: Uint8Array): void {
  const sample = start.subarray(0, SAMPLE_BYTES);
  const controls = latin1Text(sample, 0, sample.length).match(CONTROLS)?.length ?? 0;
  if (controls === 0) return;
  const isMany = controls > 1 && controls * BYTES_OF_CONTROL > sample.length;
  if (isMany || !isStartOfUtf8(sample)) throw new DoorBodyFault(NOT_TEXT);
}

/** @param start the last character of it may be cut */
function isStartOfUtf8(start: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(start, { stream: true });
    return true;
  } catch {
    return false;
  }
}
