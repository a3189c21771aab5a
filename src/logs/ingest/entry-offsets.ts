import { BATCH_ENTRIES } from "../entry.ts";
import { isSpace, skipSpace } from "./check-json.ts";
import { OtherNames, plainName } from "./member-names.ts";

/**
 * Finds the entries of a body without parsing them. Checks the bytes between entries. The parser decides later whether
 * an entry's own bytes are JSON.
 */

const QUOTE = 0x22;
const COMMA = 0x2c;
const LINE_BREAK = 0x0a;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Entries of a body without surrounding white space: bytes `starts[i]` (inclusive) to `ends[i]` (exclusive). */
export interface EntryOffsets {
  starts: number[];
  ends: number[];
}

export type Split =
  | { found: "entries"; offsets: EntryOffsets }
  /** Two members are named `logs`. The caller must check that the first one is JSON, too. */
  | { found: "entries-of-last-logs"; offsets: EntryOffsets }
  | { found: "too_many" }
  /** The document has another shape, if it is JSON at all. */
  | { found: "no-entries"; message: string }
  | { found: "broken" };

const BROKEN: Split = { found: "broken" };

/** Length of the UTF-8 byte order mark at the beginning, 0 or 3. */
export function markLength(bytes: Uint8Array): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/**
 * Finds the entries of a JSON document: one entry, an array of entries, or an object whose only member is `logs`.
 * @param bytes valid UTF-8
 * @param maxEntries maximum number of entries in a body
 */
export function splitDocument(bytes: Uint8Array, maxEntries: number): Split {
  const start = skipSpace(bytes, markLength(bytes), bytes.length);
  switch (bytes[start]) {
    case OPEN_BRACKET:
      return splitArray(bytes, start, maxEntries, (end) => skipSpace(bytes, end, bytes.length) === bytes.length);
    case OPEN_BRACE:
      return splitObject(bytes, start, maxEntries);
    default:
      return { found: "no-entries", message: "The body must be an entry, an array of entries or {logs: [...]}." };
  }
}

/** @param isEnd whether the document may end after the array that ends at the given index */
function splitArray(bytes: Uint8Array, at: number, maxEntries: number, isEnd: (end: number) => boolean): Split {
  const offsets: EntryOffsets = { starts: [], ends: [] };
  let i = skipSpace(bytes, at + 1, bytes.length);
  if (bytes[i] !== CLOSE_BRACKET) {
    for (;;) {
      const start = skipSpace(bytes, i, bytes.length);
      i = endOfValue(bytes, start, CLOSE_BRACKET);
      if (i < 0) return BROKEN;
      let end = i;
      while (end > start && isSpace(bytes[end - 1] ?? 0)) end--;
      if (end === start) return BROKEN;
      if (offsets.starts.push(start) > maxEntries) return { found: "too_many" };
      offsets.ends.push(end);
      if (bytes[i] === CLOSE_BRACKET) break;
      i++;
    }
  }
  return isEnd(i + 1) ? { found: "entries", offsets } : BROKEN;
}

/**
 * @param close the bracket or brace that ends the list or object around the value
 * @returns index of the comma or of `close` after the value that begins at `at`; -1 if there is no such byte
 */
function endOfValue(bytes: Uint8Array, at: number, close: number): number {
  const { length } = bytes;
  let depth = 0;
  for (let i = at; i < length; i++) {
    switch (bytes[i]) {
      case QUOTE:
        i = closingQuote(bytes, i + 1);
        if (i < 0) return -1;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth++;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (depth-- === 0) return bytes[i] === close ? i : -1;
        break;
      case COMMA:
        if (depth === 0) return i;
    }
  }
  return -1;
}

function closingQuote(bytes: Uint8Array, at: number): number {
  const { length } = bytes;
  for (let i = at; i < length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) return i;
    if (byte === BACKSLASH) i++;
  }
  return -1;
}

/** Members of an object that decide how the object is read. */
interface Members {
  /** Start and end of the value of the last member named `logs`; -1 if there is no such member. */
  logs: number;
  logsEnd: number;
  logsCount: number;
  hasMessage: boolean;
  others: OtherNames;
}

function splitObject(bytes: Uint8Array, start: number, maxEntries: number): Split {
  const others = new OtherNames(bytes);
  const members: Members = { logs: -1, logsEnd: -1, logsCount: 0, hasMessage: false, others };
  const end = readMembers(bytes, start, members);
  if (end < 0 || skipSpace(bytes, end, bytes.length) !== bytes.length) return BROKEN;
  const { logs, logsEnd, logsCount, hasMessage } = members;
  if (logs < 0 || hasMessage) return { found: "entries", offsets: { starts: [start], ends: [end] } };
  const other = others.first;
  if (other !== null) {
    return { found: "no-entries", message: `${other}: a body with logs must have no other member.` };
  }
  if (bytes[logs] !== OPEN_BRACKET) return { found: "no-entries", message: "logs must be an array of entries." };
  const split = splitArray(bytes, logs, maxEntries, (behind) => behind === logsEnd);
  return split.found === "entries" && logsCount > 1 ? { ...split, found: "entries-of-last-logs" } : split;
}

/** @returns index after the object's closing brace; -1 if the object is not closed */
function readMembers(bytes: Uint8Array, start: number, members: Members): number {
  let i = skipSpace(bytes, start + 1, bytes.length);
  if (bytes[i] === CLOSE_BRACE) return i + 1;
  for (;;) {
    i = skipSpace(bytes, i, bytes.length);
    if (bytes[i] !== QUOTE) return -1;
    const nameEnd = closingQuote(bytes, i + 1);
    if (nameEnd < 0) return -1;
    const nameStart = i + 1;
    i = skipSpace(bytes, nameEnd + 1, bytes.length);
    if (bytes[i] !== COLON) return -1;
    const value = skipSpace(bytes, i + 1, bytes.length);
    i = endOfValue(bytes, value, CLOSE_BRACE);
    if (i < 0) return -1;
    let end = i;
    while (end > value && isSpace(bytes[end - 1] ?? 0)) end--;
    if (end === value) return -1;
    const name = plainName(bytes, nameStart, nameEnd);
    if (name === "logs") Object.assign(members, { logs: value, logsEnd: end, logsCount: members.logsCount + 1 });
    else if (name === "message") members.hasMessage = true;
    else members.others.add(name, nameStart, nameEnd);
    if (bytes[i] === CLOSE_BRACE) return i + 1;
    i++;
  }
}

/** Lines of one piece that are searched for entries, blank ones included. */
const PIECE_LINES = 4 * BATCH_ENTRIES;

/**
 * Finds the first lines that are not blank: as many as one batch may have.
 * @returns their offsets, the number of lines with the blank ones, and the index from which the search continues
 */
export function splitLines(bytes: Uint8Array): { offsets: EntryOffsets; lines: number; next: number } {
  const offsets: EntryOffsets = { starts: [], ends: [] };
  let start = 0;
  let lines = 0;
  for (; start < bytes.length && lines < PIECE_LINES && offsets.starts.length < BATCH_ENTRIES; lines++) {
    const lineBreak = bytes.indexOf(LINE_BREAK, start);
    const end = lineBreak < 0 ? bytes.length : lineBreak;
    if (!isBlank(bytes, start, end)) {
      offsets.starts.push(start);
      offsets.ends.push(end);
    }
    start = end + 1;
  }
  return { offsets, lines, next: Math.min(start, bytes.length) };
}

/**
 * Whether the bytes hold only characters that `String.prototype.trim` removes.
 * @param bytes valid UTF-8
 */
export function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  let i = from;
  while (i < to) {
    const length = spaceLength(bytes, i);
    if (length === 0) return false;
    i += length;
  }
  return true;
}

/** Number of bytes that remain after `String.prototype.trim` has removed white space at both ends. */
export function trimmedLength(bytes: Uint8Array, from: number, to: number): number {
  let start = from;
  for (let length = 1; start < to && length > 0; start += length) length = spaceLength(bytes, start);
  let end = to;
  for (let at = end - 1; at >= start; at--) {
    // Skips continuation bytes: only the lead byte identifies a character.
    if (((bytes[at] ?? 0) & 0xc0) === 0x80) continue;
    if (spaceLength(bytes, at) === 0) break;
    end = at;
  }
  return end - start;
}

/** Number of bytes of the white space character at an index; 0 if there is another character. */
function spaceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return first === 0x20 || (first >= 0x09 && first <= 0x0d) ? 1 : 0;
  const second = bytes[at + 1] ?? 0;
  if (first === 0xc2) return second === 0xa0 ? 2 : 0;
  const code = (first << 16) | (second << 8) | (bytes[at + 2] ?? 0);
  return WIDE_SPACES.has(code) || (code >= 0xe28080 && code <= 0xe2808a) ? 3 : 0;
}

/** U+1680, U+2028, U+2029, U+202F, U+205F, U+3000 and U+FEFF as the three bytes of their UTF-8 encoding. */
const WIDE_SPACES: ReadonlySet<number> = new Set([
  0xe19a80, 0xe280a8, 0xe280a9, 0xe280af, 0xe2819f, 0xe38080, 0xefbbbf,
]);
