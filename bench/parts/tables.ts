import { z } from "zod";
import { levelOf } from "../entries.ts";
import type { Seed } from "../load/protocol.ts";
import { seedEntry, seedTimestamp } from "../seed.ts";
import type { BenchTenant } from "../tenant.ts";
import { type QueryRun, timedRead } from "./query-client.ts";

type Cell = string | number | null;

export interface BenchTable {
  name: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
  expected: readonly (readonly Cell[])[];
  /** Whether a percentile may be estimated, because a group has too many values for an exact one. */
  mayEstimate?: boolean;
}

const HOUR_MS = 60 * 60 * 1000;
const USERS = 10;
const SLOW_MS = 350;

/** Values of a group up to which a percentile is exact, and the relative error beyond (docs/logs.md). */
const EXACT_VALUES = 50_000;
const ESTIMATE_ERROR = 0.01;

/** The tables of aggregations of the comparison in docs/benchmarks.md, with their rows computed from what was sent. */
export function benchTables(seed: Seed, tenant: BenchTenant): BenchTable[] {
  const headers = { authorization: `Bearer ${tenant.projects[0]?.key}` };
  const indexes = Array.from({ length: seed.perProject }, (_, index) => index);
  const data = (index: number) => seedEntry(seed, 0, index).data;
  return [
    {
      name: "p99 of durationMs by route, one project",
      headers,
      body: { aggregations: [{ fn: "p99", field: "durationMs" }], groupBy: ["route"] },
      expected: groupsOf(indexes, (index) => data(index).route ?? null).map(([route, own]) => {
        const sorted = own.map((index) => Number(data(index).durationMs)).sort((a, b) => a - b);
        return [route, sorted[Math.ceil(sorted.length * 0.99) - 1] ?? null];
      }),
      mayEstimate: seed.perProject > EXACT_VALUES,
    },
    {
      name: "top 10 users by errors, one project",
      headers,
      body: {
        aggregations: [{ fn: "count" }],
        groupBy: ["userId"],
        filters: { level: "error" },
        sort: { by: "count()" },
        limit: USERS,
      },
      expected: groupsOf(
        indexes.filter((index) => levelOf(index) === "error"),
        (index) => data(index).userId ?? null,
      )
        .map(([user, own]): [Cell, number] => [user, own.length])
        .sort((a, b) => b[1] - a[1] || Number(a[0]) - Number(b[0]))
        .slice(0, USERS),
    },
    {
      name: `count by hour where durationMs >= ${SLOW_MS}, one project`,
      headers,
      body: {
        aggregations: [{ fn: "count" }],
        groupBy: [{ bin: "1h" }],
        filters: { data: { durationMs: { gte: SLOW_MS } } },
      },
      expected: groupsOf(
        indexes.filter((index) => Number(data(index).durationMs) >= SLOW_MS),
        (index) => new Date(Math.floor(seedTimestamp(seed, 0, index) / HOUR_MS) * HOUR_MS).toISOString(),
      ).map(([hour, own]) => [hour, own.length]),
    },
  ];
}

/** Groups in order of their keys' first occurrence; times rise with the index. */
function groupsOf(indexes: readonly number[], keyOf: (index: number) => Cell): [Cell, number[]][] {
  const groups = new Map<Cell, number[]>();
  for (const index of indexes) {
    const key = keyOf(index);
    const known = groups.get(key);
    if (known) known.push(index);
    else groups.set(key, [index]);
  }
  return [...groups];
}

const answerSchema = z.object({
  data: z.object({
    rows: z.array(z.array(z.union([z.string(), z.number(), z.null()]))),
    complete: z.boolean(),
    exact: z.boolean(),
    matched: z.int(),
  }),
});

export async function runTable(
  url: string,
  { headers, body, expected, mayEstimate = false }: BenchTable,
): Promise<QueryRun> {
  const { text, tookMs, failed } = await timedRead(`${url}/logger/stats`, { headers, body });
  if (failed) return failed;
  const { rows, complete, exact, matched } = answerSchema.parse(JSON.parse(text)).data;
  if (!complete) return { tookMs, requests: 1, wrong: `incomplete after ${matched} matching entries` };
  const at = expected.findIndex((row, index) => !row.every((cell, n) => agrees(rows[index]?.[n], cell, exact)));
  const isRight = at < 0 && rows.length === expected.length;
  const difference = `row ${at} of ${rows.length} is ${JSON.stringify(rows[at])} instead of ${JSON.stringify(expected[at])}`;
  return { tookMs, requests: 1, wrong: isRight && (exact || mayEstimate) ? null : difference };
}

/** Whether a cell is the expected one, or within the stated error of an estimate. */
function agrees(found: Cell | undefined, expected: Cell, exact: boolean): boolean {
  if (found === expected) return true;
  if (exact || typeof found !== "number" || typeof expected !== "number") return false;
  return Math.abs(found - expected) <= Math.abs(expected) * ESTIMATE_ERROR;
}
