import { foldCase } from "../../query/fold-case.ts";
import { LOWER_ASCII, type TokenHasher } from "../filter/bloom.ts";

const MINUS = 45;
const PLUS = 43;
const POINT = 46;
const ZERO = 48;
const LOWER_E = 101;

/** Any two decimals with at most this many digits are different numbers, so neither has a shorter text. */
const SURE_DIGITS = 15;
/** Zeros after the decimal point of a number below 1. With more, the number is written with an exponent. */
const MAX_LEADING_ZEROS = 5;

/** Reads JSON numbers from bytes. */
export class JsonNumber {
  /** Index after the number. */
  next = 0;
  /** Whether its bytes are the shortest text that reads back as this number, as `String` writes it. */
  isShortest = true;

  /** @returns whether there is a number that ends before `end` */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    const isNegative = bytes[start] === MINUS;
    const first = isNegative ? start + 1 : start;
    let at = digitsEnd(bytes, first, end);
    const whole = at - first;
    const startsWithZero = bytes[first] === ZERO;
    if (whole === 0 || (startsWithZero && whole > 1)) return false;
    if (bytes[at] === POINT) {
      const fraction = at + 1;
      at = digitsEnd(bytes, fraction, end);
      if (at === fraction) return false;
      let zeros = 0;
      if (startsWithZero) while (zeros < at - fraction && bytes[fraction + zeros] === ZERO) zeros++;
      const digits = at - fraction - zeros + (startsWithZero ? 0 : whole);
      this.isShortest = digits <= SURE_DIGITS && zeros <= MAX_LEADING_ZEROS && bytes[at - 1] !== ZERO;
    } else {
      this.isShortest = whole <= SURE_DIGITS && !(isNegative && startsWithZero);
    }
    if (((bytes[at] ?? 0) | 0x20) === LOWER_E) {
      this.isShortest = false;
      at++;
      if (bytes[at] === PLUS || bytes[at] === MINUS) at++;
      const exponent = at;
      at = digitsEnd(bytes, exponent, end);
      if (at === exponent) return false;
    }
    this.next = at;
    return at < end;
  }
}

function digitsEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) break;
    at++;
  }
  return at;
}

const QUOTE = 34;
const BACKSLASH = 92;
const ASCII_END = 0x80;
const FIRST_SPACE_BYTES = 1024;

/**
 * 1 for a byte that ends a string or cannot be copied unchanged: control characters, quote, backslash, bytes outside
 * ASCII.
 */
const SPECIAL = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === QUOTE || byte === BACKSLASH || byte >= ASCII_END ? 1 : 0,
);

/** Other bytes in lower case; 0 for a special one. */
const FOLDED = SPECIAL.map((isSpecial, byte) => (isSpecial === 0 ? (LOWER_ASCII[byte] ?? 0) : 0));

/** The character for a backslash and this byte; 0 if there is no short escape. */
const ESCAPED = new Uint8Array(256);
for (const [letter, meant] of Object.entries({
  b: 8,
  t: 9,
  n: 10,
  f: 12,
  r: 13,
  '"': QUOTE,
  "/": 47,
  "\\": BACKSLASH,
})) {
  ESCAPED[letter.charCodeAt(0)] = meant;
}
const LETTER_U = 117;
/** Bytes of `\u0000` after the backslash. */
const UNICODE_ESCAPE_BYTES = 5;

/**
 * Reads JSON strings from bytes. Leaves plain ASCII where it is. Writes a string with escapes of ASCII characters (line
 * breaks, quotes) to a separate buffer. Only other strings become JavaScript strings, which costs most.
 */
export class JsonText {
  /** The bytes that hold the text, as ASCII. */
  bytes: Uint8Array = new Uint8Array(0);
  from = 0;
  to = 0;
  /** Whether `bytes` are the bytes that were read. */
  isPlain = true;
  /** The text if it is not ASCII, otherwise `null`. */
  decoded: string | null = null;
  /** Index after the closing quote. */
  next = 0;
  #space = new Uint8Array(FIRST_SPACE_BYTES);

  /**
   * @param at index after the opening quote
   * @param end of the line
   * @returns whether there is a string
   */
  read(bytes: Uint8Array, at: number, end: number): boolean {
    let stop = at;
    while (stop < end && SPECIAL[bytes[stop] ?? 0] === 0) stop++;
    return this.#readTo(bytes, at, stop, end);
  }

  /** Like `read`, and adds the text to a hash. */
  hash(bytes: Uint8Array, at: number, end: number, hasher: TokenHasher): boolean {
    const stop = hasher.asciiUntil(QUOTE, SPECIAL, bytes, at, end);
    if (!this.#readTo(bytes, at, stop, end)) return false;
    if (this.decoded !== null) hasher.text(this.decoded);
    else if (!this.isPlain) hasher.ascii(this.bytes, this.from, this.to);
    return true;
  }

  /** Like `hash`, and adds the text folded; see `foldCase`. */
  hashFolded(bytes: Uint8Array, at: number, end: number, hasher: TokenHasher): boolean {
    const stop = hasher.foldedAsciiUntil(QUOTE, FOLDED, bytes, at, end);
    if (!this.#readTo(bytes, at, stop, end)) return false;
    if (this.decoded !== null) hasher.text(foldCase(this.decoded));
    else if (!this.isPlain) hasher.foldedAscii(this.bytes, this.from, this.to);
    return true;
  }

  /** @param stop index of the first special byte */
  #readTo(bytes: Uint8Array, at: number, stop: number, end: number): boolean {
    this.decoded = null;
    this.isPlain = true;
    this.bytes = bytes;
    this.from = at;
    this.to = stop;
    this.next = stop + 1;
    return (stop < end && bytes[stop] === QUOTE) || this.#readSpecial(bytes, at, stop, end);
  }

  #readSpecial(bytes: Uint8Array, from: number, special: number, end: number): boolean {
    let at = special;
    let isAscii = true;
    let hasEscape = false;
    for (; at < end && bytes[at] !== QUOTE; at++) {
      const byte = bytes[at] ?? 0;
      if (byte < 0x20) return false;
      if (byte >= ASCII_END) isAscii = false;
      if (byte !== BACKSLASH) continue;
      hasEscape = true;
      at++;
      if (bytes[at] === LETTER_U && asciiOf(bytes, at, end) < 0) isAscii = false;
    }
    if (at >= end) return false;
    this.next = at + 1;
    if (isAscii) return this.#unescape(bytes, from, at);
    try {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset + from - 1, at + 2 - from).toString("utf8");
      this.decoded = hasEscape ? JSON.parse(text) : text.slice(1, -1);
      return true;
    } catch {
      return false;
    }
  }

  /** @returns whether all escapes are valid JSON */
  #unescape(bytes: Uint8Array, from: number, to: number): boolean {
    if (this.#space.length < to - from) this.#space = new Uint8Array((to - from) * 2);
    const space = this.#space;
    let length = 0;
    for (let at = from; at < to; at++) {
      const byte = bytes[at] ?? 0;
      if (byte !== BACKSLASH) {
        space[length++] = byte;
        continue;
      }
      at++;
      const letter = bytes[at] ?? 0;
      if (letter === LETTER_U) {
        space[length++] = asciiOf(bytes, at, to);
        at += UNICODE_ESCAPE_BYTES - 1;
        continue;
      }
      const meant = ESCAPED[letter] ?? 0;
      if (meant === 0) return false;
      space[length++] = meant;
    }
    this.bytes = space;
    this.from = 0;
    this.to = length;
    this.isPlain = false;
    return true;
  }
}

/** Returns the ASCII character of `u` and four hexadecimal digits; -1 if there is none. */
function asciiOf(bytes: Uint8Array, at: number, end: number): number {
  if (at + UNICODE_ESCAPE_BYTES > end || bytes[at + 1] !== 48 || bytes[at + 2] !== 48) return -1;
  const high = digitOf(bytes[at + 3] ?? 0);
  const low = digitOf(bytes[at + 4] ?? 0);
  return high < 0 || high > 7 || low < 0 ? -1 : high * 16 + low;
}

function digitOf(byte: number): number {
  if (byte >= 48 && byte < 58) return byte - 48;
  const lower = byte | 0x20;
  return lower >= 97 && lower < 103 ? lower - 87 : -1;
}
