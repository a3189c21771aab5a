import { z } from "zod";
import { levelOf } from "../entries.ts";
import type { Seed } from "../load/protocol.ts";
import { seedTimestamp } from "../seed.ts";
import type { BenchTenant } from "../tenant.ts";
import { type QueryRun, timedRead } from "./query-client.ts";

/** Buckets by start time, each with counts by level, or its total under "". */
type Counts = Map<string, Map<string, number>>;

export interface BenchHistogram {
  name: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
  expected: Counts;
}

const MINUTE_MS = 60_000;

/** The histograms of the comparison in docs/benchmarks.md, with expected results computed from what was sent. */
export function benchHistograms(seed: Seed, tenant: BenchTenant): BenchHistogram[] {
  const asUser = { authorization: `Bearer ${tenant.accessToken}`, "x-workspace-id": tenant.workspaceId };
  const asKey = { authorization: `Bearer ${tenant.projects[0]?.key}` };
  const every = Array.from({ length: seed.projects }, (_, project) => project);
  return [
    {
      name: "count per minute, all projects",
      headers: asUser,
      body: { interval: "1m" },
      expected: counts(seed, every, () => ""),
    },
    {
      name: "count per minute by level, one project",
      headers: asKey,
      body: { interval: "1m", groupBy: "level" },
      expected: counts(seed, [0], levelOf),
    },
    {
      name: "count per minute by type, one project",
      headers: asKey,
      body: { interval: "1m", groupBy: "type" },
      expected: counts(seed, [0], () => "request"),
    },
  ];
}

function counts(seed: Seed, projects: readonly number[], groupOf: (index: number) => string): Counts {
  const all: Counts = new Map();
  for (const project of projects) {
    for (let index = 0; index < seed.perProject; index++) {
      const timestamp = seedTimestamp(seed, project, index);
      const start = new Date(Math.floor(timestamp / MINUTE_MS) * MINUTE_MS).toISOString();
      const bucket = all.get(start) ?? new Map<string, number>();
      const group = groupOf(index);
      bucket.set(group, (bucket.get(group) ?? 0) + 1);
      all.set(start, bucket);
    }
  }
  return all;
}

const answerSchema = z.object({
  data: z.object({
    buckets: z.array(z.object({ start: z.string(), count: z.int(), groups: z.record(z.string(), z.int()).optional() })),
    complete: z.literal(true),
  }),
});

export async function runHistogram(url: string, { headers, body, expected }: BenchHistogram): Promise<QueryRun> {
  const { text, tookMs, failed } = await timedRead(`${url}/logger/stats`, { headers, body });
  if (failed) return failed;
  const { buckets } = answerSchema.parse(JSON.parse(text)).data;
  const bad = buckets.find(({ start, count, groups }) => !isEqual(groups ?? { "": count }, expected.get(start)));
  const wrong = bad
    ? `the bucket of ${bad.start} is ${JSON.stringify(bad)}`
    : buckets.length === expected.size
      ? null
      : `${buckets.length} buckets instead of ${expected.size}`;
  return { tookMs, requests: 1, wrong };
}

function isEqual(groups: Record<string, number>, expected: Map<string, number> | undefined): boolean {
  const names = Object.keys(groups);
  return names.length === expected?.size && names.every((name) => groups[name] === expected.get(name));
}
