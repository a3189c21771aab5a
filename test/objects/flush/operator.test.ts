import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callWith } from "../accounts/support.ts";
import { newTenant, type Tenant, workspace } from "../ingest/support.ts";
import { newUser } from "../workspaces/support.ts";
import { storeAsEarlier } from "./earlier.ts";
import { alarm, clock, flushAll, flushLines, rowsOf, sendBatches } from "./support.ts";

beforeEach(() => {
  clock.start();
  flushLines();
});
afterEach(() => clock.stop());

const TOKEN = "operator-token-operator-token-0001";
const DAY_MS = 24 * 60 * 60 * 1000;

const ask = (path: string, token: string | null = TOKEN, settings: object = { OPERATOR_TOKEN: TOKEN }) =>
  callWith(settings, path, token === null ? {} : { headers: { Authorization: `Bearer ${token}` } });

async function missingOf({ workspaceId, projectId }: Tenant, query = ""): Promise<unknown> {
  const answer = await ask(`/operator/workspaces/${workspaceId}/projects/${projectId}/missing${query}`);
  expect(answer).toMatchObject({ status: 200 });
  return answer.data;
}

/** A project with ranges of 10 entries each, in the cold tier. */
async function flushed(ranges: number): Promise<Tenant> {
  const tenant = await newTenant();
  for (let range = 0; range < ranges; range++) {
    await sendBatches(tenant, 4, 6);
    await flushAll(tenant);
  }
  return tenant;
}

describe("D25: operator routes", () => {
  it("D25: do not exist without a token in the settings, and refuse any other token", async () => {
    expect(await ask("/operator/workspaces", TOKEN, {})).toMatchObject({ status: 404, code: "NOT_FOUND" });
    for (const token of [null, "", "x", `${TOKEN}x`, TOKEN.slice(1)]) {
      const refused = await ask("/operator/workspaces", token);
      expect(refused).toMatchObject({ status: 401, code: "UNAUTHORIZED" });
    }
    expect((await ask("/operator/workspaces")).status).toBe(200);
  });

  it("D25: list every workspace of the directory, page by page", async () => {
    const users = [await newUser(), await newUser(), await newUser()];
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const answer = await ask(`/operator/workspaces?limit=2${cursor === null ? "" : `&cursor=${cursor}`}`);
      // SAFETY: the shape of the list.
      const page = answer.data as { items: { id: string; slug: string }[]; nextCursor: string | null };
      found.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(found).toEqual(expect.arrayContaining(users.map(({ workspaceId }) => workspaceId)));
    expect(found).toEqual([...new Set(found)].sort());
    expect((await ask("/operator/workspaces?cursor=nonsense")).status).toBe(400);
  });

  it("D25: return what a workspace holds in both tiers", async () => {
    const tenant = await flushed(3);
    await storeAsEarlier(tenant.workspaceId, ({ firstSeq }) => firstSeq === 1);
    await sendBatches(tenant, 5);
    expect((await ask(`/operator/workspaces/${tenant.workspaceId}`)).data).toMatchObject({
      id: tenant.workspaceId,
      usage: { recent: { entries: 5 }, stored: { entries: 30, segments: 3 }, flush: { pendingBatches: 1 } },
      projects: {
        items: [
          {
            id: tenant.projectId,
            lastSeq: 35,
            flushedSeq: 30,
            cold: { segments: 3, entries: 30, firstSeq: 1, lastSeq: 30 },
          },
        ],
        nextCursor: null,
      },
    });
    for (const path of ["ws_000000000000", "nonsense", `${tenant.workspaceId}/projects/proj_000000000000/missing`]) {
      expect((await ask(`/operator/workspaces/${path}`)).status).toBe(404);
    }
  });
});

describe("D25: a range that the cold tier lacks", () => {
  it("D25: is listed, whichever database it was in; the list is empty if nothing is missing", async () => {
    const tenant = await flushed(5);
    await storeAsEarlier(tenant.workspaceId, ({ firstSeq }) => firstSeq < 20);
    const whole = { items: [], nextCursor: null, compared: 5, firstSeq: 1, flushedSeq: 50 };
    expect(await missingOf(tenant)).toEqual(whole);
    for (const [database, firstSeq] of [
      [env.DB, 11],
      [env.COLD_DB, 41],
    ] as const) {
      await database
        .prepare("DELETE FROM segments WHERE workspace_id = ? AND first_seq = ?")
        .bind(tenant.workspaceId, firstSeq)
        .run();
    }
    const lost = [
      { firstSeq: 11, lastSeq: 20, stored: 0 },
      { firstSeq: 41, lastSeq: 50, stored: 0 },
    ];
    expect(await missingOf(tenant)).toEqual({ ...whole, items: lost });
    expect(await missingOf(tenant, "?limit=2")).toEqual({ ...whole, items: [lost[0]], compared: 2, nextCursor: "11" });
    const last = { ...whole, items: [lost[1]], compared: 1, firstSeq: 41 };
    expect(await missingOf(tenant, "?limit=2&cursor=31")).toEqual(last);
  });

  it("D25: excludes what the retention has deleted, even if it was lengthened afterwards", async () => {
    const tenant = await flushed(2);
    clock.pass(2 * DAY_MS);
    await sendBatches(tenant, 10);
    await flushAll(tenant);
    const { workspaceId, ownerId } = tenant;
    await workspace(workspaceId).changeSettings(ownerId, { retentionDays: 1 });
    for (let turn = 0; turn < 3; turn++) await alarm(workspaceId);
    await workspace(workspaceId).changeSettings(ownerId, { retentionDays: 30 });
    const cold = { segments: 1, entries: 10, firstSeq: 21, lastSeq: 30 };
    const view = await ask(`/operator/workspaces/${workspaceId}`);
    expect(view.data).toMatchObject({ projects: { items: [{ flushedSeq: 30, cold }] } });
    expect(await missingOf(tenant)).toEqual({ items: [], nextCursor: null, compared: 1, firstSeq: 21, flushedSeq: 30 });
    clock.pass(31 * DAY_MS);
    for (let turn = 0; turn < 3; turn++) await alarm(workspaceId);
    expect(await missingOf(tenant)).toMatchObject({ items: [], compared: 0, firstSeq: null, flushedSeq: 30 });
    expect(await rowsOf(workspaceId, "flushed_ranges")).toEqual([]);
  });

  it("D25: is no longer listed after its project was deleted", async () => {
    const tenant = await flushed(2);
    await workspace(tenant.workspaceId).deleteProject(tenant.ownerId, tenant.projectId);
    clock.pass(10 * 60_000);
    for (let turn = 0; turn < 3; turn++) await alarm(tenant.workspaceId);
    expect(await rowsOf(tenant.workspaceId, "flushed_ranges")).toEqual([]);
    expect(await rowsOf(tenant.workspaceId, "doomed_projects")).toEqual([]);
  });
});
