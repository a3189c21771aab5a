import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type ApiFailure, failureOf } from "../../api/failure.ts";
import { recovery, shownWhileRetrying, useRetry } from "../../lib/retry.ts";
import type { LogEntry } from "../../model/types.ts";
import type { QueryRequest } from "./actions/curl.ts";
import { firstPage, PAGE } from "./list-request.ts";
import { type QueryPage, queryLogs } from "./query.ts";

type Step = "load" | "more" | "count";

interface State {
  /** Key of the load that this state belongs to. An older one is not shown. */
  key: string;
  /** Query of the load that brought the entries. */
  query: string;
  /** Request of that load. A cursor is valid only with its filters, and a later request has other times. */
  request: QueryRequest;
  /** Number of loads that replaced the entries. */
  loads: number;
  entries: LogEntry[];
  /** `null` at the end. */
  nextCursor: string | null;
  /** `false` if the last response stopped before everything was scanned. */
  complete: boolean;
  asOf: string | null;
  /** Entries scanned for all pages so far. */
  scanned: number;
  /** All matches of the snapshot, once counted; "too many" if the service could not scan all. */
  total: number | "too many" | null;
  busy: Step | null;
  failure: ApiFailure | null;
  /** The step that failed. */
  failedOn: Step | null;
}

export interface FoundEntries extends Omit<State, "key" | "request"> {
  /** Loads the next page of the same snapshot. */
  more: () => void;
  /** Retries the step that failed. */
  retry: () => void;
  /** Counts all matches of the snapshot. */
  count: () => void;
}

/**
 * Loads a query page by page. A new `key` starts again and aborts the current step. The previous entries stay visible
 * (`busy`) until the first page arrives, so that a changed filter does not blank the page. If a load fails, they stay
 * while it is retried, and if they are of the same `query`, which does not contain the time of the load. Outages are
 * retried: a first page by `reload`, because its time has moved on.
 */
export function useResults(
  key: string,
  query: string,
  workspaceId: string,
  request: QueryRequest | null,
  reload: () => void,
): FoundEntries {
  const [state, setState] = useState<State>(() => empty(key, query, 0));
  const current = useRef({ workspaceId, request, state, query });
  current.current = { workspaceId, request, state, query };
  const work = useRef<AbortController | null>(null);

  const run = useCallback((busy: Step, key: string): void => {
    const { workspaceId, request, state, query } = current.current;
    if (request === null) return;
    work.current?.abort();
    const controller = new AbortController();
    work.current = controller;
    setState((before) => ({ ...before, busy, ...trying(before) }));
    const body = bodyOf(busy, request, state);
    queryLogs(workspaceId, body, controller.signal).then(
      (page) => {
        if (controller.signal.aborted) return;
        setState((before) => merged(busy, key, query, request, before, page));
        recovery.succeeded();
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        const failure = failureOf(error);
        setState((before) => {
          const isKept = busy !== "load" || before.query === query || shownWhileRetrying(failure) !== null;
          const entries = isKept ? before : empty(key, query, before.loads + 1);
          return { ...entries, key, busy: null, failure, failedOn: busy };
        });
      },
    );
  }, []);

  // Before the frame: the response to an early call may be there, and its rows belong into this frame.
  useLayoutEffect(() => {
    if (request !== null) run("load", key);
    return () => work.current?.abort();
  }, [key, request === null]);

  const more = useCallback(() => {
    const { busy, nextCursor, key } = current.current.state;
    if ((busy === null || busy === "count") && nextCursor !== null) run("more", key);
  }, []);
  const count = useCallback(() => {
    const { busy, key } = current.current.state;
    if (busy === null) run("count", key);
  }, []);
  const retry = useCallback(() => {
    const { failedOn, key } = current.current.state;
    if (failedOn !== null) run(failedOn, key);
  }, []);
  useRetry(state.failure, state.busy !== null, state.failedOn === "load" ? reload : retry);
  const now = state.key === key ? state : { ...state, busy: "load" as const, ...trying(state) };
  return { ...now, more, count, retry };
}

function trying({ failure, failedOn }: State): Pick<State, "failure" | "failedOn"> {
  const kept = shownWhileRetrying(failure);
  return { failure: kept, failedOn: kept && failedOn };
}

function bodyOf(busy: Step, wanted: QueryRequest, { request, nextCursor, asOf }: State): QueryRequest {
  if (busy === "load") return firstPage(wanted);
  if (busy === "more") {
    return { ...request, pagination: { limit: PAGE, ...(nextCursor === null ? {} : { cursor: nextCursor }) } };
  }
  return { ...request, pagination: { limit: 1, includeTotal: true }, ...(asOf === null ? {} : { asOf }) };
}

function merged(busy: Step, key: string, query: string, request: QueryRequest, before: State, page: QueryPage): State {
  const { logs, complete, asOf, stats, pagination } = page;
  if (busy === "count") {
    // A count that stopped early has no `total`.
    return { ...before, busy: null, failure: null, failedOn: null, total: pagination.total ?? "too many" };
  }
  const isFirst = busy === "load";
  return {
    key,
    query,
    request: isFirst ? request : before.request,
    loads: before.loads + (isFirst ? 1 : 0),
    entries: isFirst ? logs : [...before.entries, ...logs],
    nextCursor: pagination.nextCursor,
    complete,
    asOf,
    scanned: (isFirst ? 0 : before.scanned) + stats.scanned,
    total: isFirst ? null : before.total,
    busy: null,
    failure: null,
    failedOn: null,
  };
}

function empty(key: string, query: string, loads: number): State {
  return {
    key,
    query,
    request: {},
    loads,
    entries: [],
    nextCursor: null,
    complete: true,
    asOf: null,
    scanned: 0,
    total: null,
    busy: "load",
    failure: null,
    failedOn: null,
  };
}
