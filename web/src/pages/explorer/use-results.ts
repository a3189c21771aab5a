import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type ApiFailure, failureOf } from "../../api/failure.ts";
import type { LogEntry } from "../../model/types.ts";
import type { QueryRequest } from "./actions/curl.ts";
import { type QueryPage, queryLogs } from "./query.ts";

/** Entries of one page: some screens full. */
const PAGE = 100;

interface State {
  /** Of which load this is; what belongs to an older one is not shown. */
  key: string;
  entries: LogEntry[];
  /** Null at the end. */
  nextCursor: string | null;
  /** False: the last answer stopped before it was through. */
  complete: boolean;
  asOf: string | null;
  /** Entries looked through by all pages so far. */
  scanned: number;
  /** All matches of the snapshot, once somebody asked for it; "too many" where the service could not look through all. */
  total: number | "too many" | null;
  busy: "load" | "more" | "count" | null;
  failure: ApiFailure | null;
}

export interface FoundEntries extends Omit<State, "key"> {
  /** Loads the next page of the same snapshot. */
  more: () => void;
  /** Counts all matches of the snapshot. */
  count: () => void;
}

/**
 * Pages of one query: a new `key` begins anew and drops what was on its way. Until its first page is there the entries
 * before stay, marked by `busy`, so that a changed filter does not blank the page.
 */
export function useResults(key: string, workspaceId: string, request: QueryRequest | null): FoundEntries {
  const [state, setState] = useState<State>(() => empty(key));
  const current = useRef({ workspaceId, request, state });
  current.current = { workspaceId, request, state };
  const work = useRef<AbortController | null>(null);

  const run = useCallback((busy: "load" | "more" | "count", key: string): void => {
    const { workspaceId, request, state } = current.current;
    if (request === null) return;
    work.current?.abort();
    const controller = new AbortController();
    work.current = controller;
    setState((before) => ({ ...before, busy, failure: null }));
    const body = bodyOf(busy, request, state);
    queryLogs(workspaceId, body, controller.signal).then(
      (page) => {
        if (!controller.signal.aborted) setState((before) => merged(busy, key, before, page));
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        const failure = failureOf(error);
        setState((before) => ({ ...(busy === "load" ? empty(key) : before), busy: null, failure }));
      },
    );
  }, []);

  useEffect(() => {
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
  const isCurrent = state.key === key;
  return { ...state, busy: isCurrent ? state.busy : "load", failure: isCurrent ? state.failure : null, more, count };
}

function bodyOf(busy: "load" | "more" | "count", request: QueryRequest, { nextCursor, asOf }: State): QueryRequest {
  if (busy === "load") return { ...request, pagination: { limit: PAGE } };
  if (busy === "more") {
    return { ...request, pagination: { limit: PAGE, ...(nextCursor === null ? {} : { cursor: nextCursor }) } };
  }
  return { ...request, pagination: { limit: 1, includeTotal: true }, ...(asOf === null ? {} : { asOf }) };
}

function merged(busy: "load" | "more" | "count", key: string, before: State, page: QueryPage): State {
  const { logs, complete, asOf, stats, pagination } = page;
  if (busy === "count") {
    // A count that stopped early is no count: the answer has none then.
    return { ...before, busy: null, total: pagination.total ?? "too many" };
  }
  const isFirst = busy === "load";
  return {
    key,
    entries: isFirst ? logs : [...before.entries, ...logs],
    nextCursor: pagination.nextCursor,
    complete,
    asOf,
    scanned: (isFirst ? 0 : before.scanned) + stats.scanned,
    total: isFirst ? null : before.total,
    busy: null,
    failure: null,
  };
}

function empty(key: string): State {
  return {
    key,
    entries: [],
    nextCursor: null,
    complete: true,
    asOf: null,
    scanned: 0,
    total: null,
    busy: "load",
    failure: null,
  };
}
