import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LEVELS } from "../../../src/logs/entry.ts";
import { ISOLATE_BUDGET } from "../../../src/platform/isolate-memory.ts";
import { type BatchMeta, type BatchSelection, positionOf } from "../../../src/workspace/recent/batch-columns.ts";
import { BatchIndex, batchIndexBytes } from "../../../src/workspace/recent/batch-index.ts";
import { deleteBatches, insertBatch } from "../../../src/workspace/recent/batches.ts";
import { CHUNK_BATCHES } from "../../../src/workspace/recent/index-chunks.ts";
import { batchOf, EVERYTHING, inWorkspace } from "./support.ts";

const times = fc.integer({ min: 1000, max: 1020 });

/** The steps by which ingest, flush, an eviction and a failing transaction change the tables and the index. */
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("add" as const),
      // Enough for several chunks.
      count: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 300, max: 900 })),
      project: fc.integer({ min: 1, max: 3 }),
      timestamps: fc.array(times, { minLength: 1, maxLength: 3 }),
      level: fc.constantFrom(...LEVELS),
      category: fc.constantFrom("http", "cache", "custom", "own"),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("remove" as const),
      nth: fc.nat(),
      count: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 700 })),
      project: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("roll back" as const), timestamp: times }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("evict" as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("query" as const) }) },
);

const selection = fc.record({
  asOf: fc.oneof(fc.nat({ max: 20 }), fc.constant(Number.MAX_SAFE_INTEGER)),
  projects: fc.subarray([1, 2, 3]).map((projects) => new Set(projects)),
  from: fc.option(times),
  to: fc.option(times),
  levelMask: fc.integer({ min: 0, max: 127 }),
  categoryMask: fc.integer({ min: 0, max: 255 }),
  order: fc.constantFrom("asc" as const, "desc" as const),
});

/** The same selection by SQL only. */
function selectBySql(sql: SqlStorage, { asOf, projects, from, to, levelMask, categoryMask, order }: BatchSelection) {
  const by = order === "desc" ? "max_ts DESC, commit_no DESC" : "min_ts, commit_no";
  return sql
    .exec(
      `SELECT commit_no, project FROM batches
       WHERE commit_no <= ? AND max_ts >= ? AND min_ts < ? AND level_mask & ? AND category_mask & ? ORDER BY ${by}`,
      asOf,
      from ?? 0,
      to ?? Number.MAX_SAFE_INTEGER,
      levelMask,
      categoryMask,
    )
    .toArray()
    .filter(({ project }) => projects.has(Number(project)))
    .map(({ commit_no }) => Number(commit_no));
}

/** A whole selection, paged like a reader's: each page starts at the last batch of the page before. */
async function selectAll(index: BatchIndex, wanted: BatchSelection): Promise<BatchMeta[]> {
  const all: BatchMeta[] = [];
  let { position } = wanted;
  for (;;) {
    const { batches, isCut } = await index.selectInTurns({ ...wanted, position }, async () => {});
    const last = batches.at(-1);
    all.push(...(isCut ? batches.slice(0, -1) : batches));
    if (!isCut || !last) return all;
    position = positionOf(wanted.order, last);
  }
}

describe("BatchIndex", () => {
  it("A3: selects what SQL selects, in order, from any position, whatever was added, packed, removed or rolled back", async () => {
    await inWorkspace("ws_00000000idx1", async (sql, storage) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), selection, fc.nat(), async (steps, wanted, skip) => {
          sql.exec("DELETE FROM batches");
          sql.exec("DELETE FROM batch_blocks");
          let index = new BatchIndex(sql);
          let commit = 0;
          const everything = { ...wanted, position: null };
          const seqs = new Map<number, number>();
          for (const each of steps) {
            if (each.kind === "add") {
              const { project, timestamps, level, category } = each;
              const batch = batchOf(timestamps.map((timestamp) => ({ timestamp, message: "m", level, category })));
              const stored = Array.from({ length: each.count }, () => {
                const firstSeq = (seqs.get(project) ?? 0) + 1;
                seqs.set(project, firstSeq + batch.count - 1);
                insertBatch(sql, ++commit, project, firstSeq, batch, 0);
                const bodyBytes = batch.body.length;
                return { commit, project, firstSeq, batch, bodyBytes, wasStaged: false, receivedAt: 0 };
              });
              index.pack(stored.length);
              index.add(stored);
            }
            if (each.kind === "remove") {
              const commits = sql
                .exec("SELECT commit_no FROM batches WHERE project = ? ORDER BY commit_no", each.project)
                .toArray()
                .map((row) => Number(row.commit_no));
              const at = each.nth % Math.max(1, commits.length);
              const gone = commits.slice(at, at + each.count);
              deleteBatches(sql, gone);
              index.remove(gone);
            }
            if (each.kind === "roll back") {
              const batch = batchOf([{ timestamp: each.timestamp, message: "m" }]);
              try {
                storage.transactionSync(() => {
                  for (let more = 1; more <= 800; more++) insertBatch(sql, commit + more, 1, 1, batch, 0);
                  index.pack(800);
                  throw new Error("rolled back");
                });
              } catch {
                index.invalidate();
              }
            }
            if (each.kind === "evict") index = new BatchIndex(sql);
            if (each.kind === "query") await selectAll(index, everything);
          }
          const expected = selectBySql(sql, everything);
          const found = await selectAll(index, everything);
          expect(found.map((batch) => batch.commit)).toEqual(expected);
          const project = [...wanted.projects][0] ?? 1;
          const seq = skip % ((seqs.get(project) ?? 0) + 1);
          expect(batchesAfter(index, project, seq).map((batch) => batch.commit)).toEqual(
            behindBySql(sql, project, seq),
          );
          const from = found[skip % Math.max(1, found.length)];
          if (!from) return;
          const rest = await selectAll(index, { ...wanted, position: positionOf(wanted.order, from) });
          expect(rest.map((batch) => batch.commit)).toEqual(expected.slice(expected.indexOf(from.commit)));
        }),
        { numRuns: 150 },
      );
    });
  });

  it("reads only the newest batch's row, and no body", async () => {
    await inWorkspace("ws_00000000idx3", (sql) => {
      const noise = Array.from(crypto.getRandomValues(new Uint8Array(30_000)), (byte) => byte.toString(36)).join("");
      for (let commit = 1; commit <= 20; commit++)
        insertBatch(sql, commit, 1, 1, batchOf([{ timestamp: 1, message: noise }]), 0);
      const selected = new BatchIndex(sql).select({ ...EVERYTHING, asOf: 99, projects: new Set([1]) });
      expect(selected?.batches).toHaveLength(20);
      expect(selected?.batches[0]?.bodyBytes).toBeGreaterThan(20_000);
    });
  });
});

/** A project's batches, beginning with the one that has the entry after a `seq`. */
function behindBySql(sql: SqlStorage, project: number, seq: number): number[] {
  const rows = sql
    .exec("SELECT commit_no, first_seq FROM batches WHERE project = ? ORDER BY commit_no", project)
    .toArray()
    .map((row) => ({ commit: Number(row.commit_no), firstSeq: Number(row.first_seq) }));
  const at = rows.findLastIndex(({ firstSeq }) => firstSeq <= seq + 1);
  return rows.slice(Math.max(0, at)).map(({ commit }) => commit);
}

/** Batches of a workspace after a long outage of D1. Their rows are small here, because only the number matters. */
const MANY = 400_000;

/** Inserts rows like those of ingest, by SQL. @param timestamp an expression of the commit number `n` */
function insertMany(sql: SqlStorage, first: number, count: number, timestamp: string): void {
  sql.exec(
    `WITH RECURSIVE n (n) AS (SELECT CAST(?1 AS INTEGER) UNION ALL SELECT n + 1 FROM n WHERE n < CAST(?1 + ?2 AS INTEGER) - 1)
     INSERT INTO batches (commit_no, project, first_seq, count, min_ts, max_ts, received_at, level_mask, category_mask,
       encoding, size, body_bytes, parts, summary, body)
     SELECT n, 1 + n % 2, 1 + n / 2, 1, ${timestamp}, ${timestamp} + n % 5, n, 8, 1, 0, 1, 1, 1, x'00', x'00' FROM n`,
    first,
    count,
  );
}

describe.each([
  ["rise", "1700000000000 + n"],
  ["are random over a day", "1700000000000 + (n * 7919 * 104729) % 86400000"],
] as const)("A3: the index of 400,000 batches whose times %s", (_, timestamp) => {
  it("stays within its memory, selects in turns of bounded length, and is exact from page to page", async () => {
    await inWorkspace(`ws_00000000big${timestamp.length % 10}`, async (sql, storage) => {
      storage.transactionSync(() => insertMany(sql, 1, MANY, timestamp));
      const index = new BatchIndex(sql);
      const wanted = { ...EVERYTHING, asOf: MANY, projects: new Set([2]) };
      let turns = 0;
      const pause = async () => void turns++;
      // The first selection builds chunks from the rows of an older version.
      await index.selectInTurns(wanted, pause);
      expect(turns).toBeGreaterThan(MANY / CHUNK_BATCHES / 8);
      const blocks = Number(sql.exec("SELECT COUNT(*) AS n FROM batch_blocks").one().n);
      expect(MANY - blocks * CHUNK_BATCHES).toBeLessThan(768);
      for (const order of ["desc", "asc"] as const) {
        const expected = selectBySql(sql, { ...wanted, order });
        let position: BatchSelection["position"] = null;
        for (let page = 0; page < 4; page++) {
          const { batches } = await index.selectInTurns({ ...wanted, order, position }, pause);
          const at = expected.indexOf(batches[0]?.commit ?? 0);
          expect(batches.map(({ commit }) => commit)).toEqual(expected.slice(at, at + batches.length));
          expect(at).toBe(page * (batches.length - 1));
          const last = batches.at(-1);
          position = last ? positionOf(order, last) : null;
        }
      }
      expect(batchIndexBytes()).toBeLessThanOrEqual(ISOLATE_BUDGET.batchIndex);
      // After a restart, packed batches are not packed again.
      const asleep = new BatchIndex(sql);
      turns = 0;
      const { batches } = await asleep.selectInTurns(wanted, pause);
      expect(batches.map(({ commit }) => commit)).toEqual(selectBySql(sql, wanted).slice(0, batches.length));
      expect(turns).toBeLessThan(MANY / CHUNK_BATCHES / 32);
      expect(batchesAfter(asleep, 1, MANY / 4, 3).map(({ firstSeq }) => firstSeq)).toEqual([
        MANY / 4 + 1,
        MANY / 4 + 2,
        MANY / 4 + 3,
      ]);
    });
  });
});

function batchesAfter(index: BatchIndex, project: number, seq: number, max = Number.POSITIVE_INFINITY): BatchMeta[] {
  const batches: BatchMeta[] = [];
  index.visitBatchesAfter(project, seq, (batch) => batches.push(batch) < max);
  return batches;
}
