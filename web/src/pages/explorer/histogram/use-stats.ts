import { useRef } from "preact/hooks";
import { type Loaded, useLoad } from "../../../lib/load.ts";
import type { Filters } from "../filters.ts";
import { countLogs } from "../query.ts";
import type { Times } from "../view/range.ts";
import { type Interval, intervalFor, intervalMs, type Stats } from "./buckets.ts";

/** Counts by time and level, and the time that they are about. */
export interface Counted {
  stats: Stats;
  interval: Interval;
  start: number;
  end: number;
}

/**
 * Counts what the filters match, from `times` on. `fit`: shows only the time in which there is anything. Until a new count
 * is there the one before stays, marked by `busy`, so that who zooms keeps the chart and the focus on it. Where the new
 * one fails, it stays if it is of the same `query`.
 */
export function useStats(
  key: string,
  query: string,
  wanted: boolean,
  workspaceId: string,
  projectId: string | null,
  filters: Filters,
  times: Times,
  fit: boolean,
): Loaded<Counted | null> {
  const loaded = useLoad(wanted ? key : "", async (signal) => {
    if (!wanted) return null;
    const ask = async (filters: Filters, start: number, end: number): Promise<Counted> => {
      const interval = intervalFor(end - start);
      const request = { ...(projectId === null ? {} : { projectId }), filters, interval, groupBy: "level" } as const;
      return { stats: await countLogs(workspaceId, request, signal), interval, start, end };
    };
    const all = await ask(filters, times.start, times.end);
    return fit ? fitted(all, filters, ask) : all;
  });
  const before = useRef<{ query: string; counted: Counted } | null>(null);
  if (loaded.data !== null) before.current = { query, counted: loaded.data };
  else if (loaded.failure !== null && before.current?.query !== query) before.current = null;
  return { ...loaded, data: before.current?.counted ?? null };
}

/** Cut to the time in which there is anything, and counted anew where that is short enough for finer buckets. */
async function fitted(
  all: Counted,
  filters: Filters,
  ask: (filters: Filters, start: number, end: number) => Promise<Counted>,
): Promise<Counted> {
  const coarse = cut(all);
  const { start, end, interval } = coarse;
  if (all.stats.buckets.length === 0 || intervalFor(end - start) === interval) return coarse;
  const bounds = { from: new Date(start).toISOString(), to: new Date(end).toISOString() };
  return cut(await ask({ ...filters, ...bounds }, start, end));
}

function cut(counted: Counted): Counted {
  const { buckets } = counted.stats;
  const [first, last] = [buckets[0], buckets.at(-1)];
  if (first === undefined || last === undefined) return counted;
  return { ...counted, start: Date.parse(first.start), end: Date.parse(last.start) + intervalMs(counted.interval) };
}
