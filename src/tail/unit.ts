import type { StoredBatch } from "../logs/batch.ts";
import { decodeBody } from "../logs/codec.ts";
import { type ReportUnreadable, UnreadableItem } from "../logs/unreadable.ts";
import type { SeqUnit } from "./entries.ts";

export function unitsOfBatches(batches: readonly StoredBatch[], report: ReportUnreadable): SeqUnit[] {
  return batches.flatMap((batch) => {
    try {
      return [unitOfBatch(batch)];
    } catch {
      report(new UnreadableItem(`Batch ${batch.commit} does not decode.`), batch.count);
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
