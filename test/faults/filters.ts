import { LEVELS } from "../../src/logs/entry.ts";
import { NEEDLE } from "./batch.ts";
import type { Row } from "./project.ts";
import type { Random } from "./random.ts";

/** Filters as a query has them, and the rows that pass them. */
export interface Filter {
  filters: Readonly<Record<string, unknown>>;
  keeps: (row: Row) => boolean;
}

export const EVERYTHING: Filter = { filters: {}, keeps: () => true };

const MINUTE_MS = 60_000;
const WARN_AND_WORSE: ReadonlySet<string> = new Set(LEVELS.slice(LEVELS.indexOf("warn")));

export function anyFilter(random: Random, now: number): Filter {
  if (random.oneIn(2)) return EVERYTHING;
  return random.pick([levelFilter, minLevelFilter, categoryFilter, searchFilter, dataFilter, timeFilter])(random, now);
}

/** Filters that counts answer without reading entries, and one that requires reading. */
export function anyStatsFilter(random: Random, now: number): Filter {
  if (random.oneIn(2)) return EVERYTHING;
  return random.pick([levelFilter, minLevelFilter, categoryFilter, timeFilter, searchFilter])(random, now);
}

/** A time range that seldom begins or ends with a minute. */
export function timeFilter(random: Random, now: number): Filter {
  const from = now - random.int(0, random.oneIn(3) ? 21 * 24 * 60 * MINUTE_MS : 4 * MINUTE_MS);
  const to = random.oneIn(2) ? now + random.int(-MINUTE_MS, MINUTE_MS) : null;
  return {
    filters: { from, ...(to === null ? {} : { to }) },
    keeps: ({ timestamp }) => Date.parse(timestamp) >= from && (to === null || Date.parse(timestamp) < to),
  };
}

function levelFilter(random: Random): Filter {
  const level = random.sample(LEVELS, random.int(1, 2));
  return { filters: { level }, keeps: (row) => level.some((name) => name === row.level) };
}

function minLevelFilter(): Filter {
  return { filters: { minLevel: "warn" }, keeps: ({ level }) => WARN_AND_WORSE.has(level) };
}

function categoryFilter(random: Random): Filter {
  const category = random.pick(["http", "billing", "queue"]);
  return { filters: { category }, keeps: (row) => row.category === category };
}

function searchFilter(): Filter {
  return { filters: { search: NEEDLE }, keeps: ({ message }) => message.includes(NEEDLE) };
}

function dataFilter(random: Random): Filter {
  const group = random.int(0, 9);
  return { filters: { data: { group } }, keeps: ({ data }) => data?.group === group };
}
