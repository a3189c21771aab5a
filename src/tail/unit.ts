import type { RecentBatch } from "../logs/batch.ts";
import { decodeBody } from "../logs/codec.ts";
import { type ReportUnreadable, UnreadableItem } from "../logs/unreadable.ts";
import type { SeqLines } from "./entries.ts";

export function linesOfBatches(batches: readonly RecentBatch[], report: ReportUnreadable): SeqLines[] {
  return batches.flatMap((batch) => {
    try {
      return [linesOfBatch(batch)];
    } catch {
      report(new UnreadableItem(`Batch ${batch.commit} does not decode.`), batch.count);
      return [];
    }
  });
}

export function linesOfBatch({
  firstSeq,
  receivedAt,
  encoding,
  body,
}: Pick<RecentBatch, "firstSeq" | "receivedAt" | "encoding" | "body">): SeqLines {
  return { body: decodeBody(encoding, body), seqAt: (index) => firstSeq + index, receivedAtOf: () => receivedAt };
}
