import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type ApiFailure, failureOf, type LimitState } from "../../api/failure.ts";
import { request } from "../../api/request.ts";

/** What `GET /sandbox` answers with. */
export interface Sandbox {
  workspaceId: string;
  projectId: string;
  apiKey: string;
  limits: { logsPerHour: number; queriesPerHour: number };
  /** ISO 8601. */
  resetsAt: string;
}

/** The two budgets of an address: entries sent, and requests that read. */
export type BudgetName = "entries" | "reads";

/** Null where nobody has said yet. */
export type Budgets = Readonly<Record<BudgetName, LimitState | null>>;

/** Milliseconds after the announced time until the new key is asked for: not everybody in the same instant. */
const SPREAD_MS = 4000;
/** Milliseconds between two questions where the clock here says that the time has come, and the service does not. */
const PATIENCE_MS = 30_000;

const UNKNOWN: Budgets = { entries: null, reads: null };

export interface SandboxState {
  sandbox: Sandbox | null;
  /** The same, also between two renderings. */
  current: () => Sandbox | null;
  failure: ApiFailure | null;
  budgets: Budgets;
  /** When the sandbox was found to be another one, in epoch milliseconds; null while it is the one of the beginning. */
  renewedAt: number | null;
  /** Asks for the sandbox of now: the one there is, or another after a reset. @throws ApiFailure */
  renew: () => Promise<Sandbox>;
  /** The same at the beginning, again after a failure. */
  reload: () => void;
  /** Keeps what the headers of an answer said. */
  note: (name: BudgetName, limit: LimitState | null) => void;
  /** Asks what is left of both; costs nothing of either. */
  lookUp: () => Promise<void>;
}

/** The sandbox as long as the page is open: its key, also after a reset, and what is left of the budgets. */
export function useSandbox(): SandboxState {
  const [sandbox, setSandbox] = useState<Sandbox | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [budgets, setBudgets] = useState<Budgets>(UNKNOWN);
  const [renewedAt, setRenewedAt] = useState<number | null>(null);
  const known = useRef<Sandbox | null>(null);

  const renew = useCallback(async () => {
    const { data } = await request<Sandbox>("/sandbox");
    if (known.current && known.current.projectId !== data.projectId) setRenewedAt(Date.now());
    known.current = data;
    setSandbox(data);
    setFailure(null);
    return data;
  }, []);

  const note = useCallback((name: BudgetName, limit: LimitState | null) => {
    if (limit) setBudgets((before) => ({ ...before, [name]: limit }));
  }, []);

  const lookUp = useCallback(async () => {
    // What is left is nice to know; nothing depends on it.
    const answer = await request<Record<BudgetName, BudgetLeft>>("/sandbox/budget").catch(() => null);
    if (answer) setBudgets({ entries: limitOf(answer.data.entries), reads: limitOf(answer.data.reads) });
  }, []);

  const reload = useCallback(() => {
    setFailure(null);
    renew().catch((error: unknown) => setFailure(failureOf(error)));
    void lookUp();
  }, []);
  useEffect(reload, []);

  useEffect(() => {
    if (sandbox === null) return;
    const wait = Date.parse(sandbox.resetsAt) - Date.now() + Math.random() * SPREAD_MS;
    let timer: ReturnType<typeof setTimeout>;
    const ask = (): void => {
      // The same one again, or no answer: later once more.
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
