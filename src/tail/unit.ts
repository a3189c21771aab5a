import type { StoredBatch } from "../logs/batch.ts";
import { decodeBody } from "../logs/codec.ts";
import type { SeqUnit } from "./entries.ts";

/** Told of what is stored and cannot be read. Its entries are left out: nobody can read them, and all others can be. */
export type ReportUnreadable = (fault: Error) => void;

export function unitsOfBatches(batches: readonly StoredBatch[], report: ReportUnreadable): SeqUnit[] {
  return batches.flatMap((batch) => {
    try {
      return [unitOfBatch(batch)];
    } catch {
      report(new Error(`The batch of commit ${batch.commit} cannot be decompressed.`));
      return [];
    }
  });
}

export function unitOfBatch({
  firstSeq,
  receivedAt,
  encoding,
  body,
}: Pick<StoredBatch, "firstSeq" | "receivedAt" | "encoding" | "body">): SeqUnit {
  return { body: decodeBody(encoding, body), seqAt: (index) => firstSeq + index, receivedAtOf: () => receivedAt };
}
