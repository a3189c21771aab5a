import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLoad } from "../../../lib/load.ts";
import type { LogEntry, Project } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";
import type { Filters } from "../filters.ts";
import { useTail } from "../tail/use-tail.ts";
import { countedEntry } from "./live-counts.ts";
import { type LiveEntries, withArrived } from "./live-entries.ts";
import { type OnArrival, useArrivalListeners } from "./use-live-counts.ts";

/** Live entries kept above the list, beside those that are open. Older ones are dropped; a reload finds them again. */
const KEPT = 50_000;

/** The project with its newest `seq`, loaded before the list of a query: the only thing that a start waits for. */
type Start = { project: Project };

interface LiveOptions {
  workspaceId: string;
  projectId: string | null;
  filters: Filters;
  wanted: boolean;
  /** Epoch milliseconds; the service does not count older entries either. */
  countedFrom: number;
  /** Query of the list. A tail for another query starts where its list starts, not where the previous tail was. */
  query: string;
  /** Key of the list's load, which contains all earlier entries. */
  key: string;
}

export interface Live {
  /** False while the list must wait: loading before the tail's start is known could leave a gap. */
  isReady: boolean;
  /** Entries that arrived since the list last began to load, newest first. Some may be in the list, too. */
  entries: readonly LogEntry[];
  /** Notifies counters of each live entry once, even if the list reloads. */
  onArrival: OnArrival;
  /** Number of entries dropped because of the limit. */
  dropped: number;
  /** Takes the ids of the open entries, which are not dropped. */
  keepOpen: (ids: readonly string[]) => void;
  /**
   * Called when the list has loaded: removes entries that arrived before that load began, because the list contains
   * those that match.
   */
  onListLoaded: () => void;
  tail: ReturnType<typeof useTail>;
  failure: ReturnType<typeof useLoad<Start>>["failure"];
  retry: () => void;
}

/**
 * Follows a project without gaps or duplicates. Loads the project's newest `seq`, then lets the list load and opens the
 * tail from that `seq`. `useMerged` removes entries that both have.
 */
export function useLive(options: LiveOptions): Live {
  const { workspaceId, projectId, filters, wanted, query, key } = options;
  const countedFrom = useRef(options.countedFrom);
  countedFrom.current = options.countedFrom;
  const isWanted = wanted && projectId !== null;
  const start = useLoad<Start | null>(isWanted ? `${workspaceId} ${projectId} ${query}` : "", async (signal) => {
    if (!isWanted) return null;
    return { project: (await authorized<Project>(`/projects/${projectId}`, { workspaceId, signal })).data };
  });
  const startSeq = isWanted ? (start.data?.project.lastSeq ?? null) : null;
  const isReady = !isWanted || startSeq !== null;
  const [{ old: _, ...arrived }, setArrived] = useState<LiveEntries>({ entries: [], dropped: 0, old: 0 });
  // A tail restarted for the same query continues where the previous one was.
  const seen = useRef(0);
  useEffect(() => {
    seen.current = 0;
  }, [startSeq, projectId]);
  useEffect(() => setArrived((before) => ({ ...before, old: before.entries.length })), [key, isReady]);
  const onListLoaded = useCallback(() => {
    setArrived(({ entries, old }) => ({ entries: entries.slice(0, entries.length - old), dropped: 0, old: 0 }));
  }, []);
  const { onArrival, notify } = useArrivalListeners();
  const open = useRef<readonly string[]>([]);
  const keepOpen = useCallback((ids: readonly string[]) => {
    open.current = ids;
  }, []);
  const onEntries = useCallback((entries: LogEntry[]) => {
    notify(entries.map(countedEntry).filter(({ at }) => at >= countedFrom.current));
    seen.current = Math.max(seen.current, entries.at(-1)?.seq ?? 0);
    setArrived((before) => withArrived(before, entries, open.current, KEPT));
  }, []);
  const tail = useTail({
    workspaceId,
    projectId: projectId ?? "",
    filters,
    active: isWanted && isReady,
    since: startSeq === null ? null : Math.max(startSeq, seen.current),
    onEntries,
  });
  return { isReady, ...arrived, keepOpen, onArrival, onListLoaded, tail, failure: start.failure, retry: start.reload };
}

/**
 * Puts live entries above the loaded ones, each entry once. A snapshot contains all entries of a project up to a `seq`,
 * so a live entry up to the highest loaded `seq` is on a loaded or later page.
 */
export function useMerged(arrived: readonly LogEntry[], loaded: readonly LogEntry[]): readonly LogEntry[] {
  const newest = useMemo(() => loaded.reduce((highest, { seq }) => Math.max(highest, seq), 0), [loaded]);
  return useMemo(
    () => (arrived.length === 0 ? loaded : [...arrived.filter(({ seq }) => seq > newest), ...loaded]),
    [arrived, newest, loaded],
  );
}
