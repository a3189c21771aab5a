import { MalformedFile } from "./thrift.ts";

/**
 * Bit packing: values of one width after each other, least significant bit first. Widths are 0 to 53 bits; values are
 * non-negative safe integers.
 */

/** Widths up to which a value, shifted by at most 7 bits, fits 32 bits. */
const NARROW = 25;
const CHUNK_BITS = 24;
const CHUNK = 2 ** CHUNK_BITS;

/** Returns the number of bits of a non-negative safe integer; 0 for 0. */
export function bitsOf(value: number): number {
  return value < 2 ** 31 ? 32 - Math.clz32(value) : 32 + bitsOf(Math.floor(value / 2 ** 32));
}

/**
 * Packs `count` values; the last byte is filled with zeros.
 * @returns index after the last byte written
 */
export function packBits(
  values: ArrayLike<number>,
  from: number,
  count: number,
  width: number,
  out: Uint8Array,
  at: number,
): number {
  let next = at;
  let open = 0;
  let filled = 0;
  for (let index = from; index < from + count; index++) {
    let rest = values[index] ?? 0;
    for (let left = width; left > 0; left -= CHUNK_BITS) {
      const bits = Math.min(left, CHUNK_BITS);
      const part = left <= CHUNK_BITS ? rest : rest % CHUNK;
      open |= part << filled;
      filled += bits;
      for (; filled >= 8; filled -= 8) {
        out[next++] = open;
        open >>>= 8;
      }
      if (left > CHUNK_BITS) rest = Math.floor(rest / CHUNK);
    }
  }
  if (filled > 0) out[next++] = open;
  return next;
}

/** Unpacks `count` values. The caller has checked that `bytes` has `count * width` bits from `at` on. */
export function unpackBits(
  bytes: Uint8Array,
  at: number,
  width: number,
  out: Int32Array | Float64Array,
  from: number,
  count: number,
): void {
  if (width > NARROW) {
    unpackWide(bytes, at, width, out, from, count);
    return;
  }
  const mask = 2 ** width - 1;
  const end = from + count;
  let bit = at * 8;
  // A value of up to 9 bits is within 2 bytes, one of up to 17 within 3, others within 4. Separate loops take half the time.
  if (width <= 9) {
    for (let index = from; index < end; index++, bit += width) {
      const byte = bit >> 3;
      out[index] = (((bytes[byte] ?? 0) | ((bytes[byte + 1] ?? 0) << 8)) >> (bit & 7)) & mask;
    }
    return;
  }
  if (width <= 17) {
    for (let index = from; index < end; index++, bit += width) {
      const byte = bit >> 3;
      const low = (bytes[byte] ?? 0) | ((bytes[byte + 1] ?? 0) << 8);
      out[index] = ((low | ((bytes[byte + 2] ?? 0) << 16)) >> (bit & 7)) & mask;
    }
    return;
  }
  for (let index = from; index < end; index++, bit += width) {
    const byte = bit >> 3;
    const low = (bytes[byte] ?? 0) | ((bytes[byte + 1] ?? 0) << 8);
    const high = ((bytes[byte + 2] ?? 0) << 16) | ((bytes[byte + 3] ?? 0) << 24);
    out[index] = ((low | high) >>> (bit & 7)) & mask;
  }
}

function unpackWide(
  bytes: Uint8Array,
  at: number,
  width: number,
  out: Int32Array | Float64Array,
  from: number,
  count: number,
): void {
  let bit = at * 8;
  for (let index = from; index < from + count; index++) {
    let value = 0;
    let scale = 1;
    for (let left = width; left > 0; ) {
      const shift = bit & 7;
      const taken = Math.min(8 - shift, left);
      value += (((bytes[bit >> 3] ?? 0) >> shift) & (2 ** taken - 1)) * scale;
      scale *= 2 ** taken;
      bit += taken;
      left -= taken;
    }
    out[index] = value;
  }
}

/** Bytes that a varint of at most 53 bits takes. */
const VARINT_BYTES = 8;
/** Values from which a repetition is written as a run. Packed groups have 8 values. */
const SHORTEST_RUN = 8;

/** Returns the maximum number of bytes that `encodeRuns` writes. */
export function runsBytes(count: number, width: number): number {
  return 2 * VARINT_BYTES + Math.ceil(count / 8) * (width + 1) + VARINT_BYTES;
}

/**
 * Encodes values as runs of equal values and bit-packed groups of eight ("RLE / bit-packing hybrid").
 * @param width bits of a value, 0 to 24
 * @returns index after the last byte written
 */
export function encodeRuns(
  values: ArrayLike<number>,
  from: number,
  count: number,
  width: number,
  out: Uint8Array,
  at: number,
): number {
  const end = from + count;
  let next = at;
  let packedFrom = from;
  for (let index = from; index < end; ) {
    const value = values[index];
    let stop = index + 1;
    while (stop < end && values[stop] === value) stop++;
    // A packed run has whole groups, so it takes the first values of the repetition.
    const borrowed = (8 - ((index - packedFrom) & 7)) & 7;
    if (stop - index - borrowed >= SHORTEST_RUN) {
      next = writePacked(values, packedFrom, index + borrowed - packedFrom, width, out, next);
      next = writeRun(value ?? 0, stop - index - borrowed, width, out, next);
      packedFrom = stop;
    }
    index = stop;
  }
  return writePacked(values, packedFrom, end - packedFrom, width, out, next);
}

function writePacked(
  values: ArrayLike<number>,
  from: number,
  count: number,
  width: number,
  out: Uint8Array,
  at: number,
): number {
  if (count === 0) return at;
  const groups = Math.ceil(count / 8);
  const start = writeVarint(groups * 2 + 1, out, at);
  const end = packBits(values, from, count, width, out, start);
  out.fill(0, end, start + groups * width);
  return start + groups * width;
}

function writeRun(value: number, length: number, width: number, out: Uint8Array, at: number): number {
  let next = writeVarint(length * 2, out, at);
  for (let bits = 0; bits < width; bits += 8) out[next++] = value >> bits;
  return next;
}

/**
 * Decodes `count` values that `encodeRuns` wrote, all of them below `limit`.
 * @returns index after the last byte read
 * @throws MalformedFile
 */
export function decodeRuns(
  bytes: Uint8Array,
  at: number,
  width: number,
  out: Int32Array,
  from: number,
  count: number,
  limit: number,
): number {
  if (width > CHUNK_BITS) throw new MalformedFile("Its indices are too wide.");
  const cursor = { at };
  const end = from + count;
  for (let index = from; index < end; ) {
    const head = readVarint(bytes, cursor);
    const length = Math.floor(head / 2);
    if (head % 2 === 1) {
      const taken = Math.min(length * 8, end - index);
      if (length === 0 || cursor.at + length * width > bytes.length) throw new MalformedFile("A run is incomplete.");
      unpackBits(bytes, cursor.at, width, out, index, taken);
      if (limit < 2 ** width && !areBelow(out, index, index + taken, limit)) throw new MalformedFile(OUTSIDE);
      cursor.at += length * width;
      index += taken;
    } else {
      let value = 0;
      for (let bits = 0; bits < width; bits += 8) value |= (bytes[cursor.at++] ?? 0) << bits;
      if (length === 0 || length > end - index || cursor.at > bytes.length) {
        throw new MalformedFile("A run has another length.");
      }
      if (value >= limit) throw new MalformedFile(OUTSIDE);
      out.fill(value, index, index + length);
      index += length;
    }
  }
  return cursor.at;
}

/**
 * Returns some of the values that `encodeRuns` wrote, without decoding the others.
 * @param count of all values
 * @param wanted indices of values, in rising order
 * @param limit values are below it
 * @throws MalformedFile
 */
export function pickFromRuns(
  bytes: Uint8Array,
  at: number,
  width: number,
  count: number,
  wanted: readonly number[],
  limit: number,
): number[] {
  if (width > CHUNK_BITS) throw new MalformedFile("Its indices are too wide.");
  const cursor = { at };
  const picked: number[] = [];
  const one = new Int32Array(8);
  for (let index = 0; index < count && picked.length < wanted.length; ) {
    const head = readVarint(bytes, cursor);
    const isPacked = head % 2 === 1;
    const length = Math.floor(head / 2) * (isPacked ? 8 : 1);
    const size = isPacked ? (length / 8) * width : Math.ceil(width / 8);
    if (length === 0 || (!isPacked && length > count - index) || cursor.at + size > bytes.length) {
      throw new MalformedFile("A run has another length.");
    }
    for (let next = wanted[picked.length]; next !== undefined && next < index + length; next = wanted[picked.length]) {
      let value = 0;
      if (isPacked) {
        // Eight values begin at a byte.
        const group = (next - index) >> 3;
        unpackBits(bytes, cursor.at + group * width, width, one, 0, 8);
        value = one[(next - index) & 7] ?? 0;
      } else for (let byte = 0; byte < size; byte++) value |= (bytes[cursor.at + byte] ?? 0) << (8 * byte);
      if (value >= limit) throw new MalformedFile(OUTSIDE);
      picked.push(value);
    }
    cursor.at += size;
    index += length;
  }
  if (picked.length < wanted.length) throw new MalformedFile("A run has another length.");
  return picked;
}

const OUTSIDE = "An index is outside of the dictionary.";

function areBelow(values: Int32Array, from: number, to: number, limit: number): boolean {
  for (let index = from; index < to; index++) if ((values[index] ?? 0) >= limit) return false;
  return true;
}

export function writeVarint(value: number, out: Uint8Array, at: number): number {
  let next = at;
  let rest = value;
  while (rest >= 0x80) {
    out[next++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  out[next++] = rest;
  return next;
}

/** @throws MalformedFile */
export function readVarint(bytes: Uint8Array, cursor: { at: number }): number {
  let value = 0;
  let scale = 1;
  for (;;) {
    const byte = bytes[cursor.at++];
    if (byte === undefined || scale > 2 ** 56) throw new MalformedFile("A number is incomplete.");
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
    scale *= 0x80;
  }
}
