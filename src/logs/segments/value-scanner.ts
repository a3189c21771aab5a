import { endOfString } from "../ingest/canonical-json.ts";

/**
 * Finds the ends of JSON values in the bytes of stored lines, and their kinds, without parsing them. Only values that
 * `JSON.stringify` would write again are accepted, so that a column preserves their spelling.
 */

/**
 * Kinds of value. The numbers are an order: texts are below `integer`, numbers below `true`. `absent`: the line does not
 * have the member.
 */
export const KIND = {
  text: 0,
  escapedText: 1,
  integer: 2,
  number: 3,
  true: 4,
  false: 5,
  null: 6,
  other: 7,
  absent: 8,
} as const;

const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const CAPITAL_E = 0x45;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const SMALL_E = 0x65;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Decimal digits that a number always preserves. */
const MAX_DIGITS = 15;
/** Zeros after the decimal point from which `JSON.stringify` writes an exponent. */
const MAX_LEADING_ZEROS = 5;
/** Nesting that a scan follows. Deeper values belong to lines that are stored whole. */
const MAX_DEPTH = 40;

export class ValueScanner {
  /** Kind of the value that `end` found last. */
  kind: number = KIND.null;

  /**
   * @param at index of the value's first byte
   * @returns index after the value; -1 if the value is not certainly canonical
   */
  end(bytes: Uint8Array, at: number): number {
    return this.#value(bytes, at, 0);
  }

  /**
   * @param at index after the opening quote
   * @returns index after the closing quote, or -1
   */
  text(bytes: Uint8Array, at: number): number {
    this.kind = KIND.text;
    for (let i = at; i < bytes.length; i++) {
      const byte = bytes[i] ?? 0;
      if (byte === QUOTE) return i + 1;
      if (byte < 0x20) return -1;
      if (byte === BACKSLASH) {
        const quote = endOfString(bytes, i);
        this.kind = KIND.escapedText;
        return quote < 0 ? -1 : quote + 1;
      }
    }
    return -1;
  }

  #value(bytes: Uint8Array, at: number, depth: number): number {
    switch (bytes[at]) {
      case QUOTE:
        return this.text(bytes, at + 1);
      case OPEN_BRACE:
      case OPEN_BRACKET: {
        const end = depth < MAX_DEPTH ? this.#nested(bytes, at, depth) : -1;
        this.kind = KIND.other;
        return end;
      }
      case 0x74:
        return this.#word(bytes, at, TRUE, KIND.true);
      case 0x66:
        return this.#word(bytes, at, FALSE, KIND.false);
      case 0x6e:
        return this.#word(bytes, at, NULL, KIND.null);
      default:
        return this.#number(bytes, at);
    }
  }

  #nested(bytes: Uint8Array, at: number, depth: number): number {
    const isObject = bytes[at] === OPEN_BRACE;
    const close = isObject ? CLOSE_BRACE : CLOSE_BRACKET;
    if (bytes[at + 1] === close) return at + 2;
    for (let i = at; ; ) {
      // The byte at `i` is the bracket or a comma.
      i++;
      if (isObject) {
        if (bytes[i] !== QUOTE) return -1;
        i = this.text(bytes, i + 1);
        if (i < 0 || bytes[i] !== COLON) return -1;
        i++;
      }
      i = this.#value(bytes, i, depth + 1);
      if (i < 0) return -1;
      if (bytes[i] === close) return i + 1;
      if (bytes[i] !== COMMA) return -1;
    }
  }

  #word(bytes: Uint8Array, at: number, word: Uint8Array, kind: number): number {
    this.kind = kind;
    return isAt(bytes, at, word) ? at + word.length : -1;
  }

  #number(bytes: Uint8Array, at: number): number {
    const isNegative = bytes[at] === MINUS;
    const start = isNegative ? at + 1 : at;
    let i = start;
    while (isDigit(bytes[i])) i++;
    const whole = i - start;
    const isBelowOne = bytes[start] === ZERO;
    if (whole === 0 || (isBelowOne && whole > 1)) return -1;
    this.kind = KIND.integer;
    const next = bytes[i];
    if (whole > MAX_DIGITS || next === SMALL_E || next === CAPITAL_E) return this.#longNumber(bytes, at);
    // `JSON.stringify` writes -0 as 0.
    if (next !== DOT) return isBelowOne && isNegative ? -1 : i;
    this.kind = KIND.number;
    const fraction = i + 1;
    i = fraction;
    while (isDigit(bytes[i])) i++;
    const digits = whole + i - fraction;
    if (i === fraction || bytes[i - 1] === ZERO) return -1;
    if (digits > MAX_DIGITS || bytes[i] === SMALL_E || bytes[i] === CAPITAL_E) return this.#longNumber(bytes, at);
    if (!isBelowOne) return i;
    let zeros = fraction;
    while (bytes[zeros] === ZERO) zeros++;
    return zeros - fraction > MAX_LEADING_ZEROS ? -1 : i;
  }

  /** Accepts a number of many digits or with an exponent if `JSON.stringify` writes it in the same way. */
  #longNumber(bytes: Uint8Array, at: number): number {
    let i = at;
    for (; ; i++) {
      const byte = bytes[i];
      if (isDigit(byte) || byte === DOT || byte === MINUS || byte === PLUS) continue;
      if (byte !== SMALL_E && byte !== CAPITAL_E) break;
    }
    // No number that JavaScript writes is longer.
    if (i - at > 32) return -1;
    const text = latin1(bytes, at, i);
    const value = Number(text);
    if (String(value) !== text) return -1;
    this.kind = Number.isSafeInteger(value) ? KIND.integer : KIND.number;
    return i;
  }
}

/**
 * Returns the number at a place that a scan has found.
 * @param kind `KIND.integer` or `KIND.number`
 */
export function numberAt(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > MAX_DIGITS + 2) return Number(latin1(bytes, start, end));
  const isNegative = bytes[start] === MINUS;
  let value = 0;
  let fraction = 0;
  for (let i = isNegative ? start + 1 : start; i < end; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === DOT) fraction = end - i - 1;
    else if (byte < ZERO || byte > NINE) return Number(latin1(bytes, start, end));
    else value = value * 10 + (byte - ZERO);
  }
  if (value > Number.MAX_SAFE_INTEGER) return Number(latin1(bytes, start, end));
  // Both are exact, up to 2 ** 53 and 10 ** 22, so the quotient is the nearest double.
  if (fraction > 0) value /= POWERS[fraction] ?? 1;
  return isNegative && value > 0 ? -value : value;
}

export function latin1(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("latin1");
}

/** @returns index after the closing quote; -1 if the text has an escape or does not end */
export function endOfPlainText(bytes: Uint8Array, at: number): number {
  let i = at;
  let byte = bytes[i] ?? 0;
  while (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH) byte = bytes[++i] ?? 0;
  return byte === QUOTE ? i + 1 : -1;
}

export function isAt(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

/** Powers of ten. `**` may be off by one unit in the last place. */
const POWERS = Array.from({ length: MAX_DIGITS + 2 }, (_, exponent) => Number(`1e${exponent}`));
const encoder = new TextEncoder();
const TRUE = encoder.encode("true");
const FALSE = encoder.encode("false");
const NULL = encoder.encode("null");
