import { decodeDelta } from "../parquet/delta.ts";
import { ENCODING, type Encoding } from "../parquet/metadata.ts";
import { MalformedFile } from "../parquet/thrift.ts";

/** Bytes of the strings of one page, each with its prefix. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;

/**
 * Reads the strings of a page.
 * @param lengths receives their lengths
 * @returns their bytes
 */
export function readStrings(
  raw: Uint8Array,
  at: number,
  encoding: Encoding,
  lengths: Int32Array,
  present: number,
): Uint8Array {
  if (encoding === ENCODING.deltaLength) {
    const start = decodeDelta(raw, at, lengths, 0, present);
    checkLengths(lengths, present, raw.length - start);
    return raw.subarray(start);
  }
  if (encoding !== ENCODING.prefixed) throw new MalformedFile("A page has another encoding.");
  const prefixes = new Int32Array(present);
  const lengthsAt = decodeDelta(raw, at, prefixes, 0, present);
  let from = decodeDelta(raw, lengthsAt, lengths, 0, present);
  checkLengths(lengths, present, raw.length - from);
  // The writer stores a prefix only if all strings share it.
  const shared = prefixes[1] ?? 0;
  const isShared = prefixes.every((prefix, index) => prefix === (index === 0 ? 0 : shared));
  if (!isShared || shared < 0 || shared > (lengths[0] ?? 0)) throw new MalformedFile("A page has other prefixes.");
  const size = raw.length - from + shared * (present - 1);
  if (size > MAX_TEXT_BYTES) throw new MalformedFile("A page is too large.");
  const text = new Uint8Array(size);
  let next = lengths[0] ?? 0;
  text.set(raw.subarray(from, from + next));
  from += next;
  for (let index = 1; index < present; index++) {
    const length = lengths[index] ?? 0;
    text.copyWithin(next, 0, shared);
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
  for (let index = 0; index < present; index++) {
    const length = lengths[index] ?? 0;
    if (length < 0) throw new MalformedFile("A string has a negative length.");
    sum += length;
  }
  if (sum !== size) throw new MalformedFile("A page has another length.");
}
