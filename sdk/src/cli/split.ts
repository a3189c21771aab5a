import { isUtf8 } from "node:buffer";

/** Maximal bytes of one entry. The limit of the service. */
const MAX_ENTRY_BYTES = 256 * 1024;

/** One entry of the input, or a fault. */
export interface Piece {
  /** One line of JSON or text, without the line feed. */
  bytes: Uint8Array;
  /** Number of its first line, from 1. */
  line: number;
  /** Why it is not sent; `null` for a valid entry. */
  fault: string | null;
}

type Chunks = AsyncIterable<Uint8Array>;

const LF = 10;
const CR = 13;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const ARRAY_OPEN = 91;
const ARRAY_CLOSE = 93;
const OBJECT_OPEN = 123;
const OBJECT_CLOSE = 125;

const NOT_OBJECT = "is not a JSON object; --text sends lines as messages";
const TOO_LONG = `has more than ${MAX_ENTRY_BYTES} bytes`;
const NOT_UTF8 = "is not valid UTF-8";

/**
 * Splits input into entries while it is read. At most one entry is in memory, independent of the length of the input.
 * @param asText whether lines are messages rather than JSON
 */
export async function* split(chunks: Chunks, asText: boolean): AsyncGenerator<Piece, void> {
  const source = await begin(chunks);
  if (!asText && source.first === ARRAY_OPEN) yield* elements(source.chunks);
  else yield* lines(source.chunks, asText);
}

/** Finds the first byte that is not white space, and removes a byte order mark. */
async function begin(chunks: Chunks): Promise<{ first: number; chunks: Chunks }> {
  const iterator = chunks[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  let first = -1;
  for (let isEnd = false; !isEnd && first === -1 && head.length < MAX_ENTRY_BYTES; ) {
    const { done, value } = await iterator.next();
    isEnd = done === true;
    if (!isEnd) head = Buffer.concat([head, value]);
    // Chunks may split the mark.
    if (head.length >= 3 || isEnd) {
      if (head.length >= 3 && head.readUIntBE(0, 3) === 0xefbbbf) head = head.subarray(3);
      first = head.find((byte) => byte > SPACE) ?? -1;
    } else if (head.length > 0 && head[0] !== 0xef) first = head.find((byte) => byte > SPACE) ?? -1;
  }
  const rest = async function* () {
    if (head.length > 0) yield head;
    for (;;) {
      const { done, value } = await iterator.next();
      if (done) return;
      yield value;
    }
  };
  return { first, chunks: rest() };
}

async function* lines(chunks: Chunks, asText: boolean): AsyncGenerator<Piece, void> {
  const partial = new PartialEntry();
  let line = 1;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
      partial.add(chunk.subarray(from, end));
      const piece = lineOf(partial, line, asText);
      if (piece) yield piece;
      partial.clear();
      line++;
      from = end + 1;
    }
    partial.add(chunk.subarray(from));
  }
  const piece = lineOf(partial, line, asText);
  if (piece) yield piece;
}

function lineOf(partial: PartialEntry, line: number, asText: boolean): Piece | null {
  const bytes = trimmed(partial.bytes(), asText);
  if (partial.isTooLong) return { bytes, line, fault: TOO_LONG };
  if (bytes.length === 0) return null;
  if (!asText && bytes[0] !== OBJECT_OPEN) return { bytes, line, fault: NOT_OBJECT };
  return { bytes, line, fault: asText || isUtf8(bytes) ? null : NOT_UTF8 };
}

/** Removes white space around a line. Text keeps its leading white space. */
function trimmed(bytes: Uint8Array, asText: boolean): Uint8Array {
  let from = 0;
  let to = bytes.length;
  while (to > from && (bytes[to - 1] ?? 0) <= SPACE) to--;
  while (!asText && from < to && (bytes[from] ?? 0) <= SPACE) from++;
  return bytes.subarray(from, to);
}

/** Splits one or several JSON arrays into elements, each as one line. */
async function* elements(chunks: Chunks): AsyncGenerator<Piece, void> {
  const partial = new PartialEntry();
  let line = 1;
  let start = 1;
  let depth = 0;
  let inString = false;
  let isEscaped = false;
  for await (const chunk of chunks) {
    let from = depth > 0 ? 0 : -1;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (byte === LF) line++;
      if (inString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) inString = false;
        continue;
      }
      if (depth === 0) {
        if (byte === ARRAY_OPEN) {
          depth = 1;
          from = at + 1;
          start = line;
        } else if (byte > SPACE) {
          yield { bytes: chunk.subarray(at, at + 1), line, fault: "is after the end of the array" };
          return;
        }
        continue;
      }
      if (byte === QUOTE) inString = true;
      else if (byte === ARRAY_OPEN || byte === OBJECT_OPEN) depth++;
      else if (byte === ARRAY_CLOSE || byte === OBJECT_CLOSE) depth--;
      if (depth === 0 || (depth === 1 && byte === COMMA)) {
        partial.add(chunk.subarray(from, at));
        const piece = elementOf(partial, start);
        if (piece) yield piece;
        partial.clear();
        from = depth === 0 ? -1 : at + 1;
        start = line;
      } else if (depth === 1 && byte <= SPACE && from === at && partial.isEmpty) {
        // Skips space before an element, so that the line number is the one of its first byte.
        from = at + 1;
        start = line;
      }
    }
    if (from >= 0) partial.add(chunk.subarray(from));
  }
  if (depth > 0) yield { bytes: new Uint8Array(), line, fault: "the array is not closed" };
}

function elementOf(partial: PartialEntry, line: number): Piece | null {
  // JSON has line breaks only between tokens, so they can be replaced by spaces.
  const bytes = trimmed(partial.bytes(), false).map((byte) => (byte === LF || byte === CR ? SPACE : byte));
  if (partial.isTooLong) return { bytes, line, fault: TOO_LONG };
  if (bytes.length === 0) return null;
  if (bytes[0] !== OBJECT_OPEN) return { bytes, line, fault: "is not a JSON object" };
  return { bytes, line, fault: isUtf8(bytes) ? null : NOT_UTF8 };
}

/** The first part of an entry, from earlier chunks. */
class PartialEntry {
  isTooLong = false;
  #parts: Uint8Array[] = [];
  #size = 0;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  add(part: Uint8Array): void {
    this.#size += part.length;
    // Includes room for white space around the entry.
    if (this.#size > MAX_ENTRY_BYTES + 1024) {
      this.isTooLong = true;
      this.#parts = [];
    } else if (part.length > 0) this.#parts.push(part);
  }

  bytes(): Uint8Array {
    return this.#parts.length === 1 ? (this.#parts[0] ?? new Uint8Array()) : Buffer.concat(this.#parts);
  }

  clear(): void {
    this.isTooLong = false;
    this.#parts = [];
    this.#size = 0;
  }
}
