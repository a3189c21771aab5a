/** Bytes of a chunk; larger entries get one of their own. */
const CHUNK_BYTES = 64 * 1024;
/** In place of a level: the entry is gone, its bytes still stand. */
const GONE = -1;

interface Chunk {
  bytes: Uint8Array;
  /** Where each entry ends, after a 0. */
  ends: number[];
  /** 0 to 6, or `GONE`. */
  levels: number[];
  /** Entries at the head that are taken. */
  head: number;
  /** When the first entry came, epoch milliseconds. */
  since: number;
}

/** Lines that wait, oldest first, as flat bytes: what they cost is what they measure. */
export interface LineBuffer {
  count(): number;
  bytes(): number;
  /** When the oldest may have come, epoch milliseconds; never too late. */
  since(): number;
  add(line: Uint8Array, level: number, now: number): void;
  /** Takes out the oldest line of the lowest level below `level`; `undefined` if there is none. */
  evict(level: number): Uint8Array | undefined;
  /** Takes out the oldest lines, at least one. */
  take(maxLines: number, maxBytes: number): Uint8Array[];
}

export function createLineBuffer(): LineBuffer {
  let chunks: Chunk[] = [];
  /** The newest chunk, and the bytes of it that are used. */
  let tail: Chunk;
  let used = 0;
  /** Lines of each level. */
  const perLevel: number[] = [0, 0, 0, 0, 0, 0, 0];
  let count = 0;
  let bytes = 0;
  /** Bytes of evicted lines that still take room. */
  let wasted = 0;

  function add(line: Uint8Array, level: number, now: number): void {
    if (chunks.length === 0 || used + line.length > tail.bytes.length) {
      const room = new Uint8Array(Math.max(line.length, CHUNK_BYTES));
      tail = { bytes: room, ends: [0], levels: [], head: 0, since: now };
      used = 0;
      chunks.push(tail);
    }
    tail.bytes.set(line, used);
    used += line.length;
    tail.ends.push(used);
    tail.levels.push(level);
    perLevel[level] = (perLevel[level] ?? 0) + 1;
    count++;
    bytes += line.length;
  }

  /** Takes a line out of the books; its bytes stand until they are overwritten or dropped. */
  function remove({ bytes: room, ends, levels }: Chunk, i: number): Uint8Array {
    const line = room.subarray(ends[i], ends[i + 1]);
    const level = levels[i] ?? GONE;
    perLevel[level] = (perLevel[level] ?? 0) - 1;
    levels[i] = GONE;
    count--;
    bytes -= line.length;
    return line;
  }

  /** Moves what is left together, so that evicted lines take no memory. */
  function compact(): void {
    const old = chunks;
    chunks = [];
    wasted = 0;
    for (const chunk of old) {
      chunk.levels.forEach((level, i) => {
        if (level !== GONE) add(remove(chunk, i), level, chunk.since);
      });
    }
  }

  return {
    count: () => count,
    bytes: () => bytes,
    since: () => chunks[0]?.since ?? 0,
    add,
    evict(level) {
      const lowest = perLevel.findIndex((n) => n > 0);
      if (lowest < 0 || lowest >= level) return undefined;
      const chunk = chunks.find(({ levels }) => levels.includes(lowest));
      if (!chunk) return undefined;
      const line = remove(chunk, chunk.levels.indexOf(lowest)).slice();
      wasted += line.length;
      if (wasted > CHUNK_BYTES && wasted * 10 > bytes) compact();
      return line;
    },
    take(maxLines, maxBytes) {
      const taken: Uint8Array[] = [];
      let size = 0;
      for (let chunk = chunks[0]; chunk && taken.length < maxLines; chunk = chunks[0]) {
        const { ends, levels, head } = chunk;
        if (head === levels.length) {
          chunks.shift();
          continue;
        }
        const length = (ends[head + 1] ?? 0) - (ends[head] ?? 0);
        if (levels[head] === GONE) wasted -= length;
        else {
          size += length;
          if (size > maxBytes && taken.length > 0) break;
          taken.push(remove(chunk, head));
        }
        chunk.head++;
      }
      if (count === 0) {
        chunks = [];
        wasted = 0;
      }
      return taken;
    },
  };
}

/** Lines as one run of bytes. */
export function joined(lines: readonly Uint8Array[]): Uint8Array {
  const body = new Uint8Array(lines.reduce((sum, line) => sum + line.length, 0));
  let at = 0;
  for (const line of lines) {
    body.set(line, at);
    at += line.length;
  }
  return body;
}
