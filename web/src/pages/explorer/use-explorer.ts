import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLoad } from "../../lib/load.ts";
import { usePoll } from "../../lib/poll.ts";
import type { LogEntry } from "../../model/types.ts";
import { loadProjects, loadWorkspaces, workspaces } from "../../model/workspaces.ts";
import type { QueryRequest } from "./actions/curl.ts";
import type { Filters } from "./filters.ts";
import { useStats } from "./histogram/use-stats.ts";
import { useLive, useMerged } from "./live/use-live.ts";
import { useResults } from "./use-results.ts";
import { timesOf } from "./view/range.ts";
import { useView } from "./view/use-view.ts";
import { viewSearch } from "./view/view.ts";

/** Days of retention taken for granted until the workspace is known; the service's own default. */
const RETENTION_DAYS = 30;
/** Milliseconds between two counts of the histogram while a live view brings entries. */
const RECOUNT_MS = 10_000;
const NONE: LogEntry[] = [];

/** All that the explorer shows: what the address asks for, and what the service answers to it. */
export function useExplorer(workspaceId: string, projectId: string | null) {
  const { view, faults, change } = useView();
  const [round, setRound] = useState(0);
  const retentionDays = workspaces.value?.find(({ id }) => id === workspaceId)?.retentionDays ?? RETENTION_DAYS;
  const isRelative = view.range.kind === "last";
  // Following is no other view: what is found stays while it is turned on and off.
  const shown = `${projectId} ${viewSearch({ ...view, live: false })}`;
  const times = useMemo(
    () => timesOf(view.range, Date.now(), retentionDays),
    [shown, round, isRelative ? null : retentionDays],
  );
  const { from, to } = times;
  const filters = useMemo((): Filters => {
    return { ...view.filters, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  }, [shown, from, to]);
  const request: QueryRequest = { ...(projectId === null ? {} : { projectId }), filters, order: view.order };
  const key = JSON.stringify([workspaceId, request, round]);

  const query = JSON.stringify([workspaceId, shown]);

  const projects = useLoad(workspaceId, (signal) => loadProjects(workspaceId, signal));
  const isEmpty = projectId === null && projects.data?.length === 0;
  // Where no project is named, there may be none, and then there is nothing to ask for.
  const hasScope = projectId !== null || projects.failure !== null || (projects.data !== null && !isEmpty);
  const live = useLive({
    workspaceId,
    projectId,
    // The beginning of a relative range moves, and a tail need not: whatever comes now is in it.
    filters: isRelative ? view.filters : filters,
    // A range with an end has nothing new to follow.
    wanted: view.live && to === undefined,
    query,
    key,
  });
  const found = useResults(key, query, workspaceId, live.isReady && hasScope ? request : null);
  const results = isEmpty ? { ...found, entries: NONE, nextCursor: null, complete: true, busy: null } : found;
  useLayoutEffect(() => live.settle(), [found.loads]);
  const stats = useStats(key, query, hasScope, workspaceId, projectId, filters, times, from === undefined);
  const entries = useMerged(live.entries, results.entries);
  const counted = useRef<string | undefined>(undefined);
  usePoll(() => {
    // By the newest: once some are dropped for room, there always are as many.
    const newest = live.entries[0]?.id;
    if (newest === undefined || newest === counted.current) return;
    counted.current = newest;
    stats.reload();
  }, RECOUNT_MS);

  const reload = (): void => {
    setRound((before) => before + 1);
    // Whether there has ever been an entry is said by the projects.
    if (!projects.data?.some(({ lastSeq }) => lastSeq > 0)) projects.reload();
  };
  // What this page knows of may have been removed since.
  const isGone = results.failure?.code === "NOT_FOUND";
  useEffect(() => {
    if (!isGone) return;
    void loadWorkspaces();
    projects.reload();
  }, [isGone]);
  const isUnlisted = projectId !== null && (projects.data?.every(({ id }) => id !== projectId) ?? false);
  useEffect(() => {
    // It may be younger than the list.
    if (isUnlisted) projects.reload();
  }, [isUnlisted, projectId]);
  const isMissing = isUnlisted && (isGone || !projects.busy);
  return {
    isEmpty,
    isMissing,
    view,
    faults,
    change,
    times,
    filters,
    request,
    projects,
    live,
    results,
    stats,
    entries,
    reload,
  };
}

export type ExplorerState = ReturnType<typeof useExplorer>;
