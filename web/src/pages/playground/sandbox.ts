import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { ApiFailure, LimitState } from "../../api/failure.ts";
import { request } from "../../api/request.ts";
import { useLoad } from "../../lib/load.ts";

/** The response of `GET /sandbox`. */
export interface Sandbox {
  workspaceId: string;
  projectId: string;
  apiKey: string;
  limits: { logsPerHour: number; queriesPerHour: number };
  /** ISO 8601. */
  resetsAt: string;
}

/** The two budgets of a client IP: entries sent and read requests. */
export type BudgetName = "entries" | "reads";

/** A budget is `null` until known. */
export type Budgets = Readonly<Record<BudgetName, LimitState | null>>;

/** Milliseconds over which clients spread the request for the new key after the announced reset. */
const SPREAD_MS = 4000;
/** Milliseconds between two requests for the new key while the sandbox is not reset although its time has passed. */
const PATIENCE_MS = 30_000;

const UNKNOWN: Budgets = { entries: null, reads: null };

export interface SandboxState {
  sandbox: Sandbox | null;
  /** The current sandbox, also between two renders. */
  current: () => Sandbox | null;
  failure: ApiFailure | null;
  budgets: Budgets;
  /** Epoch milliseconds at which a reset was noticed; `null` without a reset. */
  renewedAt: number | null;
  /** Requests the current sandbox, which is another one after a reset. @throws ApiFailure */
  renew: () => Promise<Sandbox>;
  /** Like `renew`, initially and after a failure. */
  reload: () => void;
  /** Stores a budget from the limit headers of a response. */
  note: (name: BudgetName, limit: LimitState | null) => void;
  /** Requests both budgets, free of charge. */
  lookUp: () => Promise<void>;
}

/** The sandbox while the page is open, across resets: its key and the remaining budgets. */
export function useSandbox(): SandboxState {
  const [sandbox, setSandbox] = useState<Sandbox | null>(null);
  const [budgets, setBudgets] = useState<Budgets>(UNKNOWN);
  const [renewedAt, setRenewedAt] = useState<number | null>(null);
  const known = useRef<Sandbox | null>(null);

  const renew = useCallback(async () => {
    const { data } = await request<Sandbox>("/sandbox");
    if (known.current && known.current.projectId !== data.projectId) setRenewedAt(Date.now());
    known.current = data;
    setSandbox(data);
    return data;
  }, []);

  const note = useCallback((name: BudgetName, limit: LimitState | null) => {
    if (limit) setBudgets((before) => ({ ...before, [name]: limit }));
  }, []);

  const lookUp = useCallback(async () => {
    // The budgets are optional: ignore a failure.
    const answer = await request<Record<BudgetName, BudgetLeft>>("/sandbox/budget").catch(() => null);
    if (answer) setBudgets({ entries: limitOf(answer.data.entries), reads: limitOf(answer.data.reads) });
  }, []);

  const { failure, reload } = useLoad("sandbox", () => {
    void lookUp();
    return renew();
  });

  useEffect(() => {
    if (sandbox === null) return;
    const wait = Date.parse(sandbox.resetsAt) - Date.now() + Math.random() * SPREAD_MS;
    let timer: ReturnType<typeof setTimeout>;
    const ask = (): void => {
      // Ask again later if the sandbox is still the same, or if the request fails.
      timer = setTimeout(ask, PATIENCE_MS);
      renew().catch(() => undefined);
    };
    timer = setTimeout(ask, Math.max(wait, 1000));
    return () => clearTimeout(timer);
  }, [sandbox?.projectId]);

  return { sandbox, current: () => known.current, failure, budgets, renewedAt, renew, reload, note, lookUp };
}

interface BudgetLeft {
  limit: number;
  remaining: number;
  resetsAt: string;
}

function limitOf({ limit, remaining, resetsAt }: BudgetLeft): LimitState {
  return { limit, remaining, resetAt: Math.ceil(Date.parse(resetsAt) / 1000) };
}
