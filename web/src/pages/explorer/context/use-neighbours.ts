import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiFailure, failureOf } from "../../../api/failure.ts";
import { shownWhileRetrying, useRetry } from "../../../lib/retry.ts";
import type { LogEntry } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";

/** Entries loaded on each side at first, and on one side with each further step. The API allows up to 100. */
const FIRST = 30;
const STEP = 60;

export type Side = "before" | "after";

interface SideState {
  busy: boolean;
  failure: ApiFailure | null;
  /** `false` once the service returned fewer entries than requested. */
  hasMore: boolean;
}

interface State extends Record<Side, SideState> {
  /** By rising `seq`, including the chosen entry; `null` until the first response. */
  entries: readonly LogEntry[] | null;
}

/** Identifies an entry. */
export type EntryRef = Pick<LogEntry, "id" | "projectId">;

export interface Neighbours extends State {
  more: (side: Side) => void;
}

interface ContextAnswer {
  entry: LogEntry;
  before: LogEntry[];
  after: LogEntry[];
  complete: boolean;
}

const SIDE: SideState = { busy: false, failure: null, hasMore: true };
const NOTHING: State = { entries: null, before: { ...SIDE, busy: true }, after: SIDE };

/** Loads an entry and its neighbours by `seq`, in steps. */
export function useNeighbours(workspaceId: string, entry: EntryRef): Neighbours {
  const [state, setState] = useState<State>(NOTHING);
  const controller = useRef<AbortController>(new AbortController());
  const latest = useRef(state);
  latest.current = state;

  const ask = (of: EntryRef, before: number, after: number, signal: AbortSignal): Promise<ContextAnswer> =>
    authorized<ContextAnswer>(
      `/logger/${of.projectId}/log/${encodeURIComponent(of.id)}?before=${before}&after=${after}`,
      {
        workspaceId,
        signal,
      },
    ).then(({ data }) => data);

  const begin = (): void => {
    const { signal } = controller.current;
    setState(({ before }) => ({
      ...NOTHING,
      before: { ...NOTHING.before, failure: shownWhileRetrying(before.failure) },
    }));
    ask(entry, FIRST, FIRST, signal).then(
      ({ entry, before, after, complete }) => {
        if (signal.aborted) return;
        setState({
          entries: [...before, entry, ...after],
          before: { ...SIDE, hasMore: !complete || before.length === FIRST },
          after: { ...SIDE, hasMore: !complete || after.length === FIRST },
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
    if (edge === undefined || latest.current[side].busy || !latest.current[side].hasMore) return;
    const { signal } = controller.current;
    setState((now) => ({
      ...now,
      [side]: { ...now[side], busy: true, failure: shownWhileRetrying(now[side].failure) },
    }));
    ask(edge, side === "before" ? STEP : 0, side === "after" ? STEP : 0, signal).then(
      (answer) => {
        if (signal.aborted) return;
        const found = answer[side];
        setState((now) => ({
          ...now,
          entries: side === "before" ? [...found, ...(now.entries ?? [])] : [...(now.entries ?? []), ...found],
          [side]: { ...SIDE, hasMore: !answer.complete || found.length === STEP },
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
  }, [workspaceId, entry.id]);
  useRetry(state.before.failure, state.before.busy, () => more("before"));
  useRetry(state.after.failure, state.after.busy, () => more("after"));
  return { ...state, more };
}
