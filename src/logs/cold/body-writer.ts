import type { Block } from "./frame-index.ts";
import type { DecodedBatch, SourceLine } from "./lines.ts";
import { PIECE_BYTES, pack } from "./pack.ts";

const LINE_BREAK = 10;

/** Lines that stand one after another in a batch's body, with line breaks between them. */
interface Stretch {
  batch: DecodedBatch;
  start: number;
  end: number;
}

/** Cuts lines into frames and compresses them. */
export class BodyWriter {
  readonly #blocks: Block[] = [];
  readonly #packed: Uint8Array[] = [];
  #stretches: Stretch[] = [];
  #last: Stretch | null = null;
  #lines = 0;
  #rawBytes = 0;
  #stored = 0;
  #firstIndex = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  #levelMask = 0;

  /** Whether the next line begins a frame of its own; `close` has to be called before it is added then. */
  isFull(line: SourceLine): boolean {
    // One more for the line break before it; a line longer than a piece is a frame of its own.
    return this.#lines > 0 && this.#rawBytes + 1 + line.end - line.start > PIECE_BYTES;
  }

  add({ batch, start, end, timestamp }: SourceLine, level: number): void {
    this.#rawBytes += end - start + (this.#lines > 0 ? 1 : 0);
    this.#lines++;
    const last = this.#last;
    if (last !== null && last.batch === batch && last.end + 1 === start) last.end = end;
    else {
      this.#last = { batch, start, end };
      this.#stretches.push(this.#last);
    }
    if (timestamp < this.#min) this.#min = timestamp;
    if (timestamp > this.#max) this.#max = timestamp;
    this.#levelMask |= level;
  }

  /** Ends the frame: it has at least one line. */
  close(): void {
    const packed = pack(join(this.#stretches, this.#rawBytes));
    this.#blocks.push({
      firstIndex: this.#firstIndex,
      lines: this.#lines,
      rawBytes: this.#rawBytes,
      start: this.#stored,
      end: this.#stored + packed.length,
      minTimestamp: this.#min,
      maxTimestamp: this.#max,
      levelMask: this.#levelMask,
    });
    this.#packed.push(packed);
    this.#stored += packed.length;
    this.#firstIndex += this.#lines;
    this.#stretches = [];
    this.#last = null;
    this.#lines = 0;
    this.#rawBytes = 0;
    this.#min = Number.POSITIVE_INFINITY;
    this.#max = Number.NEGATIVE_INFINITY;
    this.#levelMask = 0;
  }

  get blocks(): readonly Block[] {
    return this.#blocks;
  }

  toBytes(): Uint8Array {
    return Buffer.concat(this.#packed);
  }
}

/** Copies each stretch in one go. */
function join(stretches: readonly Stretch[], size: number): Uint8Array {
  const joined = new Uint8Array(size);
  let at = 0;
  for (const { batch, start, end } of stretches) {
    if (at > 0) joined[at++] = LINE_BREAK;
    joined.set(batch.body.subarray(start, end), at);
    at += end - start;
  }
  return joined;
}
