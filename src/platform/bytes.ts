/**
 * Copies and texts of short ranges of bytes. In workerd each call of a `Buffer` method, and each `Buffer` that `subarray`
 * makes, takes longer than most ranges take in a loop.
 */

/** Bytes up to which a loop copies faster than a view and a call. */
const LOOP_BYTES = 128;
/** Bytes up to which a loop makes a text faster than a call. */
const LOOP_TEXT = 64;

const encoder = new TextEncoder();

/** Copies a range of bytes. @returns the index after them in the target */
export function copyBytes(target: Uint8Array, at: number, source: Uint8Array, from = 0, to = source.length): number {
  if (to - from > LOOP_BYTES) {
    // A subarray of a `Buffer` would be one, too.
    target.set(new Uint8Array(source.buffer, source.byteOffset + from, to - from), at);
    return at + to - from;
  }
  let end = at;
  for (let i = from; i < to; i++) target[end++] = source[i] ?? 0;
  return end;
}

/** The text with one character for each byte. */
export function latin1Text(bytes: Uint8Array, from: number, to: number): string {
  if (to - from > LOOP_TEXT) {
    return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("latin1");
  }
  let text = "";
  for (let i = from; i < to; i++) text += String.fromCharCode(bytes[i] ?? 0);
  return text;
}

/**
 * Writes a text as UTF-8.
 * @param target has room for three bytes for each UTF-16 unit
 * @returns the index after the text
 */
export function writeText(target: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) return at + encoder.encodeInto(text, target.subarray(at)).written;
    target[at + i] = unit;
  }
  return at + text.length;
}

/** Whether a range has ASCII only. */
export function isAsciiRange(bytes: Uint8Array, from: number, to: number): boolean {
  let all = 0;
  for (let i = from; i < to; i++) all |= bytes[i] ?? 0;
  return all < 0x80;
}
