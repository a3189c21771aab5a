import { INGEST_LIMITS } from "../entry.ts";

/**
 * Canonical JSON: text that `JSON.stringify(JSON.parse(text))` returns unchanged. It has no white space, no unneeded
 * escape, no number in another form and no repeated name, so it can be stored without parsing.
 * The functions find the ends of values in valid UTF-8. They return -1 if a value is not certainly canonical;
 * `JSON.parse` then decides.
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

/** Decimal digits that a number always preserves, and those that it preserves if they are small enough. */
const SURE_DIGITS = 15;
const MAX_DIGITS = 16;
/**
 * Without their point, digits below this are preserved: two numbers with as many decimals are further apart than two doubles.
 * So are times since the epoch in microseconds, and in seconds with six decimals.
 */
const PRESERVED_BELOW = 2 ** 52;
/** Zeros after the decimal point from which `JSON.stringify` writes a number below 1 with an exponent. */
const MAX_LEADING_ZEROS = 5;

/** Hashes of the names of all open objects, those of the innermost object last. */
const names = new Int32Array(4096);
/** Maximum number of names in one object. Each name is compared with the names before it. */
const MAX_NAMES = 256;

/**
 * @param at index after the opening quote
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

/**
 * @param at index after the backslash
 * @returns index of the escape's last byte
 */
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
      // Control characters without a short escape: \u0000 to \u001f, in lower case.
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
 * @param at index of the opening brace
 * @param depth nesting of this object, from 1 to the limit of `data`
 * @param known number of names in the enclosing objects
 * @returns index after the closing brace
 */
export function endOfObject(bytes: Uint8Array, at: number, depth: number, known = 0): number {
  if (depth > INGEST_LIMITS.dataDepth || bytes[at] !== OPEN_BRACE) return -1;
  if (bytes[at + 1] === CLOSE_BRACE) return at + 2;
  let count = known;
  for (let i = at; ; ) {
    // The byte at `i` is the brace or a comma. A name must follow.
    if (bytes[i + 1] !== QUOTE) return -1;
    const first = i + 2;
    const initial = bytes[first] ?? 0;
    // `JSON.parse` moves members whose names are whole numbers.
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

/** Returns a hash of a name. A collision only causes a parse. */
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

/**
 * @param depth nesting of the enclosing value
 * @returns index after the value
 */
export function endOfValue(bytes: Uint8Array, at: number, depth: number, known: number): number {
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

/** Accepts numbers in plain decimal digits, in their shortest form. */
function endOfNumber(bytes: Uint8Array, at: number): number {
  let i = bytes[at] === MINUS ? at + 1 : at;
  const start = i;
  i = endOfDigits(bytes, i);
  const whole = i - start;
  const isBelowOne = bytes[start] === ZERO;
  if (whole === 0 || whole > MAX_DIGITS || (isBelowOne && whole > 1)) return -1;
  // `JSON.stringify` writes -0 as 0. An exponent is rejected because no value may be followed by a letter.
  if (bytes[i] !== DOT) {
    if (whole > SURE_DIGITS && digitsOf(bytes, start, i) >= PRESERVED_BELOW) return -1;
    return isBelowOne && start > at ? -1 : i;
  }
  const point = i;
  i = endOfDigits(bytes, point + 1);
  const digits = whole + i - point - 1;
  if (digits === whole || digits > MAX_DIGITS || bytes[i - 1] === ZERO) return -1;
  if (digits > SURE_DIGITS && digitsOf(bytes, start, i) >= PRESERVED_BELOW) return -1;
  if (isBelowOne) {
    let zeros = point + 1;
    while (bytes[zeros] === ZERO) zeros++;
    if (zeros - point - 1 > MAX_LEADING_ZEROS) return -1;
  }
  return i;
}

/** The digits of a number without its point, as an integer. */
function digitsOf(bytes: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) if (bytes[i] !== DOT) value = value * 10 + (bytes[i] ?? 0) - ZERO;
  return value;
}

/** Digits of an integer that no number preserves for certain: nanoseconds since the epoch. */
const LONG_DIGITS = { min: 17, max: 19 } as const;

/** @returns index after an integer of so many digits that it is not canonical; -1 for any other value */
export function endOfLongInteger(bytes: Uint8Array, at: number): number {
  const end = bytes[at] === ZERO ? at : endOfDigits(bytes, at);
  return end - at >= LONG_DIGITS.min && end - at <= LONG_DIGITS.max ? end : -1;
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
