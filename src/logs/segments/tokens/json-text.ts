import { LOWER_ASCII, type TokenHasher } from "../../cold/filter/bloom.ts";
import { foldCase } from "../../query/fold-case.ts";

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

  /** Like `read`, and adds the text to a hash, folded; see `foldCase`. */
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
