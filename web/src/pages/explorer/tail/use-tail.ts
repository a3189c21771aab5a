import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { recovery } from "../../../lib/retry.ts";
import type { LogEntry } from "../../../model/types.ts";
import type { Filters } from "../filters.ts";
import { browserPorts, watchPage } from "./browser-ports.ts";
import { fitsTail, remainingTest } from "./tail-filters.ts";
import { TailLink, type TailStatus } from "./tail-link.ts";

interface TailOptions {
  workspaceId: string;
  projectId: string;
  filters: Filters;
  active: boolean;
  /** The seq to begin behind, read when it starts; null: with what is sent from then on. */
  since: number | null;
  /** By rising seq, each once. */
  onEntries: (entries: LogEntry[]) => void;
  /** An API key in place of the account. */
  token?: string;
}

interface Tail extends TailStatus {
  pause: () => void;
  resume: () => void;
  reconnect: () => void;
}

const OFF: TailStatus = { state: "off", reason: null, buffered: 0 };
const TOO_LONG: TailStatus = {
  state: "ended",
  reason: "These filters are too long for a live view. Take some out, or search without it.",
  buffered: 0,
};

/**
 * Follows a project while `active`. Starts anew when the project or the filters change. What the service's tail cannot
 * filter by (`data`, times) is tested here.
 */
export function useTail(options: TailOptions): Tail {
  const { workspaceId, projectId, filters, active, token } = options;
  const [status, setStatus] = useState<TailStatus>(OFF);
  const latest = useRef(options);
  latest.current = options;
  const link = useRef<TailLink | null>(null);
  const key = JSON.stringify([active, workspaceId, projectId, filters, token]);
  // Before anything else can run: what the tail before brings is not of these filters.
  useLayoutEffect(() => {
    if (!active || projectId === "" || !fitsTail(filters)) {
      setStatus(active && projectId !== "" ? TOO_LONG : OFF);
      return;
    }
    const wanted = remainingTest(filters);
    const current = new TailLink({
      ...browserPorts({ workspaceId, projectId, filters, token }),
      entries(entries) {
        const passed = entries.filter(wanted);
        if (passed.length > 0) latest.current.onEntries(passed);
      },
      changed(next) {
        setStatus(next);
        // What failed with it comes back with it.
        if (next.state === "catching-up") recovery.now();
      },
    });
    link.current = current;
    current.start(latest.current.since);
    const unwatch = watchPage(current);
    const unlisten = recovery.onSuccess(() => current.hurry());
    return () => {
      unwatch();
      unlisten();
      link.current = null;
      current.stop();
    };
  }, [key]);
  const acts = useMemo(
    () => ({
      pause: () => link.current?.pause(),
      resume: () => link.current?.resume(),
      reconnect: () => link.current?.reconnect(),
    }),
    [],
  );
  return { ...status, ...acts };
}
