import { useMemo, useRef } from "preact/hooks";
import { type Loaded, useLoad } from "../../../lib/load.ts";
import { lazyModule } from "../../../ui/use-lazy.ts";
import type { Filters } from "../filters.ts";
import type { CountedEntry } from "../live/live-counts.ts";
import { type OnArrival, useLiveCounts } from "../live/use-live-counts.ts";
import { countLogs } from "../query.ts";
import type { Times } from "../view/range.ts";
import { fineMs, intervalFor, intervalMs, type Stats, withLive } from "./buckets.ts";

/** Counts by time and level, with the range they cover. */
export interface Counted {
  stats: Stats;
  /** Milliseconds of a bucket. */
  bucketMs: number;
  start: number;
  end: number;
  lastSeq: number | undefined;
}

/** Short ranges are the exception, and the first row waits for as little as possible. */
const FINE = lazyModule(() => import("./fine-counts.ts"));

const levelOf = ({ level }: CountedEntry): string => level;

export interface CountedStats extends Loaded<Counted | null> {
  /** The counts of the service, without those of a live view. */
  counted: Counted | null;
}

interface StatsOptions {
  /** Key of the load: a new key counts again. */
  key: string;
  query: string;
  wanted: boolean;
  workspaceId: string;
  projectId: string | null;
  filters: Filters;
  times: Times;
  /** Whether to reduce the range to the time that has entries. */
  fit: boolean;
  onArrival: OnArrival;
}

/**
 * Counts the entries that match the filters, from `times` on, and adds those of a live view. The previous counts stay
 * visible until the new ones arrive (`busy`), so that zooming keeps the chart and its focus. If the new count fails,
 * previous counts of the same `query` stay visible.
 */
export function useStats(options: StatsOptions): CountedStats {
  const { key, query, wanted, workspaceId, projectId, filters, times, fit, onArrival } = options;
  const loaded = useLoad(wanted ? key : "", async (signal) => {
    if (!wanted) return null;
    const ask = async (filters: Filters, start: number, end: number): Promise<Counted> => {
      const fine = filters.from === undefined || filters.to === undefined ? null : fineMs(end - start);
      if (fine !== null) {
        const { countFine } = await FINE.load();
        const stats = await countFine(workspaceId, projectId, filters, fine, signal);
        return { stats, bucketMs: fine, start, end, lastSeq: undefined };
      }
      const interval = intervalFor(end - start);
      const request = { ...(projectId === null ? {} : { projectId }), filters, interval, groupBy: "level" } as const;
      const stats = await countLogs(workspaceId, request, signal);
      return { stats, bucketMs: intervalMs(interval), start, end, lastSeq: stats.lastSeq };
    };
    const all = await ask(filters, times.start, times.end);
    return fit ? fitted(all, filters, ask) : all;
  });
  const live = useLiveCounts(query, loaded.data, ({ bucketMs }) => bucketMs, levelOf, onArrival);
  const before = useRef<{ query: string; counted: Counted } | null>(null);
  if (loaded.data !== null) before.current = { query, counted: loaded.data };
  else if (loaded.failure !== null && before.current?.query !== query) before.current = null;
  const counted = before.current?.counted ?? null;
  const shown = useMemo(
    () => counted && { ...counted, stats: withLive(counted.stats, live.buckets) },
    [counted, live, live.version],
  );
  return { ...loaded, data: shown, counted };
}

/** Reduces counts to the range that has entries. Counts again if that range allows a finer interval. */
async function fitted(
  all: Counted,
  filters: Filters,
  ask: (filters: Filters, start: number, end: number) => Promise<Counted>,
): Promise<Counted> {
  const coarse = cut(all);
  const { start, end, bucketMs } = coarse;
  if (all.stats.buckets.length === 0 || intervalMs(intervalFor(end - start)) === bucketMs) return coarse;
  // Without an end, so that entries committed since the first count are included, too.
  return cut(await ask({ ...filters, from: new Date(start).toISOString() }, start, end));
}

function cut(counted: Counted): Counted {
  const { buckets } = counted.stats;
  const [first, last] = [buckets[0], buckets.at(-1)];
  if (first === undefined || last === undefined) return counted;
  return { ...counted, start: Date.parse(first.start), end: Date.parse(last.start) + counted.bucketMs };
}
