import { INGEST_LIMITS } from "../entry.ts";

/**
 * JSON that `JSON.stringify(JSON.parse(text))` would give back as it is: no white space, no escape that is not needed, no
 * number in another form, no name twice. What is so need not be parsed to be stored. The functions find ends, in bytes of
 * valid UTF-8, and answer -1 for anything that is not so for certain; then it is for `JSON.parse` to say what it is.
 */

const QUOTE = 0x22;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const SMALL_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Decimal digits that a number always gives back. */
const MOST_DIGITS = 15;
/** Zeros behind the point of a number below 1 from which on it is written with an exponent. */
const MAX_LEADING_ZEROS = 5;

/** Hashes of the names of all objects that are open, those of the innermost last. */
const names = new Int32Array(4096);
/** Names of one object: each is compared with those before it. */
const MAX_NAMES = 256;

/**
 * @param at behind the opening quote
 * @returns index of the closing quote
 */
export function endOfString(bytes: Uint8Array, at: number): number {
  const { length } = bytes;
  for (let i = at; i < length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === QUOTE) return i;
    if (byte < 0x20) return -1;
    if (byte === BACKSLASH) {
      i = endOfEscape(bytes, i + 1);
      if (i < 0) return -1;
    }
  }
  return -1;
}

/** @param at behind the backslash @returns index of the escape's last byte */
function endOfEscape(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case QUOTE:
    case BACKSLASH:
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return at;
    case SMALL_U: {
      // Control characters without a letter of their own: \u0000 to \u001f, in lower case.
      if (bytes[at + 1] !== ZERO || bytes[at + 2] !== ZERO) return -1;
      const high = (bytes[at + 3] ?? 0) - ZERO;
      const low = hexDigit(bytes[at + 4] ?? 0);
      if ((high !== 0 && high !== 1) || low < 0) return -1;
      return high === 0 && SHORT_ESCAPES.has(low) ? -1 : at + 4;
    }
    default:
      return -1;
  }
}

/** \b \t \n \f \r */
const SHORT_ESCAPES: ReadonlySet<number> = new Set([8, 9, 10, 12, 13]);

function hexDigit(byte: number): number {
  if (byte >= ZERO && byte <= NINE) return byte - ZERO;
  return byte >= 0x61 && byte <= 0x66 ? byte - 0x61 + 10 : -1;
}

/**
 * @param at at the opening brace
 * @param depth nesting of this object, from 1; at most as deep as `data` may be
 * @param known names of objects around this one
 * @returns index behind the closing brace
 */
export function endOfObject(bytes: Uint8Array, at: number, depth: number, known = 0): number {
  if (depth > INGEST_LIMITS.dataDepth || bytes[at] !== OPEN_BRACE) return -1;
  if (bytes[at + 1] === CLOSE_BRACE) return at + 2;
  let count = known;
  for (let i = at; ; ) {
    // Here is the brace or a comma; a name follows.
    if (bytes[i + 1] !== QUOTE) return -1;
    const first = i + 2;
    const initial = bytes[first] ?? 0;
    // Names that are whole numbers change places.
    if (initial >= ZERO && initial <= NINE) return -1;
    i = endOfString(bytes, first);
    if (i < 0 || bytes[i + 1] !== COLON) return -1;
    const hash = hashOf(bytes, first, i);
    for (let other = known; other < count; other++) if (names[other] === hash) return -1;
    if (count === names.length || count - known === MAX_NAMES) return -1;
    names[count++] = hash;
    i = endOfValue(bytes, i + 2, depth, count);
    if (i < 0) return -1;
    const byte = bytes[i];
    if (byte === CLOSE_BRACE) return i + 1;
    if (byte !== COMMA) return -1;
  }
}

/** Two names of the same hash cost a parse, and no more. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = to - from;
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x9e3779b1);
  return hash;
}

function endOfArray(bytes: Uint8Array, at: number, depth: number, known: number): number {
  if (depth > INGEST_LIMITS.dataDepth) return -1;
  if (bytes[at + 1] === CLOSE_BRACKET) return at + 2;
  for (let i = at; ; ) {
    i = endOfValue(bytes, i + 1, depth, known);
    if (i < 0) return -1;
    const byte = bytes[i];
    if (byte === CLOSE_BRACKET) return i + 1;
    if (byte !== COMMA) return -1;
  }
}

/** @param depth nesting of what the value is in @returns index behind the value */
function endOfValue(bytes: Uint8Array, at: number, depth: number, known: number): number {
  switch (bytes[at]) {
    case QUOTE: {
      const end = endOfString(bytes, at + 1);
      return end < 0 ? -1 : end + 1;
    }
    case OPEN_BRACE:
      return endOfObject(bytes, at, depth + 1, known);
    case OPEN_BRACKET:
      return endOfArray(bytes, at, depth + 1, known);
    case 0x74:
      return startsWith(bytes, at, TRUE) ? at + 4 : -1;
    case 0x66:
      return startsWith(bytes, at, FALSE) ? at + 5 : -1;
    case 0x6e:
      return startsWith(bytes, at, NULL) ? at + 4 : -1;
    default:
      return endOfNumber(bytes, at);
  }
}

/** Numbers in plain decimal digits, as short as they can be. */
function endOfNumber(bytes: Uint8Array, at: number): number {
  let i = bytes[at] === MINUS ? at + 1 : at;
  const start = i;
  i = endOfDigits(bytes, i);
  const whole = i - start;
  const isBelowOne = bytes[start] === ZERO;
  if (whole === 0 || whole > MOST_DIGITS || (isBelowOne && whole > 1)) return -1;
  // Minus nothing is written as nothing. An exponent is what no value may be followed by.
  if (bytes[i] !== DOT) return isBelowOne && start > at ? -1 : i;
  const point = i;
  i = endOfDigits(bytes, point + 1);
  const digits = whole + i - point - 1;
  if (digits === whole || digits > MOST_DIGITS || bytes[i - 1] === ZERO) return -1;
  if (isBelowOne) {
    let zeros = point + 1;
    while (bytes[zeros] === ZERO) zeros++;
    if (zeros - point - 1 > MAX_LEADING_ZEROS) return -1;
  }
  return i;
}

function endOfDigits(bytes: Uint8Array, at: number): number {
  let i = at;
  for (let byte = bytes[i] ?? 0; byte >= ZERO && byte <= NINE; byte = bytes[++i] ?? 0);
  return i;
}

export function startsWith(bytes: Uint8Array, at: number, text: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text[i]) return false;
  return true;
}

const encoder = new TextEncoder();
const TRUE = encoder.encode("true");
const FALSE = encoder.encode("false");
const NULL = encoder.encode("null");
