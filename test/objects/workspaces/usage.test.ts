import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Usage } from "../../../src/workspace/usage.ts";
import { bearer, workspaceStub } from "../accounts/support.ts";
import { addKey, addProject, newTenant, numbered, onSql, receiptOf, send, workspace } from "../ingest/support.ts";
import { newKey, newProject } from "../projects/support.ts";
import { by, newUser } from "./support.ts";

afterEach(() => vi.restoreAllMocks());

const DAY_MS = 86_400_000;

async function usageOf({ workspaceId, ownerId }: { workspaceId: string; ownerId: string }): Promise<Usage> {
  const answer = await workspace(workspaceId).usage(ownerId);
  if (!answer.ok) throw new Error(answer.code);
  return answer.value;
}

describe("usage", () => {
  it("of an empty workspace is zero everywhere, over HTTP", async () => {
    const user = await newUser();
    const path = `/workspaces/${user.workspaceId}/usage`;
    const empty = {
      recent: { entries: 0, bytes: 0, oldestAt: null },
      stored: { entries: 0, bytes: 0, segments: 0 },
      ingestedToday: 0,
      flush: { pendingBatches: 0, setAside: 0, lastAt: null, lastError: null },
    };
    expect((await by(user, path)).data).toEqual(empty);
    const { accessToken, workspaceId, userId } = user;
    const owner = { userId, workspaceId, headers: { ...bearer(accessToken), "X-Workspace-Id": workspaceId } };
    const key = await newKey(owner, await newProject(owner));
    receiptOf(await send(key, numbered(3)));
    receiptOf(await send(key, numbered(2)));
    const stored = await onSql(workspaceId, (sql) =>
      sql.exec("SELECT SUM(LENGTH(body)) AS bytes, MIN(received_at) AS at FROM batches").one(),
    );
    expect((await by(user, path)).data).toEqual({
      ...empty,
      recent: { entries: 5, bytes: stored.bytes, oldestAt: new Date(Number(stored.at)).toISOString() },
      ingestedToday: 5,
      flush: { pendingBatches: 2, setAside: 0, lastAt: null, lastError: null },
    });
  });

  it("counts the day exactly, over projects, replays, refusals, evictions, deletions and midnight", async () => {
    const tenant = await newTenant();
    const { workspaceId, ownerId } = tenant;
    const second = { ...tenant, projectId: await addProject(tenant) };
    const secondKey = { ...second, ...(await addKey(second)) };
    // 23:59:59 UTC of a future day.
    const evening = Math.ceil(Date.now() / DAY_MS) * DAY_MS + DAY_MS - 1000;
    const clock = vi.spyOn(Date, "now").mockReturnValue(evening);
    receiptOf(await send(tenant, numbered(7), { idempotencyKey: "a" }));
    receiptOf(await send(tenant, numbered(7), { idempotencyKey: "a" }));
    receiptOf(await send(tenant, [...numbered(2), { level: "none" }]));
    receiptOf(await send(secondKey, numbered(4)));
    expect((await usageOf(tenant)).ingestedToday).toBe(13);
    await evictDurableObject(workspaceStub(workspaceId));
    expect((await usageOf(tenant)).ingestedToday).toBe(13);
    await workspace(workspaceId).deleteProject(ownerId, second.projectId);
    expect(await usageOf(tenant)).toMatchObject({
      ingestedToday: 13,
      recent: { entries: 9 },
      flush: { pendingBatches: 2 },
    });
    await runDurableObjectAlarm(workspaceStub(workspaceId));
    expect(await usageOf(tenant)).toMatchObject({ ingestedToday: 13, recent: { entries: 9 } });
    clock.mockReturnValue(evening + 2000);
    expect((await usageOf(tenant)).ingestedToday).toBe(0);
    receiptOf(await send(tenant, numbered(5)));
    expect((await usageOf(tenant)).ingestedToday).toBe(5);
    await Promise.all(Array.from({ length: 10 }, () => send(tenant, numbered(3))));
    expect((await usageOf(tenant)).ingestedToday).toBe(35);
    await workspace(workspaceId).deleteProject(ownerId, tenant.projectId);
    expect(await usageOf(tenant)).toMatchObject({ ingestedToday: 35, recent: { entries: 0, oldestAt: null } });
  });

  it("costs no additional row: a batch writes as many as before", async () => {
    const tenant = await newTenant();
    receiptOf(await send(tenant, numbered(1)));
    const written = await runInDurableObject(workspaceStub(tenant.workspaceId), (_, { storage }) => {
      const { sql } = storage;
      return sql.exec("UPDATE projects SET last_seq = ?, day = ?, day_seq = ? WHERE num = 1", 1, 2, 0).rowsWritten;
    });
    expect(written).toBe(1);
  });
});
