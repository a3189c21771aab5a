import { env } from "cloudflare:workers";
import { readBlockIndex } from "../../../src/logs/cold/format/batch-table.ts";
import { BatchTable, decodeBlock } from "../../../src/logs/cold/format/decode.ts";
import type { DecodedBatch } from "../../../src/logs/cold/format/lines.ts";
import { SEGMENT_FORMAT, type SegmentMeta } from "../../../src/logs/cold/format/segment.ts";
import { SegmentStore } from "../../../src/logs/cold/store/store.ts";
import { SegmentWriter } from "../../../src/logs/cold/store/writer.ts";
import { SegmentReader } from "../../../src/logs/segments/decode/segment-reader.ts";
import { sourceLinesOf } from "../../../src/logs/segments/decode/source-lines.ts";
import { encodeSegments } from "../../support/line-blocks.ts";

export interface ColdEntry {
  seq: number;
  receivedAt: number;
  message: string;
}

/** All entries of a project in D1, also above the watermark, in order of `seq`; a duplicate appears twice. */
export async function coldEntries(db: D1Database, workspaceId: string, projectId: string): Promise<ColdEntry[]> {
  const all = { from: 1, to: Number.MAX_SAFE_INTEGER };
  const segments = await new SegmentStore(db).segmentsBySeq(workspaceId, projectId, all, null, 250);
  const entries: ColdEntry[] = [];
  for (const segment of segments) {
    for (const { seq, receivedAt, line } of await linesOfSegment(db, workspaceId, segment)) {
      const { message } = JSON.parse(line);
      entries.push({ seq, receivedAt, message });
    }
  }
  return entries.sort((a, b) => a.seq - b.seq);
}

interface StoredLine {
  seq: number;
  commit: number;
  receivedAt: number;
  line: string;
}

/** Stores all segments of a project as a version before segment files did: as blocks of lines. */
export async function storeAsLineBlocks(workspaceId: string, projectId: string): Promise<void> {
  const store = new SegmentStore(env.COLD_DB);
  const all = { from: 1, to: Number.MAX_SAFE_INTEGER };
  const segments = await store.segmentsBySeq(workspaceId, projectId, all, null, 250);
  for (const { firstSeq, lastSeq, part } of segments) {
    if (part > 0) continue;
    const own = segments.filter((segment) => segment.firstSeq === firstSeq);
    const lines = await Promise.all(own.map((segment) => linesOfSegment(env.COLD_DB, workspaceId, segment)));
    const batches: DecodedBatch[] = [];
    for (const { seq, commit, receivedAt, line } of lines.flat().sort((a, b) => a.seq - b.seq)) {
      const last = batches.at(-1);
      if (last?.commit === commit) {
        last.body = Buffer.concat([last.body, Buffer.from(`\n${line}`)]);
        last.count++;
      } else batches.push({ firstSeq: seq, count: 1, commit, receivedAt, body: Buffer.from(line) });
    }
    const blocks = [...encodeSegments(projectId, batches, { firstSeq, lastSeq })];
    await new SegmentWriter(env.COLD_DB).replaceSegments(workspaceId, blocks, firstSeq - 1, Date.now());
  }
}

async function linesOfSegment(db: D1Database, workspaceId: string, segment: SegmentMeta): Promise<StoredLine[]> {
  const row = await db
    .prepare(
      `SELECT format, file, hex(directory) AS directory, hex(body) AS body FROM segments
       WHERE workspace_id = ? AND project_id = ? AND first_seq = ? AND part = ?`,
    )
    .bind(workspaceId, segment.projectId, segment.firstSeq, segment.part)
    .first<{ format: number; file: string | null; directory: string; body: string }>();
  if (!row) throw new Error("A segment has gone.");
  const body = Uint8Array.from(Buffer.from(row.body, "hex"));
  if (row.format === SEGMENT_FORMAT.parquet) return linesOfFile(row.file === null ? body : await fileOf(row.file));
  const batchTable = new BatchTable(segment, Uint8Array.from(Buffer.from(row.directory, "hex")));
  return readBlockIndex(segment).flatMap((block) => {
    const unit = decodeBlock(segment, batchTable, block, body.subarray(block.start, block.end), null);
    const lines = new TextDecoder().decode(unit.body).split("\n");
    return lines.map((line, index): StoredLine => {
      const at = block.firstIndex + index;
      return { seq: unit.seqAt(index), commit: batchTable.commitOf(at), receivedAt: unit.receivedAtOf(index), line };
    });
  });
}

async function fileOf(key: string): Promise<Uint8Array> {
  const file = await env.BUCKET?.get(key);
  if (!file) throw new Error("A file has gone.");
  return new Uint8Array(await file.arrayBuffer());
}

function linesOfFile(bytes: Uint8Array): StoredLine[] {
  const reader = SegmentReader.open(bytes, bytes.length);
  if (typeof reader === "number") throw new Error("The whole file is enough.");
  const source = (group: number, column: number) => {
    const { start, end } = reader.range(group, column);
    return bytes.subarray(start, end);
  };
  return reader.rowGroups.flatMap((_, group) =>
    [...sourceLinesOf(reader, group, source)].flat().map(({ seq, batch, start, end }): StoredLine => {
      const { commit, receivedAt, body } = batch;
      return { seq, commit, receivedAt, line: new TextDecoder().decode(body.subarray(start, end)) };
    }),
  );
}
