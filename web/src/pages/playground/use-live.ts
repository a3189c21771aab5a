import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiFailure } from "../../api/failure.ts";
import { request } from "../../api/request.ts";
import type { LogEntry } from "../../model/types.ts";
import { browserPorts, watchPage } from "../explorer/tail/browser-ports.ts";
import { TailLink, type TailStatus } from "../explorer/tail/tail-link.ts";
import type { Sandbox, SandboxState } from "./sandbox.ts";

/** Entries that the list keeps. */
const KEPT = 1000;
/** Milliseconds for which sending waits for the live view before it proceeds without. */
const PATIENCE_MS = 8000;
/**
 * Milliseconds without a connection after which entries of a reset sandbox are not fetched from its start, because
 * there may be many.
 */
const SUCCESSION_MS = 60_000;

const OFF: TailStatus = { state: "off", reason: null, buffered: 0 };

export interface Live extends TailStatus {
  /** Newest first. */
  entries: readonly LogEntry[];
  /** The 429 failure if the budget of reads is used up. */
  limited: ApiFailure | null;
  /**
   * Starts the live view, unless it is running. Resolves once entries that are sent later will be received, also after
   * a lost connection or a reset, or after `PATIENCE_MS`.
   */
  follow: (sandbox: Sandbox) => Promise<void>;
  stop: () => void;
  /** Whether the live view is running or connecting, also between two renders. */
  isOn: () => boolean;
  /** Whether the user has stopped the live view: it then only starts on request. */
  isDeclined: boolean;
  pause: () => void;
  resume: () => void;
  clear: () => void;
}

interface Running {
  link: TailLink;
  projectId: string;
  unwatch: () => void;
}

/** The sandbox's entries as they arrive. Starting costs one read; receiving is free. */
export function useLive({ sandbox, note, renew }: Pick<SandboxState, "sandbox" | "note" | "renew">): Live {
  const [entries, setEntries] = useState<readonly LogEntry[]>([]);
  const [status, setStatus] = useState<TailStatus>(OFF);
  const [limited, setLimited] = useState<ApiFailure | null>(null);
  const [isDeclined, setDeclined] = useState(false);
  const running = useRef<Running | null>(null);
  const isLive = useRef(false);
  const liveUntil = useRef(0);
  const waiting = useRef(new Set<() => void>());

  const resolveWaiting = useCallback(() => {
    for (const done of waiting.current) done();
    waiting.current.clear();
  }, []);

  const ready = useCallback((): Promise<void> => {
    if (isLive.current) return Promise.resolve();
    return new Promise((resolve) => {
      waiting.current.add(resolve);
      setTimeout(resolve, PATIENCE_MS);
    });
  }, []);

  const end = useCallback(() => {
    running.current?.unwatch();
    running.current?.link.stop();
    running.current = null;
    isLive.current = false;
  }, []);

  const stop = useCallback(() => {
    end();
    setStatus(OFF);
    setDeclined(true);
    resolveWaiting();
  }, []);

  const follow = useCallback((wanted: Sandbox): Promise<void> => {
    if (running.current?.projectId === wanted.projectId) return ready();
    if (isLive.current) liveUntil.current = Date.now();
    // A new sandbox replaces one that was followed until now: receive all its entries.
    const isSuccessor = running.current !== null && Date.now() - liveUntil.current < SUCCESSION_MS;
    end();
    setLimited(null);
    setDeclined(false);
    setEntries([]);
    const { workspaceId, projectId, apiKey } = wanted;
    let madeAt: string | null = null;
    const giveUp = (): void => {
      if (running.current?.projectId !== projectId) return;
      running.current.unwatch();
      running.current = null;
      setDeclined(true);
      resolveWaiting();
    };
    /** Continues with a new sandbox, because the key may be revoked by a reset. */
    const continueWith = (fresh: Sandbox): void => {
      if (fresh.projectId === projectId) giveUp();
      else if (running.current) void follow(fresh);
    };
    const link = new TailLink({
      ...browserPorts({ workspaceId, projectId, filters: {}, token: apiKey }),
      async ticket(signal) {
        const path = `/logger/${encodeURIComponent(projectId)}/tail/ticket`;
        try {
          const { data, limit } = await request<{ ticket: string }>(path, { method: "POST", signal, token: apiKey });
          note("reads", limit);
          return data.ticket;
        } catch (error) {
          if (error instanceof ApiFailure && error.status === 429) {
            note("reads", error.limit);
            setLimited(error);
            // Retrying would fail for most of an hour.
            queueMicrotask(stop);
          }
          throw error;
        }
      },
      entries(fresh) {
        // The entries that a reset creates come first, with the same time of receipt.
        if (isSuccessor && fresh[0]?.seq === 1) madeAt = fresh[0].receivedAt;
        const sent = fresh.filter(({ receivedAt }) => receivedAt !== madeAt);
        if (sent.length > 0) setEntries((before) => [...sent.toReversed(), ...before].slice(0, KEPT));
      },
      changed(next) {
        setStatus(next);
        if (isLive.current) liveUntil.current = Date.now();
        isLive.current = next.state === "live" || next.state === "paused";
        if (isLive.current) resolveWaiting();
        if (next.state === "ended") void renew().then(continueWith, giveUp);
      },
    });
    running.current = { link, projectId, unwatch: watchPage(link) };
    link.start(isSuccessor ? 0 : null);
    return ready();
  }, []);

  useEffect(() => {
    if (sandbox && running.current && running.current.projectId !== sandbox.projectId) void follow(sandbox);
  }, [sandbox?.projectId]);
  useEffect(() => end, []);

  return {
    ...status,
    entries,
    limited,
    follow,
    stop,
    isOn: () => running.current !== null,
    isDeclined,
    pause: () => running.current?.link.pause(),
    resume: () => running.current?.link.resume(),
    clear: () => setEntries([]),
  };
}
