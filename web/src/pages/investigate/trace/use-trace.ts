import { useRef, useState } from "preact/hooks";
import { useLoad } from "../../../lib/load.ts";
import type { LogEntry } from "../../../model/types.ts";
import { queryLogs } from "../../explorer/query.ts";
import { type TraceRef, traceQuery } from "../trace-ids.ts";
import { useKept } from "../use-kept.ts";

/** Entries of one request, and those that are loaded without a click. */
const PAGE = 1000;
const AT_FIRST = 2000;
/** Requests of one load, at most: a page has fewer entries if its limit of work is reached. */
const REQUESTS = 10;

interface FoundTrace {
  /** By time. */
  entries: readonly LogEntry[];
  /** Whether there may be later entries. */
  hasMore: boolean;
}

/** The pages of one load, with which a further attempt after an outage continues. */
interface LoadedPages {
  of: string;
  round: number;
  entries: LogEntry[];
  cursor: string | null;
}

/** Loads the entries of a trace, oldest first, of all projects of the workspace. */
export function useTrace(workspaceId: string, trace: TraceRef) {
  const [round, setRound] = useState(0);
  const [wanted, setWanted] = useState(AT_FIRST);
  const of = JSON.stringify([workspaceId, trace.id, trace.field]);
  const pages = useRef<LoadedPages | null>(null);
  const loaded = useLoad(`${of} ${round} ${wanted}`, async (signal): Promise<FoundTrace> => {
    const before = pages.current;
    const found: LoadedPages =
      before?.of === of && before.round === round ? before : { of, round, entries: [], cursor: null };
    const filters = trace.field === null ? { traceId: trace.id } : { q: traceQuery(trace) };
    for (let asked = 0; asked < REQUESTS; asked++) {
      const cursor = found.cursor === null ? {} : { cursor: found.cursor };
      const request = { filters, order: "asc", pagination: { limit: PAGE, ...cursor } } as const;
      const page = await queryLogs(workspaceId, request, signal);
      found.entries = [...found.entries, ...page.logs];
      found.cursor = page.pagination.nextCursor;
      pages.current = found;
      if (found.cursor === null || found.entries.length >= wanted) break;
    }
    return { entries: found.entries, hasMore: found.cursor !== null };
  });
  return {
    loaded,
    found: useKept(loaded, of),
    more: () => setWanted((before) => before + PAGE),
    reload: () => setRound((before) => before + 1),
  };
}
