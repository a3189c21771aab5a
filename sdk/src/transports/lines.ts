import { decodeText } from "../safe.ts";

/** Bytes of a chunk; larger entries get one of their own. */
const CHUNK_BYTES = 64 * 1024;

interface Chunk {
  /** Lines, and room for more in the newest. */
  bytes: Uint8Array;
  /** Of each line. */
  levels: number[];
}

/** Lines that wait, oldest first, as flat bytes: what they cost is what they measure. */
export interface Lines {
  count: number;
  bytes: number;
  /** Takes a line; it is copied. */
  add(line: Uint8Array, level: number): void;
  /** Takes out the oldest line of the lowest level below `level`, if there is one. */
  evict(level: number): Uint8Array | undefined;
  /** Takes out the oldest lines, at least one. */
  take(maxLines: number, maxBytes: number): Uint8Array;
}

export function createLines(): Lines {
  const chunks: Chunk[] = [];
  /** The newest chunk, and the bytes of it that are used. */
  let tail: Chunk | undefined;
  let used = 0;
  /** Lines of each level. */
  const perLevel = [0, 0, 0, 0, 0, 0, 0];

  function tally(level: number, more: number): void {
    perLevel[level] = (perLevel[level] ?? 0) + more;
    lines.count += more;
  }

  /** Closes the newest chunk, and gives back what is left of its room. */
  function seal(): void {
    if (tail) tail.bytes = tail.bytes.slice(0, used);
    tail = undefined;
  }

  function remove(chunk: Chunk, from: number, count: number): Uint8Array {
    const { bytes, levels } = chunk;
    const after = (at: number, count: number): number => {
      for (let i = 0; i < count; i++) at = bytes.indexOf(10, at) + 1;
      return at;
    };
    const start = after(0, from);
    const end = count === levels.length ? bytes.length : after(start, count);
    for (const level of levels.splice(from, count)) tally(level, -1);
    chunk.bytes = from > 0 ? joined([bytes.subarray(0, start), bytes.subarray(end)]) : bytes.subarray(end);
    if (levels.length === 0) chunks.splice(chunks.indexOf(chunk), 1);
    lines.bytes += start - end;
    return bytes.subarray(start, end);
  }

  const lines: Lines = {
    count: 0,
    bytes: 0,
    add(line, level) {
      if (tail && used + line.length > tail.bytes.length) seal();
      if (!tail) {
        tail = { bytes: new Uint8Array(Math.max(line.length, CHUNK_BYTES)), levels: [] };
        chunks.push(tail);
        used = 0;
      }
      tail.bytes.set(line, used);
      tail.levels.push(level);
      tally(level, 1);
      used += line.length;
      lines.bytes += line.length;
    },
    evict(level) {
      const lowest = perLevel.findIndex((count) => count > 0);
      if (lowest < 0 || lowest >= level) return undefined;
      const chunk = chunks.find((one) => one.levels.includes(lowest));
      if (chunk === tail) seal();
      return chunk && remove(chunk, chunk.levels.indexOf(lowest), 1);
    },
    take(maxLines, maxBytes) {
      seal();
      const taken: Uint8Array[] = [];
      let room = maxLines;
      let bytes = 0;
      for (let chunk = chunks[0]; chunk && room > 0; chunk = chunks[0]) {
        bytes += chunk.bytes.length;
        if (bytes > maxBytes && taken.length > 0) break;
        const count = Math.min(chunk.levels.length, room);
        taken.push(remove(chunk, 0, count));
        room -= count;
      }
      return joined(taken);
    },
  };
  return lines;
}

/** Lines as one run of bytes. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function linesOf(bytes: Uint8Array): string[] {
  return decodeText(bytes).trimEnd().split("\n");
}
