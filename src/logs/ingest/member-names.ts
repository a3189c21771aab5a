import { SHOWN_NAME } from "./rejection.ts";

/** Reads the names of an object's members from the bytes of its JSON, without parsing the object. */

const BACKSLASH = 0x5c;
const SMALL_U = 0x75;
/** Maximum characters of a name that matters: the length of the longest array index. */
const PLAIN_NAME = 10;
/** Bytes of such a name if every character is escaped. */
const PLAIN_NAME_BYTES = 6 * PLAIN_NAME;
const SMALL_L = 0x6c;
const SMALL_M = 0x6d;

/**
 * Returns a name that may be `logs`, `message` or an array index, and "" for any other name. A body may have many
 * names, so most are not decoded.
 */
export function plainName(bytes: Uint8Array, from: number, to: number): string {
  const first = bytes[from] ?? 0;
  const isCandidate = first === SMALL_L || first === SMALL_M || first === BACKSLASH || (first >= 0x30 && first <= 0x39);
  if (!isCandidate || to - from > PLAIN_NAME_BYTES) return "";
  let name = "";
  for (let i = from; i < to; ) {
    let code = bytes[i] ?? 0;
    if (code === BACKSLASH) {
      // The other escapes are for characters that none of these names contains.
      if (bytes[i + 1] !== SMALL_U) return "";
      code = 0;
      for (let digit = i + 2; digit < i + 6; digit++) code = code * 16 + hexDigit(bytes[digit] ?? 0);
      i += 6;
    } else i++;
    if (!(code < 0x80) || name.length === PLAIN_NAME) return "";
    name += String.fromCharCode(code);
  }
  return name;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : Number.NaN;
}

/** The largest array index. `Object.keys` returns array indices first, in numeric order. */
const MAX_INDEX = 2 ** 32 - 2;

/** Finds the name that `Object.keys` would return first. */
export class OtherNames {
  readonly #bytes: Uint8Array;
  #index = Number.POSITIVE_INFINITY;
  #from = -1;
  #to = -1;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** @param name as returned by `plainName` */
  add(name: string, from: number, to: number): void {
    if (/^(?:0|[1-9]\d{0,9})$/.test(name) && Number(name) <= MAX_INDEX)
      this.#index = Math.min(this.#index, Number(name));
    else if (this.#from < 0) {
      this.#from = from;
      this.#to = to;
    }
  }

  /** The first name as shown in a message; `null` if there is no name. */
  get first(): string | null {
    if (this.#index !== Number.POSITIVE_INFINITY) return String(this.#index);
    return this.#from < 0 ? null : shownName(this.#bytes, this.#from, this.#to);
  }
}

const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/** Decodes the beginning of a name. @returns "" if the name is not JSON */
function shownName(bytes: Uint8Array, from: number, to: number): string {
  let i = from;
  for (let units = 0; i < to && units < SHOWN_NAME; units++) {
    const byte = bytes[i] ?? 0;
    if (byte === BACKSLASH) i += bytes[i + 1] === SMALL_U ? 6 : 2;
    else if (byte < 0x80) i++;
    else if (byte < 0xe0) i += 2;
    else if (byte < 0xf0) i += 3;
    else {
      i += 4;
      units++;
    }
  }
  try {
    const name: unknown = JSON.parse(`"${decoder.decode(bytes.subarray(from, Math.min(i, to)))}"`);
    return typeof name === "string" ? name.slice(0, SHOWN_NAME) : "";
  } catch {
    return "";
  }
}
