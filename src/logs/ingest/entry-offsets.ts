import { isSpace, skipSpace } from "./check-json.ts";
import { OtherNames, plainName } from "./member-names.ts";

/**
 * Finds where entries lie in a body, without parsing any. What lies between entries is checked here. An entry's own text
 * is not: whether it is JSON is for the parser to say.
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

/** Entries of a body, white space around them left out: the bytes from `starts[i]` to before `ends[i]`. */
export interface EntryOffsets {
  starts: number[];
  ends: number[];
}

export type Split =
  | { found: "entries"; spans: EntryOffsets }
  /** Two members are named `logs`: what the first holds has still to be JSON. */
  | { found: "entries-of-last-logs"; spans: EntryOffsets }
  | { found: "too_many" }
  /** The document is of another shape, if it is JSON at all. */
  | { found: "no-entries"; message: string }
  | { found: "broken" };

const BROKEN: Split = { found: "broken" };

/** Length of the mark that UTF-8 may begin with. */
export function markLength(bytes: Uint8Array): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/**
 * Takes a JSON document apart: one entry, an array of entries, or an object whose only member is `logs`.
 * @param bytes valid UTF-8 @param most entries that a body may hold
 */
export function splitDocument(bytes: Uint8Array, most: number): Split {
  const start = skipSpace(bytes, markLength(bytes), bytes.length);
  switch (bytes[start]) {
    case OPEN_BRACKET:
      return splitArray(bytes, start, most, (end) => skipSpace(bytes, end, bytes.length) === bytes.length);
    case OPEN_BRACE:
      return splitObject(bytes, start, most);
    default:
      return { found: "no-entries", message: "The body must be an entry, an array of entries or {logs: [...]}." };
  }
}

/** @param isEnd whether what follows the array may follow it */
function splitArray(bytes: Uint8Array, at: number, most: number, isEnd: (end: number) => boolean): Split {
  const spans: EntryOffsets = { starts: [], ends: [] };
  let i = skipSpace(bytes, at + 1, bytes.length);
  if (bytes[i] !== CLOSE_BRACKET) {
    for (;;) {
      const start = skipSpace(bytes, i, bytes.length);
      i = endOfElement(bytes, start);
      if (i < 0) return BROKEN;
      let end = i;
      while (end > start && isSpace(bytes[end - 1] ?? 0)) end--;
      if (end === start) return BROKEN;
      if (spans.starts.push(start) > most) return { found: "too_many" };
      spans.ends.push(end);
      if (bytes[i] === CLOSE_BRACKET) break;
      i++;
    }
  }
  return isEnd(i + 1) ? { found: "entries", spans } : BROKEN;
}

/** @returns index of the comma or bracket behind the element of an array that begins at `at`; -1 where there is none */
function endOfElement(bytes: Uint8Array, at: number): number {
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
        if (depth-- === 0) return bytes[i] === CLOSE_BRACKET ? i : -1;
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

/** Members of an object that decide what it is. */
interface Members {
  /** Where the value of the last member named `logs` begins and ends; -1 where there is none. */
  logs: number;
  logsEnd: number;
  logsCount: number;
  hasMessage: boolean;
  others: OtherNames;
}

function splitObject(bytes: Uint8Array, start: number, most: number): Split {
  const others = new OtherNames(bytes);
  const members: Members = { logs: -1, logsEnd: -1, logsCount: 0, hasMessage: false, others };
  const end = readMembers(bytes, start, members);
  if (end < 0 || skipSpace(bytes, end, bytes.length) !== bytes.length) return BROKEN;
  const { logs, logsEnd, logsCount, hasMessage } = members;
  if (logs < 0 || hasMessage) return { found: "entries", spans: { starts: [start], ends: [end] } };
  const other = others.first;
  if (other !== null) {
    return { found: "no-entries", message: `${other}: beside logs the body must have no other member.` };
  }
  if (bytes[logs] !== OPEN_BRACKET) return { found: "no-entries", message: "logs must be an array of entries." };
  const split = splitArray(bytes, logs, most, (behind) => behind === logsEnd);
  return split.found === "entries" && logsCount > 1 ? { ...split, found: "entries-of-last-logs" } : split;
}

/** @returns index behind the object's closing brace; -1 where it has none */
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
    i = endOfMember(bytes, value);
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

/** @returns index of the comma or brace behind the value of a member; -1 where there is none */
function endOfMember(bytes: Uint8Array, at: number): number {
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
        if (depth-- === 0) return bytes[i] === CLOSE_BRACE ? i : -1;
        break;
      case COMMA:
        if (depth === 0) return i;
    }
  }
  return -1;
}

/** The lines of an NDJSON body that hold more than white space. Null where there are more than `most`. */
export function splitLines(bytes: Uint8Array, most: number): EntryOffsets | null {
  const spans: EntryOffsets = { starts: [], ends: [] };
  for (let start = markLength(bytes); start < bytes.length; ) {
    const lineBreak = bytes.indexOf(LINE_BREAK, start);
    const end = lineBreak < 0 ? bytes.length : lineBreak;
    if (!isBlank(bytes, start, end)) {
      if (spans.starts.push(start) > most) return null;
      spans.ends.push(end);
    }
    start = end + 1;
  }
  return spans;
}

/** Whether there is nothing but what `String.prototype.trim` removes. @param bytes valid UTF-8 */
export function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  let i = from;
  while (i < to) {
    const length = spaceLength(bytes, i);
    if (length === 0) return false;
    i += length;
  }
  return true;
}

/** Bytes that are left of some when `String.prototype.trim` has removed white space at both ends. */
export function trimmedLength(bytes: Uint8Array, from: number, to: number): number {
  let start = from;
  for (let length = 1; start < to && length > 0; start += length) length = spaceLength(bytes, start);
  let end = to;
  for (let at = end - 1; at >= start; at--) {
    // Behind the lead byte of a character come those that continue it.
    if (((bytes[at] ?? 0) & 0xc0) === 0x80) continue;
    if (spaceLength(bytes, at) === 0) break;
    end = at;
  }
  return end - start;
}

/** Bytes of the white space character at an index; 0 where there is another character. */
function spaceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return first === 0x20 || (first >= 0x09 && first <= 0x0d) ? 1 : 0;
  const second = bytes[at + 1] ?? 0;
  if (first === 0xc2) return second === 0xa0 ? 2 : 0;
  const code = (first << 16) | (second << 8) | (bytes[at + 2] ?? 0);
  return WIDE_SPACES.has(code) || (code >= 0xe28080 && code <= 0xe2808a) ? 3 : 0;
}

/** U+1680, U+2028, U+2029, U+202F, U+205F, U+3000 and U+FEFF, as the three bytes of their UTF-8. */
const WIDE_SPACES: ReadonlySet<number> = new Set([
  0xe19a80, 0xe280a8, 0xe280a9, 0xe280af, 0xe2819f, 0xe38080, 0xefbbbf,
]);
