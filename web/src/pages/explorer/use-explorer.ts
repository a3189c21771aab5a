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
import { ownName } from "./live/live-counts.ts";
import { useLive, useMerged } from "./live/use-live.ts";
import { useMissing } from "./results/use-missing.ts";
import { askedOf } from "./search/asked.ts";
import { useResults } from "./use-results.ts";
import { timesOf } from "./view/range.ts";
import { useView } from "./view/use-view.ts";
import { viewSearch } from "./view/view.ts";

/** Days of retention assumed until the workspace is loaded: the default of the service. */
const RETENTION_DAYS = 30;
/**
 * Milliseconds between two counts of the service while a live view adds entries. The live view counts its entries
 * itself; a recount removes expired ones.
 */
const RECOUNT_MS = 30_000;
/** Like `RECOUNT_MS`, for names that a filter excludes: a live view does not receive their entries. */
const RECOUNT_OTHERS_MS = 5000;
/** Milliseconds between two checks for the first entry. */
const FIRST_ENTRY_MS = 4000;
const NONE: LogEntry[] = [];

/** State of the explorer: the view in the address and the responses of the service to it. */
export function useExplorer(workspaceId: string, projectId: string | null) {
  const { view, invalidParameters, change } = useView();
  const [round, setRound] = useState(0);
  const retentionDays = workspaces.value?.find(({ id }) => id === workspaceId)?.retentionDays ?? RETENTION_DAYS;
  const isRelative = view.range.kind === "last";
  // Live is not part of the key, so that the list stays when live is turned on or off.
  const shown = `${projectId} ${viewSearch({ ...view, live: false })}`;
  const times = useMemo(
    () => timesOf(view.range, Date.now(), retentionDays),
    [shown, round, isRelative ? null : retentionDays],
  );
  const { from, to } = times;
  const asked = useMemo(() => askedOf(view.query ?? ""), [view.query]);
  const { isAnswer } = asked;
  const wanted = useMemo((): Filters => ({ ...view.filters, ...(asked.q === null ? {} : { q: asked.q }) }), [shown]);
  const filters = useMemo((): Filters => {
    return { ...wanted, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  }, [shown, from, to]);
  const request: QueryRequest = { ...(projectId === null ? {} : { projectId }), filters, order: view.order };
  const key = JSON.stringify([workspaceId, request, round]);

  const query = JSON.stringify([workspaceId, shown]);

  const projects = useLoad(workspaceId, (signal) => loadProjects(workspaceId, signal));
  const isEmpty = projectId === null && projects.data?.length === 0;
  // On the page of all projects, wait until it is known whether any project exists.
  const hasScope = projectId !== null || projects.failure !== null || (projects.data !== null && !isEmpty);
  const live = useLive({
    workspaceId,
    projectId,
    // A relative range moves. A tail does not need its start, because new entries are always in it.
    filters: isRelative ? wanted : filters,
    // A range with an end has no new entries.
    wanted: view.live && to === undefined && !isAnswer,
    countedFrom: from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from),
    query,
    key,
  });
  // The projects show whether any entry has ever been committed.
  const inScope = projects.data?.filter(({ id }) => projectId === null || id === projectId);
  const hasEntries = inScope?.some(({ lastSeq }) => lastSeq > 0) ?? false;
  const reload = (): void => {
    setRound((before) => before + 1);
    if (!hasEntries) projects.reload();
  };
  const found = useResults(key, query, workspaceId, live.isReady && hasScope && !isAnswer ? request : null, reload);
  const results = isEmpty ? { ...found, entries: NONE, nextCursor: null, complete: true, busy: null } : found;
  useLayoutEffect(() => live.onListLoaded(), [found.loads]);
  const { onArrival } = live;
  const counting = { key, query, workspaceId, projectId, filters, onArrival };
  // A live view adds to a count the entries after its start.
  const stats = useStats({
    ...counting,
    wanted: live.isReady && hasScope && !isAnswer,
    times,
    fit: from === undefined,
  });
  // The counts of names only help selecting, so they load after the list.
  const isSettled = hasScope && (isAnswer || (results.busy === null && results.failure === null && !isEmpty));
  const categories = useNames({ ...counting, groupBy: "category", wanted: isSettled });
  const types = useNames({ ...counting, groupBy: "type", wanted: isSettled });
  const entries = useMerged(live.entries, results.entries);
  // Counts of services and hosts read entries, so only a project that has them is asked.
  const hasNames = (name: "service" | "host") =>
    filters[name] !== undefined || entries.some((entry) => ownName(entry, name) !== "");
  const hasServices = useMemo(() => hasNames("service"), [entries, filters.service]);
  const hasHosts = useMemo(() => hasNames("host"), [entries, filters.host]);
  const services = useNames({ ...counting, groupBy: "service", wanted: isSettled && hasServices });
  const hosts = useNames({ ...counting, groupBy: "host", wanted: isSettled && hasHosts });

  const missing = useMissing(workspaceId, projectId, from, key, isSettled && entries.length > 0);
  // Compares ids, because the number of live entries stays the same once old ones are dropped.
  const newest = live.entries[0]?.id;
  const counted = useRef<string | undefined>(undefined);
  const recount = (): void => {
    if (newest === undefined || newest === counted.current) return;
    counted.current = newest;
    stats.reload();
    if (filters.category === undefined) categories.reload();
    if (filters.type === undefined) types.reload();
    if (hasServices && filters.service === undefined) services.reload();
    if (hasHosts && filters.host === undefined) hosts.reload();
  };
  usePoll(recount, RECOUNT_MS);
  usePoll(() => {
    if (live.tail.state !== "live") return;
    if (filters.category !== undefined) categories.reload();
    if (filters.type !== undefined) types.reload();
    if (filters.service !== undefined) services.reload();
    if (filters.host !== undefined) hosts.reload();
  }, RECOUNT_OTHERS_MS);
  // The first entry fixes the range of the chart and its interval.
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
  /** Retries everything that failed. */
  const retry = (): void => {
    recovery.now();
    // A refused request is repeated only if the reader asks for it.
    if (results.failure !== null && !isOutage(results.failure))
      results.failedOn === "load" ? reload() : results.retry();
    if (live.failure !== null && !isOutage(live.failure)) live.retry();
    if (stats.failure !== null && !isOutage(stats.failure)) stats.reload();
  };
  // Another user may have deleted the workspace or the project.
  const isGone = results.failure?.code === "NOT_FOUND";
  useEffect(() => {
    if (!isGone) return;
    void loadWorkspaces();
    projects.reload();
  }, [isGone]);
  const isUnlisted = projectId !== null && (projects.data?.every(({ id }) => id !== projectId) ?? false);
  useEffect(() => {
    // The project may be newer than the loaded list.
    if (isUnlisted) projects.reload();
  }, [isUnlisted, projectId]);
  const isMissing = isUnlisted && (isGone || !projects.busy);
  return {
    isEmpty,
    isMissing,
    asked,
    key,
    view,
    invalidParameters,
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
    missing,
    services: hasServices ? services : null,
    hosts: hasHosts ? hosts : null,
    entries,
    failure,
    retry,
    reload,
  };
}

export type ExplorerState = ReturnType<typeof useExplorer>;
