import { isUtf8 } from "node:buffer";

/** Bytes of one entry, as the service takes them. */
const MAX_ENTRY_BYTES = 256 * 1024;

/** One entry as it stood in the input, or why it is none. */
export interface Piece {
  /** One line of JSON or of text, without its end. */
  bytes: Uint8Array;
  /** The line it begins on, from 1. */
  line: number;
  /** Why it is not sent. */
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
 * Takes input apart while it comes. At most one entry is held, however long the input or a line of it is.
 * @param asText whether lines are messages rather than JSON
 */
export async function* split(chunks: Chunks, asText: boolean): AsyncGenerator<Piece, void> {
  const source = await begin(chunks);
  if (!asText && source.first === ARRAY_OPEN) yield* elements(source.chunks);
  else yield* lines(source.chunks, asText);
}

/** Looks at the first byte that says something, and takes a byte order mark away. */
async function begin(chunks: Chunks): Promise<{ first: number; chunks: Chunks }> {
  const iterator = chunks[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  let first = -1;
  for (let isEnd = false; !isEnd && first === -1 && head.length < MAX_ENTRY_BYTES; ) {
    const { done, value } = await iterator.next();
    isEnd = done === true;
    if (!isEnd) head = Buffer.concat([head, value]);
    // A mark may come in pieces.
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
  const held = new Held();
  let line = 1;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
      held.add(chunk.subarray(from, end));
      const piece = lineOf(held, line, asText);
      if (piece) yield piece;
      held.clear();
      line++;
      from = end + 1;
    }
    held.add(chunk.subarray(from));
  }
  const piece = lineOf(held, line, asText);
  if (piece) yield piece;
}

function lineOf(held: Held, line: number, asText: boolean): Piece | null {
  const bytes = trimmed(held.bytes(), asText);
  if (held.isTooLong) return { bytes, line, fault: TOO_LONG };
  if (bytes.length === 0) return null;
  if (!asText && bytes[0] !== OBJECT_OPEN) return { bytes, line, fault: NOT_OBJECT };
  return { bytes, line, fault: asText || isUtf8(bytes) ? null : NOT_UTF8 };
}

/** Without white space around it; text keeps what it begins with. */
function trimmed(bytes: Uint8Array, asText: boolean): Uint8Array {
  let from = 0;
  let to = bytes.length;
  while (to > from && (bytes[to - 1] ?? 0) <= SPACE) to--;
  while (!asText && from < to && (bytes[from] ?? 0) <= SPACE) from++;
  return bytes.subarray(from, to);
}

/** The elements of a JSON array, or of several, each made into one line. */
async function* elements(chunks: Chunks): AsyncGenerator<Piece, void> {
  const held = new Held();
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
          yield { bytes: chunk.subarray(at, at + 1), line, fault: "stands behind the end of the array" };
          return;
        }
        continue;
      }
      if (byte === QUOTE) inString = true;
      else if (byte === ARRAY_OPEN || byte === OBJECT_OPEN) depth++;
      else if (byte === ARRAY_CLOSE || byte === OBJECT_CLOSE) depth--;
      if (depth === 0 || (depth === 1 && byte === COMMA)) {
        held.add(chunk.subarray(from, at));
        const piece = elementOf(held, start);
        if (piece) yield piece;
        held.clear();
        from = depth === 0 ? -1 : at + 1;
        start = line;
      } else if (depth === 1 && byte <= SPACE && from === at && held.isEmpty) {
        // Space before an element, so that the line is the one it begins on.
        from = at + 1;
        start = line;
      }
    }
    if (from >= 0) held.add(chunk.subarray(from));
  }
  if (depth > 0) yield { bytes: new Uint8Array(), line, fault: "the array has no end" };
}

function elementOf(held: Held, line: number): Piece | null {
  // Line ends can stand only between members, where a space says the same.
  const bytes = trimmed(held.bytes(), false).map((byte) => (byte === LF || byte === CR ? SPACE : byte));
  if (held.isTooLong) return { bytes, line, fault: TOO_LONG };
  if (bytes.length === 0) return null;
  if (bytes[0] !== OBJECT_OPEN) return { bytes, line, fault: "is not a JSON object" };
  return { bytes, line, fault: isUtf8(bytes) ? null : NOT_UTF8 };
}

/** The beginning of an entry, from earlier chunks. */
class Held {
  isTooLong = false;
  #parts: Uint8Array[] = [];
  #size = 0;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  add(part: Uint8Array): void {
    this.#size += part.length;
    // Room for white space around it.
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
