import { CHUNK_BYTES } from "../limits.ts";
import { decodeText } from "../safe.ts";

interface Chunk {
  /** The lines. The newest chunk has room for more. */
  bytes: Uint8Array;
  /** For each line: its length times 8, plus its level. */
  marks: number[];
}

/** Queued lines, oldest first, as flat bytes, so that their memory is their length. */
export interface Lines {
  count: number;
  bytes: number;
  /** Adds a copy of a line. */
  add(line: Uint8Array, level: number): void;
  /** Removes the oldest line of the lowest level, if the lines below `level` have at least `bytes` bytes in total. */
  evict(level: number, bytes: number): Uint8Array | undefined;
  /** Removes the oldest lines, at least one. */
  take(maxLines: number, maxBytes: number): Uint8Array;
}

export function createLines(): Lines {
  const chunks: Chunk[] = [];
  /** The newest chunk, and its used bytes. */
  let tail: Chunk | undefined;
  let used = 0;
  /** Bytes of each level. */
  const perLevel = [0, 0, 0, 0, 0, 0, 0];

  /** Updates the counts. @param sign 1 for an added line, -1 for a removed one  @returns the line's length */
  function tally(mark: number, sign: number): number {
    const length = mark >> 3;
    perLevel[mark & 7] = (perLevel[mark & 7] ?? 0) + sign * length;
    lines.bytes += sign * length;
    lines.count += sign;
    return length;
  }

  /** Completes the newest chunk, and releases its unused bytes. */
  function seal(): void {
    if (tail) tail.bytes = tail.bytes.slice(0, used);
    tail = undefined;
  }

  function remove(chunk: Chunk, from: number, count: number): Uint8Array {
    const { bytes, marks } = chunk;
    let start = 0;
    for (let i = 0; i < from; i++) start += (marks[i] ?? 0) >> 3;
    let end = start;
    for (const mark of marks.splice(from, count)) end += tally(mark, -1);
    chunk.bytes = from > 0 ? joined([bytes.subarray(0, start), bytes.subarray(end)]) : bytes.subarray(end);
    if (marks.length === 0) chunks.splice(chunks.indexOf(chunk), 1);
    return bytes.subarray(start, end);
  }

  const lines: Lines = {
    count: 0,
    bytes: 0,
    add(line, level) {
      if (tail && used + line.length > tail.bytes.length) seal();
      if (!tail) {
        tail = { bytes: new Uint8Array(Math.max(line.length, CHUNK_BYTES)), marks: [] };
        chunks.push(tail);
        used = 0;
      }
      const mark = line.length * 8 + level;
      tail.bytes.set(line, used);
      tail.marks.push(mark);
      used += tally(mark, 1);
    },
    evict(level, bytes) {
      const below = perLevel.slice(0, level);
      if (below.reduce((sum, more) => sum + more, 0) < bytes) return undefined;
      const lowest = below.findIndex((bytes) => bytes > 0);
      const isOf = (mark: number): boolean => (mark & 7) === lowest;
      const chunk = chunks.find(({ marks }) => marks.some(isOf));
      if (chunk === tail) seal();
      return chunk && remove(chunk, chunk.marks.findIndex(isOf), 1);
    },
    take(maxLines, maxBytes) {
      seal();
      const taken: Uint8Array[] = [];
      let room = maxLines;
      let bytes = 0;
      for (let chunk = chunks[0]; chunk && room > 0; chunk = chunks[0]) {
        bytes += chunk.bytes.length;
        if (bytes > maxBytes && taken.length > 0) break;
        const count = Math.min(chunk.marks.length, room);
        taken.push(remove(chunk, 0, count));
        room -= count;
      }
      return joined(taken);
    },
  };
  return lines;
}

/** Concatenates lines. */
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
