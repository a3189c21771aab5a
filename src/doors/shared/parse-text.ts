import { INGEST_LIMITS } from "../../logs/entry.ts";
import { countValues } from "../../logs/ingest/check-json.ts";
import { parseKeepingDigits } from "../../logs/ingest/exact-json.ts";

const QUOTE = 0x22;
const MINUS = 0x2d;
const UPPER_I = 0x49;
const UPPER_N = 0x4e;
const BACKSLASH = 0x5c;

/** Returned for a text that is not JSON. */
export const NOT_JSON = Symbol("not JSON");

/** Characters of JSON that cannot hold more values than an entry may have. */
const FEW_VALUES_LENGTH = 2 * INGEST_LIMITS.entryValues;

/**
 * Parses a JSON text. Integers that a number cannot hold, `NaN` and `Infinity` are strings.
 * @returns `NOT_JSON`, or `undefined` for one with more values than an entry may have, which is not parsed
 */
export function parseText(text: string): unknown {
  if (text.length > FEW_VALUES_LENGTH) {
    const bytes = Buffer.from(text);
    const values = countValues(bytes, 0, bytes.length);
    if (values > INGEST_LIMITS.entryValues) return undefined;
  }
  try {
    return parseKeepingDigits(text);
  } catch {
    const quoted = quoteWords(text);
    return quoted === null ? NOT_JSON : parseOrNot(quoted);
  }
}

function parseOrNot(text: string): unknown {
  try {
    return parseKeepingDigits(text);
  } catch {
    return NOT_JSON;
  }
}

/** Written by clients without a check for them, such as Python's `json.dumps`. */
const WORDS = ["NaN", "Infinity", "-Infinity"];
const HAS_WORD = /NaN|Infinity/;

/**
 * Returns the text with `NaN`, `Infinity` and `-Infinity` outside of strings as strings; `null` if there are none, or more than
 * the values of an entry.
 */
function quoteWords(text: string): string | null {
  if (!HAS_WORD.test(text)) return null;
  const parts: string[] = [];
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at) - 1;
      if (at < 0) return null;
    } else if (code === UPPER_N || code === UPPER_I || code === MINUS) {
      const from = at;
      const word = WORDS.find((one) => text.startsWith(one, from));
      if (word === undefined) continue;
      parts.push(text.slice(copied, at), `"${word}"`);
      if (parts.length > FEW_VALUES_LENGTH) return null;
      copied = at + word.length;
      at = copied - 1;
    }
  }
  return copied === 0 ? null : parts.join("") + text.slice(copied);
}

/** @returns index behind the string, -1 if it does not end */
export function stringEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at++;
  }
  return -1;
}
