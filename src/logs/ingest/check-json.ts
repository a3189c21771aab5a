import { detachBuffer } from "../../platform/isolate-memory.ts";

/**
 * Checks JSON without building values, and counts the values. A text that is too large to be parsed can so be
 * distinguished from a text that is not JSON.
 */

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const SMALL_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const IN_LIST = 0;
const IN_OBJECT = 1;

/**
 * Counts the values of a JSON text: objects, arrays and scalars, the text's own value included, names of members
 * excluded.
 * @param bytes valid UTF-8
 * @returns -1 if the bytes between `from` and `to` are not one JSON value, optionally with white space around it
 */
export function countValues(bytes: Uint8Array, from: number, to: number): number {
  const open = { nesting: new Uint8Array(64) };
  const values = countIn(bytes, from, to, open);
  detachBuffer(open.nesting);
  return values;
}

/** @param open the arrays and objects that are open, the innermost last */
function countIn(bytes: Uint8Array, from: number, to: number, open: { nesting: Uint8Array }): number {
  let { nesting } = open;
  let depth = 0;
  let values = 0;
  let i = from;
  for (;;) {
    i = skipSpace(bytes, i, to);
    if (i >= to) return -1;
    values++;
    const first = bytes[i] ?? 0;
    if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      if (depth === nesting.length) {
        const grown = new Uint8Array(depth * 2);
        grown.set(nesting);
        detachBuffer(nesting);
        nesting = grown;
        open.nesting = grown;
      }
      nesting[depth++] = first === OPEN_BRACE ? IN_OBJECT : IN_LIST;
      i = skipSpace(bytes, i + 1, to);
      const isEmpty = i < to && bytes[i] === (first === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET);
      if (!isEmpty) {
        if (first === OPEN_BRACE) i = endOfName(bytes, i, to);
        if (i < 0) return -1;
        continue;
      }
    } else {
      i = endOfScalar(bytes, i, to);
      if (i < 0) return -1;
    }
    // The index is after a value, or at the bracket that closes an empty array or object.
    for (;;) {
      i = skipSpace(bytes, i, to);
      if (depth === 0) return i === to ? values : -1;
      if (i >= to) return -1;
      const byte = bytes[i++] ?? 0;
      const isObject = nesting[depth - 1] === IN_OBJECT;
      if (byte === COMMA) {
        if (isObject) i = endOfName(bytes, skipSpace(bytes, i, to), to);
        if (i < 0) return -1;
        break;
      }
      if (byte !== (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) return -1;
      depth--;
    }
  }
}

/** @returns index of the first byte that is not JSON white space, or `to` */
export function skipSpace(bytes: Uint8Array, from: number, to: number): number {
  let i = from;
  while (i < to && isSpace(bytes[i] ?? 0)) i++;
  return i;
}

export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** @returns index after the colon of a member's name */
function endOfName(bytes: Uint8Array, at: number, to: number): number {
  if (at >= to || bytes[at] !== QUOTE) return -1;
  const end = endOfString(bytes, at, to);
  if (end < 0) return -1;
  const colon = skipSpace(bytes, end, to);
  return colon < to && bytes[colon] === COLON ? colon + 1 : -1;
}

function endOfScalar(bytes: Uint8Array, at: number, to: number): number {
  switch (bytes[at]) {
    case QUOTE:
      return endOfString(bytes, at, to);
    case 0x74:
      return endOfWord(bytes, at, to, TRUE);
    case 0x66:
      return endOfWord(bytes, at, to, FALSE);
    case 0x6e:
      return endOfWord(bytes, at, to, NULL);
    default:
      return endOfNumber(bytes, at, to);
  }
}

/**
 * @param at index of the opening quote
 * @returns index after the closing quote
 */
function endOfString(bytes: Uint8Array, at: number, to: number): number {
  for (let i = at + 1; i < to; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === QUOTE) return i + 1;
    if (byte < 0x20) return -1;
    if (byte !== BACKSLASH) continue;
    i++;
    const kind = bytes[i] ?? 0;
    if (kind === SMALL_U) {
      for (let digit = 1; digit <= 4; digit++) if (!isHexDigit(bytes[i + digit] ?? 0)) return -1;
      i += 4;
    } else if (!ESCAPES.has(kind)) return -1;
  }
  return -1;
}

function isHexDigit(byte: number): boolean {
  return (byte >= ZERO && byte <= NINE) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

function endOfWord(bytes: Uint8Array, at: number, to: number, word: Uint8Array): number {
  if (at + word.length > to) return -1;
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return -1;
  return at + word.length;
}

function endOfNumber(bytes: Uint8Array, at: number, to: number): number {
  let i = bytes[at] === MINUS ? at + 1 : at;
  const whole = i;
  i = endOfDigits(bytes, i, to);
  if (i === whole || (bytes[whole] === ZERO && i > whole + 1)) return -1;
  if (i < to && bytes[i] === DOT) {
    const fraction = i + 1;
    i = endOfDigits(bytes, fraction, to);
    if (i === fraction) return -1;
  }
  if (i < to && (bytes[i] === 0x65 || bytes[i] === 0x45)) {
    i++;
    if (i < to && (bytes[i] === PLUS || bytes[i] === MINUS)) i++;
    const exponent = i;
    i = endOfDigits(bytes, exponent, to);
    if (i === exponent) return -1;
  }
  return i;
}

function endOfDigits(bytes: Uint8Array, at: number, to: number): number {
  let i = at;
  while (i < to && (bytes[i] ?? 0) >= ZERO && (bytes[i] ?? 0) <= NINE) i++;
  return i;
}

const encoder = new TextEncoder();
const TRUE = encoder.encode("true");
const FALSE = encoder.encode("false");
const NULL = encoder.encode("null");
/** Bytes that may follow a backslash, except `u`. */
const ESCAPES: ReadonlySet<number> = new Set(encoder.encode('"\\/bfnrt'));
