import type { Env } from "../../../src/env.ts";
import { PARTS, SMALL_END } from "../../../src/logs/cold/compaction/policy.ts";
import { lastVisiblePart, SWITCH_MS } from "../../../src/logs/cold/compaction/visibility.ts";
import { PLACEMENT } from "../../../src/logs/segments/encode/encode-rows.ts";
import { STAGING } from "../../../src/routes/logs/send-entries.ts";
import { direct as service } from "../../../src/worker.ts";
import { LATE_WRITES_MS } from "../../../src/workspace/flush/flushed-ranges.ts";
import { FlushSchedule } from "../../../src/workspace/flush/schedule.ts";
import type { Look, Order } from "../protocol.ts";
import { chaos, pause } from "./chaos.ts";
import { allKeys, hookBucket } from "./failing-bucket.ts";
import { allUnharmed, batchUnharmed, hookD1 } from "./failing-d1.ts";
import { KILLED, type WorkspaceObject } from "./workspace.ts";

/**
 * The whole service, with the bindings of its wrangler.toml and one more route, by which a test makes D1, the cold
 * writer and workspace objects fail. Never deployed.
 */

export { AddressObject } from "../../../src/objects/address/address.ts";
export { MatcherObject } from "../../../src/objects/matcher/matcher.ts";
export { ScannerObject } from "../../../src/objects/scanner/scanner.ts";
export { UserObject } from "../../../src/objects/user/user.ts";
export { AlertMatcher } from "../../../src/objects/workspace/alert-matcher.ts";
export { TailBacklog } from "../../../src/objects/workspace/entrypoints.ts";
export { default } from "../../../src/worker.ts";
export { ColdWriter } from "./cold-writer.ts";
export { CompactorObject } from "./compactor.ts";
export { WorkspaceObject } from "./workspace.ts";

/** Milliseconds. With the service's own delays of up to a minute, a round would see no retries. */
const RETRY_MS = 50;
FlushSchedule.prototype.failed = function (now) {
  this.holdUntil(now + RETRY_MS);
  return RETRY_MS;
};

/** Ranges of the harness are small; nearly all their files would be in D1. */
PLACEMENT.bucketFromBytes = 1024;

/** A round has few ranges, and few requests as large as those that are staged. */
Object.assign(SMALL_END, { ranges: 2, growth: 1 });
STAGING.callBytes = 32 * 1024;

/** Makes unflushed batches due immediately if an alarm is ordered so, to flush at any moment. */
const { dueAt } = FlushSchedule.prototype;
FlushSchedule.prototype.dueAt = function (isOpen) {
  const at = dueAt.call(this, isOpen);
  return at === null || !chaos.isEager ? at : 0;
};

interface ChaosEnv extends Env {
  WORKSPACES: DurableObjectNamespace<WorkspaceObject>;
}

export const direct = {
  async fetch(request, env, ctx) {
    hookD1(env.DB);
    hookBucket(env.BUCKET);
    if (new URL(request.url).pathname !== "/chaos") return service.fetch(request, env, ctx);
    // SAFETY: only the harness calls this route.
    const order = (await request.json()) as Order;
    return Response.json((await obey(order, env)) ?? null);
  },
} satisfies ExportedHandler<ChaosEnv>;

async function obey(order: Order, env: ChaosEnv): Promise<unknown> {
  const object = (workspaceId: string) => env.WORKSPACES.get(env.WORKSPACES.idFromName(workspaceId));
  switch (order.do) {
    case "plan":
      return chaos.begin(order.plan);
    case "abort":
      return object(order.workspaceId)
        .abortNow()
        .catch(() => {});
    case "alarm":
      // An alarm must never throw, whatever fails in its work. Its object may be killed.
      return object(order.workspaceId)
        .alarms(order)
        .catch((error: Error) => (error.message === KILLED ? null : error.message));
    case "compact":
      return object(order.workspaceId)
        .compactNow(order.waits)
        .catch((error: Error) => (error.message === KILLED ? null : error.message));
    case "age-merges":
      return ageMerges(env.COLD_DB, order.workspaceId);
    case "quiet":
      while (chaos.lateWriters > 0) await pause(10);
      return;
    case "age-deletions":
      return object(order.workspaceId).ageDeletions(2 * LATE_WRITES_MS);
    case "counts":
      return chaos.counts;
    case "look":
      return {
        ...(await unlessKilled(() => object(order.workspaceId).look())),
        segments: await segments(env.COLD_DB, order.workspaceId),
        ...(await files(env, order.workspaceId)),
      };
  }
}

/** Moves the time from which on readers see merged segments into the past, in both kinds of rows. */
async function ageMerges(db: D1Database, workspaceId: string): Promise<void> {
  const now = Date.now();
  const merged = db
    .prepare("UPDATE segments SET part = part - ?1 WHERE workspace_id = ?2 AND part > ?3")
    .bind(((2 * SWITCH_MS) / 1000) * PARTS, workspaceId, lastVisiblePart(now));
  const replaced = db
    .prepare("UPDATE segments SET replaced_at = replaced_at - ?1 WHERE workspace_id = ?2 AND replaced_at > ?3")
    .bind(2 * SWITCH_MS, workspaceId, now);
  await batchUnharmed(db, [merged, replaced]);
}

/** Repeats a call whose object was killed. */
async function unlessKilled<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Error) || error.message !== KILLED) throw error;
    }
  }
}

function segments(db: D1Database, workspaceId: string): Promise<Look["segments"]> {
  const statement = db
    .prepare(
      `SELECT project_id AS projectId, first_seq AS firstSeq, last_seq AS lastSeq, part, count FROM segments
       WHERE workspace_id = ? AND replaced_at IS NULL ORDER BY project_id, first_seq, part`,
    )
    .bind(workspaceId);
  return allUnharmed<Look["segments"][number]>(statement);
}

async function files(
  { COLD_DB, BUCKET }: Env,
  workspaceId: string,
): Promise<Pick<Look, "strayFiles" | "missingFiles">> {
  if (BUCKET === undefined) return { strayFiles: [], missingFiles: [] };
  const statement = COLD_DB.prepare(
    `SELECT file, 0 AS isOrphan FROM segments WHERE workspace_id = ?1 AND file IS NOT NULL
     UNION ALL SELECT file, 1 FROM orphans WHERE workspace_id = ?1`,
  ).bind(workspaceId);
  const named = await allUnharmed<{ file: string; isOrphan: number }>(statement);
  const keys = new Set(await allKeys(BUCKET, `v1/${workspaceId}/`));
  const names = new Set(named.map(({ file }) => file));
  return {
    strayFiles: [...keys].filter((key) => !names.has(key)),
    missingFiles: named.filter(({ file, isOrphan }) => isOrphan === 0 && !keys.has(file)).map(({ file }) => file),
  };
}
