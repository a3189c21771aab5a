import { toByteString } from "../query/case-folding.ts";
import { patternOf } from "./pattern.ts";

/** Messages that are remembered, the bytes of one, and of all of them. */
const MAX_KNOWN = 16_384;
const MAX_LENGTH = 512;
const MAX_BYTES = 1024 * 1024;
const SLOTS = 2 * MAX_KNOWN;
/** Bounds the time of a lookup if messages were made to have equal hashes. */
const MAX_PROBES = 32;

/**
 * Work units: of a known message and each of its bytes, of finding the pattern of another one and for each of its bytes,
 * and for each quote, which may begin 200 characters that are looked through.
 */
const KNOWN_WORK = 60;
const KNOWN_BYTE_WORK = 1;
const NEW_WORK = 400;
const NEW_BYTE_WORK = 20;
const QUOTE_WORK = 300;

const [ZERO, NINE, ONE] = [0x30, 0x39, 0x31];
const [DOUBLE_QUOTE, QUOTE, SLASH, BACKSLASH] = [0x22, 0x27, 0x2f, 0x5c];
const [SMALL_V, SMALL_X, CAPITAL_X] = [0x76, 0x78, 0x58];

/**
 * Finds the patterns of messages, as JSON: bytes of UTF-8, one character each. Messages that differ only in their digits
 * have one pattern, so it is found once for all of them. What decides are the kinds of characters; only the digits of a
 * version in a path, and whether a digit before an "x" is a zero, make a difference.
 */
export class PatternTexts {
  /** Work units since the last `takeWork`. */
  #work = 0;
  readonly #seed = crypto.getRandomValues(new Int32Array(1))[0] ?? 0;
  /** Number plus one of the message of each slot; 0: empty. Made when the first message is remembered. */
  #slots = new Int32Array(0);
  #bytes = new Uint8Array(0);
  readonly #ends: number[] = [];
  readonly #hashes: number[] = [];
  readonly #patterns: string[] = [];
  /** The current message with its digits replaced, and its hash. */
  readonly #shape = new Uint8Array(MAX_LENGTH);
  readonly #json = new Uint8Array(MAX_LENGTH);
  /** Slot where the current message is remembered. */
  #slot = 0;
  #hash = 0;
  #quotes = 0;

  /** Returns the work units since the last call. */
  takeWork(): number {
    const work = this.#work;
    this.#work = 0;
    return work;
  }

  /** @param bytes UTF-8 from `start` to `end` */
  ofBytes(bytes: Uint8Array, start: number, end: number): string {
    const length = end - start;
    if (length > MAX_LENGTH) return this.#found(textOf(bytes, start, length), length);
    const known = this.#knownOf(bytes, start, length);
    if (known !== null) return known;
    // The message may be the current one, with its digits replaced.
    return this.#remember(this.#found(textOf(bytes, start, length), length), length);
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
    const known = isPlain ? this.#knownOf(json, 0, length) : null;
    if (known !== null) return known;
    const message = parsed(text.slice(from, to));
    if (message === null) return null;
    const pattern = this.#found(message, length);
    return isPlain ? this.#remember(pattern, length) : pattern;
  }

  /** Makes a message the current one. @returns its pattern, if it is known */
  #knownOf(bytes: Uint8Array, start: number, length: number): string | null {
    this.#work += KNOWN_WORK + length * KNOWN_BYTE_WORK;
    this.#replaceDigits(bytes, start, length);
    let slot = this.#hash & (SLOTS - 1);
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const known = (this.#slots[slot] ?? 0) - 1;
      if (known < 0) break;
      if (this.#hashes[known] === this.#hash && this.#isAt(known, length)) return this.#patterns[known] ?? null;
      slot = (slot + 1) & (SLOTS - 1);
    }
    this.#slot = slot;
    return null;
  }

  #found(message: string, length: number): string {
    this.#work += NEW_WORK + Math.min(length, 2000) * NEW_BYTE_WORK + this.#quotes * QUOTE_WORK;
    this.#quotes = 0;
    return toByteString(JSON.stringify(patternOf(message)));
  }

  /** Makes a message the current one: replaces its digits, and finds its hash. */
  #replaceDigits(bytes: Uint8Array, start: number, length: number): void {
    const shape = this.#shape;
    let hash = this.#seed;
    let quotes = 0;
    let isVersion = false;
    for (let at = 0; at < length; at++) {
      let byte = bytes[start + at] ?? 0;
      if (byte <= NINE && byte >= ZERO) {
        const next = at + 1 < length ? bytes[start + at + 1] : 0;
        if (!isVersion) byte = byte !== ZERO && (next === SMALL_X || next === CAPITAL_X) ? ONE : ZERO;
      } else {
        isVersion = byte === SMALL_V && at > 0 && shape[at - 1] === SLASH;
        if (byte === QUOTE || byte === DOUBLE_QUOTE) quotes++;
      }
      shape[at] = byte;
      hash = Math.imul(hash ^ byte, 0x01000193);
    }
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca77);
    this.#hash = hash ^ (hash >>> 13);
    this.#quotes = quotes;
  }

  #isAt(known: number, length: number): boolean {
    const own = known === 0 ? 0 : (this.#ends[known - 1] ?? 0);
    if ((this.#ends[known] ?? 0) - own !== length) return false;
    for (let at = 0; at < length; at++) if (this.#bytes[own + at] !== this.#shape[at]) return false;
    return true;
  }

  /** Remembers the pattern of the current message. */
  #remember(pattern: string, length: number): string {
    const from = this.#ends.at(-1) ?? 0;
    const isFull = this.#ends.length === MAX_KNOWN || from + length > MAX_BYTES;
    if (isFull || (this.#slots[this.#slot] ?? 0) !== 0) return pattern;
    if (this.#slots.length === 0) this.#slots = new Int32Array(SLOTS);
    if (from + length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(64 * 1024, this.#bytes.length * 2, from + length));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(this.#shape.subarray(0, length), from);
    this.#slots[this.#slot] = this.#ends.push(from + length);
    this.#hashes.push(this.#hash);
    this.#patterns.push(pattern);
    return pattern;
  }
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
