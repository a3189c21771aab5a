import { detachBuffer } from "../../platform/isolate-memory.ts";
import { LEVELS } from "../entry.ts";
import { FEW, isListed } from "./filter.ts";

/**
 * Reads the members at fixed positions of a stored line, `{"timestamp":"<24
 * characters>","level":"<level>","category":...`, without parsing it. Lines are given as bytes, one character each.
 */

/** Beginning of a line, and characters of its timestamp. */
export const TIMESTAMP = '{"timestamp":"';
export const TIMESTAMP_LENGTH = 24;
/** Length up to the minute: `2026-11-20T14:04`. */
const MINUTE_LENGTH = 16;
const LEVEL_AT = TIMESTAMP.length + TIMESTAMP_LENGTH + '","level":"'.length;
const CATEGORY_NAME = '","category":';
const TYPE_NAME = ',"type":';
const ZERO = 48;

/** The text after a category and after a type, from the closing quote on. Neither contains an unescaped quote. */
export const AFTER_CATEGORY = `"${TYPE_NAME}"`;
export const AFTER_TYPE = '","message":';

/** Severity by a level's first character. No two levels begin with the same character. */
const SEVERITY_BY_INITIAL: readonly number[] = LEVELS.reduce<number[]>((table, level, severity) => {
  table[level.charCodeAt(0)] = severity;
  return table;
}, new Array<number>(128).fill(-1));

/** Returns the severity of the line's level, 0..6; -1 if the line has none at its position. */
export function severityAt(bytes: string, line: number): number {
  return SEVERITY_BY_INITIAL[bytes.charCodeAt(line + LEVEL_AT)] ?? -1;
}

/** Returns the index at which the category's JSON string begins. */
export function categoryAt(line: number, severity: number): number {
  return line + LEVEL_AT + (LEVELS[severity]?.length ?? 0) + CATEGORY_NAME.length;
}

/**
 * Returns the index at which the type's JSON string begins. Quotes in a string are escaped, so the first `","type":` is
 * it.
 */
export function typeAt(bytes: string, category: number): number {
  return bytes.indexOf(AFTER_CATEGORY, category) + 1 + TYPE_NAME.length;
}

/** Reads the timestamps of consecutive lines. Caches the minute, which most of them share. */
export class LineTimestampParser {
  #minute = "";
  #minuteMs = 0;

  /** Epoch milliseconds. */
  read(bytes: string, line: number): number {
    const at = line + TIMESTAMP.length;
    if (this.#minute === "" || !bytes.startsWith(this.#minute, at)) {
      this.#minute = bytes.slice(at, at + MINUTE_LENGTH);
      this.#minuteMs = Date.parse(`${this.#minute}:00.000Z`);
    }
    return this.#minuteMs + digits(bytes, at + 17, 2) * 1000 + digits(bytes, at + 20, 3);
  }
}

function digits(bytes: string, at: number, count: number): number {
  let value = 0;
  for (let i = at; i < at + count; i++) value = value * 10 + bytes.charCodeAt(i) - ZERO;
  return value;
}

/** For text of this form, `LineTimestampParser` has validated everything except the seconds. */
const ISO_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d\.\d{3}Z/y;

/** Whether a timestamp as ingest writes it is at this position. */
export function isTime(text: string, at: number): boolean {
  // Midnight at the end of a day, 24:00, has no seconds.
  if (text.startsWith("24", at + 11)) return false;
  ISO_TIME.lastIndex = at;
  return ISO_TIME.test(text);
}

const LINE_BREAK = 10;

/** Bytes of lines that are processed at once, unless a single line is longer. */
const PIECE_BYTES = 32 * 1024;

/** Splits lines into pieces of whole lines. A line break between two pieces is in neither. */
export function* piecesOf(body: Uint8Array): Generator<Uint8Array> {
  if (body.length <= PIECE_BYTES) {
    yield body;
    return;
  }
  for (let at = 0; at < body.length; ) {
    const end = at + PIECE_BYTES >= body.length ? -1 : body.indexOf(LINE_BREAK, at + PIECE_BYTES);
    yield body.subarray(at, end < 0 ? body.length : end);
    at = end < 0 ? body.length : end + 1;
  }
}

/**
 * Like `piecesOf`, for lines that come in parts cut anywhere. Holds at most one part and one line in memory. A part
 * must be valid until the next one is requested.
 */
export function* wholeLines(parts: Iterable<Uint8Array>): Generator<Uint8Array> {
  let begun: Uint8Array[] = [];
  for (const part of parts) {
    const end = part.lastIndexOf(LINE_BREAK);
    if (end < 0) {
      begun.push(new Uint8Array(part));
      continue;
    }
    let from = 0;
    if (begun.length > 0) {
      const first = part.indexOf(LINE_BREAK);
      yield* freed(joined([...begun, part.subarray(0, first)]));
      for (const beginning of begun) detachBuffer(beginning);
      from = first + 1;
    }
    if (from < end) yield* piecesOf(part.subarray(from, end));
    begun = end + 1 < part.length ? [new Uint8Array(part.subarray(end + 1))] : [];
  }
  if (begun.length === 0) return;
  yield* freed(joined(begun));
  for (const beginning of begun) detachBuffer(beginning);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Yields a piece, and frees it when the next one is requested. */
export function* freed(piece: Uint8Array): Generator<Uint8Array> {
  try {
    yield piece;
  } finally {
    detachBuffer(piece);
  }
}

/** Counts the lines from an index on. A line break ends each line except the last. */
export function countLines(text: string, from: number): number {
  let lines = 0;
  for (let at = from; at < text.length; lines++) {
    const end = text.indexOf("\n", at);
    at = end < 0 ? text.length : end + 1;
  }
  return lines;
}

/**
 * Names as JSON strings with their quotes, as bytes, one character each. Inner quotes are escaped, so a prefix match is
 * equality.
 */
export class ListedNames {
  readonly #names: readonly string[];
  readonly #next: string;

  /** @param next text after each name in a line, from its closing quote on */
  constructor(names: readonly string[], next: string) {
    this.#names = names;
    this.#next = next;
  }

  /** Whether one of the names is at this position of a line. */
  isAt(bytes: string, at: number): boolean {
    if (this.#names.length <= FEW) return this.#names.some((name) => bytes.startsWith(name, at));
    const end = bytes.indexOf(this.#next, at);
    return end >= 0 && isListed(this.#names, bytes.slice(at, end + 1));
  }
}
