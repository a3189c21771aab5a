/** Bytes beyond which Snappy's own encoder does not refer back. */
const BLOCK_BYTES = 65_536;

/**
 * Compresses to one block of Snappy's raw format.
 * @param reach bytes by which copies may refer back
 */
export function snappyBlock(input: Uint8Array, reach = BLOCK_BYTES): Uint8Array {
  const out: number[] = [];
  varint(out, input.length);
  const seen = new Map<number, number>();
  let literalFrom = 0;
  for (let at = 0; at < input.length; ) {
    const hash = at + 4 <= input.length ? word(input, at) : -1;
    const found = hash < 0 ? undefined : seen.get(hash);
    if (hash >= 0) seen.set(hash, at);
    if (found === undefined || at - found > reach) {
      at++;
      continue;
    }
    let length = 4;
    while (length < 64 && at + length < input.length && input[found + length] === input[at + length]) length++;
    literal(out, input.subarray(literalFrom, at));
    copy(out, at - found, length);
    at += length;
    literalFrom = at;
  }
  literal(out, input.subarray(literalFrom));
  return Uint8Array.from(out);
}

/** One block that announces `length` bytes and makes them of `elements`. */
export function snappyOf(length: number, elements: readonly (readonly number[])[]): Uint8Array {
  const out: number[] = [];
  varint(out, length);
  for (const element of elements) out.push(...element);
  return Uint8Array.from(out);
}

/** A copy with an offset of four bytes, of 1 to 64 bytes. */
export function farCopy(offset: number, length: number): number[] {
  return [((length - 1) << 2) | 3, offset & 255, (offset >>> 8) & 255, (offset >>> 16) & 255, offset >>> 24];
}

function literal(out: number[], bytes: Uint8Array): void {
  if (bytes.length === 0) return;
  const value = bytes.length - 1;
  if (value < 60) out.push(value << 2);
  else if (value < 256) out.push(60 << 2, value);
  else if (value < 65_536) out.push(61 << 2, value & 255, value >> 8);
  else out.push(62 << 2, value & 255, (value >> 8) & 255, value >> 16);
  for (const byte of bytes) out.push(byte);
}

function copy(out: number[], offset: number, length: number): void {
  if (offset < 2048 && length >= 4 && length <= 11) {
    out.push(1 | ((length - 4) << 2) | ((offset >> 8) << 5), offset & 255);
  } else if (offset < 65_536) {
    out.push(2 | ((length - 1) << 2), offset & 255, offset >> 8);
  } else {
    out.push(...farCopy(offset, length));
  }
}

function varint(out: number[], value: number): void {
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) out.push((rest % 128) | 128);
  out.push(rest);
}

function word(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)) >>> 0
  );
}
