import { LineTimestampParser } from "../query/line.ts";
import { ByteTimestampParser } from "./byte-clock.ts";

/** A batch as it is put into segments. */
export interface DecodedBatch {
  firstSeq: number;
  count: number;
  commit: number;
  /** Epoch milliseconds. */
  receivedAt: number;
  /** Canonical NDJSON, all of its lines, whatever part of the batch is taken; see `../batch.ts`. */
  body: Uint8Array;
}

/** One entry on its way into a segment. */
export interface SourceLine {
  batch: DecodedBatch;
  seq: number;
  timestamp: number;
  /** Whether the line begins as every line does that ingest wrote: with a timestamp that is one. */
  isTimed: boolean;
  /** Bytes of the batch's body. */
  start: number;
  end: number;
}

/** A run of `seq`, both ends included. */
export interface SeqRange {
  firstSeq: number;
  lastSeq: number;
}

/**
 * The lines of a range, batch by batch, in order of `seq`.
 * @param batches of one project in order of `seq`; what lies outside the range is passed over
 * @throws RangeError where the batches do not hold every `seq` of the range once
 */
export function* linesOf(batches: Iterable<DecodedBatch>, { firstSeq, lastSeq }: SeqRange): Generator<SourceLine[]> {
  const splitter = new Splitter();
  let next = firstSeq;
  for (const batch of batches) {
    if (batch.firstSeq > lastSeq || batch.firstSeq + batch.count <= firstSeq) continue;
    const lines = splitter.split(batch, firstSeq, lastSeq);
    if ((lines[0]?.seq ?? next) !== next) throw new RangeError(`The batches lack entry ${next} or have it twice.`);
    next += lines.length;
    yield lines;
  }
  if (next !== lastSeq + 1) throw new RangeError(`The batches lack entry ${next}.`);
}

class Splitter {
  readonly #clock = new ByteTimestampParser();
  /** For lines that begin otherwise: what is at the place of a time counts as one. */
  readonly #looseClock = new LineTimestampParser();

  /** The lines of a batch that are in a range. */
  split(batch: DecodedBatch, firstSeq: number, lastSeq: number): SourceLine[] {
    const { body } = batch;
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1");
    const lines: SourceLine[] = [];
    let seq = batch.firstSeq;
    for (let start = 0, end = 0; start < text.length && seq <= lastSeq; start = end + 1, seq++) {
      end = text.indexOf("\n", start);
      if (end < 0) end = text.length;
      if (seq < firstSeq) continue;
      const timestamp = this.#clock.read(body, start, end);
      const isTimed = !Number.isNaN(timestamp);
      const time = isTimed ? timestamp : this.#looseClock.read(text, start);
      lines.push({ batch, seq, timestamp: time, isTimed, start, end });
    }
    return lines;
  }
}
