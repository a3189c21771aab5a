import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CompactionCall, CompactionOutcome } from "../../../src/logs/cold/compaction/compact.ts";
import { ColdTier } from "../../../src/logs/cold/store/cold-tier.ts";
import { missingRanges } from "../../../src/logs/cold/store/missing-ranges.ts";
import { Compaction } from "../../../src/objects/workspace/compaction.ts";
import { newAlarmOrigin } from "../../../src/platform/origin.ts";
import { nextCompaction, READY_MS } from "../../../src/workspace/flush/compactions.ts";
import { flushedRangesAfter } from "../../../src/workspace/flush/flushed-ranges.ts";
import { WorkspaceState } from "../../../src/workspace/state.ts";
import { newTenant, onSql, type Tenant, workspace } from "../ingest/support.ts";
import { storeAsLineBlocks } from "./cold.ts";
import { clock, flushAll, sendBatches, watermark } from "./support.ts";

beforeEach(() => clock.start());
afterEach(() => clock.stop());

const compactor = (call: CompactionCall) =>
  env.COMPACTORS.get(env.COMPACTORS.idFromName(call.workspaceId)).compact(call);

/** Runs the duty of a new instance, until nothing is due. @returns the outcomes of its steps */
function compactAll(
  { workspaceId }: Tenant,
  compact: (call: CompactionCall) => Promise<CompactionOutcome> = compactor,
): Promise<CompactionOutcome[]> {
  return runInDurableObject(workspace(workspaceId), async (_, { storage }) => {
    const outcomes: CompactionOutcome[] = [];
    const duty = new Compaction(new WorkspaceState(storage), () => storage.sync(), {
      isOn: true,
      compact: async (call) => {
        const outcome = await compact(call);
        outcomes.push(outcome);
        return outcome;
      },
      log: () => {},
    });
    for (let steps = 0; steps < 20; steps++) {
      const dueAt = duty.dueAt();
      if (dueAt === null || dueAt > Date.now()) return outcomes;
      duty.run(Date.now(), newAlarmOrigin());
      await duty.settled();
    }
    throw new Error("The compaction does not come to an end.");
  });
}

async function segmentsOf(workspaceId: string) {
  const { results } = await env.COLD_DB.prepare(
    `SELECT first_seq AS firstSeq, last_seq AS lastSeq, count, format FROM segments
     WHERE workspace_id = ? AND replaced_at IS NULL ORDER BY first_seq`,
  )
    .bind(workspaceId)
    .all();
  return results;
}

const planned = ({ workspaceId }: Tenant) => onSql(workspaceId, (sql) => nextCompaction(sql));

describe("the compaction of a workspace", () => {
  it("merges what was flushed minutes ago, and the catalog's counts equal the watermark", async () => {
    const tenant = await newTenant();
    for (const size of [30, 20, 10]) {
      await sendBatches(tenant, size);
      await flushAll(tenant);
    }
    await storeAsLineBlocks(tenant.workspaceId, tenant.projectId);
    expect(await segmentsOf(tenant.workspaceId)).toHaveLength(3);
    // The last range was flushed now.
    await onSql(tenant.workspaceId, (sql) => sql.exec("UPDATE compactions SET due_at = ?", clock.at));
    await compactAll(tenant);
    clock.pass(READY_MS);
    await compactAll(tenant);
    expect(await segmentsOf(tenant.workspaceId)).toEqual([{ firstSeq: 1, lastSeq: 60, count: 60, format: 1 }]);
    expect(await watermark(tenant)).toBe(60);
    const usage = await new ColdTier(env).usageUpTo(tenant.workspaceId, [{ projectId: tenant.projectId, seq: 60 }]);
    expect(usage).toMatchObject({ segments: 1, entries: 60 });
    const project = await onSql(tenant.workspaceId, (sql) =>
      sql.exec<{ num: number }>("SELECT num FROM projects").one(),
    );
    const flushed = await onSql(tenant.workspaceId, (sql) => flushedRangesAfter(sql, project.num, 0, 100));
    expect(flushed).toHaveLength(3);
    expect(await missingRanges(new ColdTier(env), tenant.workspaceId, tenant.projectId, flushed)).toEqual([]);
    // Nothing is planned until the next flush.
    expect(await planned(tenant)).toBeNull();
    await sendBatches(tenant, 5);
    await flushAll(tenant);
    expect(await planned(tenant)).toMatchObject({ readySeq: 65 });
  });

  it("waits for a step of an instance before it, and repeats a failed step later", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3);
    await flushAll(tenant);
    await storeAsLineBlocks(tenant.workspaceId, tenant.projectId);
    clock.pass(READY_MS);
    const lost = await compactAll(tenant, async () => ({ outcome: "failed", reason: "R2" }));
    expect(lost).toHaveLength(1);
    const { dueAt } = (await planned(tenant)) ?? { dueAt: 0 };
    expect(dueAt - Date.now()).toBeGreaterThan(1000);
    // The object was evicted during a step.
    await onSql(tenant.workspaceId, (sql) => sql.exec("UPDATE compactions SET began_at = ?", dueAt));
    clock.pass(dueAt - clock.at + 1000);
    expect(await compactAll(tenant)).toEqual([]);
    clock.pass(180_000);
    expect(await compactAll(tenant)).toMatchObject([{ outcome: "merged" }, { outcome: "idle" }]);
  });

  it("leaves nothing behind if the project is deleted during a step", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3);
    await flushAll(tenant);
    clock.pass(READY_MS);
    const outcomes = await compactAll(tenant, async (call) => {
      await env.COLD_DB.prepare("DELETE FROM segments WHERE workspace_id = ?").bind(tenant.workspaceId).run();
      return compactor(call);
    });
    expect(outcomes).toMatchObject([{ outcome: "idle", isLast: true }]);
    expect(await segmentsOf(tenant.workspaceId)).toEqual([]);
  });
});
