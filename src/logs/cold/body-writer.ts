import type { Frame } from "./frame-index.ts";
import type { SourceLine } from "./lines.ts";
import { PIECE_BYTES, pack } from "./pack.ts";

const LINE_BREAK = 10;

/** Cuts lines into frames and compresses them. */
export class BodyWriter {
  readonly #frames: Frame[] = [];
  readonly #packed: Uint8Array[] = [];
  #lines: SourceLine[] = [];
  #rawBytes = 0;
  #stored = 0;
  #firstIndex = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  #levelMask = 0;

  /** Whether the next line begins a frame of its own; `close` has to be called before it is added then. */
  isFull(line: SourceLine): boolean {
    // One more for the line break before it; a line longer than a piece is a frame of its own.
    return this.#lines.length > 0 && this.#rawBytes + 1 + line.end - line.start > PIECE_BYTES;
  }

  add(line: SourceLine, level: number): void {
    this.#rawBytes += line.end - line.start + (this.#lines.length > 0 ? 1 : 0);
    this.#lines.push(line);
    if (line.timestamp < this.#min) this.#min = line.timestamp;
    if (line.timestamp > this.#max) this.#max = line.timestamp;
    this.#levelMask |= level;
  }

  /** Ends the frame: it has at least one line. */
  close(): void {
    const packed = pack(joinLines(this.#lines, this.#rawBytes));
    this.#frames.push({
      firstIndex: this.#firstIndex,
      lines: this.#lines.length,
      rawBytes: this.#rawBytes,
      start: this.#stored,
      end: this.#stored + packed.length,
      minTimestamp: this.#min,
      maxTimestamp: this.#max,
      levelMask: this.#levelMask,
    });
    this.#packed.push(packed);
    this.#stored += packed.length;
    this.#firstIndex += this.#lines.length;
    this.#lines = [];
    this.#rawBytes = 0;
    this.#min = Number.POSITIVE_INFINITY;
    this.#max = Number.NEGATIVE_INFINITY;
    this.#levelMask = 0;
  }

  get frames(): readonly Frame[] {
    return this.#frames;
  }

  toBytes(): Uint8Array {
    return Buffer.concat(this.#packed);
  }
}

/** Copies neighbours of one batch in one go, line breaks between them included. */
function joinLines(lines: readonly SourceLine[], size: number): Uint8Array {
  const joined = new Uint8Array(size);
  let at = 0;
  for (let first = 0; first < lines.length; ) {
    const begin = lines[first];
    if (begin === undefined) break;
    let { end } = begin;
    let next = first + 1;
    for (; lines[next]?.batch === begin.batch && lines[next]?.start === end + 1; next++) end = lines[next]?.end ?? end;
    if (at > 0) joined[at++] = LINE_BREAK;
    joined.set(begin.batch.body.subarray(begin.start, end), at);
    at += end - begin.start;
    first = next;
  }
  return joined;
}
