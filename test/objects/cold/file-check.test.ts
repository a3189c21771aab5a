import { env } from "cloudflare:workers";
import { randomBytes } from "node:crypto";
import { beforeEach, expect, it, vi } from "vitest";
import { checkFiles, type FileCheck } from "../../../src/logs/cold/store/file-check.ts";
import { R2Files } from "../../../src/platform/bucket.ts";
import { callWith } from "../accounts/support.ts";
import { storeFiles } from "./files.ts";
import { entry } from "./support.ts";

const WORKSPACE = "ws_000000000001";
const OTHER = "ws_000000000002";
const PROJECT = "proj_00000000000A";
const PREFIX = `v1/${WORKSPACE}/${PROJECT}/`;
const UNNAMED = `${PREFIX}00000000000000ff-0-00000000000000aa`;
const NOW = 5_000;

// SAFETY: wrangler.toml binds a bucket.
const bucket = env.BUCKET as R2Bucket;
const check = () => checkFiles(env, WORKSPACE, null, NOW);

/** Stores a file of each of three ranges. */
async function store(): Promise<string[]> {
  const range = (from: number) =>
    Array.from({ length: 40 }, (_, at) => entry(from + at, { data: { text: randomBytes(1500).toString("base64") } }));
  const segments = await storeFiles(WORKSPACE, PROJECT, [[range(0)], [range(40)], [range(80)]], bucket);
  return segments.flatMap(({ file }) => file ?? []);
}

beforeEach(async () => {
  await env.COLD_DB.batch([env.COLD_DB.prepare("DELETE FROM segments"), env.COLD_DB.prepare("DELETE FROM orphans")]);
  const { objects } = await bucket.list();
  if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
});

it("finds nothing if every segment has its file", async () => {
  await store();
  await bucket.put(`v1/${OTHER}/x`, "of another workspace");
  expect(await check()).toEqual({ damaged: [], compared: 3, noted: 0, next: null });
});

it("finds files that are missing or have another size, but not those of replaced segments", async () => {
  const [first = "", second = "", third = ""] = await store();
  await bucket.delete([first, third]);
  await bucket.put(second, "short");
  await env.COLD_DB.prepare("UPDATE segments SET replaced_at = 1 WHERE file = ?").bind(third).run();
  const { damaged } = await check();
  expect(damaged).toEqual([
    { file: first, projectId: PROJECT, firstSeq: 1, lastSeq: 40, entries: 40, problem: "missing" },
    { file: second, projectId: PROJECT, firstSeq: 41, lastSeq: 80, entries: 40, problem: "size" },
  ]);
});

it("notes files that no segment names, once, and leaves those that are named as a filter", async () => {
  await store();
  await bucket.put(UNNAMED, "lost by a crash");
  await bucket.put(`${PREFIX}filters-1`, "filters");
  await env.COLD_DB.prepare("UPDATE segments SET filter_file = ?").bind(`${PREFIX}filters-1`).run();
  expect(await check()).toMatchObject({ damaged: [], compared: 5, noted: 1 });
  expect(await check()).toMatchObject({ noted: 0 });
  const { results } = await env.COLD_DB.prepare("SELECT * FROM orphans").all();
  expect(results).toEqual([{ file: UNNAMED, workspace_id: WORKSPACE, noted_at: NOW }]);
});

it("does not report a file that was put while it compared", async () => {
  const [first = ""] = await store();
  const bytes = (await (await bucket.get(first))?.arrayBuffer()) ?? new ArrayBuffer(0);
  await bucket.delete(first);
  const { list } = R2Files.prototype;
  const lists = vi.spyOn(R2Files.prototype, "list").mockImplementationOnce(async function (this: R2Files, ...call) {
    const page = await list.apply(this, call);
    await bucket.put(first, bytes);
    return page;
  });
  expect((await check()).damaged).toEqual([]);
  expect(lists).toHaveBeenCalledTimes(2);
  lists.mockRestore();
});

it("is a route of the operator that continues after the files of a page", async () => {
  const [first = "", second = ""] = await store();
  await bucket.delete(second);
  const token = "operator-token-operator-token-0001";
  const ask = async (query: string): Promise<{ status: number; data: unknown }> =>
    callWith({ OPERATOR_TOKEN: token }, `/operator/workspaces/${WORKSPACE}/files${query}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}` },
    });
  const lists = vi.spyOn(R2Files.prototype, "list");
  lists.mockResolvedValueOnce({ files: [{ key: first, size: 1, storedAt: 0 }], cursor: "more" });
  const page = await ask("");
  lists.mockRestore();
  expect(page).toMatchObject({ status: 200, data: { items: [], nextCursor: first.slice(`v1/${WORKSPACE}/`.length) } });
  // SAFETY: as just checked.
  const { nextCursor } = page.data as { nextCursor: string } & FileCheck;
  const rest = await ask(`?cursor=${encodeURIComponent(nextCursor)}`);
  expect(rest.data).toMatchObject({ items: [{ file: second, problem: "missing" }], nextCursor: null, compared: 1 });
  expect((await ask("?cursor=%20")).status).toBe(400);
});
