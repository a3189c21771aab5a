import { z } from "zod";
import { refuseFields } from "../../http/errors.ts";
import { integerParameter, optionalParameter, pageQuery } from "../../http/paging.ts";
import { resource } from "../../http/resource.ts";
import { COUNTED } from "../../limits/state.ts";
import { QUERY_BUDGET, type QueryBudget } from "../../logs/query/budget.ts";
import { toByteString } from "../../logs/query/case-folding.ts";
import { OPEN_FILTER } from "../../logs/query/filter.ts";
import type { ReadMemory } from "../../logs/query/memory.ts";
import type { StatsSource } from "../../logs/stats/count-entries.ts";
import { runStats } from "../../logs/stats/run-stats.ts";
import { manage, workspaceGuard } from "../guards/member.ts";
import { callerOf } from "../guards/user.ts";
import { statsSource, withReadMemory } from "../logs/reader.ts";
import { projectCursor, WORKSPACE_ERRORS } from "./projects.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** Days of one request: the longest retention, with the day in progress. */
const MAX_DAYS = 366;
const DEFAULT_DAYS = 30;
/** Projects of a page. Each is counted by itself: one call of the workspace object, and its segments' counts. */
const PAGE = { default: 20, max: 50 } as const;

const day = z.iso.date().optional();

const daysQuery = pageQuery.extend({
  from: optionalParameter(
    day,
    `The first day, in UTC: \`2026-11-01\`. Default: ${DEFAULT_DAYS - 1} days before \`to\`.`,
  ),
  to: optionalParameter(day, `The last day, included. Default: today. At most ${MAX_DAYS} days after \`from\`.`),
  limit: optionalParameter(integerParameter(1, PAGE.max).default(PAGE.default), "Projects of a page."),
});

const dayShape = z.object({
  day: z.iso.date(),
  entries: z.int(),
  levels: z.record(z.string(), z.int()).describe("Entries by level, without levels that have none."),
});

const projectDaysShape = z.object({
  projectId: z.string(),
  name: z.string(),
  entries: z.int().describe("Sum of the days."),
  days: z.array(dayShape).describe("In order, without days that have no entries."),
  complete: z
    .boolean()
    .describe("`false` if the work of the request did not suffice, so that the earliest days are missing."),
});

export const usageDays = resource();

usageDays.route(
  {
    method: "GET",
    path: "/workspaces/:workspaceId/usage/days",
    operation: "usage.days",
    tag: "Workspaces",
    summary: "Count the entries of each project by day and level",
    description: [
      "The stored entries by their `timestamp`, days in UTC, by project in order of creation. Exact: the sums of the counts that",
      "are stored with batches and segments. Days before the retention, and deleted projects, have no entries. A page of projects",
      "shares the work of one request for statistics.",
    ].join("\n"),
    security: "accessToken",
    query: daysQuery,
    status: 200,
    response: z.object({
      from: z.iso.date(),
      to: z.iso.date(),
      items: z.array(projectDaysShape),
      nextCursor: z.string().nullable(),
    }),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "usage.get", from: "path" })],
  async (c, { query: { cursor, limit, ...wanted } }) => {
    // Admits the request first, so that one with wrong days counts, too.
    const rows = await manage(c, "listProjects", projectCursor(cursor), limit + 1);
    const span = spanOf(wanted, Date.now());
    const page = rows.slice(0, limit);
    const nextCursor = rows.length > limit ? String(page.at(-1)?.num) : null;
    const reader = { caller: callerOf(c), workspaceId: c.get("workspaceId"), charge: COUNTED };
    const work = QUERY_BUDGET.work / Math.max(1, page.length);
    return withReadMemory(c, COUNT_ROWS, async (memory) => {
      const items: z.output<typeof projectDaysShape>[] = [];
      for (const { id, name } of page) {
        const counted = await countDays(statsSource(c, reader, id), span, { ...QUERY_BUDGET, work }, memory);
        items.push({ projectId: id, name, ...counted });
      }
      const text = toByteString(JSON.stringify({ from: dayOf(span.from), to: dayOf(span.to - 1), items, nextCursor }));
      return { data: [text].values(), bytes: text.length };
    });
  },
);

/** Memory of the counts, as rows of a query: `MAX_DAYS` days of all levels of a full page. */
const COUNT_ROWS = 2048;

/** Whole days, epoch milliseconds: `from <= timestamp < to`. */
interface Span {
  from: number;
  to: number;
}

async function countDays(
  source: StatsSource,
  { from, to }: Span,
  budget: QueryBudget,
  memory: ReadMemory,
): Promise<Pick<z.output<typeof projectDaysShape>, "entries" | "days" | "complete">> {
  const wanted = {
    projectId: null,
    filter: { ...OPEN_FILTER, from, to },
    intervalMs: DAY_MS,
    groupBy: "level",
  } as const;
  const result = await runStats(source, wanted, budget, memory);
  // There are fewer days and levels than a histogram may have.
  if (!result.ok) throw new RangeError("A span of days has too many buckets.");
  const { buckets, total, complete } = result.answer;
  const days = buckets.map(({ start, count, groups = {} }) => ({
    day: start.slice(0, DAY_LENGTH),
    entries: count,
    levels: groups,
  }));
  return { entries: total, days, complete };
}

const DAY_LENGTH = "2026-11-01".length;

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, DAY_LENGTH);
}

/** The first day that has a date of ten characters. */
const FIRST_DAY = Date.parse("0000-01-01");

/** Returns the days of a request. Ends it with 400 if they are in the wrong order or too many. */
function spanOf({ from, to }: { from?: string | undefined; to?: string | undefined }, now: number): Span {
  const last = Date.parse(to ?? dayOf(now));
  const first = from === undefined ? Math.max(FIRST_DAY, last - (DEFAULT_DAYS - 1) * DAY_MS) : Date.parse(from);
  const message =
    first > last
      ? "Must not be after `to`."
      : last - first >= MAX_DAYS * DAY_MS
        ? `At most ${MAX_DAYS} days. Send a later day.`
        : null;
  if (message !== null) refuseFields([{ path: "query.from", code: "custom", message }]);
  return { from: first, to: last + DAY_MS };
}
