import { useMemo, useRef } from "preact/hooks";
import { useLoad } from "../../../lib/load.ts";
import type { Filters } from "../filters.ts";
import type { CountedEntry, CountsByBucket } from "../live/live-counts.ts";
import { type OnArrival, useLiveCounts } from "../live/use-live-counts.ts";
import { countLogs } from "../query.ts";

/** A category or type that occurs, and how often. */
export interface Seen {
  name: string;
  count: number;
}

export interface SeenNames {
  /** Most frequent first; null until they are known. */
  seen: readonly Seen[] | null;
  /** False: the service did not look through everything, so there are more. */
  complete: boolean;
  reload: () => void;
}

interface NamesOptions {
  groupBy: "category" | "type";
  /** Of the load: another one counts again. */
  key: string;
  query: string;
  workspaceId: string;
  projectId: string | null;
  filters: Filters;
  wanted: boolean;
  onArrival: OnArrival;
}

interface Names {
  counts: ReadonlyMap<string, number>;
  complete: boolean;
  lastSeq: number | undefined;
}

const GROUPS = {
  category: ({ category }: CountedEntry): string => category,
  type: ({ type }: CountedEntry): string => type,
};

/**
 * The categories or types of what the other filters match. The choice among these names themselves does not count, so that
 * the others are there to be chosen, too. They only help choosing, so a failure leaves them away; who types a name needs
 * none.
 */
export function useNames(options: NamesOptions): SeenNames {
  const { groupBy, workspaceId, projectId, wanted, onArrival } = options;
  const { [groupBy]: _, ...filters } = options.filters;
  const begun = useRef({ key: "", query: "" });
  if (wanted) begun.current = { key: `${groupBy} ${options.key}`, query: options.query };
  // What is there stays while something else is waited for.
  const { key, query } = begun.current;
  const loaded = useLoad(key, async (signal): Promise<Names | null> => {
    if (key === "") return null;
    const request = { ...(projectId === null ? {} : { projectId }), filters, interval: "1d", groupBy } as const;
    const { buckets, complete, lastSeq } = await countLogs(workspaceId, request, signal);
    const counts = new Map<string, number>();
    for (const { groups } of buckets) {
      for (const [name, count] of Object.entries(groups ?? {})) counts.set(name, (counts.get(name) ?? 0) + count);
    }
    return { counts, complete, lastSeq };
  });
  const live = useLiveCounts(query, loaded.data, () => Number.POSITIVE_INFINITY, GROUPS[groupBy], onArrival);
  const before = useRef<Names | null>(null);
  if (loaded.data !== null) before.current = loaded.data;
  else if (loaded.failure !== null) before.current = null;
  const names = before.current;
  const seen = useMemo(() => names && seenOf(names, live.buckets), [names, live, live.version]);
  return { seen, complete: names?.complete ?? true, reload: loaded.reload };
}

function seenOf({ counts }: Names, live: CountsByBucket): Seen[] {
  const all = new Map(counts);
  for (const groups of live.values()) {
    for (const [name, count] of groups) all.set(name, (all.get(name) ?? 0) + count);
  }
  return [...all].map(([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count);
}
