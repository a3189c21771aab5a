import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { randomBytes } from "node:crypto";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { compactOnce } from "../../../src/logs/cold/compaction/compact.ts";
import { SMALL_END } from "../../../src/logs/cold/compaction/policy.ts";
import { CompactionStore } from "../../../src/logs/cold/compaction/store.ts";
import { type RecoveryScope, recoverFiles } from "../../../src/logs/cold/recovery/recover-files.ts";
import { SegmentWriter } from "../../../src/logs/cold/store/writer.ts";
import { bucketOf } from "../../../src/platform/bucket.ts";
import type { TestEntry } from "../../unit/query/store.ts";
import { bearer, call, callWith } from "../accounts/support.ts";
import { evict, newTenant, onSql } from "../ingest/support.ts";
import { storeFiles } from "./files.ts";
import { entry, START, segmentsOf } from "./support.ts";

const WORKSPACE = "ws_000000000001";
const PROJECT = "proj_00000000000A";
const DB = env.COLD_DB;
// SAFETY: wrangler.toml binds a bucket.
const bucket = env.BUCKET as R2Bucket;

const list = (from: number, count: number): TestEntry[] =>
  Array.from({ length: count }, (_, at) =>
    entry(from + at, {
      session: `s${at % 7}`,
      level: at % 3 === 0 ? "error" : "info",
      data: { text: randomBytes(1500).toString("base64"), durationMs: at },
    }),
  );

/** Current rows, every column of them but their ids. */
async function rows(db = DB): Promise<Record<string, unknown>[]> {
  const { results } = await db
    .prepare(
      "SELECT *, hex(frames), hex(levels), hex(summary), hex(directory), hex(filter) FROM segments WHERE replaced_at IS NULL ORDER BY first_seq, part",
    )
    .all();
  return results.map(({ id: _, ...row }) => row);
}

async function recover(more: Partial<RecoveryScope> = {}, databases = env) {
  const total = { segments: 0, entries: 0, unreadable: [] as string[] };
  let after: number | null = 0;
  while (after !== null) {
    const scope = { workspaceId: WORKSPACE, projectId: PROJECT, flushedSeq: 10_000, after, ...more };
    const step = await recoverFiles(databases, scope);
    total.segments += step.segments;
    total.entries += step.entries;
    total.unreadable.push(...step.unreadable);
    after = step.next;
  }
  return total;
}

const lose = () => DB.prepare("DELETE FROM segments").run();

beforeEach(async () => {
  await DB.batch([DB.prepare("DELETE FROM segments"), DB.prepare("DELETE FROM orphans")]);
  const { objects } = await bucket.list();
  if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
});

describe("a lost catalog", () => {
  it("gets exactly the rows of the flush again, late entries in their own part", async () => {
    const late = list(0, 40).map((one) => ({ ...one, timestamp: START - 9 * 86_400_000 }));
    await storeFiles(WORKSPACE, PROJECT, [[list(0, 60), late], [list(100, 50)]], bucket);
    const before = await rows();
    expect(before.map(({ part }) => part)).toEqual([0, 1, 0]);
    await lose();
    expect(await recover()).toEqual({ segments: 3, entries: 150, unreadable: [] });
    expect(await rows()).toEqual(before);
    expect(await recover()).toEqual({ segments: 0, entries: 0, unreadable: [] });
  });

  it("gets no rows of entries after the watermark, nor of another project", async () => {
    await storeFiles(WORKSPACE, PROJECT, [[list(0, 50)], [list(50, 50)]], bucket);
    await lose();
    expect(await recover({ flushedSeq: 99 })).toMatchObject({ segments: 1, entries: 50 });
    expect(await recover({ projectId: "proj_00000000000B" })).toMatchObject({ segments: 0 });
  });

  it("16.3: gets no rows of entries that the workspace object still has, because their batch was quarantined", async () => {
    await storeFiles(WORKSPACE, PROJECT, [[list(0, 50)], [list(50, 50)]], bucket);
    await lose();
    expect(await recover({ quarantined: [{ firstSeq: 71, count: 3 }] })).toMatchObject({ segments: 1, entries: 50 });
  });

  it("gets the row of a merged file instead of those that it replaced", async () => {
    await storeFiles(WORKSPACE, PROJECT, [[list(0, 50)], [list(50, 50)]], bucket);
    await insertLineBlocks();
    const merged = await mergeUpTo(150, START);
    expect(merged).toMatchObject({ outcome: "merged", entries: 150, segments: 1 });
    const [before] = await rows();
    expect((await bucket.list()).objects).toHaveLength(3);
    await lose();
    expect(await recover()).toEqual({ segments: 1, entries: 150, unreadable: [] });
    const [after] = await rows();
    // The filter is made of lines, and that of a compaction of columns.
    for (const name of ["filter", "hex(filter)", "filter_kinds", "stored_bytes"]) delete after?.[name];
    expect(before).toMatchObject(after ?? {});
  });

  it("of an earlier time gets the merged file in the place of the rows that it has", async () => {
    const [first] = await storeFiles(WORKSPACE, PROJECT, [[list(0, 50)], [list(50, 50)]], bucket);
    await insertLineBlocks();
    const older = await DB.prepare("SELECT file FROM segments WHERE first_seq = 1").all();
    await mergeUpTo(150, START);
    await DB.prepare("DELETE FROM segments WHERE part > 0 OR first_seq > 1").run();
    await DB.prepare("UPDATE segments SET replaced_at = NULL").run();
    expect(older.results).toEqual([{ file: first?.file }]);
    expect(await recover()).toMatchObject({ segments: 1, entries: 150 });
    expect(await new SegmentWriter(DB).usage(WORKSPACE)).toMatchObject({ segments: 1, entries: 150 });
  });

  it.each([
    ["", false],
    [" in an earlier database", true],
  ])(
    "16.6: beside a compaction inserts nothing that overlaps with what is merged meanwhile%s",
    async (_, isEarlier) => {
      const databases = isEarlier ? { ...env, COLD_DB_2: env.SECOND_COLD_DB } : env;
      if (isEarlier) {
        await applyD1Migrations(env.SECOND_COLD_DB, env.COLD_MIGRATIONS);
        await env.SECOND_COLD_DB.prepare("DELETE FROM segments").run();
        onTestFinished(async () => void (await env.SECOND_COLD_DB.prepare("DELETE FROM segments").run()));
      }
      mergesAnyTwo();
      const stored = await storeFiles(WORKSPACE, PROJECT, [[list(0, 50)], [list(50, 50)], [list(100, 50)]], bucket);
      expect(await mergeUpTo(100, START)).toMatchObject({ outcome: "merged", entries: 100 });
      // A catalog of an earlier time, which has also lost the first range.
      await DB.prepare("DELETE FROM segments WHERE part > 0 OR first_seq = 1").run();
      await DB.prepare("UPDATE segments SET replaced_at = NULL").run();
      let isMerged = false;
      const slow = new Proxy(bucket, {
        get(own, name) {
          const member: unknown = Reflect.get(own, name);
          if (name !== "get") return typeof member === "function" ? member.bind(own) : member;
          return async (key: string, options: R2GetOptions & { range: { offset?: number } }) => {
            // The entries of the merged file are being read.
            if (!isMerged && key.includes("/0000000000000001-") && options.range.offset !== undefined) {
              isMerged = true;
              expect(await mergeUpTo(150, START + 10_000)).toMatchObject({ outcome: "merged", entries: 100 });
            }
            return own.get(key, options);
          };
        },
      });
      const step = await recoverFiles(
        { ...databases, BUCKET: slow },
        { workspaceId: WORKSPACE, projectId: PROJECT, flushedSeq: 150, after: 0 },
      );
      expect([isMerged, step.segments]).toEqual([true, 0]);
      const ranges = async () =>
        [...(isEarlier ? await rows(env.SECOND_COLD_DB) : []), ...(await rows())].map((row) => [
          row.first_seq,
          row.last_seq,
          row.count,
        ]);
      expect(await ranges()).toEqual([[51, 150, 100]]);
      const key = stored[0]?.file ?? "";
      await new SegmentWriter(DB).noteFiles(WORKSPACE, [key], START);
      expect(await recover({ flushedSeq: 150 }, databases)).toEqual({ segments: 1, entries: 50, unreadable: [] });
      // Otherwise its file would be deleted.
      expect(await DB.prepare("SELECT count(*) AS n FROM orphans WHERE file = ?").bind(key).first("n")).toBe(0);
      expect(await ranges()).toEqual([
        [1, 50, 50],
        [51, 150, 100],
      ]);
    },
  );

  it("names files that cannot be read and goes on", async () => {
    const [first] = await storeFiles(WORKSPACE, PROJECT, [[list(0, 50)], [list(50, 50)]], bucket);
    await bucket.put(first?.file ?? "", "damaged");
    await lose();
    expect(await recover()).toEqual({ segments: 1, entries: 50, unreadable: [first?.file] });
  });

  it("16.3: gets the rows of the files that a merged one replaced if a page of it is damaged", async () => {
    await storeFiles(WORKSPACE, PROJECT, [[list(0, 50)], [list(50, 50)]], bucket);
    const before = await rows();
    mergesAnyTwo();
    expect(await mergeUpTo(100, START)).toMatchObject({ outcome: "merged", entries: 100 });
    const merged = String((await rows())[0]?.file);
    const bytes = new Uint8Array((await (await bucket.get(merged))?.arrayBuffer()) ?? []);
    bytes.fill(0xff, 1000, 1100);
    await bucket.put(merged, bytes);
    await lose();
    expect(await recover()).toEqual({ segments: 2, entries: 100, unreadable: [merged] });
    expect(await rows()).toEqual(before);
  });

  it("16.3: names a file that was stored under the name of a later range", async () => {
    const [first] = await storeFiles(WORKSPACE, PROJECT, [[list(0, 50)]], bucket);
    const key = first?.file ?? "";
    const other = key.replace(/[0-9a-f]{16}-0-/, "0000000000000100-0-");
    await bucket.put(other, (await (await bucket.get(key))?.arrayBuffer()) ?? "");
    await lose();
    expect(await recover()).toEqual({ segments: 1, entries: 50, unreadable: [other] });
  });
});

describe("the operator's recovery", () => {
  it("restores what queries return, after the whole catalog was lost", async () => {
    const tenant = await newTenant();
    const { workspaceId, projectId, secret } = tenant;
    const recent = (from: number, count: number) =>
      list(from, count).map((one, at) => ({ ...one, timestamp: Date.now() - 60_000 + from + at }));
    await storeFiles(workspaceId, projectId, [[recent(0, 50)], [recent(50, 70)]], bucket);
    await onSql(workspaceId, (sql) => {
      sql.exec("UPDATE projects SET last_seq = 120, flushed_seq = 120");
      sql.exec("UPDATE workspace SET last_commit = 1000");
    });
    await evict(workspaceId);
    const query = async () => {
      const body = { filters: { level: "error" }, pagination: { limit: 200 } };
      const { data } = await call("/logger/query", { method: "POST", headers: bearer(secret), body });
      // SAFETY: the shape of a page.
      return (data as { logs: { seq: number }[] }).logs;
    };
    const before = await query();
    expect(before).toHaveLength(41);
    await lose();
    expect(await query()).toEqual([]);
    const token = "operator-token-operator-token-0001";
    const ask = (path: string) =>
      callWith({ OPERATOR_TOKEN: token }, `/operator/workspaces/${workspaceId}/projects/${path}`, {
        method: "POST",
        headers: bearer(token),
      });
    const answer = await ask(`${projectId}/recover`);
    expect(answer.data).toMatchObject({ segments: 2, entries: 120, items: [], nextCursor: null });
    expect(await query()).toEqual(before);
    expect((await ask("proj_00000000000B/recover")).status).toBe(404);
    expect((await ask(`${projectId}/recover?cursor=x`)).status).toBe(400);
  });
});

/** Adds a range of line blocks, which compaction does not leave alone. */
async function insertLineBlocks(): Promise<void> {
  const ranges = segmentsOf(PROJECT, [[list(0, 100)], [list(100, 50)]]);
  await new SegmentWriter(DB).insertSegments(WORKSPACE, ranges[1] ?? []);
}

/** One step of a compaction. */
function mergeUpTo(readySeq: number, now: number) {
  return compactOnce(
    { store: new CompactionStore(DB), bucket: bucketOf(env), now: () => now, pause: async () => {} },
    {
      ...{ workspaceId: WORKSPACE, projectId: PROJECT, doneSeq: 0, readySeq, retentionDays: 30 },
      deadline: Number.POSITIVE_INFINITY,
    },
  );
}

/** Makes a compaction merge two small ranges, until the end of the test. */
function mergesAnyTwo(): void {
  const small = { ...SMALL_END };
  onTestFinished(() => void Object.assign(SMALL_END, small));
  Object.assign(SMALL_END, { ranges: 2, growth: 1 });
}
