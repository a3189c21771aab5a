import { decodeShortDelta } from "../parquet/delta.ts";
import { ENCODING, type Encoding } from "../parquet/metadata.ts";
import { MalformedFile } from "../parquet/thrift.ts";

/** Bytes of the strings of one page, each with its prefix. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;

/** Bytes that the strings of a page share. Module state, because a page is read within one call. */
let pagePrefixes = new Int32Array(0);

/** The strings of a page as they are stored: behind each other, those after the first perhaps without a common prefix. */
export interface StoredStrings {
  raw: Uint8Array;
  /** Index of the first string in `raw`. */
  start: number;
  /** Bytes that each string after the first shares with the first and that are not stored again. */
  shared: number;
}

/**
 * Finds the strings of a page.
 * @param lengths receives the lengths of their stored bytes
 * @throws MalformedFile
 */
export function findStrings(
  raw: Uint8Array,
  at: number,
  encoding: Encoding,
  lengths: Int32Array,
  present: number,
): StoredStrings {
  if (encoding === ENCODING.deltaLength) {
    const start = decodeShortDelta(raw, at, lengths, 0, present);
    checkLengths(lengths, present, raw.length - start);
    return { raw, start, shared: 0 };
  }
  if (encoding !== ENCODING.prefixed) throw new MalformedFile("A page has another encoding.");
  if (pagePrefixes.length < present) pagePrefixes = new Int32Array(present);
  const prefixes = pagePrefixes;
  const lengthsAt = decodeShortDelta(raw, at, prefixes, 0, present);
  const start = decodeShortDelta(raw, lengthsAt, lengths, 0, present);
  checkLengths(lengths, present, raw.length - start);
  // The writer stores a prefix only if all strings share it.
  const shared = present > 1 ? (prefixes[1] ?? 0) : 0;
  let isShared = (prefixes[0] ?? 0) === 0;
  for (let index = 1; index < present; index++) if (prefixes[index] !== shared) isShared = false;
  if (!isShared || shared < 0 || shared > (lengths[0] ?? 0)) throw new MalformedFile("A page has other prefixes.");
  if (raw.length - start + shared * (present - 1) > MAX_TEXT_BYTES) throw new MalformedFile("A page is too large.");
  return { raw, start, shared };
}

/**
 * Reads the strings of a page.
 * @param lengths receives their lengths
 * @returns their bytes
 * @throws MalformedFile
 */
export function readStrings(
  page: Uint8Array,
  at: number,
  encoding: Encoding,
  lengths: Int32Array,
  present: number,
): Uint8Array {
  const { raw, start, shared } = findStrings(page, at, encoding, lengths, present);
  if (shared === 0) return raw.subarray(start);
  let from = start;
  const text = new Uint8Array(raw.length - from + shared * (present - 1));
  let next = lengths[0] ?? 0;
  text.set(raw.subarray(from, from + next));
  from += next;
  for (let index = 1; index < present; index++) {
    const length = lengths[index] ?? 0;
    // Faster than copies of a few bytes by a call.
    for (let byte = 0; byte < shared; byte++) text[next + byte] = text[byte] ?? 0;
    next += shared;
    for (let byte = 0; byte < length; byte++) text[next + byte] = raw[from + byte] ?? 0;
    next += length;
    from += length;
    lengths[index] = shared + length;
  }
  return text;
}

function checkLengths(lengths: Int32Array, present: number, size: number): void {
  let sum = 0;
  let signs = 0;
  for (let index = 0; index < present; index++) {
    const length = lengths[index] ?? 0;
    signs |= length;
    sum += length;
  }
  if (signs < 0) throw new MalformedFile("A string has a negative length.");
  if (sum !== size) throw new MalformedFile("A page has another length.");
}
