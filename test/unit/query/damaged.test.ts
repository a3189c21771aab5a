import { describe, expect, it } from "vitest";
import { encodeBody } from "../../../src/logs/batch.ts";
import type { RecentSource } from "../../../src/logs/query/recent-feed.ts";
import { runQuery } from "../../../src/logs/query/run-query.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import { HistogramBody } from "../../../src/logs/stats/histogram.ts";
import { runStats } from "../../../src/logs/stats/run-stats.ts";
import { runTable } from "../../../src/logs/stats/run-table.ts";
import { TableBody } from "../../../src/logs/stats/table-schema.ts";
import { answered, copied, lineOf, type TestEntry, TestStore } from "./store.ts";

const PROJECT = "proj_00000000000a";
const entryAt = (second: number): TestEntry => ({
  timestamp: 1_790_000_000_000 + second * 1000,
  level: "info",
  category: "http",
  type: "request",
  message: `m${second}`,
  session: "s",
});

const good = lineOf(entryAt(1));

/** Possible content of the disk in place of the second of four lines. */
const DAMAGED = {
  "no text at all": "\0\0\0\0",
  nothing: "",
  "a line cut off": good.slice(0, -20),
  "a line cut off in its head": good.slice(0, 30),
  "another value": '"a string"',
  "another object": '{"some":"thing"}',
  "another level": good.replace('"info"', '"none"'),
  "a level that begins like one": good.replace('"info"', '"inxo"'),
  "no message": good.replace('"message"', '"massage"'),
  "no time": good.replace(/2026[^"]*/, "xxxxxxxxxxxxxxxxxxxxxxxx"),
  "bytes that are not UTF-8": good.replace("m1", "m\\q"),
};

/** A store with such a line in its only batch, as its object returns it. */
function damaged(line: string) {
  const store = new TestStore();
  const entries = [0, 1, 2, 3].map(entryAt);
  store.add(PROJECT, entries);
  const faults: [message: string, entries: number][] = [];
  const body = encodeBody(
    new TextEncoder().encode(entries.map((each, at) => (at === 1 ? line : lineOf(each))).join("\n")),
  );
  const recent: RecentSource = async (scan) => {
    const page = await store.source(5)(scan);
    return { ...page, batches: page.batches.map((batch) => copied({ ...batch, ...body })) };
  };
  const report = ({ message }: Error, count: number) => faults.push([message, count]);
  return { source: { ...store.stats(5), recent, report }, faults };
}

const FILTERS = {
  nothing: {},
  "a level": { level: "info" },
  "a category": { category: ["http", "custom"] },
  "a type": { type: "request" },
  "what is inside": { session: "s" },
  "a text": { search: "M" },
} as const;

describe.each(Object.entries(DAMAGED))("a stored line that is %s", (_name, line) => {
  it.each(Object.entries(FILTERS))(
    "costs a query for %s its own entry alone, and is reported",
    async (_of, filters) => {
      for (const order of ["asc", "desc"] as const) {
        for (const includeTotal of [false, true]) {
          for (const limit of [1, 100]) {
            const { source, faults } = damaged(line);
            const seen: string[] = [];
            let cursor: string | null = null;
            do {
              const pagination: object = { limit, includeTotal, ...(cursor === null ? {} : { cursor }) };
              const result = await runQuery(source, QueryBody.parse({ filters, order, pagination }), () => 0);
              if (!result.ok) throw new Error(result.reason);
              seen.push(...answered(result.page).logs.map(({ message }) => message));
              cursor = result.page.pagination.nextCursor;
            } while (cursor !== null);
            expect(seen).toEqual(order === "asc" ? ["m0", "m2", "m3"] : ["m3", "m2", "m0"]);
            // A line that lacks a filter's needle is not parsed, so its damage is not noticed.
            if (!("search" in filters) && !("session" in filters)) {
              expect(faults[0]).toEqual([`Stored lines of ${PROJECT} are not entries: 1, the first of them seq 2.`, 1]);
            }
          }
        }
      }
    },
  );

  it("is the only entry that a histogram lacks", async () => {
    for (const groupBy of [undefined, "level", "category", "type"] as const) {
      const { source } = damaged(line);
      const question = HistogramBody.parse({ filters: { session: "s" }, interval: "1d", ...(groupBy && { groupBy }) });
      const result = await runStats(source, question);
      expect(result).toMatchObject({ ok: true, answer: { total: 3, complete: true } });
    }
  });

  // A table reads of other members only where they end, so it counts an entry with a damaged one.
  const isTold = line !== DAMAGED["bytes that are not UTF-8"];
  it.runIf(isTold)("is the only entry that a table lacks, and is reported", async () => {
    for (const [groupBy, bin] of [["category"], ["message"], ["session"], ["category", { bin: "1d" }]]) {
      const { source, faults } = damaged(line);
      const keys = [groupBy, ...(bin ? [bin] : [])];
      const aggregations = [
        { fn: "count", as: "n" },
        { fn: "count_distinct", field: "message" },
      ];
      const result = await runTable(source, TableBody.parse({ aggregations, groupBy: keys }));
      expect(result).toMatchObject({ ok: true, answer: { matched: 3, complete: true } });
      expect(faults).toHaveLength(1);
    }
  });
});
