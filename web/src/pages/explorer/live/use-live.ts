import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLoad } from "../../../lib/load.ts";
import type { LogEntry, Project } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";
import type { Filters } from "../filters.ts";
import { useTail } from "../tail/use-tail.ts";
import { countedEntry } from "./live-counts.ts";
import { type OnArrival, useArrivalListeners } from "./use-live-counts.ts";

/** Entries kept on top of the list; older ones of them are dropped, and a reload finds them again. */
const KEPT = 50_000;

/** The project is asked how far it is before the list of another query loads, and that is all that a start waits for. */
type Start = { project: Project };

interface LiveOptions {
  workspaceId: string;
  projectId: string | null;
  filters: Filters;
  wanted: boolean;
  /** Epoch milliseconds; what is older is not counted, as the service does not. */
  countedFrom: number;
  /** What the list shows: of another one a tail begins where its list does, not where the one before was. */
  query: string;
  /** Of the load that the list shows: entries that came before it are in it. */
  key: string;
}

export interface Live {
  /** False while the list must wait: what is found before the tail's start is known could leave a gap. */
  isReady: boolean;
  /** What has come since the list last began to load, newest first. Some of it may be in the list, too. */
  entries: readonly LogEntry[];
  /** Brings them to those who count, each once, whenever a list loads. */
  onArrival: OnArrival;
  /** Entries that had to be dropped for room. */
  dropped: number;
  /** The list has loaded: what came before it began to is in it, or is not to be shown any more. */
  settle: () => void;
  tail: ReturnType<typeof useTail>;
  failure: ReturnType<typeof useLoad<Start>>["failure"];
  retry: () => void;
}

/** `old`: how many of the last entries came before the list's present load began. They stay until it has loaded. */
interface Came {
  entries: LogEntry[];
  dropped: number;
  old: number;
}

/**
 * Follows a project behind the list, without a gap and without a double: first asks for the project's newest `seq`, then
 * lets the list load, and follows from that `seq` on. What both bring is left to the list.
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
  const [{ old: _, ...came }, setCame] = useState<Came>({ entries: [], dropped: 0, old: 0 });
  // A tail that starts anew of the same query goes on where the one before was.
  const seen = useRef(0);
  useEffect(() => {
    seen.current = 0;
  }, [startSeq, projectId]);
  useEffect(() => setCame((before) => ({ ...before, old: before.entries.length })), [key, isReady]);
  const settle = useCallback(() => {
    setCame(({ entries, old }) => ({ entries: entries.slice(0, entries.length - old), dropped: 0, old: 0 }));
  }, []);
  const { onArrival, tell } = useArrivalListeners();
  const onEntries = useCallback((entries: LogEntry[]) => {
    tell(entries.map(countedEntry).filter(({ at }) => at >= countedFrom.current));
    seen.current = Math.max(seen.current, entries.at(-1)?.seq ?? 0);
    setCame((before) => {
      const all = [...entries.toReversed(), ...before.entries];
      const excess = Math.max(0, all.length - KEPT);
      return {
        entries: all.slice(0, KEPT),
        dropped: before.dropped + excess,
        old: Math.max(0, before.old - excess),
      };
    });
  }, []);
  const tail = useTail({
    workspaceId,
    projectId: projectId ?? "",
    filters,
    active: isWanted && isReady,
    since: startSeq === null ? null : Math.max(startSeq, seen.current),
    onEntries,
  });
  return { isReady, ...came, onArrival, settle, tail, failure: start.failure, retry: start.reload };
}

/**
 * What came live on top of what was loaded, each entry once. A snapshot has all of a project up to a `seq`: what is not
 * above the highest that is loaded is on one of its pages, loaded or still to be.
 */
export function useMerged(came: readonly LogEntry[], loaded: readonly LogEntry[]): readonly LogEntry[] {
  const newest = useMemo(() => loaded.reduce((highest, { seq }) => Math.max(highest, seq), 0), [loaded]);
  return useMemo(
    () => (came.length === 0 ? loaded : [...came.filter(({ seq }) => seq > newest), ...loaded]),
    [came, newest, loaded],
  );
}
