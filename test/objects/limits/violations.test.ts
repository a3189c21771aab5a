import { createExecutionContext, createMessageBatch, getQueueResult, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { RowCounter } from "../../../bench/workers/row-counter.ts";
import { minuteOf, storeViolations, type Violation, type ViolationMessage } from "../../../src/limits/violations.ts";
import worker from "../../../src/worker.ts";
import { call, callWith, claimsOf, registered, userStub } from "../accounts/support.ts";
import { evict, onSql, onStorage, send, workspace } from "../ingest/support.ts";
import { as, type KeyOf, newKey, newOwner, newProject, type Owner, refusal } from "../projects/support.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const log = { message: "m" };
/** Refusals far above the rows and messages that they may cost. */
const FLOOD = 3000;

const pageShape = z.strictObject({
  items: z.array(
    z.strictObject({
      identifier: z.string(),
      rule: z.string(),
      limit: z.number(),
      windowSeconds: z.number(),
      count: z.number(),
      firstAt: z.iso.datetime(),
      lastAt: z.iso.datetime(),
    }),
  ),
  nextCursor: z.string().nullable(),
});
type Page = z.output<typeof pageShape>;

async function list(owner: Owner, query = ""): Promise<Page> {
  const answer = await as(owner, `/workspaces/${owner.workspaceId}/violations${query}`);
  expect([answer.status, answer.code]).toEqual([200, null]);
  return pageShape.parse(answer.data);
}

/** Waits until the alarm and the queue have recorded the given number of refusals. */
async function listOf(owner: Owner, count: number): Promise<Page> {
  return vi.waitFor(
    async () => {
      const page = await list(owner);
      expect(page.items.reduce((sum, item) => sum + item.count, 0)).toBe(count);
      return page;
    },
    { timeout: 20_000, interval: 250 },
  );
}

async function limited(limit: number): Promise<{ owner: Owner; key: KeyOf }> {
  const owner = await newOwner();
  const key = await newKey(owner, await newProject(owner));
  const rules = [{ method: "POST", path: "/logger/:projectId/log", limit }];
  const answer = await as(owner, `/workspaces/${owner.workspaceId}/rate-limits`, { method: "PUT", body: { rules } });
  expect(answer.status).toBe(200);
  return { owner, key };
}

/** Sends entries until the given number was refused. */
async function refused(key: KeyOf, count: number): Promise<void> {
  const statuses = async () => (await send(key, log)).status;
  for (let left = count; left > 0; ) {
    const some = await Promise.all(Array.from({ length: Math.min(left, 50) }, statuses));
    left -= some.filter((status) => status === 429).length;
  }
}

const violation = (at: number, more: Partial<Violation> = {}): Violation => ({
  identifier: "key:key_a",
  rule: "default",
  limit: 5,
  windowSeconds: 60,
  minute: minuteOf(at),
  count: 3,
  firstAt: at,
  lastAt: at + 10,
  ...more,
});

async function consume(queue: string, messages: ViolationMessage[], overrides: object = {}) {
  const batch = createMessageBatch(
    queue,
    messages.map((body, index) => ({ id: String(index), timestamp: new Date(), attempts: 1, body })),
  );
  await worker.queue(batch, { ...env, ...overrides });
  return getQueueResult(batch, createExecutionContext());
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("refused requests", () => {
  it("are listed with count, first and last, per identifier, rule and minute", async () => {
    const { owner, key } = await limited(2);
    const before = Date.now();
    await refused(key, 7);
    const { items, nextCursor } = await listOf(owner, 7);
    expect(nextCursor).toBeNull();
    for (const { identifier, rule, limit, windowSeconds, firstAt, lastAt } of items) {
      expect([identifier, rule, limit, windowSeconds]).toEqual([
        `key:${key.keyId}`,
        "POST /logger/:projectId/log",
        2,
        60,
      ]);
      expect(Date.parse(firstAt)).toBeGreaterThanOrEqual(before);
      expect(Date.parse(lastAt)).toBeGreaterThanOrEqual(Date.parse(firstAt));
    }
    // No other user sees them.
    expect((await list(await newOwner())).items).toEqual([]);
  });

  it("are recorded although the object is evicted right after the first", async () => {
    const { owner, key } = await limited(1);
    await refused(key, 1);
    await evict(owner.workspaceId);
    expect((await listOf(owner, 1)).items).toHaveLength(1);
  });

  it("are answered as usual while the queue fails, and recorded afterwards", async () => {
    const { owner, key } = await limited(1);
    const fails = vi.spyOn(queuePrototype(), "send").mockRejectedValue(new Error("The queue is down."));
    await refused(key, 5);
    await vi.waitFor(() => expect(fails).toHaveBeenCalled(), { timeout: 10_000 });
    expect(refusal(await send(key, log))).toEqual([429, "RATE_LIMITED"]);
    fails.mockRestore();
    // The alarm that retries is a minute away.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * 60_000 });
    expect(await runDurableObjectAlarm(workspace(owner.workspaceId))).toBe(true);
    vi.useRealTimers();
    expect((await listOf(owner, 6)).items.length).toBeGreaterThan(0);
  });

  it("cost few rows and few messages in a flood of 3,000", { timeout: 120_000 }, async () => {
    const { owner, key } = await limited(1);
    await send(key, log);
    const rows = await onStorage(owner.workspaceId, (storage) => RowCounter.of(storage));
    const before = total(rows);
    const messages = vi.spyOn(queuePrototype(), "send");
    const inD1 = countD1Rows();
    const startedAt = Date.now();
    await refused(key, FLOOD);
    const tookMs = Date.now() - startedAt;
    // Queries D1 directly, because requests for the list would be counted and write rows.
    const recorded = async () => {
      const query = "SELECT SUM(count) AS count FROM violations WHERE workspace_id = ?";
      expect((await env.DB.prepare(query).bind(owner.workspaceId).first())?.count).toBe(FLOOD);
    };
    await vi.waitFor(recorded, { timeout: 20_000, interval: 250 });
    // A minute later the alarm deletes the stored rows.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * 60_000 });
    await runDurableObjectAlarm(workspace(owner.workspaceId));
    vi.useRealTimers();
    expect(await onSql(owner.workspaceId, (sql) => sql.exec("SELECT * FROM violations").toArray())).toEqual([]);
    const counted = "SELECT SUM(requests) AS requests FROM ledger WHERE reason = 'limited'";
    expect(await onSql(owner.workspaceId, (sql) => sql.exec(counted).one())).toEqual({ requests: FLOOD });
    const written = { object: total(rows) - before, d1: inD1(), messages: messages.mock.calls.length };
    console.log(`${FLOOD} refusals in ${tookMs} ms: ${JSON.stringify(written)}`, rows.byTable());
    expect(written.object + written.d1).toBeLessThanOrEqual(20);
    expect(written.messages).toBeLessThanOrEqual(20);
  });
});

describe("without a workspace", () => {
  /** The rows in D1, once they contain the given number of refusals. */
  const stored = (identifier: string, count: number) =>
    vi.waitFor(
      async () => {
        const { results } = await env.DB.prepare("SELECT * FROM violations WHERE identifier = ?")
          .bind(identifier)
          .all();
        expect(results.reduce((sum, row) => sum + Number(row.count), 0)).toBe(count);
        return results;
      },
      { timeout: 20_000, interval: 250 },
    );

  it("refusals of a client IP are in D1 and in no list", async () => {
    const headers = { "CF-Connecting-IP": "192.0.2.77" };
    const knock = async () => (await callWith({ AUTH_LIMIT: "2" }, "/auth/me", { headers })).status;
    expect([await knock(), await knock(), await knock(), await knock(), await knock()]).toEqual([
      401, 401, 429, 429, 429,
    ]);
    for (const row of await stored("ip:192.0.2.77", 3)) {
      expect(row).toMatchObject({ workspace_id: null, rule: "AUTH", rate_limit: 2, window_seconds: 60 });
    }
  });

  it("refusals by a user object are in D1 and in no list", async () => {
    const { user, accessToken } = await registered("limits-user@example.com");
    const { sessionId } = await claimsOf(accessToken);
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 101 }, () => userStub(user.id).authenticate(sessionId, 1)));
    }
    for (const row of await stored(`user:${user.id}`, 10)) {
      expect(row).toMatchObject({ workspace_id: null, rule: "API_DEFAULT", rate_limit: 1000, window_seconds: 60 });
    }
  });
});

describe("the list", () => {
  it("is newest first, in pages that neither repeat nor omit rows", async () => {
    const owner = await newOwner();
    const now = Date.now();
    const all = Array.from({ length: 25 }, (_, at) =>
      // Some have equal times.
      violation(now - Math.floor(at / 3) * 60_000, { identifier: `key:key_${at}` }),
    );
    await storeViolations(env.DB, [owner.workspaceId, all]);
    const pages: Page[] = [];
    for (let cursor: string | null = ""; cursor !== null; cursor = pages.at(-1)?.nextCursor ?? null) {
      pages.push(await list(owner, `?limit=4${cursor && `&cursor=${cursor}`}`));
    }
    const items = pages.flatMap((page) => page.items);
    expect(pages.map((page) => page.items.length)).toEqual([4, 4, 4, 4, 4, 4, 1]);
    expect(new Set(items.map(({ identifier }) => identifier)).size).toBe(25);
    expect(items.map(({ firstAt }) => firstAt)).toEqual(
      items
        .map(({ firstAt }) => firstAt)
        .toSorted()
        .reverse(),
    );
  });

  it("refuses an invalid cursor, and users who are not members", async () => {
    const owner = await newOwner();
    const path = `/workspaces/${owner.workspaceId}/violations`;
    for (const cursor of ["x", "1", "1.", ".a", "-1.a", "1.a b", "9".repeat(30)]) {
      const answer = await as(owner, `${path}?cursor=${encodeURIComponent(cursor)}`);
      expect([cursor, ...refusal(answer)]).toEqual([cursor, 400, "VALIDATION_ERROR"]);
      expect(answer.details).toMatchObject([{ path: "query.cursor" }]);
    }
    const { Authorization } = (await newOwner()).headers;
    expect(refusal(await call(path, { headers: { Authorization } }))).toEqual([404, "NOT_FOUND"]);
    expect(refusal(await call(path))).toEqual([401, "UNAUTHORIZED"]);
  });
});

describe("the consumer", () => {
  const counts = async (workspaceId: string) => {
    const query = "SELECT count, last_at FROM violations WHERE workspace_id = ?";
    return (await env.DB.prepare(query).bind(workspaceId).all()).results;
  };

  it("changes nothing for a duplicate message, or one after a newer message", async () => {
    const { workspaceId } = await newOwner();
    const at = Date.now();
    const [older, newer] = [3, 9].map(
      (count): ViolationMessage => [workspaceId, [violation(at, { count, lastAt: at + count })]],
    );
    if (!older || !newer) throw new Error("There are two.");
    await Promise.all([older, older, newer].map((message) => consume("taffrail-violations", [message])));
    await consume("taffrail-violations", [newer, older, newer]);
    await consume("taffrail-violations", [older]);
    expect(await counts(workspaceId)).toEqual([{ count: 9, last_at: at + 9 }]);
  });

  it("retries a message that it could not store, without delaying others", async () => {
    const { workspaceId } = await newOwner();
    const broken = violation(Date.now(), { identifier: "key:broken" });
    const DB = new Proxy(env.DB, {
      get: (db, name) => {
        if (name !== "prepare") return Reflect.get(db, name);
        return (query: string) => {
          const statement = db.prepare(query);
          const bind = statement.bind.bind(statement);
          statement.bind = (...values) => {
            if (String(values[1]).includes("broken")) throw new Error("D1 is down.");
            return bind(...values);
          };
          return statement;
        };
      },
    });
    const messages: ViolationMessage[] = [
      [workspaceId, [broken]],
      [workspaceId, [violation(Date.now())]],
    ];
    const result = await consume("taffrail-violations", messages, { DB, LOG_LEVEL: "error" });
    expect([result.explicitAcks, result.retryMessages]).toEqual([["1"], [{ msgId: "0" }]]);
    expect(await counts(workspaceId)).toHaveLength(1);
  });

  it("logs messages that the queue gave up on", async () => {
    const lines = vi.spyOn(console, "log").mockImplementation(() => {});
    const result = await consume("taffrail-violations-dead", [["ws_000000000000", [violation(Date.now())]]]);
    expect(result.ackAll).toBe(true);
    expect(lines.mock.calls.map(([line]) => JSON.parse(String(line)))).toMatchObject([
      { level: "error", event: "violations.dead-letter", owner: "ws_000000000000", count: 1 },
    ]);
  });

  it("writes nothing to an unprovisioned workspace object", async () => {
    await consume("taffrail-violations", [["ws_zzzzzzzzzzzz", [violation(Date.now())]]]);
    expect(await onSql("ws_zzzzzzzzzzzz", (sql) => sql.exec("SELECT name FROM sqlite_master").toArray())).toEqual([]);
  });

  it("deletes rows older than 30 days in steps; the list omits them at once", async () => {
    const owner = await newOwner();
    const now = Date.now();
    const old = Array.from({ length: 700 }, (_, at) => violation(now - 31 * DAY_MS - at * 60_000));
    const kept = [violation(now - 29 * DAY_MS), violation(now)];
    for (const some of [old.slice(0, 350), old.slice(350), kept])
      await storeViolations(env.DB, [owner.workspaceId, some]);
    expect((await list(owner)).items).toHaveLength(2);
    expect(await counts(owner.workspaceId)).toHaveLength(702);
    await consume("taffrail-violations", []);
    expect(await counts(owner.workspaceId)).toHaveLength(202);
    await consume("taffrail-violations", []);
    expect(await counts(owner.workspaceId)).toHaveLength(2);
  });

  it("refuses other queues", async () => {
    await expect(consume("taffrail-other", [])).rejects.toThrow("taffrail-other");
  });
});

/** All bindings to queues share this prototype, also those of the objects. */
function queuePrototype(): Queue<ViolationMessage> {
  return Object.getPrototypeOf(env.VIOLATION_QUEUE);
}

function total(rows: RowCounter): number {
  return Object.values(rows.byTable()).reduce((sum, count) => sum + count, 0);
}

/** Sums the rows that statements on D1 write from now on. */
function countD1Rows(): () => number {
  const prototype: D1PreparedStatement = Object.getPrototypeOf(env.DB.prepare("SELECT 1"));
  const { run } = prototype;
  let rows = 0;
  vi.spyOn(prototype, "run").mockImplementation(async function <T>(this: D1PreparedStatement) {
    const result = await run.call(this);
    rows += result.meta.rows_written;
    // SAFETY: the result of the statement's own method.
    return result as D1Result<T>;
  });
  return () => rows;
}
