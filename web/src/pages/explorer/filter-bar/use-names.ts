import { useMemo, useRef } from "preact/hooks";
import { useLoad } from "../../../lib/load.ts";
import type { Filters } from "../filters.ts";
import type { CountedEntry, CountsByBucket } from "../live/live-counts.ts";
import { type OnArrival, useLiveCounts } from "../live/use-live-counts.ts";
import { countLogs, countValues } from "../query.ts";

/** A category, type, service or host that occurs, with its number of entries. */
export interface Seen {
  name: string;
  count: number;
}

export interface SeenNames {
  /** Most frequent first; `null` until loaded. */
  seen: readonly Seen[] | null;
  /** `false` if the service did not scan everything, so that counts are lower bounds. */
  complete: boolean;
  reload: () => void;
}

interface NamesOptions {
  groupBy: "category" | "type" | "service" | "host";
  /** Key of the load: a new key counts again. */
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
  service: ({ service }: CountedEntry): string => service,
  host: ({ host }: CountedEntry): string => host,
};

/**
 * Counts the categories, types, services or hosts of entries that match all other filters. The selection among these names is ignored,
 * so that more of them can be selected. A failure only hides the names; they can still be typed.
 */
export function useNames(options: NamesOptions): SeenNames {
  const { groupBy, workspaceId, projectId, wanted, onArrival } = options;
  const { [groupBy]: _, ...filters } = options.filters;
  const begun = useRef({ key: "", query: "" });
  if (wanted) begun.current = { key: `${groupBy} ${options.key}`, query: options.query };
  // The loaded names stay visible while the page waits for other results.
  const { key, query } = begun.current;
  const loaded = useLoad(key, async (signal): Promise<Names | null> => {
    if (key === "") return null;
    const scope = { ...(projectId === null ? {} : { projectId }), filters };
    if (groupBy === "service" || groupBy === "host") {
      return { ...(await countValues(workspaceId, { ...scope, field: groupBy }, signal)), lastSeq: undefined };
    }
    const request = { ...scope, interval: "1d", groupBy } as const;
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
    for (const [name, count] of groups) if (name !== "") all.set(name, (all.get(name) ?? 0) + count);
  }
  return [...all].map(([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count);
}
