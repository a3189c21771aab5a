import { isUtf8 } from "node:buffer";

/**
 * Copies and texts of short ranges of bytes. In workerd each call of a `Buffer` method, and each `Buffer` that `subarray`
 * makes, takes longer than most ranges take in a loop.
 */

/** Bytes up to which a loop copies faster than a view and a call. */
const LOOP_BYTES = 128;
/** Bytes up to which a loop makes a text faster than a call. */
const LOOP_TEXT = 64;

const encoder = new TextEncoder();
/** A byte order mark stays. */
const utf8 = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/** Bytes of the longest text in which bytes that are not UTF-8 are read: more of it would hold the thread, and no entry has it. */
const MIXED_BYTES = 512 * 1024;

/**
 * The text of bytes that should be UTF-8. A byte that is not is read as Latin-1, so that it is kept: old programs write Latin-1,
 * and others cut a text within a character. In a text above 512 KiB it becomes U+FFFD.
 */
export function textOfAny(bytes: Uint8Array): string {
  const text = utf8.decode(bytes);
  if (bytes.length > MIXED_BYTES || !text.includes("\ufffd") || isUtf8(bytes)) return text;
  const valid = new Uint8Array(2 * bytes.length);
  let end = 0;
  for (let at = 0; at < bytes.length; ) {
    const size = characterBytes(bytes, at);
    if (size === 0) {
      const byte = bytes[at++] ?? 0;
      valid[end++] = 0xc0 | (byte >> 6);
      valid[end++] = 0x80 | (byte & 0x3f);
    } else for (const next = at + size; at < next; ) valid[end++] = bytes[at++] ?? 0;
  }
  return utf8.decode(valid.subarray(0, end));
}

/** Like `textOfAny` of a range. */
export function textOfRange(bytes: Buffer, from: number, to: number): string {
  const text = bytes.toString("utf8", from, to);
  return text.includes("\ufffd") ? textOfAny(bytes.subarray(from, to)) : text;
}

/** Returns the length of a character of UTF-8; 0 if there is none. */
function characterBytes(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  const size = lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // No second byte may make a character too long, a surrogate, or one beyond U+10FFFF.
  const second = bytes[at + 1] ?? 0;
  const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (second < least || second > most) return 0;
  for (let i = 2; i < size; i++) if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return 0;
  return size;
}

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

const KIB = 1024;

/** A number as texts for people have it: `20,000`. */
export function counted(count: number): string {
  return count.toLocaleString("en-US");
}

/** Bytes in the largest unit that divides them: `5 MiB`, `256 KiB`, `1,000 bytes`. */
export function sized(bytes: number): string {
  if (bytes >= KIB ** 2 && bytes % KIB ** 2 === 0) return `${counted(bytes / KIB ** 2)} MiB`;
  if (bytes >= KIB && bytes % KIB === 0) return `${counted(bytes / KIB)} KiB`;
  return `${counted(bytes)} bytes`;
}
