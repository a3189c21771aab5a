const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const ZERO = 0x30;
const LESS_THAN = 0x3c;
/** Digits of an octet count. */
const MAX_COUNT_DIGITS = 8;
/** A message has a priority. */
const MIN_COUNT = "<0>".length;
/** Bytes by which a count may be too large: it counts a line break, for example, that was not sent. */
const MAX_EXCESS = 16;

/** A message behind its octet count (RFC 6587, 3.4.1). */
export interface Frame {
  /** Where the message begins. */
  start: number;
  /** Where it ends by its count, perhaps behind the bytes that have arrived. */
  end: number;
}

/** Whether something is so; `short` if bytes that have not arrived decide. */
export type Found = boolean | "short";

/** Reads digits, a space and the `<` of a priority. */
export function frameAt(bytes: Uint8Array, at: number): Frame | "short" | null {
  let length = 0;
  for (let index = at; index <= at + MAX_COUNT_DIGITS; index++) {
    const byte = bytes[index];
    if (byte === undefined) return "short";
    if (byte === SPACE && index > at) {
      const start = index + 1;
      if (start === bytes.length) return "short";
      return bytes[start] === LESS_THAN && length >= MIN_COUNT ? { start, end: start + length } : null;
    }
    const digit = byte - ZERO;
    if (digit < 0 || digit > 9) return null;
    length = 10 * length + digit;
  }
  return null;
}

/** Whether a message may end here: at the end of the body, or before a line break, a zero, a frame or a priority. */
function isBoundary(bytes: Uint8Array, at: number, isEnd: boolean): Found {
  const byte = bytes[at];
  if (byte === undefined) return isEnd ? at === bytes.length : "short";
  if (endsMessage(byte)) return true;
  const frame = frameAt(bytes, at);
  if (frame === "short") return !isEnd && frame;
  if (frame === null || !isDigit(bytes[at - 1] ?? 0)) return frame !== null;
  // The digit before may belong to the count, unless the count is right without it.
  const after = bytes[frame.end];
  if (after === undefined) return isEnd || "short";
  return endsMessage(after) || isDigit(after);
}

function endsMessage(byte: number): boolean {
  return byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === 0 || byte === LESS_THAN;
}

/** Whether the count of a frame is right. */
export function isExact(bytes: Uint8Array, { end }: Frame, isEnd: boolean): Found {
  return end > bytes.length ? !isEnd && "short" : isBoundary(bytes, end, isEnd);
}

/**
 * Finds where a message with a wrong count ends: before the next frame at the start of a line, or about behind the counted
 * bytes before the next frame or line.
 * @returns the end of the bytes if there is none
 */
export function endOfMiscounted(bytes: Uint8Array, frame: Frame): number {
  for (let at = frame.start + 1; at < bytes.length; at++) {
    const before = bytes[at - 1] ?? 0;
    if (before === LINE_FEED) {
      if (at >= frame.end || isFrame(bytes, at)) return at;
    } else if (at >= frame.end - MAX_EXCESS && !isDigit(before) && isFrame(bytes, at)) return at;
  }
  return bytes.length;
}

/**
 * Finds the first frame inside a line whose count is right. The beginning of the line is the end of a message whose
 * beginning was in another body.
 */
export function frameInLine(bytes: Uint8Array, from: number, to: number, isEnd: boolean): number | "short" | null {
  for (let at = from + 1; at < to; at++) {
    if (!isDigit(bytes[at] ?? 0)) continue;
    const frame = frameAt(bytes, at);
    const found = frame === null ? false : frame === "short" ? !isEnd && frame : isExact(bytes, frame, isEnd);
    if (found === "short") return found;
    if (found) return at;
  }
  return null;
}

function isFrame(bytes: Uint8Array, at: number): boolean {
  const frame = frameAt(bytes, at);
  return frame !== null && frame !== "short";
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= ZERO + 9;
}
