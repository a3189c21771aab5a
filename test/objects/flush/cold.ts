import { readBlockIndex } from "../../../src/logs/cold/format/batch-table.ts";
import { BatchTable, decodeBlock } from "../../../src/logs/cold/format/decode.ts";
import { SegmentStore } from "../../../src/logs/cold/store/store.ts";

export interface ColdEntry {
  seq: number;
  receivedAt: number;
  message: string;
}

/** All entries of a project in D1, also above the watermark, in order of `seq`; a duplicate appears twice. */
export async function coldEntries(db: D1Database, workspaceId: string, projectId: string): Promise<ColdEntry[]> {
  const store = new SegmentStore(db);
  const all = { from: 1, to: Number.MAX_SAFE_INTEGER };
  const segments = await store.segmentsBySeq(workspaceId, projectId, all, null, 250);
  const entries: ColdEntry[] = [];
  for (const segment of segments) {
    const blocks = readBlockIndex(segment);
    const [body] = await store.readBodies(workspaceId, [{ key: segment, start: 0, end: blocks.at(-1)?.end ?? 0 }]);
    if (!body) throw new Error("A segment has gone.");
    const batchTable = new BatchTable(segment, body.batchTable);
    for (const block of blocks) {
      const unit = decodeBlock(segment, batchTable, block, body.bytes.subarray(block.start, block.end), null);
      const lines = new TextDecoder().decode(unit.body).split("\n");
      lines.forEach((line, index) => {
        const { message } = JSON.parse(line);
        entries.push({ seq: unit.seqAt(index), receivedAt: unit.receivedAtOf(index), message });
      });
    }
  }
  return entries.sort((a, b) => a.seq - b.seq);
}
