import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { migrate } from "../../../src/platform/sql.ts";
import { WORKSPACE_SCHEMA } from "../../../src/workspace/schema.ts";
import { bearer, login, signedIn } from "../accounts/support.ts";
import { evict, onSql, workspace } from "../ingest/support.ts";
import { newKey, newProject } from "../projects/support.ts";
import { batchOf } from "../query/support.ts";
import { by, newUser } from "../workspaces/support.ts";
import { AGED_MS, alarm, clock, flushAll, holdInsert, sendBatches, tiers, waiting } from "./support.ts";

beforeEach(() => clock.start());
afterEach(() => clock.stop());

/** A user with two projects. */
async function newUserWithProjects() {
  const user = await newUser();
  const { accessToken, workspaceId, userId } = user;
  const owner = { userId, workspaceId, headers: { ...bearer(accessToken), "X-Workspace-Id": workspaceId } };
  const [first, second] = [await newKey(owner, await newProject(owner)), await newKey(owner, await newProject(owner))];
  return { user, workspaceId, first, second, usage: () => usageOf(user) };
}

async function usageOf(user: Awaited<ReturnType<typeof newUser>>): Promise<unknown> {
  // Hours have passed since the account was created.
  const { accessToken } = signedIn(await login(user.email));
  const answer = await by({ accessToken }, `/workspaces/${user.workspaceId}/usage`);
  expect(answer.status).toBe(200);
  return answer.data;
}

describe("usage of both tiers", () => {
  it("counts every entry in exactly one of them, also during a flush", async () => {
    const { workspaceId, first, second, usage } = await newUserWithProjects();
    await sendBatches(first, 3, 4);
    await sendBatches(second, 5);
    await flushAll({ workspaceId });
    const moved = { stored: { entries: 12, segments: 2 }, recent: { entries: 0, bytes: 0, oldestAt: null } };
    expect(await usage()).toMatchObject({ ...moved, flush: { pendingBatches: 0, setAside: 0, lastError: null } });
    await sendBatches(first, 6);
    clock.pass(AGED_MS);
    const sent = holdInsert();
    alarm(workspaceId).catch(() => {});
    const land = await sent();
    await land();
    // The range is in D1 and not yet deleted from the object.
    expect(await usage()).toMatchObject({ stored: { entries: 12, segments: 2 }, recent: { entries: 6 } });
  });

  it("excludes a deleted project immediately, whichever tier its entries are in", async () => {
    const { user, workspaceId, first, second, usage } = await newUserWithProjects();
    await sendBatches(first, 3);
    await sendBatches(second, 5);
    await flushAll({ workspaceId });
    await sendBatches(first, 2);
    await workspace(workspaceId).deleteProject(user.userId, first.projectId);
    expect(await usage()).toMatchObject({ stored: { entries: 5, segments: 1 }, recent: { entries: 0 } });
  });

  it("returns everything except the cold tier's usage while D1 is unreachable", async () => {
    const { workspaceId, first, usage } = await newUserWithProjects();
    await sendBatches(first, 3);
    await flushAll({ workspaceId });
    await sendBatches(first, 2);
    const statement: D1PreparedStatement = Object.getPrototypeOf(env.DB.prepare("SELECT 1"));
    const { first: read } = statement;
    vi.spyOn(statement, "first").mockImplementation(async function (this: D1PreparedStatement) {
      const row: unknown = await read.call(this);
      // Only queries of segments fail, because sign-in needs D1, too.
      if (row instanceof Object && "segments" in row) throw new Error("D1_ERROR");
      return row;
    });
    expect(await usage()).toMatchObject({ stored: null, recent: { entries: 2 }, flush: { pendingBatches: 1 } });
  });
});

describe("an object from before the cold tier", () => {
  it("counts its batches when it wakes, and moves them", async () => {
    const id = `ws_${"0".repeat(11)}7`;
    const ownerId = "usr_000000000007";
    const projectId = "proj_000000000007";
    const { summary, body, size, encoding } = batchOf([{ timestamp: clock.at, message: "old" }]);
    await onSql(id, (sql) => {
      migrate(sql, WORKSPACE_SCHEMA.slice(0, 1));
      sql.exec(
        "INSERT INTO workspace (one, id, name, personal, retention_days, created_at) VALUES (1, ?, 'w', 0, 30, 0)",
        id,
      );
      sql.exec("INSERT INTO members (user_id, role, added_at) VALUES (?, 'owner', 0)", ownerId);
      sql.exec("INSERT INTO projects (id, name, created_at, last_seq) VALUES (?, 'p', 0, 2)", projectId);
      for (const commit of [1, 2]) {
        sql.exec(
          `INSERT INTO batches VALUES (?, 1, ?, 1, ?, ?, ?, 1, 1, ?, ?, ?, 1, ?, ?)`,
          commit,
          commit,
          clock.at,
          clock.at,
          clock.at,
          encoding,
          size,
          body.length,
          summary,
          body,
        );
      }
    });
    await evict(id);
    expect(await waiting(id)).toEqual({ batches: 2, entries: 2, bytes: 2 * body.length });
    await flushAll({ workspaceId: id });
    expect(await tiers({ workspaceId: id, projectId })).toEqual({ cold: 2, recent: 0 });
  });
});
