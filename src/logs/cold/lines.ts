import { forEachLine } from "../query/batch-matcher.ts";
import { LineClock } from "../query/line.ts";

/** A batch as it is put into segments. */
export interface BatchSlice {
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
  batch: BatchSlice;
  seq: number;
  timestamp: number;
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
 * The lines of a range, in order of `seq`.
 * @param batches of one project in order of `seq`; what lies outside the range is passed over
 * @throws RangeError where the batches do not hold every `seq` of the range once
 */
export function* linesOf(batches: Iterable<BatchSlice>, { firstSeq, lastSeq }: SeqRange): Generator<SourceLine> {
  const clock = new LineClock();
  let next = firstSeq;
  for (const batch of batches) {
    if (batch.firstSeq > lastSeq || batch.firstSeq + batch.count <= firstSeq) continue;
    const raw = Buffer.from(batch.body.buffer, batch.body.byteOffset, batch.body.byteLength);
    const bytes = raw.toString("latin1");
    const lines: SourceLine[] = [];
    forEachLine(bytes, [], (start, end, index) => {
      const seq = batch.firstSeq + index;
      if (seq < firstSeq || seq > lastSeq) return;
      lines.push({ batch, seq, timestamp: clock.read(bytes, start), start, end });
    });
    for (const line of lines) {
      if (line.seq !== next++) throw new RangeError(`The batches lack entry ${next - 1} or have it twice.`);
      yield line;
    }
  }
  if (next !== lastSeq + 1) throw new RangeError(`The batches lack entry ${next}.`);
}
