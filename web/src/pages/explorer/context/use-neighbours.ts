import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiFailure, failureOf } from "../../../api/failure.ts";
import { recovery, shownWhileRetrying, useRetry } from "../../../lib/retry.ts";
import type { LogEntry } from "../../../model/types.ts";
import type { ContextBy, EntryRef } from "../view/entry-ref.ts";
import { type NeighbourSource, neighbourSource, type Side } from "./neighbour-source.ts";

interface SideState {
  busy: boolean;
  failure: ApiFailure | null;
  /** `false` once the service has returned all entries of the side. */
  hasMore: boolean;
}

interface State extends Record<Side, SideState> {
  /** In order, including the chosen entry; `null` until the first response. */
  entries: readonly LogEntry[] | null;
}

export interface Neighbours extends State {
  more: (side: Side) => void;
}

const SIDE: SideState = { busy: false, failure: null, hasMore: true };
const NOTHING: State = { entries: null, before: { ...SIDE, busy: true }, after: SIDE };

/** Loads an entry and its neighbours, in steps. */
export function useNeighbours(workspaceId: string, entry: EntryRef, by: ContextBy): Neighbours {
  const [state, setState] = useState<State>(NOTHING);
  const controller = useRef<AbortController>(new AbortController());
  const source = useRef<NeighbourSource | null>(null);
  const latest = useRef(state);
  latest.current = state;

  const begin = (): void => {
    const { signal } = controller.current;
    source.current = neighbourSource(workspaceId, entry, by);
    setState(({ before }) => ({
      ...NOTHING,
      before: { ...NOTHING.before, failure: shownWhileRetrying(before.failure) },
    }));
    source.current.first(signal).then(
      ({ entry, before, after }) => {
        if (signal.aborted) return;
        recovery.succeeded();
        setState({
          entries: [...before.entries, entry, ...after.entries],
          before: { ...SIDE, hasMore: before.hasMore },
          after: { ...SIDE, hasMore: after.hasMore },
        });
      },
      (error: unknown) => {
        if (!signal.aborted) setState({ ...NOTHING, before: { ...SIDE, failure: failureOf(error) } });
      },
    );
  };

  const more = (side: Side): void => {
    const { entries } = latest.current;
    if (entries === null) begin();
    const edge = side === "before" ? entries?.[0] : entries?.at(-1);
    if (edge === undefined || source.current === null) return;
    if (latest.current[side].busy || !latest.current[side].hasMore) return;
    const { signal } = controller.current;
    setState((now) => ({
      ...now,
      [side]: { ...now[side], busy: true, failure: shownWhileRetrying(now[side].failure) },
    }));
    source.current.next(side, edge, signal).then(
      ({ entries: found, hasMore }) => {
        if (signal.aborted) return;
        recovery.succeeded();
        setState((now) => ({
          ...now,
          entries: joined(side, now.entries ?? [], found),
          [side]: { ...SIDE, hasMore },
        }));
      },
      (error: unknown) => {
        if (signal.aborted) return;
        setState((now) => ({ ...now, [side]: { ...SIDE, failure: failureOf(error) } }));
      },
    );
  };

  useEffect(() => {
    controller.current = new AbortController();
    begin();
    return () => controller.current.abort();
  }, [workspaceId, entry.id, by]);
  useRetry(state.before.failure, state.before.busy, () => more("before"));
  useRetry(state.after.failure, state.after.busy, () => more("after"));
  return { ...state, more };
}

/** Adds entries to a side. One that is loaded already is the chosen entry among others of its millisecond. */
function joined(side: Side, known: readonly LogEntry[], found: readonly LogEntry[]): LogEntry[] {
  const ids = new Set(known.map(({ id }) => id));
  const added = found.filter(({ id }) => !ids.has(id));
  return side === "before" ? [...added, ...known] : [...known, ...added];
}
