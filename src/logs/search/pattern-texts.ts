import { toByteString } from "../query/case-folding.ts";
import { patternOf, patternWorkOf } from "./pattern.ts";

/** Messages that are remembered, the bytes of one, and of all of them. */
const MAX_KNOWN = 16_384;
const MAX_LENGTH = 512;
const MAX_BYTES = 1024 * 1024;
const SLOTS = 2 * MAX_KNOWN;
/** Bounds the time of a lookup if messages were made to have equal hashes. */
const MAX_PROBES = 32;
const WORD_BYTES = 4;

/** Work units of a known message, and of each of its bytes. */
const KNOWN_WORK = 40;
const KNOWN_BYTE_WORK = 0.5;

const [ZERO, NINE] = [0x30, 0x39];
const [SLASH, BACKSLASH] = [0x2f, 0x5c];
const [SMALL_V, SMALL_X, CAPITAL_X] = [0x76, 0x78, 0x58];

/** What is in place of a digit that makes a difference: a zero, or another digit. Else the digit itself is. */
const [IS_ZERO, IS_OTHER] = [0, 1];

/**
 * Finds the patterns of messages, as JSON: bytes of UTF-8, one character each. Messages that differ only in their digits
 * have one pattern, so it is found once for all of them. What decides are the kinds of characters; only the digits of a
 * version in a path, and whether a digit before an "x" is a zero, make a difference. Messages are compared in words of four bytes.
 */
export class PatternTexts {
  /** Work units since the last `takeWork`. */
  #work = 0;
  readonly #seed = crypto.getRandomValues(new Int32Array(1))[0] ?? 0;
  /** Number plus one of the message of each slot; 0: empty. Made when the first message is remembered. */
  #slots = new Int32Array(0);
  /** By number of a message: its hash, its bytes, and the index of its first word. */
  #hashes = new Int32Array(0);
  #lengths = new Int32Array(0);
  #starts = new Int32Array(0);
  /** Words of all messages, with zeros as digits. */
  #words = new Int32Array(0);
  #usedWords = 0;
  /** Index and value of each digit that makes a difference; `null` without one. */
  readonly #digits: (Int32Array | null)[] = [];
  readonly #patterns: string[] = [];
  readonly #json = new Uint8Array(MAX_LENGTH);
  /** The bytes that were read last. */
  #viewed: Uint8Array | null = null;
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** The current message, its hash, and the slot where it is remembered. */
  readonly #message = new Int32Array(MAX_LENGTH / WORD_BYTES);
  #hash = 0;
  #slot = 0;

  /** Number of messages that are remembered. */
  get size(): number {
    return this.#patterns.length;
  }

  /** Returns the work units since the last call. */
  takeWork(): number {
    const work = this.#work;
    this.#work = 0;
    return work;
  }

  /** Returns the pattern of a message that is remembered. @param known its number */
  at(known: number): string {
    return this.#patterns[known] ?? "";
  }

  /** @param bytes UTF-8 from `start` to `end`. @returns the number of a message with the same pattern; -1 if none is remembered */
  numberOf(bytes: Uint8Array, start: number, end: number): number {
    return end - start > MAX_LENGTH ? -1 : this.#find(bytes, start, end - start);
  }

  /** @param bytes UTF-8 from `start` to `end` */
  ofBytes(bytes: Uint8Array, start: number, end: number): string {
    const length = end - start;
    const known = this.numberOf(bytes, start, end);
    if (known >= 0) return this.at(known);
    const pattern = this.#made(textOf(bytes, start, length));
    return length > MAX_LENGTH ? pattern : this.#remember(pattern, bytes, start, length);
  }

  /** @param text has a string as JSON from `from` to `to`: bytes of UTF-8, one character each. @returns `null` if it is damaged */
  ofJson(text: string, from: number, to: number): string | null {
    const length = to - from - 2;
    const json = this.#json;
    let isPlain = length <= MAX_LENGTH;
    for (let at = 0; at < length && isPlain; at++) {
      const byte = text.charCodeAt(from + 1 + at);
      if (byte === BACKSLASH) isPlain = false;
      json[at] = byte;
    }
    const known = isPlain ? this.#find(json, 0, length) : -1;
    if (known >= 0) return this.at(known);
    const message = parsed(text.slice(from, to));
    if (message === null) return null;
    const pattern = this.#made(message);
    return isPlain ? this.#remember(pattern, json, 0, length) : pattern;
  }

  /** Makes a message the current one. @returns its number, or -1 */
  #find(bytes: Uint8Array, start: number, length: number): number {
    this.#work += KNOWN_WORK + length * KNOWN_BYTE_WORK;
    this.#read(bytes, start, length);
    let slot = this.#hash & (SLOTS - 1);
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const known = (this.#slots[slot] ?? 0) - 1;
      if (known < 0) break;
      if (this.#hashes[known] === this.#hash && this.#isAt(known, bytes, start, length)) return known;
      slot = (slot + 1) & (SLOTS - 1);
    }
    this.#slot = slot;
    return -1;
  }

  #made(message: string): string {
    this.#work += patternWorkOf(message);
    return toByteString(JSON.stringify(patternOf(message)));
  }

  /** Makes a message the current one: its words with zeros as digits, and their hash. */
  #read(bytes: Uint8Array, start: number, length: number): void {
    if (this.#viewed !== bytes) {
      this.#viewed = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    const view = this.#view;
    const message = this.#message;
    const whole = length >> 2;
    let hash = this.#seed ^ length;
    for (let word = 0; word < whole; word++) {
      const own = withoutDigits(view.getInt32(start + WORD_BYTES * word, true));
      message[word] = own;
      hash = Math.imul(hash ^ own, 0x9e3779b1);
      hash = (hash << 13) | (hash >>> 19);
    }
    if ((length & 3) !== 0) {
      let last = 0;
      for (let at = length - 1; at >= whole * WORD_BYTES; at--) last = (last << 8) | (bytes[start + at] ?? 0);
      message[whole] = withoutDigits(last);
      hash = Math.imul(hash ^ withoutDigits(last), 0x9e3779b1);
    }
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca77);
    this.#hash = hash ^ (hash >>> 13);
  }

  /** Whether the current message has the pattern of another one. */
  #isAt(known: number, bytes: Uint8Array, start: number, length: number): boolean {
    if (this.#lengths[known] !== length) return false;
    const own = this.#starts[known] ?? 0;
    const words = (length + 3) >> 2;
    for (let word = 0; word < words; word++) if (this.#words[own + word] !== this.#message[word]) return false;
    const digits = this.#digits[known] ?? null;
    if (digits === null) return true;
    for (let at = 0; at < digits.length; at += 2) {
      const digit = bytes[start + (digits[at] ?? 0)] ?? 0;
      const wanted = digits[at + 1] ?? 0;
      if (wanted === IS_OTHER ? digit === ZERO : digit !== (wanted === IS_ZERO ? ZERO : wanted)) return false;
    }
    return true;
  }

  /** Remembers the pattern of the current message. */
  #remember(pattern: string, bytes: Uint8Array, start: number, length: number): string {
    const words = (length + 3) >> 2;
    const isFull = this.size === MAX_KNOWN || (this.#usedWords + words) * WORD_BYTES > MAX_BYTES;
    if (isFull || (this.#slots[this.#slot] ?? 0) !== 0) return pattern;
    if (this.#slots.length === 0) {
      this.#slots = new Int32Array(SLOTS);
      this.#hashes = new Int32Array(MAX_KNOWN);
      this.#lengths = new Int32Array(MAX_KNOWN);
      this.#starts = new Int32Array(MAX_KNOWN);
    }
    if (this.#usedWords + words > this.#words.length) {
      const grown = new Int32Array(Math.max(16 * 1024, this.#words.length * 2, this.#usedWords + words));
      grown.set(this.#words);
      this.#words = grown;
    }
    const number = this.size;
    this.#words.set(this.#message.subarray(0, words), this.#usedWords);
    this.#hashes[number] = this.#hash;
    this.#lengths[number] = length;
    this.#starts[number] = this.#usedWords;
    this.#usedWords += words;
    this.#digits.push(tellingDigits(bytes, start, length));
    this.#slots[this.#slot] = this.#patterns.push(pattern);
    return pattern;
  }
}

/** Returns a word with "0" in place of each of its digits. */
function withoutDigits(word: number): number {
  const low = word & 0x7f7f7f7f;
  // The highest bit of each byte of ASCII that is at least "0", and not above "9".
  const digits = (low + 0x50505050) & ~(low + 0x46464646) & ~word & 0x80808080;
  return word & ~Math.imul(digits >>> 7, 0x0f);
}

/** Returns index and value of each digit that makes a difference; `null` without one. */
function tellingDigits(bytes: Uint8Array, start: number, length: number): Int32Array | null {
  const found: number[] = [];
  let isVersion = false;
  for (let at = 0; at < length; at++) {
    const byte = bytes[start + at] ?? 0;
    if (byte < ZERO || byte > NINE) {
      isVersion = byte === SMALL_V && at > 0 && bytes[start + at - 1] === SLASH;
      continue;
    }
    const next = at + 1 < length ? bytes[start + at + 1] : 0;
    if (isVersion) found.push(at, byte);
    else if (next === SMALL_X || next === CAPITAL_X) found.push(at, byte === ZERO ? IS_ZERO : IS_OTHER);
  }
  return found.length === 0 ? null : Int32Array.from(found);
}

function textOf({ buffer, byteOffset }: Uint8Array, start: number, length: number): string {
  return Buffer.from(buffer, byteOffset + start, length).toString("utf8");
}

function parsed(json: string): string | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(json, "latin1").toString("utf8"));
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}
