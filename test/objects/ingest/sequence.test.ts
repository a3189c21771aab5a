import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { newId } from "../../../src/ids.ts";
import { parseApiKey } from "../../../src/keys/api-key.ts";
import { API_DEFAULT } from "../../../src/limits/state.ts";
import { buildBatch } from "../../../src/logs/ingest/build-batch.ts";
import type { WorkspaceObject } from "../../../src/objects/workspace/workspace.ts";
import type { IngestCall } from "../../../src/workspace/ingest-calls.ts";
import { WorkspaceState } from "../../../src/workspace/state.ts";
import {
  addKey,
  addProject,
  evict,
  messagesOf,
  newTenant,
  numbered,
  onSql,
  type Receipt,
  receiptOf,
  send,
  storedEntries,
  type Tenant,
  workspace,
} from "./support.ts";

/** Creates a tenant with another project in the same workspace. */
async function sibling(tenant: Tenant): Promise<Tenant> {
  const projectId = await addProject(tenant);
  return { ...tenant, projectId, ...(await addKey({ ...tenant, projectId })) };
}

describe("seq", () => {
  it("has no gap with 200 concurrent batches of several projects and with evictions", async () => {
    const first = await newTenant();
    const tenants = [first, await sibling(first), await sibling(first)];
    const sent = new Map<string, string[]>();
    const receipts = new Map<string, Receipt[]>();
    for (let round = 0; round < 4; round++) {
      await Promise.all(
        Array.from({ length: 50 }, async (_, i) => {
          const tenant = tenants[i % 3] ?? first;
          const good = numbered(1 + (i % 7), (round * 50 + i) * 10);
          // Includes invalid entries, invalid bodies, duplicates and keys of every kind.
          const body = i % 5 === 0 ? [{ message: "" }, ...good] : good;
          if (i % 11 === 0) expect((await send(tenant, [{ message: "" }])).status).toBe(400);
          const options = i % 2 === 0 ? { idempotencyKey: `${round}.${i}` } : {};
          const receipt = receiptOf(await send(tenant, body, options));
          if (i % 4 === 0) {
            const repeated = receiptOf(await send(tenant, body, options));
            expect(repeated).toMatchObject({ duplicate: true, firstSeq: receipt.firstSeq, lastSeq: receipt.lastSeq });
          }
          expect(receipt.accepted).toBe(good.length);
          receipts.set(tenant.projectId, [...(receipts.get(tenant.projectId) ?? []), receipt]);
          sent.set(tenant.projectId, [...(sent.get(tenant.projectId) ?? []), ...good.map(({ message }) => message)]);
        }),
      );
      await evict(first.workspaceId);
    }
    const rows = await storedEntries(first.workspaceId);
    for (const { projectId, ...tenant } of tenants) {
      const messages = await messagesOf({ ...tenant, projectId });
      expect([...messages].sort()).toEqual([...(sent.get(projectId) ?? [])].sort());
      // Every receipt names exactly the seq range of its batch.
      for (const { firstSeq, lastSeq } of receipts.get(projectId) ?? []) {
        const commits = rows.filter((row) => row.projectId === projectId && row.seq >= firstSeq && row.seq <= lastSeq);
        expect(commits).toHaveLength(lastSeq - firstSeq + 1);
        expect(new Set(commits.map(({ commit }) => commit)).size).toBe(1);
      }
      const last = await onSql(first.workspaceId, (sql) =>
        sql.exec("SELECT last_seq FROM projects WHERE id = ?", projectId).one(),
      );
      expect(last.last_seq).toBe(messages.length);
    }
    const commits = [...new Set(rows.map(({ commit }) => commit))];
    expect(commits).toEqual(commits.map((_, i) => i + 1));
  });

  it("is exact if the cache of projects fills up in the middle of a group", async () => {
    const tenant = await newTenant();
    const other = await sibling(tenant);
    const batches = await onState(tenant, (state) => {
      // Fills the cache with 10,000 projects, including the first tenant's but not the other's.
      state.sql.exec(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
         INSERT INTO projects (id, name, created_at) SELECT 'proj_full' || i, 'p', 0 FROM n`,
      );
      const fill = () => {
        for (let num = 10_001; num > 2; num--) state.keyProjectCache.projectByNum(num);
        state.keyProjectCache.projectByNum(1);
      };
      fill();
      state.ingest([callOf(tenant, 2), callOf(other, 1), callOf(tenant, 3)]);
      fill();
      state.ingest([callOf(tenant, 1), callOf(other, 4), callOf(tenant, 1)]);
      return [...state.sql.exec("SELECT project, first_seq, count FROM batches ORDER BY commit_no").raw()];
    });
    expect(batches).toEqual([
      // Small batches of a group and project share a row.
      [1, 1, 5],
      [2, 1, 1],
      [1, 6, 2],
      [2, 2, 4],
    ]);
  });
});

describe("a group commit", () => {
  it("in which one call fails does not affect the others", async () => {
    const tenant = await newTenant();
    const stub = workspace(tenant.workspaceId);
    const calls = Array.from({ length: 20 }, (_, i) => callOf(tenant, 1, `m${i}`));
    const bad = calls[7];
    // A value that the column refuses. No router sends it; only a bug of the service could.
    if (bad?.batch) bad.batch.minTimestamp = Number.NaN;
    const results = await Promise.allSettled(calls.map((call) => stub.ingest(call)));
    expect(results.flatMap((result, i) => (result.status === "rejected" ? [i] : []))).toEqual([7]);
    const expected = calls.map((_, i) => `m${i}`).filter((_, i) => i !== 7);
    expect((await messagesOf(tenant)).sort()).toEqual(expected.sort());
    // The failed call was rolled back and not counted: 19 requests, and only one more admission.
    expect(receiptOf(await send(tenant, { message: "next" })).firstSeq).toBe(20);
    const { value } = await limitsOf(tenant);
    expect(value).toBe(API_DEFAULT.limit - 20);
  });

  it("puts several batches into one transaction", async () => {
    const tenant = await newTenant();
    const results = await onState(tenant, (state) => state.ingest(Array.from({ length: 5 }, () => callOf(tenant, 2))));
    expect(results?.map((result) => result.ok && result.receipt.firstSeq)).toEqual([1, 3, 5, 7, 9]);
    const rows = await onSql(tenant.workspaceId, (sql) => sql.exec("SELECT * FROM rate_seconds").toArray());
    expect(rows).toHaveLength(1);
  });

  it("rolled back leaves memory and disk unchanged", async () => {
    const tenant = await newTenant();
    const outcome = await onState(tenant, (state) => {
      const bad = callOf(tenant, 3);
      if (bad.batch) bad.batch.maxTimestamp = Number.NaN;
      const seqs: unknown[] = [];
      for (const calls of [[callOf(tenant, 2)], [callOf(tenant, 5), bad], [callOf(tenant, 1)]]) {
        try {
          seqs.push(
            state.ingest(calls)?.map((result) => result.ok && [result.receipt.firstSeq, result.limit?.remaining]),
          );
        } catch {
          seqs.push("rolled back");
        }
      }
      return seqs;
    });
    expect(outcome).toEqual([[[1, 999]], "rolled back", [[3, 998]]]);
  });

  it("of an unprovisioned object refuses every call", async () => {
    const tenant = { ...(await newTenant()), workspaceId: newId("ws") };
    const results = await Promise.all(
      [callOf(tenant, 1), callOf(tenant, 1)].map((call) => workspace(tenant.workspaceId).ingest(call)),
    );
    for (const result of results) expect(result).toMatchObject({ ok: false, code: "INVALID_API_KEY" });
  });
});

function callOf({ secret, projectId }: Pick<Tenant, "secret" | "projectId">, count: number, message = "m"): IngestCall {
  const values = Array.from({ length: count }, () => ({ message }));
  const { batch } = buildBatch(values, { now: Date.now(), oldest: null });
  return {
    keyHash: parseApiKey(secret)?.hash ?? "",
    projectId,
    route: { method: "POST", pattern: "/logger/:projectId/log", path: `/logger/${projectId}/log` },
    idempotency: null,
    batch,
    rejected: [],
    rejectedCount: 0,
    oldest: null,
  };
}

/** Runs on a separate state over the workspace's storage, like the object's own. */
function onState<T>(tenant: Tenant, work: (state: WorkspaceState) => T): Promise<T> {
  return runInDurableObject(workspace(tenant.workspaceId), (_: WorkspaceObject, { storage }) =>
    work(new WorkspaceState(storage)),
  );
}

async function limitsOf({ workspaceId, ownerId, keyId }: Tenant): Promise<{ value: number | undefined }> {
  const answer = await workspace(workspaceId).rateLimits(ownerId);
  if (!answer.ok) throw new Error(answer.code);
  return { value: answer.value.live.find(({ identifier }) => identifier === `key:${keyId}`)?.remaining };
}
