import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { encodeBody } from "../../../src/logs/batch.ts";
import { readBlockIndex } from "../../../src/logs/cold/format/batch-table.ts";
import { FILE_HEAD_BYTES, SEGMENT_FORMAT } from "../../../src/logs/cold/format/segment.ts";
import { ColdTier } from "../../../src/logs/cold/store/cold-tier.ts";
import { SegmentStore } from "../../../src/logs/cold/store/store.ts";
import { bucketOf } from "../../../src/platform/bucket.ts";
import { writeRange } from "../../../src/workspace/flush/write-range.ts";
import { lineOf } from "../../unit/query/store.ts";
import { bytesOf, encode, line, linesIn } from "../../unit/segments/support.ts";
import { storeFiles } from "./files.ts";
import { entry } from "./support.ts";

const WORKSPACE = "ws_00000000FILE";
const PROJECT = "proj_0000000FILE";

/** Text that zstd cannot shrink to the 40 KiB that workerd's writes at most. */
function noise(length: number, seed: number): string {
  let state = seed;
  let text = "";
  while (text.length < length) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += String.fromCharCode(33 + ((state >>> 16) % 58));
  }
  return text.replaceAll('"', "~").replaceAll("\\", "~");
}

describe("segment files in workerd", () => {
  test("lines come back, whether zstd can write their pages or not", () => {
    const lines = Array.from({ length: 1500 }, (_, at) =>
      line({ at, ratio: at / 3, id: noise(40, at + 1), tags: [at] }, { traceId: `${at}`.padStart(32, "0") }, at),
    );
    for (const size of [70_000, 300_000, 1_000_000]) lines.push(line({ id: noise(size, size) }, {}, size));
    const file = encode(lines, { groupRows: 1000 });
    expect(linesIn(bytesOf(file)).map((own) => own.toString())).toEqual(lines);
  });

  test("a row has the whole file, or its key and the footer", async () => {
    const entries = Array.from({ length: 1000 }, (_, at) => entry(at, { data: { at, id: noise(80, at) } }));
    const put = new Map<string, Uint8Array>();
    const bucket = { put: async (key: string, bytes: Uint8Array) => void put.set(key, bytes) };
    const rows = await storeFiles(WORKSPACE, PROJECT, [[entries.slice(0, 10)], [entries.slice(10)]], bucket);
    const select = "SELECT format, file, length(body) AS bytes FROM segments WHERE workspace_id = ? ORDER BY first_seq";
    const { results } = await env.COLD_DB.prepare(select).bind(WORKSPACE).all();
    const [small, large] = rows;
    expect(results).toEqual([
      { format: SEGMENT_FORMAT.parquet, file: null, bytes: small?.body.length },
      { format: SEGMENT_FORMAT.parquet, file: large?.file, bytes: 0 },
    ]);
    const store = new SegmentStore(env.COLD_DB);
    const metas = await store.segmentsBySeq(WORKSPACE, PROJECT, { from: 1, to: 1000 }, null, 10);
    const files: Uint8Array[] = [];
    for (const [index, key] of metas.entries()) {
      const size = FILE_HEAD_BYTES + (readBlockIndex(key).at(-1)?.end ?? 0) + (rows[index]?.batchTable.length ?? 0);
      const [body] = await store.readBodies(WORKSPACE, [{ key, start: 0, end: size }]);
      const bytes = put.get(rows[index]?.file ?? "") ?? body?.bytes ?? new Uint8Array();
      expect(bytes.length).toBe(size);
      expect(Buffer.compare(body?.batchTable ?? bytes, bytes.subarray(-(body?.batchTable.length ?? 0)))).toBe(0);
      files.push(bytes);
    }
    expect(files.flatMap(linesIn).map(String)).toEqual(entries.map(lineOf));
  });

  test("a range is written to the bucket and to D1 once, however often it is written", async () => {
    const lines = Array.from({ length: 900 }, (_, at) => line({ at, id: noise(80, at) }, {}, at));
    const batch = { commit: 1, firstSeq: 1, count: 900, receivedAt: 1, ...encodeBody(Buffer.from(lines.join("\n"))) };
    const range = { firstSeq: 1, lastSeq: 900 };
    const own = { workspaceId: "ws_0000000FLUSH", projectId: PROJECT, range, watermark: 0, batches: [batch], bad: [] };
    const call = { ...own, deadline: Number.POSITIVE_INFINITY };
    const target = { store: new ColdTier(env), bucket: bucketOf(env), now: Date.now };
    const outcome = await writeRange(target, call);
    expect(outcome).toMatchObject({ outcome: "stored", segments: 1 });
    expect(await writeRange(target, call)).toEqual(outcome);
    const { results } = await env.COLD_DB.prepare(
      "SELECT file, stored_bytes AS bytes FROM segments WHERE workspace_id = ?",
    )
      .bind(call.workspaceId)
      .all<{ file: string; bytes: number }>();
    const listed = await env.BUCKET?.list({ prefix: `v1/${call.workspaceId}/` });
    expect(listed?.objects.map(({ key }) => key)).toEqual(results.map(({ file }) => file));
    const file = await env.BUCKET?.get(results[0]?.file ?? "");
    const bytes = new Uint8Array((await file?.arrayBuffer()) ?? new ArrayBuffer(0));
    expect(linesIn(bytes).map(String)).toEqual(lines);
    expect(outcome).toMatchObject({ bytes: results[0]?.bytes });
    const orphans = await env.COLD_DB.prepare("SELECT count(*) AS n FROM orphans").first<number>("n");
    expect(orphans).toBe(0);
  });
});
