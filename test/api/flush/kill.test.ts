import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, asUser, call, createTenant, type FoundLogs, type Tenant } from "../../support/api.ts";
import { startServer, type TestServer } from "../../support/server.ts";

/** Keeps the recent tier as small as possible, so that a flush is in progress nearly all of the time. */
const env = { RECENT_MAX_AGE_SECONDS: "1", RECENT_MAX_BYTES: "10000" };

const ROUNDS = 3;
const BATCH = 200;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ env });
});
afterAll(() => server?.stop());

interface UsageShape {
  recent: { entries: number };
  stored: { entries: number; segments: number };
  flush: { pendingBatches: number; setAside: number; lastAt: string | null; lastError: string | null };
}

async function usageOf({ account }: Tenant): Promise<UsageShape> {
  const answer = await call<UsageShape>(server.url, `/workspaces/${account.workspaceId}/usage`, asUser(account));
  expect(answer.status).toBe(200);
  return answer.body.data;
}

/**
 * Sends batches one after the other while `goesOn` returns true, and repeats each until it is acknowledged.
 * @returns messages by `seq`
 */
async function write({ key, projectId }: Tenant, acked: Map<number, string>, continues: () => boolean): Promise<void> {
  while (continues()) {
    const messages = Array.from({ length: BATCH }, (_, index) => `${key.id} ${acked.size + index} ${Math.random()}`);
    const headers = { "Idempotency-Key": messages[0]?.slice(0, 100) ?? "" };
    const body = messages.map((message) => ({ message, data: { filler: "x".repeat(50) } }));
    for (;;) {
      const answer = await call<{ firstSeq: number }>(server.url, `/logger/${projectId}/log`, {
        token: key.secret,
        headers,
        body,
      }).catch(() => null);
      if (answer?.status === 201) {
        const { firstSeq } = answer.body.data;
        for (const [index, message] of messages.entries()) acked.set(firstSeq + index, message);
        break;
      }
      await wait(50);
    }
  }
}

/** All entries of a project by query, oldest first. */
async function allOf({ key }: Tenant): Promise<FoundLogs["logs"]> {
  const logs: FoundLogs["logs"] = [];
  for (let cursor: string | null = null; ; ) {
    const pagination = { limit: 1000, ...(cursor === null ? {} : { cursor }) };
    const body = { order: "asc", pagination };
    const answer: Answer<FoundLogs> = await call(server.url, "/logger/query", { token: key.secret, body });
    expect(answer.status).toBe(200);
    logs.push(...answer.body.data.logs);
    cursor = answer.body.data.pagination.nextCursor;
    if (cursor === null) return logs;
  }
}

describe("kill -9 during a flush", () => {
  it("leaves every acknowledged entry in exactly one of the two tiers", { timeout: 120_000 }, async () => {
    const tenant = await createTenant(server.url);
    const acked = new Map<number, string>();
    let isOver = false;
    const writer = write(tenant, acked, () => !isOver);
    for (let round = 0; round < ROUNDS; round++) {
      await wait(500 + Math.random() * 1500);
      await server.kill9();
      await server.restart();
    }
    isOver = true;
    await writer;
    const deadline = Date.now() + 60_000;
    for (;;) {
      const usage = await usageOf(tenant);
      expect(usage.stored.entries + usage.recent.entries).toBe(acked.size);
      if (usage.flush.pendingBatches === 0) {
        expect(usage).toMatchObject({ stored: { entries: acked.size }, flush: { setAside: 0, lastError: null } });
        break;
      }
      expect(Date.now()).toBeLessThan(deadline);
      await wait(200);
    }
    const found = new Map((await allOf(tenant)).map(({ seq, message }) => [seq, message]));
    expect(found.size).toBe(acked.size);
    expect([...acked].filter(([seq, message]) => found.get(seq) !== message)).toEqual([]);
    // No gap: the count is right, and the first and last numbers exist. (Spreading the array would overflow the stack.)
    expect([found.has(1), found.has(acked.size)]).toEqual([true, true]);
  });
});
