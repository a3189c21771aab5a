import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Usage } from "../../../src/workspace/usage.ts";
import { evict, numbered, onSql, receiptOf, send, storedEntries, type Tenant, workspace } from "../ingest/support.ts";
import { type ColdEntry, coldEntries } from "./cold.ts";

export type Place = Pick<Tenant, "workspaceId" | "projectId">;

/** Milliseconds after which every batch is old enough to be moved: the default of RECENT_MAX_AGE_SECONDS. */
export const AGED_MS = 3_600_000;

export function alarm(workspaceId: string): Promise<boolean> {
  return runDurableObjectAlarm(workspace(workspaceId));
}

/** Sends batches of these sizes, whose messages count on. */
export async function sendBatches(tenant: Pick<Tenant, "projectId" | "secret">, ...sizes: number[]): Promise<void> {
  for (const size of sizes) receiptOf(await send(tenant, numbered(size)));
}

/** As if all batches had arrived an hour ago, and the object had slept since. */
export async function age(workspaceId: string): Promise<void> {
  await onSql(workspaceId, (sql) => sql.exec("UPDATE batches SET received_at = received_at - ?", AGED_MS).toArray());
  await evict(workspaceId);
}

/** Alarms until nothing waits any more. @returns how many it took */
export async function flushAll({ workspaceId }: Pick<Tenant, "workspaceId">): Promise<number> {
  await age(workspaceId);
  for (let turn = 1; turn <= 20; turn++) {
    await alarm(workspaceId);
    if ((await waiting(workspaceId)).batches === 0) return turn;
  }
  throw new Error("The flush does not come to an end.");
}

/** What the object has counted as waiting, which must be what is there. */
export function waiting(workspaceId: string): Promise<{ batches: number; entries: number; bytes: number }> {
  return onSql(workspaceId, (sql) => {
    const counted = sql
      .exec<{ batches: number; entries: number; bytes: number }>(
        `SELECT COALESCE(SUM(waiting_batches), 0) AS batches, COALESCE(SUM(waiting_entries), 0) AS entries,
           COALESCE(SUM(waiting_bytes), 0) AS bytes FROM projects`,
      )
      .one();
    const there = sql.exec(
      `SELECT COUNT(*) AS batches, COALESCE(SUM(count), 0) AS entries, COALESCE(SUM(body_bytes), 0) AS bytes FROM batches
       WHERE project IN (SELECT num FROM projects) AND commit_no NOT IN (SELECT commit_no FROM set_aside)`,
    );
    expect(counted).toEqual(there.one());
    return counted;
  });
}

export function watermark({ workspaceId, projectId }: Place): Promise<number> {
  return onSql(
    workspaceId,
    (sql) => sql.exec<{ seq: number }>("SELECT flushed_seq AS seq FROM projects WHERE id = ?", projectId).one().seq,
  );
}

export function rowsOf(workspaceId: string, table: string) {
  return onSql(workspaceId, (sql) => sql.exec(`SELECT * FROM ${table}`).toArray());
}

export async function usageOf({ workspaceId, ownerId }: Pick<Tenant, "workspaceId" | "ownerId">): Promise<Usage> {
  const answer = await workspace(workspaceId).usage(ownerId);
  if (!answer.ok) throw new Error(answer.code);
  return answer.value;
}

export function cold({ workspaceId, projectId }: Place): Promise<ColdEntry[]> {
  return coldEntries(env.DB, workspaceId, projectId);
}

/**
 * How many entries are in each tier: every `seq` from 1 on must be in exactly one of them, the cold ones up to the
 * watermark.
 */
export async function tiers(place: Place): Promise<{ cold: number; recent: number }> {
  const stored = (await cold(place)).map(({ seq }) => seq);
  const recent = (await storedEntries(place.workspaceId))
    .filter(({ projectId }) => projectId === place.projectId)
    .map(({ seq }) => seq)
    .sort((a, b) => a - b);
  expect([...stored, ...recent]).toEqual([...stored, ...recent].map((_, index) => index + 1));
  expect(await watermark(place)).toBe(stored.length);
  return { cold: stored.length, recent: recent.length };
}
