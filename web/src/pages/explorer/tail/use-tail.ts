import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { recovery } from "../../../lib/retry.ts";
import type { LogEntry } from "../../../model/types.ts";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import type { Filters } from "../filters.ts";
import type { TailLink, TailStatus } from "./tail-link.ts";

/** The connection, loaded for the first live view. */
const LINK = lazyModule(() => import("./tail-parts.ts"));

interface TailOptions {
  workspaceId: string;
  projectId: string;
  filters: Filters;
  active: boolean;
  /** The `seq` to start after, read on start; `null` to start with the next commit. */
  since: number | null;
  /** Called with new entries by rising `seq`, each once. */
  onEntries: (entries: LogEntry[]) => void;
  /** An API key, used instead of the account. */
  token?: string;
}

interface Tail extends TailStatus {
  pause: () => void;
  resume: () => void;
  reconnect: () => void;
}

const OFF: TailStatus = { state: "off", reason: null, buffered: 0 };
const CONNECTING: TailStatus = { ...OFF, state: "connecting" };
const NOT_LOADED: TailStatus = { ...OFF, state: "ended", reason: "Live could not be loaded." };
const TOO_LONG: TailStatus = {
  state: "ended",
  reason: "This query is too long for live. Shorten it, or search without live.",
  buffered: 0,
};

/**
 * Follows a project while `active`. Restarts when the project or the filters change. Filters that the service's tail
 * does not support (`data`, times) are applied here.
 */
export function useTail(options: TailOptions): Tail {
  const { workspaceId, projectId, filters, active, token } = options;
  const [status, setStatus] = useState<TailStatus>(OFF);
  const latest = useRef(options);
  latest.current = options;
  const link = useRef<TailLink | null>(null);
  const isWanted = active && projectId !== "";
  const parts = useLazy(LINK, isWanted, () => setStatus(NOT_LOADED));
  const key = JSON.stringify([active, workspaceId, projectId, filters, token]);
  // A layout effect, because entries of the previous tail do not match the new filters.
  useLayoutEffect(() => {
    if (!isWanted || parts === null) {
      setStatus(isWanted ? CONNECTING : OFF);
      return;
    }
    const { browserPorts, fitsTail, remainingTest, TailLink, watchPage } = parts;
    if (!fitsTail(filters)) {
      setStatus(TOO_LONG);
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
        // The service is reachable again: retry what failed during the outage.
        if (next.state === "catching-up") recovery.now();
      },
    });
    link.current = current;
    current.start(latest.current.since);
    const unwatch = watchPage(current);
    const unlisten = recovery.onSuccess(() => current.retryNow());
    return () => {
      unwatch();
      unlisten();
      link.current = null;
      current.stop();
    };
  }, [key, parts]);
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
