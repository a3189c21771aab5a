import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LEVELS } from "../../../src/logs/entry.ts";
import type { BatchSelection } from "../../../src/workspace/batch-columns.ts";
import { BatchIndex } from "../../../src/workspace/batch-index.ts";
import { insertBatch } from "../../../src/workspace/batches.ts";
import { batchOf, EVERYTHING, inWorkspace } from "./support.ts";

const times = fc.integer({ min: 1000, max: 1020 });

/** What ingest, flush and a failing transaction do to the table and tell the index. */
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("add" as const),
      project: fc.integer({ min: 1, max: 3 }),
      timestamps: fc.array(times, { minLength: 1, maxLength: 3 }),
      level: fc.constantFrom(...LEVELS),
      category: fc.constantFrom("http", "cache", "custom", "own"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), nth: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("roll back" as const), timestamp: times }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("query" as const) }) },
);

const selection: fc.Arbitrary<Omit<BatchSelection, "position">> = fc.record({
  asOf: fc.oneof(fc.nat({ max: 20 }), fc.constant(Number.MAX_SAFE_INTEGER)),
  projects: fc.subarray([1, 2, 3]).map((projects) => new Set(projects)),
  from: fc.option(times),
  to: fc.option(times),
  levelMask: fc.integer({ min: 0, max: 127 }),
  categoryMask: fc.integer({ min: 0, max: 255 }),
  order: fc.constantFrom("asc" as const, "desc" as const),
});

/** The same selection by SQL alone. */
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

describe("BatchIndex", () => {
  it("selects what SQL selects, in order, from any position, whatever was added, removed or rolled back", async () => {
    await inWorkspace("ws_00000000idx1", (sql, storage) => {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 40 }), selection, fc.nat(), (steps, wanted, skip) => {
          sql.exec("DELETE FROM batches");
          const index = new BatchIndex(sql);
          let commit = 0;
          const add = (
            project: number,
            timestamps: readonly number[],
            level: (typeof LEVELS)[number],
            category: string,
          ) => {
            const batch = batchOf(timestamps.map((timestamp) => ({ timestamp, message: "m", level, category })));
            insertBatch(sql, ++commit, project, 1, batch, 0);
            return { commit, project, firstSeq: 1, batch, receivedAt: 0 };
          };
          for (const each of steps) {
            if (each.kind === "add") index.add(add(each.project, each.timestamps, each.level, each.category));
            if (each.kind === "remove") {
              const commits = sql
                .exec("SELECT commit_no FROM batches")
                .toArray()
                .map((row) => Number(row.commit_no));
              const gone = commits[each.nth % Math.max(1, commits.length)] ?? 999;
              sql.exec("DELETE FROM batches WHERE commit_no = ?", gone);
              index.remove(gone);
            }
            if (each.kind === "roll back") {
              const before = commit;
              try {
                storage.transactionSync(() => {
                  index.add(add(1, [each.timestamp], "info", "custom"));
                  throw new Error("rolled back");
                });
              } catch {
                commit = before;
                index.invalidate();
              }
            }
            if (each.kind === "query") [...index.select({ ...wanted, position: null })];
          }
          const expected = selectBySql(sql, { ...wanted, position: null });
          const found = [...index.select({ ...wanted, position: null })];
          expect(found.map((batch) => batch.commit)).toEqual(expected);
          const from = found[skip % Math.max(1, found.length)];
          if (!from) return;
          const timestamp = wanted.order === "desc" ? from.maxTimestamp : from.minTimestamp;
          const rest = [...index.select({ ...wanted, position: { timestamp, commit: from.commit } })];
          expect(rest.map((batch) => batch.commit)).toEqual(expected.slice(expected.indexOf(from.commit)));
        }),
        { numRuns: 300 },
      );
    });
  });

  it("stays exact while it grows and is emptied behind, far past its first capacity", async () => {
    await inWorkspace("ws_00000000idx2", (sql) => {
      const index = new BatchIndex(sql);
      const everything = {
        ...EVERYTHING,
        asOf: Number.MAX_SAFE_INTEGER,
        projects: new Set([1]),
        order: "asc" as const,
      };
      expect([...index.select(everything)]).toEqual([]);
      const batch = batchOf([{ timestamp: 1, message: "m" }]);
      for (let commit = 1; commit <= 5000; commit++) {
        const timestamp = commit % 7 === 0 ? 6000 - commit : commit;
        const made = { ...batch, minTimestamp: timestamp, maxTimestamp: timestamp };
        insertBatch(sql, commit, 1, commit, made, 0);
        index.add({ commit, project: 1, firstSeq: commit, batch: made, receivedAt: 0 });
        if (commit % 500 === 0) [...index.select(everything)];
      }
      for (let commit = 1; commit <= 4000; commit++) {
        sql.exec("DELETE FROM batches WHERE commit_no = ?", commit);
        index.remove(commit);
      }
      const found = [...index.select(everything)].map(({ commit }) => commit);
      expect(found).toEqual(selectBySql(sql, everything));
      expect(found).toHaveLength(1000);
    });
  });

  it("reads no body when it is loaded", async () => {
    await inWorkspace("ws_00000000idx3", (sql) => {
      const noise = Array.from(crypto.getRandomValues(new Uint8Array(30_000)), (byte) => byte.toString(36)).join("");
      for (let commit = 1; commit <= 20; commit++)
        insertBatch(sql, commit, 1, 1, batchOf([{ timestamp: 1, message: noise }]), 0);
      const selected = [...new BatchIndex(sql).select({ ...EVERYTHING, asOf: 99, projects: new Set([1]) })];
      expect(selected).toHaveLength(20);
      expect(selected[0]?.bodyBytes).toBeGreaterThan(20_000);
    });
  });
});
