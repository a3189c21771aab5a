import { z } from "zod";
import type { LogFilter } from "../query/filter.ts";
import { Filters, toFilter } from "../query/schema.ts";

const MINUTE_MS = 60_000;

/** Milliseconds of a bucket, by its name. All are whole minutes, which is what batches and segments are counted by. */
export const INTERVALS = {
  "1m": MINUTE_MS,
  "5m": 5 * MINUTE_MS,
  "1h": 60 * MINUTE_MS,
  "1d": 24 * 60 * MINUTE_MS,
} as const;

export const GROUPS = ["level", "category", "type"] as const;
export type GroupBy = (typeof GROUPS)[number];

export const STATS_LIMITS = {
  /** Buckets of one answer, from the HTTP contract. */
  buckets: 2000,
  /** Counts of groups in one answer: a client may make up types without end. */
  groups: 50_000,
} as const;

/** One question as the router answers it. */
export interface StatsQuery {
  projectId: string | null;
  filter: LogFilter;
  intervalMs: number;
  groupBy: GroupBy | null;
}

// SAFETY: `Object.keys` of a literal gives exactly its keys.
const intervalNames = Object.keys(INTERVALS) as [keyof typeof INTERVALS];

/** Body of `POST /logger/stats`. */
export const StatsBody = z
  .strictObject({
    projectId: z
      .string()
      .optional()
      .describe("With an access token: one project instead of all. A key always means its own project."),
    filters: Filters.optional(),
    interval: z.enum(intervalNames).describe("Length of a bucket. Buckets begin at whole multiples of it in UTC."),
    groupBy: z.enum(GROUPS).optional().describe("Counts each bucket by this, too."),
  })
  .transform(
    ({ projectId, filters, interval, groupBy }): StatsQuery => ({
      projectId: projectId ?? null,
      filter: toFilter(filters ?? {}),
      intervalMs: INTERVALS[interval],
      groupBy: groupBy ?? null,
    }),
  );

/** Documents `StatsAnswer`. */
export const statsAnswerSchema = z.object({
  buckets: z
    .array(
      z.object({
        start: z.iso.datetime(),
        count: z.int(),
        groups: z.record(z.string(), z.int()).optional().describe("Count by name, where `groupBy` asked for it."),
      }),
    )
    .describe(`By time, rising; empty ones left out. More than ${STATS_LIMITS.buckets} are refused.`),
  total: z.int(),
  complete: z
    .boolean()
    .describe("False: the request's budget ended first, so that older entries are missing. Narrow the filters."),
  lastSeq: z
    .int()
    .optional()
    .describe(
      "Counts of one project only: its newest `seq` at the moment of the count. What a tail brings above it is not counted here.",
    ),
});
