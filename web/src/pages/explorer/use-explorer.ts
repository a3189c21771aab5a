import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { isOutage } from "../../api/failure.ts";
import { useLoad } from "../../lib/load.ts";
import { usePoll } from "../../lib/poll.ts";
import { recovery } from "../../lib/retry.ts";
import type { LogEntry } from "../../model/types.ts";
import { loadProjects, loadWorkspaces, workspaces } from "../../model/workspaces.ts";
import type { QueryRequest } from "./actions/curl.ts";
import { useNames } from "./filter-bar/use-names.ts";
import type { Filters } from "./filters.ts";
import { useStats } from "./histogram/use-stats.ts";
import { useLive, useMerged } from "./live/use-live.ts";
import { useResults } from "./use-results.ts";
import { timesOf } from "./view/range.ts";
import { useView } from "./view/use-view.ts";
import { viewSearch } from "./view/view.ts";

/** Days of retention taken for granted until the workspace is known; the service's own default. */
const RETENTION_DAYS = 30;
/**
 * Milliseconds between two counts of the service while a live view brings entries. It counts what it brings itself; this is
 * for what goes meanwhile, as retention ends.
 */
const RECOUNT_MS = 30_000;
/** The same for names that a filter of names leaves out: a live view does not bring their entries. */
const RECOUNT_OTHERS_MS = 5000;
/** Milliseconds between two looks for the first entry. */
const FIRST_ENTRY_MS = 4000;
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
    countedFrom: from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from),
    query,
    key,
  });
  // Whether there has ever been an entry is said by the projects.
  const inScope = projects.data?.filter(({ id }) => projectId === null || id === projectId);
  const hasEntries = inScope?.some(({ lastSeq }) => lastSeq > 0) ?? false;
  const reload = (): void => {
    setRound((before) => before + 1);
    if (!hasEntries) projects.reload();
  };
  const found = useResults(key, query, workspaceId, live.isReady && hasScope ? request : null, reload);
  const results = isEmpty ? { ...found, entries: NONE, nextCursor: null, complete: true, busy: null } : found;
  useLayoutEffect(() => live.settle(), [found.loads]);
  const { onArrival } = live;
  const asked = { key, query, workspaceId, projectId, filters, onArrival };
  // A live view adds to a count what comes behind its start.
  const stats = useStats({ ...asked, wanted: live.isReady && hasScope, times, fit: from === undefined });
  // They help choosing, so they wait until what was asked for is there.
  const isSettled = results.busy === null && results.failure === null && !isEmpty;
  const categories = useNames({ ...asked, groupBy: "category", wanted: isSettled });
  const types = useNames({ ...asked, groupBy: "type", wanted: isSettled });
  const entries = useMerged(live.entries, results.entries);

  // By the newest: once some are dropped for room, there always are as many.
  const newest = live.entries[0]?.id;
  const counted = useRef<string | undefined>(undefined);
  const recount = (): void => {
    if (newest === undefined || newest === counted.current) return;
    counted.current = newest;
    stats.reload();
    if (filters.category === undefined) categories.reload();
    if (filters.type === undefined) types.reload();
  };
  usePoll(recount, RECOUNT_MS);
  usePoll(() => {
    if (live.tail.state !== "live") return;
    if (filters.category !== undefined) categories.reload();
    if (filters.type !== undefined) types.reload();
  }, RECOUNT_OTHERS_MS);
  // The time in which there is anything is known from now on, and with it how fine to count.
  const isFirst = newest !== undefined && from === undefined && stats.counted?.stats.total === 0;
  useEffect(() => {
    if (isFirst) recount();
  }, [isFirst]);

  const isWaiting = projects.data !== null && !hasEntries && results.busy === null;
  usePoll(() => {
    if (isWaiting) projects.reload();
  }, FIRST_ENTRY_MS);
  const waited = useRef(false);
  useEffect(() => {
    if (hasEntries && waited.current) reload();
    waited.current = isWaiting;
  }, [hasEntries, isWaiting]);

  const failure = results.failure ?? live.failure ?? stats.failure;
  /** Does once more all that failed. */
  const retry = (): void => {
    recovery.now();
    // What the service refused is not repeated unless the reader asks for it.
    if (results.failure !== null && !isOutage(results.failure))
      results.failedOn === "load" ? reload() : results.retry();
    if (live.failure !== null && !isOutage(live.failure)) live.retry();
    if (stats.failure !== null && !isOutage(stats.failure)) stats.reload();
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
    categories,
    types,
    entries,
    failure,
    retry,
    reload,
  };
}

export type ExplorerState = ReturnType<typeof useExplorer>;
