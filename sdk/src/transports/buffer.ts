/** Bytes of a chunk; larger entries get one of their own. */
const CHUNK_BYTES = 64 * 1024;
/** In place of a level: the entry is gone, its bytes still stand. */
const GONE = 255;
const LEVELS = 7;

interface Chunk {
  bytes: Uint8Array;
  used: number;
  /** Where each entry ends. */
  ends: number[];
  /** 0 to 6, or `GONE`. */
  levels: number[];
  /** When the first entry came, epoch milliseconds. */
  since: number;
}

/** Lines that wait, oldest first, as flat bytes: what they cost is what they measure. */
export interface LineBuffer {
  readonly count: number;
  readonly bytes: number;
  /** When the oldest may have come, epoch milliseconds; never too late. */
  readonly since: number;
  add(line: Uint8Array, level: number, now: number): void;
  /** Takes out the oldest line of the lowest level below `level`; `undefined` if there is none. */
  evict(level: number): Uint8Array | undefined;
  /** Takes out the oldest lines, at least one. */
  take(maxLines: number, maxBytes: number): { body: Uint8Array; count: number };
}

export function createLineBuffer(): LineBuffer {
  let chunks: Chunk[] = [];
  const perLevel: number[] = new Array(LEVELS).fill(0);
  /** Per level, the chunk before which none of its lines is left. */
  let hints: number[] = new Array(LEVELS).fill(0);
  let count = 0;
  let bytes = 0;
  /** Bytes of evicted lines that still take room. */
  let wasted = 0;
  /** Lines at the head of the first chunk that are taken. */
  let head = 0;

  function add(line: Uint8Array, level: number, now: number): void {
    let last = chunks[chunks.length - 1];
    if (!last || last.used + line.length > last.bytes.length) {
      const room = new Uint8Array(Math.max(line.length, CHUNK_BYTES));
      last = { bytes: room, used: 0, ends: [], levels: [], since: now };
      chunks.push(last);
    }
    last.bytes.set(line, last.used);
    last.used += line.length;
    last.ends.push(last.used);
    last.levels.push(level);
    perLevel[level] = (perLevel[level] ?? 0) + 1;
    count++;
    bytes += line.length;
  }

  function forget(level: number, size: number): void {
    perLevel[level] = (perLevel[level] ?? 0) - 1;
    count--;
    bytes -= size;
  }

  /** Moves what is left together, so that evicted lines take no memory. */
  function compact(): void {
    const old = chunks;
    let from = head;
    chunks = [];
    head = wasted = count = bytes = 0;
    perLevel.fill(0);
    hints.fill(0);
    for (const chunk of old) {
      for (let i = from; i < chunk.ends.length; i++) {
        const level = chunk.levels[i] ?? GONE;
        if (level !== GONE) add(chunk.bytes.subarray(chunk.ends[i - 1] ?? 0, chunk.ends[i]), level, chunk.since);
      }
      from = 0;
    }
  }

  return {
    get count() {
      return count;
    },
    get bytes() {
      return bytes;
    },
    get since() {
      return chunks[0]?.since ?? 0;
    },
    add,
    evict(level) {
      const lowest = perLevel.findIndex((n) => n > 0);
      if (lowest < 0 || lowest >= level) return undefined;
      for (let c = hints[lowest] ?? 0; c < chunks.length; c++) {
        const chunk = chunks[c];
        const i = chunk?.levels.indexOf(lowest, c === 0 ? head : 0) ?? -1;
        if (!chunk || i < 0) continue;
        hints[lowest] = c;
        const line = chunk.bytes.slice(chunk.ends[i - 1] ?? 0, chunk.ends[i]);
        chunk.levels[i] = GONE;
        forget(lowest, line.length);
        wasted += line.length;
        if (wasted > CHUNK_BYTES && wasted * 10 > bytes) compact();
        return line;
      }
      return undefined;
    },
    take(maxLines, maxBytes) {
      const taken: Uint8Array[] = [];
      let size = 0;
      for (let chunk = chunks[0]; chunk && taken.length < maxLines; chunk = chunks[0]) {
        if (head === chunk.ends.length) {
          chunks.shift();
          hints = hints.map((hint) => Math.max(hint - 1, 0));
          head = 0;
          continue;
        }
        const from = chunk.ends[head - 1] ?? 0;
        const to = chunk.ends[head] ?? 0;
        const level = chunk.levels[head] ?? GONE;
        if (level === GONE) {
          wasted -= to - from;
        } else {
          if (size + to - from > maxBytes && size > 0) break;
          taken.push(chunk.bytes.subarray(from, to));
          size += to - from;
          forget(level, to - from);
        }
        head++;
      }
      if (count === 0) {
        chunks = [];
        head = wasted = 0;
        hints.fill(0);
      }
      return { body: joined(taken, size), count: taken.length };
    },
  };
}

/** Lines as one run of bytes. */
export function joined(lines: readonly Uint8Array[], size: number): Uint8Array {
  const body = new Uint8Array(size);
  let at = 0;
  for (const line of lines) {
    body.set(line, at);
    at += line.length;
  }
  return body;
}
