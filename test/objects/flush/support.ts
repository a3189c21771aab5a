import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, onTestFinished, vi } from "vitest";
import { SegmentWriter } from "../../../src/logs/cold/store/writer.ts";
import type { Settings } from "../../../src/settings.ts";
import type { Usage } from "../../../src/workspace/usage.ts";
import { evict, numbered, onSql, receiptOf, send, storedEntries, type Tenant, workspace } from "../ingest/support.ts";
import { withSetting } from "../settings.ts";
import { type ColdEntry, coldEntries } from "./cold.ts";

export type Place = Pick<Tenant, "workspaceId" | "projectId">;

/** Milliseconds after which a batch is too old to stay: the default of RECENT_MAX_AGE_SECONDS. */
export const AGED_MS = 3_600_000;

/** The file that has started the clock. */
let startedBy: string | undefined;

/** The clock of a test file, far ahead of the machine's, so that no alarm of a test runs unless the test runs it. */
export const clock = {
  at: Date.now() + 24 * AGED_MS,
  start(): void {
    const { testPath } = expect.getState();
    // Files share this module. Each begins a day ahead, so that none finds expired what it has sent.
    if (testPath !== startedBy) clock.at = Date.now() + 24 * AGED_MS;
    startedBy = testPath;
    vi.useFakeTimers({ toFake: ["Date"], now: clock.at });
  },
  pass(ms: number): void {
    clock.at += ms;
    vi.setSystemTime(clock.at);
  },
  stop(): void {
    vi.useRealTimers();
    vi.restoreAllMocks();
  },
};

export function alarm(workspaceId: string): Promise<boolean> {
  return runDurableObjectAlarm(workspace(workspaceId));
}

/** Sends batches of these sizes, with messages numbered consecutively. */
export async function sendBatches(tenant: Pick<Tenant, "projectId" | "secret">, ...sizes: number[]): Promise<void> {
  for (const size of sizes) receiptOf(await send(tenant, numbered(size)));
}

/** Ages all batches and runs alarms until none is unflushed. @returns the number of alarms */
export async function flushAll({ workspaceId }: Pick<Tenant, "workspaceId">): Promise<number> {
  clock.pass(AGED_MS);
  for (let turn = 1; turn <= 20; turn++) {
    await alarm(workspaceId);
    if ((await waiting(workspaceId)).batches === 0) return turn;
  }
  throw new Error("The flush does not come to an end.");
}

/** The object's counts of unflushed batches, which must equal the stored ones. */
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
  return coldEntries(env.COLD_DB, workspaceId, projectId);
}

/**
 * The number of entries in each tier. Every `seq` from 1 on must be in exactly one of them, the cold ones up to the
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

/** The flush events logged from now on. */
export function flushLines(): () => Record<string, unknown>[] {
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  return () =>
    log.mock.calls.map(([text]) => JSON.parse(String(text))).filter(({ event }) => event === "workspace.flush");
}

const writer = SegmentWriter.prototype;
const { insertSegments } = writer;

/**
 * Makes the next calls that store a range fail. `before`: D1 does not get the range. `after`: D1 has it, and the
 * response is lost.
 */
export function failInserts(times: number, where: "before" | "after"): void {
  const spy = vi.spyOn(writer, "insertSegments");
  for (let time = 0; time < times; time++) {
    spy.mockImplementationOnce(async function (this: SegmentWriter, ...call) {
      if (where === "after") await insertSegments.apply(this, call);
      throw new Error("D1_ERROR: Network connection lost.");
    });
  }
}

/**
 * Holds the next call that stores a range before it reaches D1.
 * @returns a function that waits for the call and returns another one, which lets it continue
 */
export function holdInsert(): () => Promise<() => Promise<unknown>> {
  const calls: Parameters<typeof insertSegments>[] = [];
  vi.spyOn(writer, "insertSegments").mockImplementationOnce((...call) => {
    calls.push(call);
    return new Promise(() => {});
  });
  return async () => {
    // Polls, because a promise that another request resolves would continue the test in that request's context.
    for (;;) {
      const [call] = calls;
      if (call) return () => insertSegments.apply(new SegmentWriter(env.COLD_DB), call);
      await scheduler.wait(5);
    }
  };
}

/**
 * Stops the next call that stores a range, in its writer, which continues later.
 * @returns `isWaiting`: whether there is one; `land`: lets the writer continue, and waits until it has stored
 */
export function delayInsert(): { isWaiting: () => Promise<void>; land: () => Promise<void> } {
  const state = { isWaiting: false, mayContinue: false, hasEnded: false, isOver: false };
  onTestFinished(() => {
    state.isOver = true;
  });
  vi.spyOn(writer, "insertSegments").mockImplementationOnce(async function (this: SegmentWriter, ...call) {
    state.isWaiting = true;
    while (!state.mayContinue) {
      if (state.isOver) throw new Error("The test is over.");
      await scheduler.wait(5);
    }
    const totals = await insertSegments.apply(this, call);
    state.hasEnded = true;
    return totals;
  });
  return {
    async isWaiting() {
      while (!state.isWaiting) await scheduler.wait(5);
    },
    async land() {
      state.mayContinue = true;
      while (!state.hasEnded) await scheduler.wait(5);
    },
  };
}

/**
 * Makes timers of one length, set from now on, end when the returned function is called, with the clock moved on. Later
 * timers are as usual. All end in the object that set them: another object must not resolve what it waits for.
 */
export function holdTimers(milliseconds: number): () => void {
  const set = globalThis.setTimeout;
  let hasPassed = false;
  vi.spyOn(globalThis, "setTimeout").mockImplementation((callback: () => void, delay?: number) => {
    const check = () => (hasPassed ? callback() : set(check, 5));
    return delay === milliseconds && !hasPassed ? set(check, 5) : set(callback, delay);
  });
  return () => {
    clock.pass(milliseconds);
    hasPassed = true;
  };
}

/** Deploys other settings for all objects until the test ends. */
export async function deployWith(workspaceId: string, changed: Partial<Settings>): Promise<void> {
  await withSetting(workspace(workspaceId), changed);
  await evict(workspaceId);
}

/** Ends an object like a crash of its machine: memory and calls in flight are lost. */
export async function crash(workspaceId: string): Promise<void> {
  await runInDurableObject(workspace(workspaceId), (_, state) => state.abort("crash")).catch(() => {});
}
