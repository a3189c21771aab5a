import { bitsOf, packBits, readVarint, unpackBits, writeVarint } from "./bits.ts";
import { MalformedFile } from "./thrift.ts";

/**
 * The encoding DELTA_BINARY_PACKED: differences to the value before, in blocks of 128, each block relative to its
 * smallest difference, each quarter of a block in as many bits as it needs.
 */

const BLOCK = 128;
const MINIBLOCKS = 4;
const MINIBLOCK = BLOCK / MINIBLOCKS;
/** Difference between the smallest and the largest value up to which all arithmetic is exact. */
export const MAX_DELTA_SPAN = 2 ** 51;

/** Returns the maximum number of bytes that `encodeDelta` writes for a number of values. */
export function deltaBytes(count: number): number {
  return 32 + Math.ceil(count / BLOCK) * (8 + MINIBLOCKS + BLOCK * 7);
}

const deltas = new Float64Array(BLOCK);

/**
 * @param values safe integers that span less than `MAX_DELTA_SPAN`
 * @returns index after the last byte written
 */
export function encodeDelta(
  values: ArrayLike<number>,
  from: number,
  count: number,
  out: Uint8Array,
  at: number,
): number {
  let next = writeVarint(BLOCK, out, at);
  next = writeVarint(MINIBLOCKS, out, next);
  next = writeVarint(count, out, next);
  next = writeVarint(zigzag(count > 0 ? (values[from] ?? 0) : 0), out, next);
  let previous = values[from] ?? 0;
  for (let start = 1; start < count; start += BLOCK) {
    const length = Math.min(BLOCK, count - start);
    let least = Number.POSITIVE_INFINITY;
    for (let index = 0; index < length; index++) {
      const value = values[from + start + index] ?? 0;
      const delta = value - previous;
      if (delta < least) least = delta;
      deltas[index] = delta;
      previous = value;
    }
    next = writeVarint(zigzag(least), out, next);
    const widthsAt = next;
    next += MINIBLOCKS;
    for (let mini = 0; mini < MINIBLOCKS; mini++) {
      const first = mini * MINIBLOCK;
      const last = Math.min(first + MINIBLOCK, length);
      let most = 0;
      for (let index = first; index < last; index++) {
        const relative = (deltas[index] ?? 0) - least;
        deltas[index] = relative;
        if (relative > most) most = relative;
      }
      const width = bitsOf(most);
      out[widthsAt + mini] = width;
      if (width === 0) continue;
      deltas.fill(0, Math.max(first, last), first + MINIBLOCK);
      next = packBits(deltas, first, MINIBLOCK, width, out, next);
    }
  }
  return next;
}

/** Width up to which a value is within two bytes, wherever it begins. */
const TWO_BYTES = 9;

/**
 * Like `decodeDelta`, for numbers of 32 bits. Others are cut, so that the caller checks what it gets. Takes half the
 * time.
 * @returns index after the last byte read
 * @throws MalformedFile
 */
export function decodeShortDelta(bytes: Uint8Array, at: number, out: Int32Array, from: number, count: number): number {
  const cursor = { at };
  let value = readDeltaHead(bytes, cursor, count) | 0;
  if (count > 0) out[from] = value;
  const end = from + count;
  for (let index = from + 1; index < end; ) {
    const least = unzigzag(readVarint(bytes, cursor)) | 0;
    const widthsAt = cursor.at;
    cursor.at += MINIBLOCKS;
    for (let mini = 0; mini < MINIBLOCKS && index < end; mini++) {
      const width = bytes[widthsAt + mini] ?? 0;
      const last = Math.min(index + MINIBLOCK, end);
      const size = width * (MINIBLOCK / 8);
      if (width > 53 || cursor.at + size > bytes.length) throw new MalformedFile("A sequence is incomplete.");
      if (width <= TWO_BYTES) {
        const mask = (1 << width) - 1;
        for (let bit = cursor.at * 8; index < last; index++, bit += width) {
          const byte = bit >> 3;
          const two = (bytes[byte] ?? 0) | ((bytes[byte + 1] ?? 0) << 8);
          value = (value + least + ((two >> (bit & 7)) & mask)) | 0;
          out[index] = value;
        }
      } else {
        unpackBits(bytes, cursor.at, width, out, index, last - index);
        for (; index < last; index++) {
          value = (value + least + (out[index] ?? 0)) | 0;
          out[index] = value;
        }
      }
      cursor.at += size;
    }
  }
  if (cursor.at > bytes.length) throw new MalformedFile("A sequence is incomplete.");
  return cursor.at;
}

/** @returns the first value */
function readDeltaHead(bytes: Uint8Array, cursor: { at: number }, count: number): number {
  const block = readVarint(bytes, cursor);
  const miniblocks = readVarint(bytes, cursor);
  const total = readVarint(bytes, cursor);
  const value = unzigzag(readVarint(bytes, cursor));
  if (block !== BLOCK || miniblocks !== MINIBLOCKS || total !== count) {
    throw new MalformedFile("A sequence has another form.");
  }
  return value;
}

/**
 * Decodes `count` values that `encodeDelta` wrote.
 * @param needed decodes only so many of them
 * @returns index after the last byte read
 * @throws MalformedFile
 */
export function decodeDelta(
  bytes: Uint8Array,
  at: number,
  out: Int32Array | Float64Array,
  from: number,
  count: number,
  needed = count,
): number {
  const cursor = { at };
  let value = readDeltaHead(bytes, cursor, count);
  if (count > 0) out[from] = value;
  const end = from + needed;
  for (let index = from + 1; index < end; ) {
    const least = unzigzag(readVarint(bytes, cursor));
    const widthsAt = cursor.at;
    cursor.at += MINIBLOCKS;
    for (let mini = 0; mini < MINIBLOCKS && index < end; mini++) {
      const width = bytes[widthsAt + mini] ?? 0;
      const length = Math.min(MINIBLOCK, end - index);
      if (width === 0) {
        for (const last = index + length; index < last; index++) {
          value += least;
          out[index] = value;
        }
        continue;
      }
      const size = width * (MINIBLOCK / 8);
      if (width > 53 || cursor.at + size > bytes.length) throw new MalformedFile("A sequence is incomplete.");
      unpackBits(bytes, cursor.at, width, out, index, length);
      cursor.at += size;
      for (const last = index + length; index < last; index++) {
        value += least + (out[index] ?? 0);
        out[index] = value;
      }
    }
  }
  if (cursor.at > bytes.length) throw new MalformedFile("A sequence is incomplete.");
  return cursor.at;
}

function zigzag(value: number): number {
  return value >= 0 ? value * 2 : -value * 2 - 1;
}

function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}
