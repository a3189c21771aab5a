import { env } from "cloudflare:workers";
import { randomBytes } from "node:crypto";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ColdCleaner, ORPHAN_MS, REPLACED_MS } from "../../../src/logs/cold/store/cold-cleaner.ts";
import { SegmentStore } from "../../../src/logs/cold/store/store.ts";
import { SegmentWriter } from "../../../src/logs/cold/store/writer.ts";
import { storeFiles } from "./files.ts";
import { entry, metaOf, START } from "./support.ts";

const WORKSPACE = "ws_000000000001";
const OTHER = "ws_000000000002";
const A = "proj_00000000000A";
const B = "proj_00000000000B";
const DAY_MS = 86_400_000;
const NOW = START + 100 * DAY_MS;
/** No entry of the tests expires within a week. */
const NOTHING = START - 100 * DAY_MS;

const cleaner = new ColdCleaner(env);
const bucket = env.BUCKET as R2Bucket;

/** Stores a file of each of two ranges, as large as files of the bucket are. */
function store(workspaceId: string, projectId: string) {
  const long = () => ({ data: { text: randomBytes(1500).toString("base64") } });
  const range = (from: number) => Array.from({ length: 40 }, (_, at) => entry(from + at, long()));
  return storeFiles(workspaceId, projectId, [[range(0)], [range(40)]], bucket);
}

async function keysBelow(prefix: string): Promise<string[]> {
  return (await bucket.list({ prefix })).objects.map(({ key }) => key);
}

async function orphans(): Promise<{ file: string; noted_at: number }[]> {
  const { results } = await env.COLD_DB.prepare("SELECT file, noted_at FROM orphans ORDER BY file").all();
  return results as { file: string; noted_at: number }[];
}

async function all(step: () => Promise<{ isDone: boolean }>): Promise<number> {
  for (let steps = 1; ; steps++) if ((await step()).isDone) return steps;
}

beforeEach(async () => {
  await env.COLD_DB.batch([env.COLD_DB.prepare("DELETE FROM segments"), env.COLD_DB.prepare("DELETE FROM orphans")]);
  const keys = await keysBelow("");
  if (keys.length > 0) await bucket.delete(keys);
});

describe("files of expired segments", () => {
  it("are deleted with the next sweep, and no other", async () => {
    const [first, second] = await store(WORKSPACE, A);
    await store(OTHER, A);
    expect(await new SegmentWriter(env.COLD_DB).usage(WORKSPACE)).toMatchObject({
      bytes: (first?.storedBytes ?? 0) + (second?.storedBytes ?? 0),
    });
    expect(first?.storedBytes).toBeGreaterThan((await bucket.head(first?.file ?? ""))?.size ?? Number.NaN);
    await all(() => cleaner.deleteOlder(WORKSPACE, (first?.maxTimestamp ?? 0) + 1));
    expect(await orphans()).toEqual([{ file: first?.file, noted_at: 0 }]);
    await all(() => cleaner.sweep(WORKSPACE, NOW, NOTHING));
    expect(await keysBelow(`v1/${WORKSPACE}/`)).toEqual([second?.file]);
    expect(await keysBelow(`v1/${OTHER}/`)).toHaveLength(2);
    expect(await orphans()).toEqual([]);
  });

  it("stay orphans until the bucket has deleted them", async () => {
    const [first] = await store(WORKSPACE, A);
    await all(() => cleaner.deleteOlder(WORKSPACE, NOW));
    const broken = { ...env, BUCKET: { ...bucket, delete: () => Promise.reject(new Error("delete: x (10003)")) } };
    // SAFETY: the cleaner calls only `delete`.
    const failing = new ColdCleaner(broken as unknown as typeof env);
    await expect(failing.sweep(WORKSPACE, NOW, NOTHING)).rejects.toThrow("R2_ERROR");
    expect(await orphans()).toHaveLength(2);
    expect(await keysBelow("")).toContain(first?.file);
    await all(() => cleaner.sweep(WORKSPACE, NOW, NOTHING));
    expect(await keysBelow("")).toEqual([]);
  });
});

describe("segments that a compaction has replaced", () => {
  it("are readable for 15 minutes, and their files stay for 7 days after that", async () => {
    const [first, second] = await store(WORKSPACE, A);
    if (first === undefined) throw new Error("no segment");
    await env.COLD_DB.prepare("UPDATE segments SET replaced_at = ? WHERE first_seq = 1").bind(NOW).run();
    expect(await cleaner.sweep(WORKSPACE, NOW + REPLACED_MS, NOTHING)).toEqual({ isDone: true });
    const read = () => new SegmentStore(env.COLD_DB).readBodies(WORKSPACE, [{ key: metaOf(first), start: 0, end: 1 }]);
    expect(await read()).not.toEqual([null]);
    const sweptAt = NOW + REPLACED_MS + 1;
    await all(() => cleaner.sweep(WORKSPACE, sweptAt, NOTHING));
    expect(await read()).toEqual([null]);
    expect(await orphans()).toEqual([{ file: first.file, noted_at: sweptAt }]);
    await all(() => cleaner.sweep(WORKSPACE, sweptAt + ORPHAN_MS, NOTHING));
    expect(await keysBelow("")).toContain(first.file);
    await all(() => cleaner.sweep(WORKSPACE, sweptAt + ORPHAN_MS + 1, NOTHING));
    expect(await keysBelow("")).toEqual([second?.file]);
  });

  it("16.3: leave no file that stays longer than its entries: with a retention of a day, files do not stay for 7", async () => {
    const [first, second] = await store(WORKSPACE, A);
    const { maxTimestamp = 0, file = null } = first ?? {};
    const replacedAt = maxTimestamp + 60_000;
    await env.COLD_DB.prepare("UPDATE segments SET replaced_at = ? WHERE first_seq = 1").bind(replacedAt).run();
    const sweepAt = (now: number) => all(() => cleaner.sweep(WORKSPACE, now, now - DAY_MS));
    await sweepAt(replacedAt + REPLACED_MS + 1);
    expect(await new SegmentWriter(env.COLD_DB).usage(WORKSPACE)).toMatchObject({ segments: 1 });
    await sweepAt(maxTimestamp + DAY_MS);
    expect(await keysBelow("")).toContain(file);
    await sweepAt(maxTimestamp + DAY_MS + 1);
    expect(await keysBelow("")).toEqual([second?.file]);
    expect(await orphans()).toEqual([]);
  });
});

describe("an orphan", () => {
  it("is never deleted while a row names it, as its file or as its filter", async () => {
    const [first, second] = await store(WORKSPACE, A);
    const filter = `v1/${WORKSPACE}/${A}/filters-1`;
    await bucket.put(filter, "x");
    await env.COLD_DB.prepare("UPDATE segments SET filter_file = ?, filter_slot = 0").bind(filter).run();
    const note = "INSERT INTO orphans (file, workspace_id, noted_at) VALUES (?, ?, 0)";
    for (const file of [first?.file, filter]) await env.COLD_DB.prepare(note).bind(file, WORKSPACE).run();
    await all(() => cleaner.sweep(WORKSPACE, NOW, NOTHING));
    expect(await keysBelow("")).toHaveLength(3);
    // The filter belongs to the second row, too.
    await all(() => cleaner.deleteOlder(WORKSPACE, (first?.maxTimestamp ?? 0) + 1));
    await all(() => cleaner.sweep(WORKSPACE, NOW, NOTHING));
    expect(await keysBelow("")).toEqual([second?.file, filter].sort());
    await all(() => cleaner.deleteOlder(WORKSPACE, NOW));
    await all(() => cleaner.sweep(WORKSPACE, NOW, NOTHING));
    expect(await keysBelow("")).toEqual([]);
  });
});

describe("a deleted project", () => {
  it("loses its files at once, those that no row names included", async () => {
    await store(WORKSPACE, A);
    const others = await store(WORKSPACE, B);
    await bucket.put(`v1/${WORKSPACE}/${A}/0000000000000051-0-00000000000000aa`, "lost by a crash");
    await all(() => cleaner.deleteOfProject(WORKSPACE, A));
    expect(await keysBelow("")).toEqual(others.map(({ file }) => file));
    expect(await orphans()).toEqual([]);
  });
});

describe("a deleted workspace", () => {
  it("loses its files in steps of 1,000", async () => {
    await store(WORKSPACE, A);
    const others = await store(OTHER, A);
    const page = { files: [{ key: "v1/x", size: 1, storedAt: 0 }], cursor: "more" };
    const list = vi.spyOn((await import("../../../src/platform/bucket.ts")).R2Files.prototype, "list");
    list.mockResolvedValueOnce(page);
    expect(await all(() => cleaner.deleteOfWorkspace(WORKSPACE))).toBe(3);
    list.mockRestore();
    expect(await keysBelow("")).toEqual(others.map(({ file }) => file));
  });
});
