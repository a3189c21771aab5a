import { describe, expect, it } from "vitest";
import { encodeBody, type RecentBatch } from "../../../src/logs/batch.ts";
import { UNIT_NS } from "../../../src/logs/query/budget.ts";
import { LeasedMemory } from "../../../src/logs/query/memory.ts";
import { runTable, type TableResult } from "../../../src/logs/stats/run-table.ts";
import { TableBody } from "../../../src/logs/stats/table-schema.ts";
import { queryMemory } from "../../../src/platform/isolate-memory.ts";
import { copied } from "../query/store.ts";

const PROJECT = "proj_00000000000a";
const TWO_SECONDS = 2e9 / UNIT_NS;
const HEAD = '{"timestamp":"2026-11-20T14:00:00.000Z","level":"info","category":"http","type":"request","message":"m"';
const TIME = Date.parse("2026-11-20T14:00:00.000Z");
const FIELDS = Array.from({ length: 20 }, (_, at) => `f${at}`);
const BATCH_LINES = 1000;

/** All in the recent tier: as many batches of new lines as a request reads. */
function sourceOf(line: (index: number) => string, batches: number, lines = BATCH_LINES) {
  const bodyAt = (at: number) =>
    encodeBody(Buffer.from(Array.from({ length: lines }, (_, index) => line(at * lines + index)).join("\n")));
  const batchAt = (at: number): RecentBatch => {
    const place = { commit: batches - at, projectId: PROJECT, firstSeq: (batches - at - 1) * lines + 1 };
    const times = { minTimestamp: TIME, maxTimestamp: TIME, receivedAt: TIME };
    return { ...place, ...times, count: lines, ...bodyAt(at) };
  };
  const unused = (): never => expect.fail("All is in the recent tier.");
  const none = { read: async () => ({ segments: [], next: null }), max: 1 };
  const page = { asOf: batches, lastCommit: batches, scope: PROJECT, flushed: [], oldest: 0 };
  return {
    workspaceId: "ws_000000000001",
    recent: async ({ position }: { position: { commit: number } | null }) => {
      const at = position === null ? 0 : batches - position.commit;
      const next = at + 1 < batches ? { timestamp: TIME, commit: batches - at - 1 } : null;
      return { ...page, batches: [copied(batchAt(at))], next };
    },
    cold: { findSegments: unused, readBodies: unused, readFiles: unused, segmentsBySeq: unused },
    report: unused,
    recentCounts: unused,
    levels: none,
    summaries: none,
  };
}

/** Numbers whose buckets of a sketch are far from each other. */
const SPREAD = Array.from({ length: 4099 }, (_, at) => Math.exp(((at * 7919) % 4099) / 7).toPrecision(5));
const wide = (index: number) =>
  `${HEAD},"data":{${FIELDS.map((name, at) => `"${name}":${SPREAD[(index * 31 + at * 977) % 4099]}`).join(",")}}}`;
const every = (fns: readonly string[]) =>
  FIELDS.map((field, at) => ({
    fn: fns[at % fns.length] ?? "",
    field: fns.length === 1 ? field : (FIELDS[at % 4] ?? ""),
  }));

/** The most that the schema lets through: 20 aggregations and 5 keys whose values all differ. */
const WORST = {
  percentiles: { aggregations: every(["p99"]), groupBy: ["f0"], sort: { by: "p99(f1)" } },
  "distinct counts": { aggregations: every(["count_distinct"]), groupBy: FIELDS.slice(0, 5) },
  "all functions": {
    aggregations: every(["p50", "p999", "count_distinct", "sum", "values", "first", "last"]).map((wanted, at) => ({
      ...wanted,
      as: `${at}`,
    })),
    groupBy: FIELDS.slice(0, 5),
    sort: { by: "3" },
  },
  "percentiles of one group": { aggregations: every(["p99"]) },
};

describe("the costliest tables", () => {
  it.each(Object.entries(WORST))(
    "4: of %s do at most 2 s of counted work within their memory, and free it",
    async (_, body) => {
      const before = queryMemory.held;
      const memory = await LeasedMemory.take(2048);
      if (memory === null) throw new Error("There is no memory.");
      let most = 0;
      const watched = {
        canHoldRows: memory.canHoldRows.bind(memory),
        canHoldState: (bytes: number) => {
          const may = memory.canHoldState(bytes);
          most = Math.max(most, queryMemory.held);
          return may;
        },
        grantInput: memory.grantInput.bind(memory),
        recordInput: memory.recordInput.bind(memory),
        recordDecoded: memory.recordDecoded.bind(memory),
        receive: memory.receive.bind(memory),
        renew: () => memory.renew(),
      };
      const result: TableResult = await runTable(sourceOf(wide, 400), TableBody.parse(body), undefined, watched);
      if (!result.ok) throw new Error(result.reason);
      const { answer, work } = result;
      expect(answer.complete).toBe(false);
      expect(answer.notes[0]).toMatch(/limit of (work|memory)/);
      expect(answer.matched).toBeGreaterThan(1000);
      expect(work).toBeLessThan(TWO_SECONDS);
      expect(most).toBeLessThanOrEqual(queryMemory.capacity);
      memory.release();
      expect(queryMemory.held).toBe(before);
    },
  );

  it("4: read the worst known lines with bounded work", async () => {
    for (const line of [
      `${HEAD},"data":{"a":[${"1,".repeat(9999)}2],"b":[${"3,".repeat(9999)}4]}}`,
      `${HEAD},"data":{"a":[${'"x",'.repeat(9999)}"y"],"b":[${'{"c":1},'.repeat(4999)}{"c":2}]}}`,
      `${HEAD},"data":{"a":"${'\\\\\\"'.repeat(50_000)}"}}`,
      `${HEAD},"data":{"a":${"[".repeat(30)}1${"]".repeat(30)},"b":"x"}}`,
    ]) {
      const fields = ["a", "b", "b.c", "a[0][0][0][0]", "a.b.c.d.e"];
      const body = {
        aggregations: fields.flatMap((field) =>
          ["p99", "count_distinct", "values", "last"].map((fn) => ({ fn, field })),
        ),
        groupBy: fields,
      };
      const lines = 60;
      const result = await runTable(
        sourceOf(() => line, 10, lines),
        TableBody.parse(body),
      );
      if (!result.ok) throw new Error(result.reason);
      expect(result.work).toBeLessThan(TWO_SECONDS);
      // A line is read without a pause: less than 40 ms by its price.
      expect(result.work / result.answer.matched).toBeLessThan(4e7 / UNIT_NS);
      expect(result.answer.matched).toBeGreaterThan(20);
    }
  }, 120_000);
});
