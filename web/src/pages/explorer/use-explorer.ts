import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { isOutage } from "../../api/failure.ts";
import { useLoad } from "../../lib/load.ts";
import { usePoll } from "../../lib/poll.ts";
import { recovery } from "../../lib/retry.ts";
import type { LogEntry } from "../../model/types.ts";
import { loadProjects, loadWorkspaces, retentionDaysOf } from "../../model/workspaces.ts";
import type { Filters } from "./filters.ts";
import { useStats } from "./histogram/use-stats.ts";
import { listRequest, within } from "./list-request.ts";
import { useLive, useMerged } from "./live/use-live.ts";
import { useMissing } from "./results/use-missing.ts";
import type { Asked } from "./search/asked.ts";
import { useResults } from "./use-results.ts";
import { language } from "./view/language.ts";
import { timesOf } from "./view/range.ts";
import { useView } from "./view/use-view.ts";
import { viewSearch } from "./view/view.ts";

/**
 * Milliseconds between two counts of the service while a live view adds entries. The live view counts its entries
 * itself; a recount removes expired ones.
 */
const RECOUNT_MS = 30_000;
/** Like `RECOUNT_MS`, for the fields, to which a live view adds nothing. */
const RECOUNT_FIELDS_MS = 5000;
/** Milliseconds between two checks for the first entry. */
const FIRST_ENTRY_MS = 4000;
const NONE: LogEntry[] = [];
/** A page without a query does not wait for the language. */
const EVERYTHING: Asked = { isAnswer: false, q: null, text: "", hints: [], isInvalid: false };

/** State of the explorer: the view in the address and the responses of the service to it. */
export function useExplorer(workspaceId: string, projectId: string | null) {
  const { view, invalidParameters, before, change, showPart } = useView();
  const [round, setRound] = useState(0);
  const retentionDays = retentionDaysOf(workspaceId);
  const isRelative = view.range.kind === "last";
  // Live and columns are not part of the key, so that the list stays when they change. The order is only of the list: counts
  // and fields stay, for the times of before.
  const { columns: _columns, ...found } = view;
  const shown = `${projectId} ${viewSearch({ ...found, live: false, order: "desc" })}`;
  const times = useMemo(
    () => timesOf(view.range, Date.now(), retentionDays),
    [shown, round, isRelative ? null : retentionDays],
  );
  const { from, to } = times;
  const asked = useMemo(() => language()?.askedOf(view.query ?? "") ?? EVERYTHING, [view.query]);
  const { isAnswer } = asked;
  const hasList = !isAnswer && !asked.isInvalid;
  const wanted = useMemo((): Filters => (asked.q === null ? {} : { q: asked.q }), [asked.q]);
  const filters = useMemo(() => within(wanted, times), [wanted, from, to]);
  const request = listRequest(projectId, filters, view.order);
  const key = JSON.stringify([workspaceId, projectId, filters, round]);
  const listKey = `${view.order} ${key}`;

  const query = JSON.stringify([workspaceId, shown]);
  const listQuery = `${view.order} ${query}`;

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
    wanted: view.live && to === undefined && hasList,
    countedFrom: from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from),
    query,
    key: listKey,
  });
  // The projects show whether any entry has ever been committed.
  const inScope = projects.data?.filter(({ id }) => projectId === null || id === projectId);
  const hasEntries = inScope?.some(({ lastSeq }) => lastSeq > 0) ?? false;
  const reload = (): void => {
    setRound((before) => before + 1);
    if (!hasEntries) projects.reload();
  };
  const listed = useResults(
    listKey,
    listQuery,
    workspaceId,
    live.isReady && hasScope && hasList ? request : null,
    reload,
  );
  const results = isEmpty ? { ...listed, entries: NONE, nextCursor: null, complete: true, busy: null } : listed;
  useLayoutEffect(() => live.onListLoaded(), [listed.loads]);
  const { onArrival } = live;
  const counting = { key, query, workspaceId, projectId, filters, onArrival };
  // A live view adds to a count the entries after its start.
  const stats = useStats({
    ...counting,
    wanted: live.isReady && hasScope && hasList,
    times,
    fit: from === undefined,
  });
  // The fields only help selecting, so they load after the list.
  const isSettled =
    hasScope && !asked.isInvalid && (isAnswer || (results.busy === null && results.failure === null && !isEmpty));
  const merged = useMerged(live.entries, results.entries);
  const failure = results.failure ?? live.failure ?? stats.failure;
  // Live entries of this query do not belong to the list of another one.
  const isOfQuery = isEmpty || listed.query === listQuery;
  const last = useRef({ projectId, entries: merged });
  if (isOfQuery) last.current = { projectId, entries: merged };
  const hasFailed = results.failure !== null || live.failure !== null;
  // Another project's entries would have the names and links of this one.
  const entries = hasFailed && last.current.projectId !== projectId ? NONE : last.current.entries;
  const missing = useMissing(workspaceId, projectId, from, key, isSettled && entries.length > 0);
  // Compares ids, because the number of live entries stays the same once old ones are dropped.
  const newest = live.entries[0]?.id;
  const counted = useRef<string | undefined>(undefined);
  const recount = (): void => {
    if (newest === undefined || newest === counted.current) return;
    counted.current = newest;
    stats.reload();
  };
  usePoll(recount, RECOUNT_MS);
  const [recounts, setRecounts] = useState(0);
  const newestInFields = useRef<string | undefined>(undefined);
  usePoll(() => {
    if (newest === newestInFields.current) return;
    newestInFields.current = newest;
    setRecounts((before) => before + 1);
  }, RECOUNT_FIELDS_MS);
  // The first entry fixes the range of the chart and its interval.
  const isFirst = newest !== undefined && from === undefined && stats.counted?.stats.total === 0;
  useEffect(() => {
    if (isFirst) recount();
  }, [isFirst]);

  const isWaiting = projects.data !== null && !hasEntries && results.busy === null;
  usePoll(() => {
    if (isWaiting) projects.refresh();
  }, FIRST_ENTRY_MS);
  const waited = useRef(false);
  useEffect(() => {
    if (hasEntries && waited.current) reload();
    waited.current = isWaiting;
  }, [hasEntries, isWaiting]);

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
    /** Whether the query has a list of entries with their histogram. */
    hasList,
    key,
    view,
    invalidParameters,
    before,
    change,
    showPart,
    times,
    filters,
    request,
    projects,
    live,
    results,
    stats,
    missing,
    entries,
    /** Whether the entries are of the query before, because this one could not be loaded. */
    isStale: !isOfQuery && hasFailed && entries.length > 0,
    /** When the fields are counted: a new key counts again, `null` waits. */
    fieldsKey: isSettled ? key : null,
    /** Grows when a live view has new entries for the fields to count. */
    recounts,
    failure,
    retry,
    reload,
  };
}

export type ExplorerState = ReturnType<typeof useExplorer>;
