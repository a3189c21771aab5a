import type { StoredBatch } from "../logs/batch.ts";
import { decodeBody } from "../logs/codec.ts";
import type { SeqUnit } from "./entries.ts";

export function unitOfBatch({
  firstSeq,
  receivedAt,
  encoding,
  body,
}: Pick<StoredBatch, "firstSeq" | "receivedAt" | "encoding" | "body">): SeqUnit {
  return { body: decodeBody(encoding, body), seqAt: (index) => firstSeq + index, receivedAtOf: () => receivedAt };
}
