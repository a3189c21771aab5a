import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { logId } from "../../../src/logs/entry-view.ts";
import { ColdWriter } from "../../../src/objects/workspace/entrypoints.ts";
import { detachBuffer } from "../../../src/platform/isolate-memory.ts";
import { giveBatch } from "../../../src/workspace/recent/reader.ts";
import { bearer, call } from "../accounts/support.ts";
import { evict, newTenant, numbered, onSql, receiptOf, send, type Tenant, workspace } from "../ingest/support.ts";
import { EVERYTHING } from "../query/support.ts";
import {
  AGED_MS,
  alarm,
  clock,
  crash,
  delayInsert,
  failInserts,
  flushAll,
  flushLines,
  holdInsert,
  holdTimers,
  rowsOf,
  sendBatches,
  tiers,
  usageOf,
  waiting,
} from "./support.ts";

beforeEach(() => {
  clock.start();
  flushLines();
});
afterEach(() => clock.stop());

const logsShape = z.object({ logs: z.array(z.object({ seq: z.int() })) });

/** The entries that a query finds, by `seq`. */
async function seqsOf({ secret }: Tenant): Promise<number[]> {
  const answer = await call("/logger/query", { body: { order: "asc" }, headers: bearer(secret) });
  expect([answer.status, answer.code]).toEqual([200, null]);
  return logsShape.parse(answer.data).logs.map(({ seq }) => seq);
}

const segments = () => env.COLD_DB.prepare("SELECT COUNT(*) AS n FROM segments").first<number>("n");

describe("a crash", () => {
  it("between intent and D1 makes the next flush take exactly the same range", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3, 4);
    clock.pass(AGED_MS);
    const sent = holdInsert();
    alarm(tenant.workspaceId).catch(() => {});
    await sent();
    const [intent] = await rowsOf(tenant.workspaceId, "flush_intents");
    await sendBatches(tenant, 5);
    await crash(tenant.workspaceId);

    expect(await rowsOf(tenant.workspaceId, "flush_intents")).toEqual([intent]);
    expect(await tiers(tenant)).toEqual({ cold: 0, recent: 12 });
    await alarm(tenant.workspaceId);
    expect(await tiers(tenant)).toEqual({ cold: 7, recent: 5 });
    await flushAll(tenant);
    expect(await tiers(tenant)).toEqual({ cold: 12, recent: 0 });
  });

  it("between D1 and the object's own commit loses and doubles nothing", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3, 4);
    clock.pass(AGED_MS);
    const sent = holdInsert();
    alarm(tenant.workspaceId).catch(() => {});
    const land = await sent();
    await land();
    await sendBatches(tenant, 5);
    await crash(tenant.workspaceId);

    const before = await segments();
    await alarm(tenant.workspaceId);
    expect(await segments()).toBe(before);
    expect(await tiers(tenant)).toEqual({ cold: 7, recent: 5 });
  });

  it("has no effect if its writer continues and arrives last", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3, 4);
    clock.pass(AGED_MS);
    const sent = holdInsert();
    alarm(tenant.workspaceId).catch(() => {});
    const land = await sent();
    await crash(tenant.workspaceId);

    await flushAll(tenant);
    await sendBatches(tenant, 2);
    await flushAll(tenant);
    await land();
    expect(await tiers(tenant)).toEqual({ cold: 9, recent: 0 });
  });
});

describe("alarms", () => {
  it("that run concurrently, and twice, move everything once", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, ...Array(12).fill(1000));
    clock.pass(AGED_MS);
    const writes = vi.spyOn(ColdWriter.prototype, "write");
    await Promise.all([alarm(tenant.workspaceId), alarm(tenant.workspaceId), alarm(tenant.workspaceId)]);
    await Promise.all([alarm(tenant.workspaceId), alarm(tenant.workspaceId)]);
    await alarm(tenant.workspaceId);
    expect(await tiers(tenant)).toEqual({ cold: 12_000, recent: 0 });
    expect(writes).toHaveBeenCalledTimes(2);
  });

  it("do not block requests: entries that arrive during a flush are stored and found", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3);
    clock.pass(AGED_MS);
    const sent = holdInsert();
    alarm(tenant.workspaceId).catch(() => {});
    await sent();
    expect(receiptOf(await send(tenant, numbered(2)))).toMatchObject({ firstSeq: 4 });
    expect(await tiers(tenant)).toEqual({ cold: 0, recent: 5 });
    await crash(tenant.workspaceId);
  });
});

describe("while D1 fails", () => {
  it.each(["before", "after"] as const)(
    "%s its commit, ingest continues, and every failure is logged",
    async (where) => {
      const tenant = await newTenant();
      await sendBatches(tenant, 3, 4);
      clock.pass(AGED_MS);
      failInserts(2, where);
      await alarm(tenant.workspaceId);
      expect(await usageOf(tenant)).toMatchObject({
        recent: { entries: 7 },
        flush: { pendingBatches: 2, lastAt: null, lastError: "D1 fails with D1_ERROR." },
      });
      // Not before the second has passed, whatever request or alarm comes.
      await sendBatches(tenant, 5);
      await alarm(tenant.workspaceId);
      clock.pass(1000);
      await alarm(tenant.workspaceId);
      await evict(tenant.workspaceId);
      expect(await usageOf(tenant)).toMatchObject({
        flush: { pendingBatches: 3, lastError: "D1 fails with D1_ERROR." },
      });
      await alarm(tenant.workspaceId);
      expect(await tiers(tenant)).toEqual({ cold: 7, recent: 5 });
      expect(await usageOf(tenant)).toMatchObject({ flush: { pendingBatches: 1, lastAt: clock.at, lastError: null } });
    },
  );

  it("a flush is retried after 1, 2, 4 seconds and so on, at most a minute", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3);
    clock.pass(AGED_MS);
    failInserts(100, "before");
    const writes = vi.spyOn(ColdWriter.prototype, "write");
    const begin = clock.at;
    const tries: number[] = [];
    for (let second = 0; second < 250; second++) {
      const { length } = writes.mock.calls;
      await alarm(tenant.workspaceId);
      if (writes.mock.calls.length > length) tries.push((clock.at - begin) / 1000);
      clock.pass(1000);
    }
    expect(tries).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
    vi.mocked(ColdWriter.prototype.write).mockRestore();
  });

  it("or the writer is unreachable, the retries are the same", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3);
    clock.pass(AGED_MS);
    vi.spyOn(ColdWriter.prototype, "write").mockRejectedValueOnce(new Error("gone"));
    await alarm(tenant.workspaceId);
    expect(await usageOf(tenant)).toMatchObject({ flush: { lastError: "The writer cannot be reached." } });
    clock.pass(1000);
    await alarm(tenant.workspaceId);
    expect(await tiers(tenant)).toEqual({ cold: 3, recent: 0 });
  });
});

describe("a call of the writer without an answer", () => {
  const ANSWER_MS = 45_000;

  it("ends after 45 s; the same range is retried, and what the first call writes later has no effect", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3, 4);
    clock.pass(AGED_MS);
    const insert = delayInsert();
    const passTime = holdTimers(ANSWER_MS);
    const step = alarm(tenant.workspaceId);
    await insert.isWaiting();
    const [intent] = await rowsOf(tenant.workspaceId, "flush_intents");
    passTime();
    await step;
    expect(await usageOf(tenant)).toMatchObject({
      flush: { pendingBatches: 2, lastAt: null, lastError: "D1 did not respond in time." },
    });
    expect(await rowsOf(tenant.workspaceId, "flush_intents")).toEqual([intent]);
    await sendBatches(tenant, 5);
    expect(await tiers(tenant)).toEqual({ cold: 0, recent: 12 });

    clock.pass(1000);
    await alarm(tenant.workspaceId);
    expect(await tiers(tenant)).toEqual({ cold: 7, recent: 5 });
    const before = await segments();
    await insert.land();
    expect(await segments()).toBe(before);
    expect(await tiers(tenant)).toEqual({ cold: 7, recent: 5 });
  });

  it("may still write, so an unreadable batch of its range is quarantined only after 5 minutes", async () => {
    const tenant = await newTenant();
    const { workspaceId } = tenant;
    await sendBatches(tenant, 3, 4);
    clock.pass(AGED_MS);
    const insert = delayInsert();
    const passTime = holdTimers(ANSWER_MS);
    const step = alarm(workspaceId);
    await insert.isWaiting();
    passTime();
    await step;
    await onSql(workspaceId, (sql) =>
      sql.exec("UPDATE batches SET body_bytes = body_bytes + 1, parts = 2 WHERE commit_no = 2").toArray(),
    );
    const setAside: number[] = [];
    for (const ms of [4 * 60_000, 61_000]) {
      clock.pass(ms);
      await alarm(workspaceId);
      setAside.push((await usageOf(tenant)).flush.setAside);
    }
    expect(setAside).toEqual([0, 1]);
  });
});

describe("an answer of the writer that is lost after it has stored the range", () => {
  it("leaves each entry once for every reader; the retry inserts nothing and completes the flush", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3, 4);
    clock.pass(AGED_MS);
    const { write } = ColdWriter.prototype;
    const outcomes: unknown[] = [];
    const writes = vi.spyOn(ColdWriter.prototype, "write");
    writes.mockImplementationOnce(async function (this: ColdWriter, range) {
      outcomes.push(await write.call(this, range));
      throw new Error("Network connection lost.");
    });
    const before = (await segments()) ?? 0;
    await alarm(tenant.workspaceId);
    expect(outcomes).toMatchObject([{ outcome: "stored" }]);
    expect(await segments()).toBeGreaterThan(before);
    expect(await usageOf(tenant)).toMatchObject({
      flush: { pendingBatches: 2, lastAt: null, lastError: "The writer cannot be reached." },
    });
    expect(await rowsOf(tenant.workspaceId, "flush_intents")).toHaveLength(1);
    const seqs = [1, 2, 3, 4, 5, 6, 7];
    expect(await seqsOf(tenant)).toEqual(seqs);

    const stored = await segments();
    clock.pass(1000);
    await alarm(tenant.workspaceId);
    expect(writes).toHaveBeenCalledTimes(2);
    expect(await segments()).toBe(stored);
    expect(await tiers(tenant)).toEqual({ cold: 7, recent: 0 });
    expect(await seqsOf(tenant)).toEqual(seqs);
    expect(await rowsOf(tenant.workspaceId, "flush_intents")).toEqual([]);
  });
});

describe("a reader of several pages", () => {
  /** Reads one batch: the first one, or the one after a commit. */
  async function page(tenant: Tenant, commit: number | null): Promise<void> {
    const caller = { kind: "user", userId: tenant.ownerId } as const;
    const position = commit === null ? null : { timestamp: clock.at, commit };
    const scan = { ...EVERYTHING, position, maxBytes: 1 };
    const result = await workspace(tenant.workspaceId).recent({ caller, route: null, projectId: null, scan });
    expect(result.ok && result.value.batches.length).toBe(1);
  }

  it("delays the flush five seconds from its last page, at most half a minute", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3, 4);
    clock.pass(AGED_MS);
    const begin = clock.at;
    while (clock.at < begin + 29_000) {
      await page(tenant, 1);
      await alarm(tenant.workspaceId);
      expect(await tiersInObject(tenant.workspaceId)).toBe(2);
      clock.pass(4000);
    }
    await page(tenant, 1);
    await alarm(tenant.workspaceId);
    expect(await tiers(tenant)).toEqual({ cold: 7, recent: 0 });
    expect(clock.at).toBeLessThanOrEqual(begin + 32_000);
  });

  it("does not delay the flush after its first page only", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3, 4);
    clock.pass(AGED_MS);
    await page(tenant, null);
    await alarm(tenant.workspaceId);
    expect(await tiers(tenant)).toEqual({ cold: 7, recent: 0 });
  });
});

const tiersInObject = async (workspaceId: string) => (await waiting(workspaceId)).batches;

describe("a batch that cannot be read", () => {
  it("is quarantined and reported; all others are moved", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3, 1000, 4, 2);
    await onSql(tenant.workspaceId, (sql) =>
      sql.exec("UPDATE batches SET body = zeroblob(body_bytes) WHERE commit_no = 2").toArray(),
    );
    clock.pass(AGED_MS);
    const lines = flushLines();
    for (let turn = 0; turn < 4; turn++) await alarm(tenant.workspaceId);
    expect(lines()).toMatchObject([{ outcome: "set-aside", level: "error", commit: 2, reason: "it cannot be read" }]);
    expect(await rowsOf(tenant.workspaceId, "batches")).toMatchObject([{ commit_no: 2 }]);
    const { projectId } = tenant;
    expect(await usageOf(tenant)).toMatchObject({
      recent: { entries: 1000 },
      watermarks: [{ projectId, seq: 1009 }],
      flush: {
        pendingBatches: 0,
        setAside: 1,
        lastAt: clock.at,
        lastError: `Batch 2 of ${projectId} (seq 4 to 1003) is quarantined: it cannot be read.`,
      },
    });
    expect(receiptOf(await send(tenant, numbered(1)))).toMatchObject({ firstSeq: 1010 });
    await flushAll(tenant);
    expect(await rowsOf(tenant.workspaceId, "set_aside")).toHaveLength(1);
  });

  it("is quarantined as well if a part of it is missing", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3, 4);
    await onSql(tenant.workspaceId, (sql) =>
      sql.exec("UPDATE batches SET body_bytes = body_bytes + 1, parts = 2 WHERE commit_no = 1").toArray(),
    );
    await evict(tenant.workspaceId);
    clock.pass(AGED_MS);
    for (let turn = 0; turn < 3; turn++) await alarm(tenant.workspaceId);
    expect(await rowsOf(tenant.workspaceId, "batches")).toMatchObject([{ commit_no: 1 }]);
    expect((await usageOf(tenant)).flush.lastError).toContain("a part of it is missing");
    // Readers get all other batches.
    await sendBatches(tenant, 2);
    const { secret, projectId } = tenant;
    const headers = bearer(secret);
    const query = await call("/logger/query", { body: { order: "asc" }, headers });
    const logs = [4, 5, 6, 7, 8, 9].map((seq) => ({ seq }));
    expect([query.status, query.data]).toMatchObject([200, { logs }]);
    const context = await call(`/logger/${projectId}/log/${logId(projectId, 4)}?before=9&after=9`, { headers });
    expect([context.status, context.data]).toMatchObject([
      200,
      { before: [], entry: { seq: 4 }, after: logs.slice(1) },
    ]);
  });
});

describe("other segments in the place of a range", () => {
  it("are replaced and reported, and no reader sees them", async () => {
    const tenant = await newTenant();
    const { workspaceId, projectId } = tenant;
    await sendBatches(tenant, 3, 4);
    clock.pass(AGED_MS);
    await alarm(workspaceId);
    expect(await tiers(tenant)).toEqual({ cold: 7, recent: 0 });
    await sendBatches(tenant, 5, 2);
    // Two segments in the place of the next range; one of them extends beyond it.
    for (const [first, last] of [
      [8, 9],
      [12, 30],
    ] as const) {
      await env.COLD_DB.prepare(
        `INSERT INTO segments SELECT NULL, workspace_id, project_id, ?3, part, ?4, count, min_ts, max_ts, min_commit, max_commit,
           level_mask, category_mask, raw_bytes, stored_bytes, filter_kinds, frame_kinds, slot_bytes, frames, levels, summary,
           directory, filter, frame_filter, body, format, file, replaced_at, filter_file, filter_slot
         FROM segments WHERE workspace_id = ?1 AND project_id = ?2 AND first_seq = 1`,
      )
        .bind(workspaceId, projectId, first, last)
        .run();
    }
    const lines = flushLines();
    await flushAll(tenant);
    expect(lines()).toMatchObject([{ outcome: "replaced", level: "error", firstSeq: 8, lastSeq: 14 }]);
    expect(await tiers(tenant)).toEqual({ cold: 14, recent: 0 });
    await sendBatches(tenant, 20);
    await flushAll(tenant);
    expect(await seqsOf(tenant)).toEqual(Array.from({ length: 34 }, (_, i) => i + 1));
    expect((await usageOf(tenant)).flush).toMatchObject({ setAside: 0, lastError: null });
  });

  it("are not made by a late writer, because splitting a range waits for it", async () => {
    const tenant = await newTenant();
    const { workspaceId } = tenant;
    await sendBatches(tenant, 3, 4, 2);
    clock.pass(AGED_MS);
    const sent = holdInsert();
    const first = alarm(workspaceId).catch(() => {});
    const land = await sent();
    await evict(workspaceId);
    await onSql(workspaceId, (sql) =>
      sql.exec("UPDATE batches SET body_bytes = body_bytes + 1, parts = 2 WHERE commit_no = 2").toArray(),
    );
    await alarm(workspaceId);
    expect((await usageOf(tenant)).flush).toMatchObject({
      setAside: 0,
      lastError: "An earlier writer may still be running.",
    });
    await land();
    await first;
    clock.pass(60_000);
    await alarm(workspaceId);
    // The batch was whole when it was sent.
    expect(await tiers(tenant)).toEqual({ cold: 9, recent: 0 });
    expect(await seqsOf(tenant)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("do not stop a split around an unreadable batch after the last writer's deadline", async () => {
    const tenant = await newTenant();
    const { workspaceId } = tenant;
    await sendBatches(tenant, 3, 4, 2);
    clock.pass(AGED_MS);
    await onSql(workspaceId, (sql) => {
      sql.exec(
        `INSERT INTO flush_intents (project, first_seq, last_seq, first_commit, last_commit, made_at)
         SELECT num, 1, 9, 1, 3, 5 FROM projects`,
      );
      sql.exec("UPDATE batches SET body_bytes = body_bytes + 1, parts = 2 WHERE commit_no = 2");
      // A reader frees the body that it got; the next reader gets another.
      const given = () => giveBatch(sql, 2, tenant.projectId)?.body ?? new Uint8Array();
      detachBuffer(given());
      expect(given()).toHaveLength(1);
    });
    await evict(workspaceId);
    await alarm(workspaceId);
    expect((await usageOf(tenant)).flush.setAside).toBe(0);
    for (let turn = 0; turn < 12; turn++) {
      clock.pass(60_000);
      await alarm(workspaceId);
    }
    expect((await usageOf(tenant)).flush).toMatchObject({ setAside: 1, pendingBatches: 0 });
    expect(await seqsOf(tenant)).toEqual([1, 2, 3, 8, 9]);
  });
});
