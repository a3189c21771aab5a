import type { LogEntry } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";
import type { Filters } from "../filters.ts";
import { queryLogs } from "../query.ts";
import { ownName } from "../results/own-name.ts";
import type { ContextBy, EntryRef } from "../view/entry-ref.ts";

/** Where the neighbours of an entry come from. */

export type Side = "before" | "after";

/** Neighbours of one side, in the order of the list. */
export interface NeighbourPage {
  entries: LogEntry[];
  hasMore: boolean;
}

export interface FirstNeighbours extends Record<Side, NeighbourPage> {
  entry: LogEntry;
}

export interface NeighbourSource {
  first: (signal: AbortSignal) => Promise<FirstNeighbours>;
  /** @param edge the outermost entry of the side that is loaded */
  next: (side: Side, edge: LogEntry, signal: AbortSignal) => Promise<NeighbourPage>;
}

/** Entries loaded on each side at first, and on one side with each further step. The API allows up to 100. */
const FIRST = 30;
const STEP = 60;

export function neighbourSource(workspaceId: string, entry: EntryRef, by: ContextBy): NeighbourSource {
  return by === "arrival" ? byArrival(workspaceId, entry) : bySameValue(workspaceId, entry, by);
}

interface ContextAnswer {
  entry: LogEntry;
  before: LogEntry[];
  after: LogEntry[];
  complete: boolean;
}

async function around(
  workspaceId: string,
  { projectId, id }: EntryRef,
  counts: { before: number; after: number },
  signal: AbortSignal,
): Promise<ContextAnswer> {
  const path = `/logger/${projectId}/log/${encodeURIComponent(id)}?before=${counts.before}&after=${counts.after}`;
  return (await authorized<ContextAnswer>(path, { workspaceId, signal })).data;
}

/** All entries of the project by `seq`. */
function byArrival(workspaceId: string, { projectId, id }: EntryRef): NeighbourSource {
  return {
    async first(signal) {
      const counts = { before: FIRST, after: FIRST };
      const { entry, before, after, complete } = await around(workspaceId, { projectId, id }, counts, signal);
      return {
        entry,
        before: { entries: before, hasMore: !complete || before.length === FIRST },
        after: { entries: after, hasMore: !complete || after.length === FIRST },
      };
    },
    async next(side, edge, signal) {
      const counts = { before: 0, after: 0, [side]: STEP };
      const answer = await around(workspaceId, edge, counts, signal);
      return { entries: answer[side], hasMore: !answer.complete || answer[side].length === STEP };
    },
  };
}

/** Returns the filter for entries with the same value as an entry; `null` if the entry has none. */
export function sameValue(entry: LogEntry, by: ContextBy): Filters | null {
  switch (by) {
    case "arrival":
      return {};
    case "session":
      return entry.session === undefined ? null : { session: entry.session };
    case "trace":
      return entry.traceId === undefined ? null : { traceId: entry.traceId };
    default: {
      const name = ownName(entry, by);
      return name === "" ? null : { [by]: [name] };
    }
  }
}

/** Entries with the same value by time: of a session or a trace those of all projects. */
function bySameValue(workspaceId: string, of: EntryRef, by: ContextBy): NeighbourSource {
  const cursors: Record<Side, string | null> = { before: null, after: null };
  let filters: Filters = {};
  const page = async (side: Side, limit: number, signal: AbortSignal): Promise<NeighbourPage> => {
    const isOfProject = by === "service" || by === "host";
    const cursor = cursors[side];
    const { to: _, from: __, ...both } = filters;
    const { logs, pagination } = await queryLogs(
      workspaceId,
      {
        ...(isOfProject ? { projectId: of.projectId } : {}),
        filters: { ...both, ...(side === "before" ? { to: filters.to ?? "" } : { from: filters.from ?? "" }) },
        order: side === "before" ? "desc" : "asc",
        pagination: { limit, ...(cursor === null ? {} : { cursor }) },
      },
      signal,
    );
    cursors[side] = pagination.nextCursor;
    return { entries: side === "before" ? logs.reverse() : logs, hasMore: pagination.nextCursor !== null };
  };
  return {
    async first(signal) {
      const { entry } = await around(workspaceId, of, { before: 0, after: 0 }, signal);
      const same = sameValue(entry, by);
      if (same === null) {
        const none = { entries: [], hasMore: false };
        return { entry, before: none, after: none };
      }
      filters = { ...same, to: entry.timestamp, from: entry.timestamp };
      cursors.before = null;
      cursors.after = null;
      const [before, after] = await Promise.all([page("before", FIRST, signal), page("after", FIRST + 1, signal)]);
      // Entries of the same millisecond may be on both sides of the entry.
      const at = after.entries.findIndex(({ id }) => id === entry.id);
      const earlier = at < 0 ? [] : after.entries.slice(0, at);
      return {
        entry,
        before: { ...before, entries: [...before.entries, ...earlier] },
        after: { ...after, entries: after.entries.slice(at + 1) },
      };
    },
    next: (side, _, signal) => page(side, STEP, signal),
  };
}
