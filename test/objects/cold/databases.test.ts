import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { compactIn } from "../../../src/logs/cold/compaction/compact.ts";
import { ColdCleaner } from "../../../src/logs/cold/store/cold-cleaner.ts";
import { ColdTier } from "../../../src/logs/cold/store/cold-tier.ts";
import { coldDatabasesOf, resetLegacySegmentCache } from "../../../src/logs/cold/store/sources.ts";
import { placeInRow } from "../../../src/logs/segments/encode/encode-rows.ts";
import { currentDatabase, leaveFullDatabase } from "../../../src/workspace/flush/cold-databases.ts";
import { bearer, call } from "../accounts/support.ts";
import { clock, deployWith, flushAll, sendBatches } from "../flush/support.ts";
import { newTenant, onSql } from "../ingest/support.ts";
import { filesOf } from "./files.ts";
import { entry, metaOf, segmentsOf, selection } from "./support.ts";

const WORKSPACE = "ws_000000000001";
const PROJECT = "proj_00000000000A";
const DATABASES = { ...env, COLD_DB_2: env.SECOND_COLD_DB };

const first = new ColdTier(DATABASES);
const second = new ColdTier(DATABASES, "COLD_DB_2");

/** Four ranges of 10 entries, of which the second and the last are in the second database. */
const ranges = segmentsOf(
  PROJECT,
  [0, 10, 20, 30].map((from) => [Array.from({ length: 10 }, (_, at) => entry(from + at))]),
);
const names = (keys: readonly { firstSeq: number }[]) => keys.map(({ firstSeq }) => firstSeq);

beforeAll(async () => {
  await applyD1Migrations(env.SECOND_COLD_DB, env.COLD_MIGRATIONS);
});

beforeEach(async () => {
  for (const { db } of coldDatabasesOf(DATABASES)) await db.prepare("DELETE FROM segments").run();
  for (const [index, range] of ranges.entries()) {
    await (index % 2 === 0 ? first : second).insertSegments(WORKSPACE, range, index * 10);
  }
});

const countIn = (db: D1Database) => db.prepare("SELECT count(*) AS n FROM segments").first<number>("n");

describe("several databases of segments", () => {
  it("get the ranges of the tiers that name them", async () => {
    expect([await countIn(env.COLD_DB), await countIn(env.SECOND_COLD_DB)]).toEqual([2, 2]);
    expect(second.databaseBytes).toBeGreaterThan(0);
    expect(() => new ColdTier(env, "COLD_DB_2")).toThrow("not bound");
  });

  it.each(["asc", "desc"] as const)("are searched as one, page by page: %s", async (order) => {
    const found: number[] = [];
    let after = null;
    do {
      const wanted = selection(WORKSPACE, [PROJECT], { order, after, limit: 1, maxScanned: 1 });
      const page = await first.findSegments(wanted);
      found.push(...names(page.segments));
      after = page.next;
    } while (after !== null);
    expect(found).toEqual(order === "asc" ? [1, 11, 21, 31] : [31, 21, 11, 1]);
  });

  it("are read and counted as one", async () => {
    const bySeq = await first.segmentsBySeq(WORKSPACE, PROJECT, { from: 5, to: 40 }, null, 3);
    expect(names(bySeq)).toEqual([1, 11, 21]);
    const all = ranges.flat();
    const bodies = await first.readBodies(
      WORKSPACE,
      all.map((segment) => ({ key: metaOf(segment), start: 0, end: segment.body.length })),
    );
    expect(bodies.map((body) => body?.bytes.length)).toEqual(all.map(({ body }) => body.length));
    expect(await first.usageUpTo(WORKSPACE, [{ projectId: PROJECT, seq: 40 }])).toMatchObject({ entries: 40 });
    const coverage = await first.coverageOf(WORKSPACE, [PROJECT]);
    expect(coverage.get(PROJECT)).toMatchObject({ segments: 4, firstSeq: 1, lastSeq: 40 });
    expect(names(await first.covers(WORKSPACE, PROJECT, { from: 1, to: 40 }))).toEqual([1, 11, 21, 31]);
  });

  it("16.3: are asked only where the workspace has written, and once a minute where a recovery may have", async () => {
    resetLegacySegmentCache();
    const asked: string[] = [];
    const counted = new Proxy(env.SECOND_COLD_DB, {
      get(db, name) {
        if (name !== "prepare") return Reflect.get(db, name);
        return (sql: string) => {
          asked.push(sql);
          return db.prepare(sql);
        };
      },
    });
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    await env.SECOND_COLD_DB.prepare("DELETE FROM segments").run();
    const bindings = { ...env, COLD_DB_2: counted };
    const tier = new ColdTier(bindings);
    const found = async () => (await tier.findSegments(selection(WORKSPACE, [PROJECT], { order: "asc" }))).segments;
    // An object of an older version does not tell.
    expect(names(await found())).toEqual([1, 21]);
    expect(asked).toHaveLength(1);
    tier.restrictTo(["COLD_DB"]);
    for (let read = 0; read < 3; read++) expect(names(await found())).toEqual([1, 21]);
    expect(asked.slice(1)).toEqual(["SELECT 1 FROM segments WHERE workspace_id = ? LIMIT 1"]);
    // The object continues in the second database.
    await second.insertSegments(WORKSPACE, ranges[1] ?? [], 10);
    tier.restrictTo(["COLD_DB", "COLD_DB_2"]);
    expect(names(await found())).toEqual([1, 11, 21]);
    // A recovery has inserted segments where the object has not written.
    tier.restrictTo(["COLD_DB"]);
    vi.advanceTimersByTime(60_001);
    expect(names(await found())).toEqual([1, 11, 21]);
  });

  it("16.3: are compacted each for itself; a database that fails does not stop the others", async () => {
    for (const { db } of coldDatabasesOf(DATABASES)) await db.prepare("DELETE FROM segments").run();
    const small = Array.from({ length: 80 }, (_, range) => [
      Array.from({ length: 5 }, (_, at) => entry(range * 5 + at)),
    ]);
    const files = filesOf(PROJECT, small, false).map((range) => range.map(placeInRow));
    for (const [index, range] of files.entries()) {
      await (index < 45 ? first : second).insertSegments(WORKSPACE, range, index * 5);
    }
    const step = { workspaceId: WORKSPACE, projectId: PROJECT, doneSeq: 0, readySeq: 400, retentionDays: 30 };
    const ports = { bucket: null, now: Date.now, pause: async () => {} };
    const run = async (dbs: readonly D1Database[]) => {
      const outcomes: string[] = [];
      let { doneSeq } = step;
      for (let at = 0; at < 6; at++) {
        const call = { ...step, doneSeq, deadline: Date.now() + 60_000 };
        const outcome = await compactIn(dbs, call, ports).catch(() => ({ outcome: "failed", reason: "" }) as const);
        outcomes.push(outcome.outcome);
        if (outcome.outcome === "failed" || (outcome.outcome === "idle" && outcome.isLast)) break;
        doneSeq = outcome.doneSeq;
      }
      return outcomes;
    };
    // A full database refuses every batch of statements.
    const full = new Proxy(env.COLD_DB, {
      get(db, name) {
        if (name === "batch") return () => Promise.reject(new Error("D1_ERROR: database is full: SQLITE_FULL"));
        const member: unknown = Reflect.get(db, name);
        return typeof member === "function" ? member.bind(db) : member;
      },
    });
    const current = (db: D1Database) =>
      db.prepare("SELECT count(*) AS n FROM segments WHERE replaced_at IS NULL").first<number>("n");
    expect(await run([full, env.SECOND_COLD_DB])).toEqual(["merged", "failed"]);
    expect([await current(env.COLD_DB), await current(env.SECOND_COLD_DB)]).toEqual([45, 1]);
    // No range follows in the first database, so all of its small ones are merged.
    expect(await run([env.COLD_DB, env.SECOND_COLD_DB])).toEqual(["merged", "idle"]);
    expect([await current(env.COLD_DB), await current(env.SECOND_COLD_DB)]).toEqual([1, 1]);
    const found = await first.segmentsBySeq(WORKSPACE, PROJECT, { from: 1, to: 400 }, null, 9);
    expect(found.map(({ firstSeq, lastSeq, count }) => [firstSeq, lastSeq, count])).toEqual([
      [1, 225, 225],
      [226, 400, 175],
    ]);
  });

  it("16: are compacted also where a later one has older ranges, as a recovery leaves them", async () => {
    for (const { db } of coldDatabasesOf(DATABASES)) await db.prepare("DELETE FROM segments").run();
    const small = Array.from({ length: 80 }, (_, range) => [
      Array.from({ length: 5 }, (_, at) => entry(range * 5 + at)),
    ]);
    const files = filesOf(PROJECT, small, false).map((range) => range.map(placeInRow));
    for (const [index, range] of files.entries()) {
      await (index >= 40 ? first : second).insertSegments(WORKSPACE, range, index * 5);
    }
    const ports = { bucket: null, now: Date.now, pause: async () => {} };
    const call = { workspaceId: WORKSPACE, projectId: PROJECT, readySeq: 400, retentionDays: 30 };
    const outcomes: [string, number][] = [];
    for (let doneSeq = 0, at = 0; at < 6; at++) {
      const deadline = Date.now() + 60_000;
      const outcome = await compactIn(
        coldDatabasesOf(DATABASES).map(({ db }) => db),
        { ...call, doneSeq, deadline },
        ports,
      );
      if (outcome.outcome === "failed") throw new Error(outcome.reason);
      outcomes.push([outcome.outcome, outcome.doneSeq]);
      if (outcome.outcome === "idle" && outcome.isLast) break;
      ({ doneSeq } = outcome);
    }
    expect(outcomes.map(([outcome]) => outcome)).toEqual(["merged", "merged", "idle"]);
    const found = await first.segmentsBySeq(WORKSPACE, PROJECT, { from: 1, to: 400 }, null, 9);
    expect(found.map(({ firstSeq, lastSeq }) => [firstSeq, lastSeq])).toEqual([
      [1, 200],
      [201, 400],
    ]);
  });

  it("are emptied by retention and deletion", async () => {
    const cleaner = new ColdCleaner(DATABASES);
    const cutoff = (ranges[1]?.[0]?.maxTimestamp ?? 0) + 1;
    while (!(await cleaner.deleteOlder(WORKSPACE, cutoff)).isDone);
    expect([await countIn(env.COLD_DB), await countIn(env.SECOND_COLD_DB)]).toEqual([1, 1]);
    while (!(await cleaner.deleteOfWorkspace(WORKSPACE)).isDone);
    expect([await countIn(env.COLD_DB), await countIn(env.SECOND_COLD_DB)]).toEqual([0, 0]);
  });
});

describe("a full database of segments", () => {
  it("is followed by the next bound one, once", async () => {
    const { workspaceId } = await newTenant();
    const bound = ["COLD_DB", "COLD_DB_2"];
    await onSql(workspaceId, (sql) => {
      expect(currentDatabase(sql)).toBe("COLD_DB");
      expect(leaveFullDatabase(sql, bound, { bytes: 99, maxBytes: 100 }, 5)).toBeNull();
      expect(leaveFullDatabase(sql, ["COLD_DB"], { bytes: 100, maxBytes: 100 }, 5)).toBeNull();
      expect(leaveFullDatabase(sql, bound, { bytes: 100, maxBytes: 100 }, 5)).toBe("COLD_DB_2");
      expect(currentDatabase(sql)).toBe("COLD_DB_2");
      expect(leaveFullDatabase(sql, bound, { bytes: 100, maxBytes: 100 }, 6)).toBeNull();
      expect(sql.exec("SELECT name, since FROM cold_databases").toArray()).toEqual([{ name: "COLD_DB_2", since: 5 }]);
    });
  });

  it("is left after a flush, and queries read both", async () => {
    clock.start();
    onTestFinished(() => clock.stop());
    const tenant = await newTenant();
    const { workspaceId, secret } = tenant;
    await deployWith(workspaceId, { COLD_DB_MAX_BYTES: 1 });
    // The object, the writer and the router have the same bindings.
    Reflect.set(env, "COLD_DB_2", env.SECOND_COLD_DB);
    onTestFinished(() => void Reflect.deleteProperty(env, "COLD_DB_2"));
    for (const count of [3, 4, 5]) {
      await sendBatches(tenant, count);
      await flushAll(tenant);
    }
    const stored = await Promise.all(
      [env.COLD_DB, env.SECOND_COLD_DB].map((db) =>
        db.prepare("SELECT sum(count) AS n FROM segments WHERE workspace_id = ?").bind(workspaceId).first<number>("n"),
      ),
    );
    expect(stored).toEqual([3, 9]);
    const query = { method: "POST", headers: bearer(secret), body: { order: "asc" } };
    const { data } = await call("/logger/query", query);
    // SAFETY: the shape of a page.
    expect((data as { logs: { seq: number }[] }).logs.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 12 }, (_, at) => at + 1),
    );
  });
});
