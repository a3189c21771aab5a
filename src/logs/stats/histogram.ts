import { z } from "zod";
import { counted } from "../../platform/bytes.ts";
import { LEVELS, OWN_MEMBERS } from "../entry.ts";
import type { LineMatch } from "../query/batch-matcher.ts";
import type { LogFilter } from "../query/filter.ts";
import { AFTER_TYPE, categoryAt, typeAt } from "../query/lines.ts";
import { Filters, filterOf } from "../query/schema.ts";
import { FilterText } from "../search/query-text.ts";
import type { Counted } from "./count-feed.ts";

const MINUTE_MS = 60_000;

/** Milliseconds of a bucket by its name. All are whole minutes, because batches and segments store counts by minute. */
export const INTERVALS = {
  "1m": MINUTE_MS,
  "5m": 5 * MINUTE_MS,
  "1h": 60 * MINUTE_MS,
  "1d": 24 * 60 * MINUTE_MS,
} as const;

/** Members whose counts are stored with batches and segments. */
export const COUNTED_GROUPS = ["level", "category", "type"] as const;
export type CountedGroup = (typeof COUNTED_GROUPS)[number];

/** Members by which a histogram groups. Counts by an own member are made from entries. */
export const GROUPS = [...COUNTED_GROUPS, ...OWN_MEMBERS] as const;
export type GroupBy = (typeof GROUPS)[number];

/** Whether stored counts have the names of a group. */
export function isCountedGroup(groupBy: GroupBy): groupBy is CountedGroup {
  return COUNTED_GROUPS.some((group) => group === groupBy);
}

export const STATS_LIMITS = {
  /** Maximum number of buckets in a response, from the HTTP contract. */
  buckets: 2000,
  /** Maximum number of group counts in a response. Clients choose their types freely, so a bound is needed. */
  groups: 50_000,
} as const;

/** A request for statistics as the router runs it. */
export interface StatsQuery {
  projectId: string | null;
  filter: LogFilter;
  intervalMs: number;
  groupBy: GroupBy | null;
}

// SAFETY: `Object.keys` of a literal gives exactly its keys.
const intervalNames = Object.keys(INTERVALS) as [keyof typeof INTERVALS];

/** Body of `POST /logger/stats` without `aggregations`. */
export const HistogramBody = z
  .strictObject({
    projectId: z
      .string()
      .optional()
      .describe("With an access token, limits the request to one project. A key always reads its own project."),
    filters: Filters.optional(),
    q: FilterText.optional(),
    interval: z.enum(intervalNames).describe("Length of a bucket. Buckets begin at whole multiples of it in UTC."),
    groupBy: z
      .enum(GROUPS)
      .optional()
      .describe(
        [
          "Also counts each bucket by this member. `service` and `host` are read as in `filters`: entries without such a text are",
          "in no group, and those with several are in each.",
        ].join("\n"),
      ),
  })
  .transform(
    ({ projectId, filters, q, interval, groupBy }): StatsQuery => ({
      projectId: projectId ?? null,
      filter: filterOf({ filters, q }, Date.now()),
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
        groups: z.record(z.string(), z.int()).optional().describe("Count by name, if requested with `groupBy`."),
      }),
    )
    .describe(`In ascending order of time, without empty buckets. At most ${counted(STATS_LIMITS.buckets)}.`),
  total: z.int(),
  complete: z
    .boolean()
    .describe("`false` if the request's budget ran out, so that older entries are missing. Narrow the filters."),
  lastSeq: z
    .int()
    .optional()
    .describe(
      "For a single project, its newest `seq` at the time of the count. Entries of a tail above it are not counted here.",
    ),
});

export interface Bucket {
  /** ISO 8601 UTC. */
  start: string;
  count: number;
  groups?: Record<string, number>;
}

/** Thrown if there are more buckets or groups than a response may have. */
export class TooManyBuckets extends Error {}

const DAY_MS = 24 * 60 * MINUTE_MS;

/** Formats times of whole minutes as ISO 8601 UTC. Caches the text of the last day, because most times share it. */
class MinuteClock {
  #day = Number.NaN;
  #date = "";

  iso(timestamp: number): string {
    const day = Math.floor(timestamp / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      this.#date = new Date(day * DAY_MS).toISOString().slice(0, -"00:00:00.000Z".length);
    }
    const minute = Math.floor((timestamp - day * DAY_MS) / MINUTE_MS);
    return `${this.#date}${twoDigits(Math.floor(minute / 60))}:${twoDigits(minute % 60)}:00.000Z`;
  }
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}

interface Counts {
  count: number;
  levels: number[];
  names: Map<string, number>;
}

/** Adds up counts by bucket and group. */
export class Histogram {
  readonly #intervalMs: number;
  readonly #groupBy: GroupBy | null;
  readonly #buckets = new Map<number, Counts>();
  #groups = 0;
  /** The bucket that was added to last. Consecutive additions mostly belong to the same bucket. */
  #start = Number.NaN;
  #counts: Counts | null = null;
  total = 0;

  constructor(intervalMs: number, groupBy: GroupBy | null) {
    this.#intervalMs = intervalMs;
    this.#groupBy = groupBy;
  }

  /**
   * Counts entries of a level, category and type.
   * @param timestamp epoch milliseconds
   * @throws TooManyBuckets
   */
  add(timestamp: number, counted: Counted, count: number): void {
    const counts = this.#count(timestamp, count);
    const groupBy = this.#groupBy;
    if (groupBy === "level") counts.levels[counted.level] = (counts.levels[counted.level] ?? 0) + count;
    else if (groupBy !== null && isCountedGroup(groupBy)) this.#addName(counts.names, counted[groupBy], count);
  }

  /**
   * Counts one entry in each of some groups.
   * @param names different ones
   * @throws TooManyBuckets
   */
  addInGroups(timestamp: number, names: Iterable<string>): void {
    const counts = this.#count(timestamp, 1);
    for (const name of names) this.#addName(counts.names, name, 1);
  }

  /**
   * Counts entries of which only the level is known.
   * @throws TooManyBuckets
   */
  addLevel(timestamp: number, level: number, count: number): void {
    const counts = this.#count(timestamp, count);
    if (this.#groupBy === "level") counts.levels[level] = (counts.levels[level] ?? 0) + count;
  }

  /**
   * Counts entries of a group.
   * @param name `null` if they are in none
   * @throws TooManyBuckets
   */
  addNamed(timestamp: number, name: string | null, count: number): void {
    const counts = this.#count(timestamp, count);
    if (name === null) return;
    if (this.#groupBy !== "level") this.#addName(counts.names, name, count);
    else {
      const level = LEVELS.findIndex((known) => known === name);
      counts.levels[level] = (counts.levels[level] ?? 0) + count;
    }
  }

  /** Whether counts by minute, level, category and type suffice. */
  get takesCounts(): boolean {
    return this.#groupBy === null || isCountedGroup(this.#groupBy);
  }

  /** Whether counts by minute and level suffice. */
  get needsLevelsAlone(): boolean {
    return this.#groupBy === null || this.#groupBy === "level";
  }

  /** Whether the histogram needs the level, category and type of an entry. */
  get needsNames(): boolean {
    return this.#groupBy !== null;
  }

  /** Returns the buckets by time, rising. */
  buckets(): Bucket[] {
    const clock = new MinuteClock();
    return [...this.#buckets]
      .sort(([a], [b]) => a - b)
      .map(([at, counts]) => {
        const bucket = { start: clock.iso(at), count: counts.count };
        return this.#groupBy === null ? bucket : { ...bucket, groups: this.#groupsOf(counts) };
      });
  }

  #count(timestamp: number, count: number): Counts {
    this.total += count;
    const counts = this.#countsAt(Math.floor(timestamp / this.#intervalMs) * this.#intervalMs);
    counts.count += count;
    return counts;
  }

  #groupsOf({ levels, names }: Counts): Record<string, number> {
    const entries =
      this.#groupBy === "level"
        ? LEVELS.map((name, level) => [name, levels[level] ?? 0] as const).filter(([, count]) => count > 0)
        : [...names].sort(([a], [b]) => (a < b ? -1 : 1));
    // `fromEntries` defines members, so a group named `__proto__` becomes an ordinary member.
    return Object.fromEntries(entries);
  }

  #addName(names: Map<string, number>, name: string, count: number): void {
    const before = names.get(name);
    if (before === undefined && ++this.#groups > STATS_LIMITS.groups) throw new TooManyBuckets();
    names.set(name, (before ?? 0) + count);
  }

  #countsAt(start: number): Counts {
    if (start === this.#start && this.#counts) return this.#counts;
    let counts = this.#buckets.get(start);
    if (counts === undefined) {
      if (this.#buckets.size === STATS_LIMITS.buckets) throw new TooManyBuckets();
      counts = { count: 0, levels: [], names: new Map() };
      this.#buckets.set(start, counts);
    }
    this.#start = start;
    this.#counts = counts;
    return counts;
  }
}

export const NOTHING: Counted = { level: 0, category: "", type: "" };

/** Maximum number of cached pairs of category and type. */
const MAX_NAMES = 1000;

/** Reads level, category and type from the beginning of lines. */
export class LineNames {
  readonly #known = new Map<string, { category: string; type: string }>();

  of({ text, start, severity }: LineMatch): Counted {
    const category = categoryAt(start, severity);
    const end = text.indexOf(AFTER_TYPE, typeAt(text, category)) + 1;
    const written = text.slice(category, end);
    let names = this.#known.get(written);
    if (names === undefined) {
      names = namesOf(written);
      if (this.#known.size < MAX_NAMES) this.#known.set(flat(written), names);
    }
    return { level: severity, ...names };
  }
}

/** Parses a category and a type as they are written in a line: `"http","type":"request"`. */
function namesOf(written: string): { category: string; type: string } {
  const json = Buffer.from(`{"category":${written}}`, "latin1").toString("utf8");
  // SAFETY: the line has been read as an entry, whose names are strings.
  return JSON.parse(json) as { category: string; type: string };
}

/** Copies a text, so that a map that keeps it does not also keep the larger text that it was cut from. */
function flat(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}
