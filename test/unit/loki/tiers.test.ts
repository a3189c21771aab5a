import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseLogql } from "../../../src/logql/parse.ts";
import type { LokiEntry } from "../../../src/logql/pipeline.ts";
import type { LogqlExpression } from "../../../src/logql/syntax.ts";
import { chooseFilter } from "../../../src/logs/cold/filter/block-filter.ts";
import { mayContain } from "../../../src/logs/cold/filter/bloom.ts";
import { tokensFor } from "../../../src/logs/cold/filter/token-tests.ts";
import { TokenCollector } from "../../../src/logs/cold/filter/tokens.ts";
import { parseStoredLine } from "../../../src/logs/entry.ts";
import type { LokiReading } from "../../../src/logs/loki/reading.ts";
import { runLogs } from "../../../src/logs/loki/run-logs.ts";
import { runMetric } from "../../../src/logs/loki/run-metric.ts";
import { ownStreams } from "../../../src/logs/loki/streams.ts";
import { ScanPacer, SEARCH_BUDGET } from "../../../src/logs/query/budget.ts";
import { compareRows } from "../../../src/logs/query/feed.ts";
import { UNBOUNDED_MEMORY } from "../../../src/logs/query/memory.ts";
import { lineOf, SEGMENT_KINDS, type TestRow, TestStore } from "../query/store.ts";
import { BEGIN, lokiEntryOfRow, lokiTestEntry } from "./entries.ts";

const PROJECTS = ["proj_00000000000a", "proj_00000000000b"];
const END = BEGIN + 101;

/** A part of a query, and what it means. */
type Part = readonly [text: string, passes: (entry: LokiEntry) => boolean];

const SELECTORS: readonly Part[] = [
  ['{level="error"}', ({ stream }) => stream.get("level") === "error"],
  [
    '{level=~"info|warn", service!="api"}',
    ({ stream }) => stream.get("level") !== "error" && stream.get("service") !== "api",
  ],
  ['{service="web"}', ({ stream }) => stream.get("service") === "web"],
  ['{service=~"(web|timeout)"}', ({ stream }) => ["web", "timeout"].includes(stream.get("service") ?? "")],
  [
    `{project="${PROJECTS[0]}", type!~"r.*"}`,
    ({ stream }) => stream.get("project") === PROJECTS[0] && stream.get("type") === "log",
  ],
];
const STAGES: readonly Part[] = [
  ["|= `timeout`", ({ line }) => line.includes("timeout")],
  ["|= `imeout` or `refused`", ({ line }) => line.includes("imeout") || line.includes("refused")],
  ['|= `"status":404`', ({ line }) => line.includes('"status":404')],
  ["|= `nothing has this`", () => false],
  ["!= `Timeout`", ({ line }) => !line.includes("Timeout")],
  ["|~ `(?i)TIMEOUT`", ({ line }) => line.toLowerCase().includes("timeout")],
  ["|~ `after \\d+s`", ({ line }) => /after \d+s/.test(line)],
  ["!~ `temp|status`", ({ line }) => !/temp|status/.test(line)],
  ['| json | status="404"', (entry) => statusOf(entry) === "404"],
];

/** The label after `| json`: one of the stream keeps its name. */
function statusOf({ line, stream }: LokiEntry): string | null {
  const own = stream.get("status");
  if (own !== undefined) return own;
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed !== "object" || parsed === null || !("status" in parsed)) return null;
    return typeof parsed.status === "object" ? null : String(parsed.status);
  } catch {
    return null;
  }
}

const query = fc.tuple(fc.constantFrom(...SELECTORS), fc.uniqueArray(fc.constantFrom(...STAGES), { maxLength: 2 }));
const batch = fc.record({
  project: fc.constantFrom(...PROJECTS),
  entries: fc.array(lokiTestEntry, { minLength: 1, maxLength: 6 }),
});
const flush = fc.record({
  project: fc.constantFrom(...PROJECTS),
  count: fc.integer({ min: 1, max: 3 }),
  kind: fc.constantFrom(...SEGMENT_KINDS),
});

let excluded = 0;

/** Both tiers, with filters of segments. */
function readingOf(store: TestStore): LokiReading {
  const stats = store.stats(3);
  const { workspaceId, report, cold } = stats;
  const findSegments: typeof cold.findSegments = async (selection) => {
    const page = await cold.findSegments(selection);
    const left = page.segments.filter(({ projectId, firstSeq, lastSeq }) => {
      const tokens = new TokenCollector();
      for (const row of store.rows) {
        const stored = parseStoredLine(lineOf(row.entry));
        if (row.projectId === projectId && row.seq >= firstSeq && row.seq <= lastSeq && stored) tokens.add(stored);
      }
      const { kinds, filter } = chooseFilter(tokens, 100_000);
      return selection.tests.every(
        (each) => tokensFor(each, kinds)?.some(({ a, b }) => mayContain(filter, a, b)) ?? true,
      );
    });
    excluded += page.segments.length - left.length;
    return { ...page, segments: left };
  };
  const source = {
    ...stats,
    cold: { ...cold, findSegments },
    bySeq: (projectId: string) => ({
      scope: { workspaceId, projectId, report },
      recent: store.bySeq(projectId, 2),
      cold,
    }),
  };
  return { source, budget: SEARCH_BUDGET, memory: UNBOUNDED_MEMORY, pacer: new ScanPacer() };
}

function expressionOf<Kind extends LogqlExpression["kind"]>(text: string, kind: Kind) {
  const parsed = parseLogql(text);
  // SAFETY: the kind is compared.
  if (parsed.kind === kind) return parsed as Extract<LogqlExpression, { kind: Kind }>;
  throw new Error(`${text} is a ${parsed.kind}.`);
}

const timeOf = ({ entry }: TestRow) => entry.timestamp;

describe("LogQL over both tiers", () => {
  test("gives what a plain evaluator gives, whatever moves meanwhile", async () => {
    let [entries, samples] = [0, 0];
    await fc.assert(
      fc.asyncProperty(
        fc.array(batch, { minLength: 1, maxLength: 6 }),
        fc.array(flush, { maxLength: 4 }),
        fc.array(fc.option(flush), { maxLength: 3 }),
        fc.array(query, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 12 }),
        async (batches, flushed, moves, queries, limit) => {
          const store = new TestStore();
          for (const { project, entries: own } of batches) store.add(project, own);
          for (const { project, count, kind } of flushed) store.flush(project, count, kind);
          const waiting = [...moves];
          store.beforePage = () => {
            const move = waiting.shift();
            if (move) store.flush(move.project, move.count, move.kind);
          };
          for (const [[selector, selects], stages] of queries) {
            const text = [selector, ...stages.map(([stage]) => stage)].join(" ");
            const found = store.rows.filter((row) => {
              const entry = lokiEntryOfRow(row);
              return selects(entry) && stages.every(([, passes]) => passes(entry));
            });
            for (const order of ["asc", "desc"] as const) {
              const keys = found.map((row) => ({ timestamp: timeOf(row), seq: row.seq, projectId: row.projectId }));
              const expected = keys.sort((a, b) => compareRows(order, a, b)).slice(0, limit);
              const wanted = { from: BEGIN, to: END, order, limit, interval: 0 };
              const got = await runLogs(readingOf(store), { ...wanted, expression: expressionOf(text, "logs") });
              expect(
                got.map(({ timestamp, seq, projectId }) => ({ timestamp, seq, projectId })),
                text,
              ).toEqual(expected);
              entries += expected.length;
            }
            const ofLevels = `sum by (level) (count_over_time(${text} [20ms]))`;
            const metric = expressionOf(ofLevels, "vector-aggregation");
            const steps = { first: BEGIN, step: 10, count: 12 };
            const value = await runMetric(readingOf(store), metric, steps);
            // A filter that all lines pass makes the lines decide.
            for (const [each, at] of [
              [ofLevels, { first: BEGIN + 7, step: 9, count: 5 }],
              [`sum by (service, type) (rate(${text} [15ms]))`, steps],
              [`sum(rate(${text} [1s] offset 3ms))`, { ...steps, count: 1 }],
            ] as const) {
              const of = (query: string) => runMetric(readingOf(store), expressionOf(query, "vector-aggregation"), at);
              expect(await of(each), each).toEqual(await of(each.replace(" [", ' |= "" [')));
            }
            if (value.kind === "number") throw new Error("The metric has series.");
            for (const level of ["info", "warn", "error"] as const) {
              const own = value.series.find(({ labels }) => labels.get("level") === level);
              const counts = Array.from({ length: steps.count }, (_, at) => {
                const end = steps.first + at * steps.step;
                const isIn = (row: TestRow) =>
                  timeOf(row) > end - 20 && timeOf(row) <= end && row.entry.level === level;
                return found.filter(isIn).length;
              });
              samples += counts.filter((count) => count > 0).length;
              expect(own ? [...own.values] : counts.map(() => 0), text).toEqual(counts);
            }
          }
        },
      ),
      { numRuns: 120 },
    );
    expect(entries).toBeGreaterThan(200);
    expect(samples).toBeGreaterThan(200);
    expect(excluded).toBeGreaterThan(100);
  });

  test("counts without stages by columns, for much less work than by lines", async () => {
    const store = new TestStore();
    const [project = ""] = PROJECTS;
    for (let at = 0; at < 40; at++) {
      const of = { level: "info", category: "http", type: "log", service: "web" } as const;
      store.add(
        project,
        Array.from({ length: 100 }, (_, n) => ({
          ...of,
          timestamp: BEGIN + n,
          message: `request ${n} is done`.repeat(20),
        })),
      );
    }
    store.flush(project, 40, "bucket");
    const workOf = async (query: string, count: number) => {
      const reading = readingOf(store);
      const value = await runMetric(reading, expressionOf(query, "vector-aggregation"), {
        first: BEGIN + 9,
        step: 10,
        count,
      });
      return { value, work: reading.pacer.meter.done };
    };
    const columns = await workOf('sum by (level) (count_over_time({service="web"} [20ms]))', 12);
    const lines = await workOf('sum by (level) (count_over_time({service="web"} |= "" [20ms]))', 12);
    expect(columns.value).toEqual(lines.value);
    expect(columns.work).toBeLessThan(lines.work / 3);
  });

  test("a list or an object is no label, whatever counts the entries", async () => {
    const store = new TestStore();
    const [project = ""] = PROJECTS;
    const values = ["shop", ["shop"], ["shop", "x"], { name: "shop" }, { name: ["shop"] }, { x: 1 }, null, 5, true, ""];
    const own = { level: "info", category: "http", type: "log", message: "m" } as const;
    const add = (services: readonly unknown[]) => {
      const entries = services.map((service, at) => ({ ...own, timestamp: BEGIN + 1 + at, data: { service } }));
      store.add(project, entries);
    };
    const at = { first: BEGIN + 50, step: 1, count: 1 };
    const seriesOf = async (query: string) => {
      const value = await runMetric(readingOf(store), expressionOf(query, "vector-aggregation"), at);
      if (value.kind === "number") throw new Error("The metric has series.");
      return value.series.map(({ labels, values: [count = 0] }) => [labels.get("service"), count]);
    };
    const streams = async () => {
      const selection = { matchers: [{ name: "level", operator: "=", value: "info" } as const], from: BEGIN, to: END };
      const found = await ownStreams(readingOf(store), selection);
      return found.map(({ labels, entries }) => [labels.get("service"), entries] as const);
    };
    add(values.filter((value) => !Array.isArray(value) && JSON.stringify(value) !== '{"name":["shop"]}'));
    const plain = new Map(await streams());
    expect([plain.get("shop"), plain.get("5"), plain.get("true"), plain.size]).toEqual([2, 1, 1, 4]);
    // Without lists, columns count.
    const byService = 'sum by (service) (count_over_time({service="shop"} [50ms]))';
    expect(await seriesOf(byService)).toEqual([["shop", 2]]);
    add(values);
    expect(await seriesOf(byService)).toEqual([["shop", 4]]);
    store.flush(project, 2, "bucket");
    expect(await seriesOf(byService)).toEqual([["shop", 4]]);
    expect(new Map(await streams())).toEqual(
      new Map([
        ["shop", 4],
        ["5", 2],
        ["true", 2],
        [undefined, 9],
      ]),
    );
  });

  test("reads few of many segments for a text that one of them has", async () => {
    const store = new TestStore();
    const [project = ""] = PROJECTS;
    for (let at = 0; at < 40; at++) {
      const message = at === 17 ? "the needle is here" : `job ${at} is done`;
      store.add(project, [{ timestamp: BEGIN + at, level: "info", category: "http", type: "log", message }]);
      store.flush(project, 1, "bucket");
    }
    excluded = 0;
    const wanted = { from: BEGIN, to: END, order: "desc", limit: 10, interval: 0 } as const;
    const expression = expressionOf('{level="info"} |= "needle"', "logs");
    const found = await runLogs(readingOf(store), { ...wanted, expression });
    expect(found.map(({ line }) => line)).toEqual(["the needle is here"]);
    expect(excluded).toBe(39);
  });
});
