import { Aggregator } from "../src/logs/aggregate/aggregator.ts";
import { EntryAggregator } from "../src/logs/aggregate/entry-aggregator.ts";
import { tableOf } from "../src/logs/aggregate/table.ts";
import { encodeBody, type RecentBatch } from "../src/logs/batch.ts";
import { BatchMatcher, type LineMatch } from "../src/logs/query/batch-matcher.ts";
import { UNIT_NS, WORK, WorkMeter } from "../src/logs/query/budget.ts";
import { itemOfBatch } from "../src/logs/query/feed.ts";
import { QueryBody } from "../src/logs/query/schema.ts";
import { TableBody } from "../src/logs/stats/table-schema.ts";

/**
 * `npm run bench:work`: measures the prices of `src/logs/query/budget.ts` on this machine, and prints the nanoseconds
 * of one counted unit for each kind of work. A price is right if the result is near or below `UNIT_NS`. If it is
 * several times as much, reads take longer than they count.
 */

const ROUNDS = 15;
const BYTES = 4 * 1024 * 1024;

const HEAD = '{"timestamp":"2026-11-20T14:00:00.000Z","level":"info","category":"http","type":"request"';

interface Case {
  name: string;
  filters: object;
  line: (index: number) => string;
}

const ordinary = (index: number) =>
  `${HEAD},"message":"GET /api/v1/orders/${index} completed in ${index % 400} ms","session":"ses_${index * 7919}","traceId":"${index}","data":{"userId":${index % 5000},"route":"/orders/:id","status":${200 + (index % 4) * 100},"user":{"plan":"team"}}}`;
const listOf = (element: string) => (index: number) =>
  `${HEAD},"message":"m${index}","data":{"a":[${new Array(2000).fill(element).join(",")}]}}`;
const texts = (text: string) => (index: number) => `${HEAD},"message":"m${index}","data":{"a":"${text.repeat(4000)}"}}`;
const thousand = Array.from({ length: 1000 }, (_, index) => `v${index}`);
const many = (count: number, test: object) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`a.m${index}`, test]));

const CASES: readonly Case[] = [
  { name: "plain scan", filters: {}, line: ordinary },
  { name: "level", filters: { level: "error" }, line: ordinary },
  { name: "category", filters: { category: ["http", "custom"] }, line: ordinary },
  { name: "search in vain", filters: { search: "xyzzy plugh" }, line: ordinary },
  { name: "search that finds some", filters: { search: "/777" }, line: ordinary },
  { name: "search that finds all", filters: { search: "completed" }, line: ordinary },
  { name: "session in vain", filters: { session: "ses_0123" }, line: ordinary },
  { name: "eq that finds some", filters: { data: { userId: 77 } }, line: ordinary },
  { name: "range that finds half", filters: { data: { status: { gte: 400 } } }, line: ordinary },
  { name: "in of a thousand in vain", filters: { data: { route: { in: thousand } } }, line: ordinary },
  {
    name: "three tests",
    filters: { data: { status: { gte: 300 }, "user.plan": "team", userId: { lt: 4000 } } },
    line: ordinary,
  },
  {
    name: "list of objects, in of a thousand",
    filters: { data: { "a.1.a": { in: thousand } } },
    line: listOf('{"a":"ab"}'),
  },
  { name: "list of objects, read", filters: { data: { "a.1": { exists: true } } }, line: listOf("{}") },
  { name: "list of numbers, read", filters: { data: { "a.1": { exists: true } } }, line: listOf("0") },
  { name: "list of numbers, search in vain", filters: { search: "5113" }, line: listOf("51112") },
  { name: "list of numbers, nearly found", filters: { search: "21112" }, line: listOf("51112") },
  { name: "names of digits, nearly found", filters: { search: "12" }, line: listOf('{"12":34}') },
  { name: "list of booleans, search", filters: { search: "ruth" }, line: listOf("true") },
  { name: "list of strings, search", filters: { search: "aab" }, line: listOf('"aac aab"') },
  {
    name: "list of strings, nearly found",
    filters: { search: `${"ab".repeat(20)}c` },
    line: listOf(`"${"ab".repeat(21)}"`),
  },
  {
    name: "long string, repetition",
    filters: { search: `${"a".repeat(100)}b` },
    line: texts("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaac"),
  },
  { name: "long string, Kelvin signs", filters: { search: "kkkkkkkkkkkkx" }, line: texts("KkKkKkKkKkKK") },
  { name: "long string, sigmas", filters: { search: "σσσσσσσσσσσσx" }, line: texts("ΣσςΣσςΣσςΣσςΣ") },
  { name: "long string, escapes", filters: { search: "\n\n\n\nx" }, line: texts("\\n\\n\\n\\n\\n") },
  { name: "a hundred tests", filters: { data: many(100, { ne: 1 }) }, line: ordinary },
];

const fields = Array.from({ length: 20 }, (_, index) => `f${index}`);
const wide = (index: number) =>
  `${HEAD},"message":"m","data":{${fields.map((name, at) => `"${name}":${(index * 7919 + at * 104_729) % 1_000_003}`).join(",")}}}`;
const everyOf = (fn: string) => fields.map((field) => ({ fn, field }));

const TABLES: readonly { name: string; body: object; line: (index: number) => string }[] = [
  {
    name: "count by level and 30 s",
    body: { aggregations: [{ fn: "count" }], groupBy: ["level", { bin: "30s" }] },
    line: ordinary,
  },
  {
    name: "p99 by route",
    body: { aggregations: [{ fn: "p99", field: "status" }], groupBy: ["route"] },
    line: ordinary,
  },
  { name: "count by userId", body: { aggregations: [{ fn: "count" }], groupBy: ["userId"] }, line: ordinary },
  {
    name: "distinct sessions by route",
    body: { aggregations: [{ fn: "count_distinct", field: "session" }], groupBy: ["route"] },
    line: ordinary,
  },
  {
    name: "sum of a filtered number",
    body: { aggregations: [{ fn: "sum", field: "userId" }], filters: { data: { status: { gte: 400 } } } },
    line: ordinary,
  },
  { name: "twenty percentiles by a number", body: { aggregations: everyOf("p99"), groupBy: ["f0"] }, line: wide },
  { name: "twenty distinct counts", body: { aggregations: everyOf("count_distinct") }, line: wide },
  { name: "twenty sums by five keys", body: { aggregations: everyOf("sum"), groupBy: fields.slice(0, 5) }, line: wide },
  { name: "twenty last values", body: { aggregations: everyOf("first") }, line: wide },
  { name: "list of numbers, percentile", body: { aggregations: [{ fn: "p99", field: "a" }] }, line: listOf("5111") },
  {
    name: "list of texts, groups",
    body: { aggregations: [{ fn: "p99", field: "a" }], groupBy: ["a"] },
    line: listOf('"ab"'),
  },
];

for (const { name, filters, line } of CASES) await report(name, filters, line, 500);
await report("batches of one entry", {}, ordinary, 1);
for (const { name, body, line } of TABLES) await reportTable(name, body, line);
console.log(`\nA unit is to take ${UNIT_NS} ns or less.`);

async function report(name: string, filters: object, line: (index: number) => string, entries: number): Promise<void> {
  const batches = batchesOf(line, entries);
  const meter = new WorkMeter();
  const matcher = new BatchMatcher(QueryBody.parse({ filters }).filter, meter);
  let best = Number.POSITIVE_INFINITY;
  let units = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const before = meter.done;
    const startedAt = performance.now();
    for (const batch of batches) {
      meter.add(WORK.item);
      const unit = await itemOfBatch(batch).open();
      const nothing = () => undefined;
      for (const _ of matcher.steps(unit?.pieces() ?? [], () => true, nothing, nothing));
    }
    best = Math.min(best, performance.now() - startedAt);
    units = meter.done - before;
  }
  const bytes = batches.reduce((sum, { size }) => sum + size, 0);
  const figures = [(best * 1e6) / units, units / bytes, (best * 1e6) / bytes].map((figure) =>
    figure.toFixed(2).padStart(8),
  );
  console.log(`${name.padEnd(36)} ${figures[0]} ns a unit ${figures[1]} units a byte ${figures[2]} ns a byte`);
}

async function reportTable(name: string, body: object, line: (index: number) => string): Promise<void> {
  const batches = batchesOf(line, 500);
  const { filter, plan, sort, limit } = TableBody.parse(body);
  let best = Number.POSITIVE_INFINITY;
  let units = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const meter = new WorkMeter();
    const matcher = new BatchMatcher(filter, meter);
    const aggregator = new Aggregator(plan);
    const entries = new EntryAggregator(aggregator, meter);
    const startedAt = process.cpuUsage().user;
    for (const batch of batches) {
      meter.add(WORK.item);
      const lines = await itemOfBatch(batch).open();
      const found = (match: LineMatch) => lines && entries.add(match, lines);
      for (const _ of matcher.steps(
        lines?.pieces() ?? [],
        () => true,
        found,
        () => undefined,
      ));
    }
    for (const work of tableOf(aggregator, { sort, limit, bytes: 4e6 })) meter.add(work);
    best = Math.min(best, (process.cpuUsage().user - startedAt) / 1000);
    units = meter.done;
  }
  const lines = batches.reduce((sum, { count }) => sum + count, 0);
  const figures = [(best * 1e6) / units, units / lines, (best * 1e6) / lines].map((figure) =>
    figure.toFixed(2).padStart(8),
  );
  console.log(`${name.padEnd(36)} ${figures[0]} ns a unit ${figures[1]} units a line ${figures[2]} ns a line`);
}

function batchesOf(line: (index: number) => string, entries: number): (RecentBatch & { size: number })[] {
  const batches: (RecentBatch & { size: number })[] = [];
  const most = entries === 1 ? BYTES / 8 : BYTES;
  for (let bytes = 0, index = 0; bytes < most; ) {
    const lines: string[] = [];
    for (let size = 0; lines.length < entries && size < BYTES / 8; index++)
      size += lines[lines.push(line(index)) - 1]?.length ?? 0;
    const body = Buffer.from(lines.join("\n"));
    bytes += body.length;
    const place = { commit: 1, projectId: "proj_00000000000a", firstSeq: 1, count: lines.length, receivedAt: 0 };
    batches.push({ ...place, minTimestamp: 0, maxTimestamp: 0, size: body.length, ...encodeBody(body) });
  }
  return batches;
}
