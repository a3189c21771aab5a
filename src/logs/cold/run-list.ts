import type { BatchRun } from "./directory.ts";
import type { DecodedBatch, SourceLine } from "./lines.ts";

/** The runs of a segment, put together from its lines. */
export class BatchRunBuilder {
  readonly runs: BatchRun[] = [];
  #batch: DecodedBatch | null = null;
  #last: BatchRun = { firstSeq: 0, count: 0, commit: 0, receivedAt: 0 };

  add({ batch, seq }: SourceLine): void {
    if (this.#batch === batch && this.#last.firstSeq + this.#last.count === seq) {
      this.#last.count++;
      return;
    }
    this.#batch = batch;
    this.#last = { firstSeq: seq, count: 1, commit: batch.commit, receivedAt: batch.receivedAt };
    this.runs.push(this.#last);
  }
}
