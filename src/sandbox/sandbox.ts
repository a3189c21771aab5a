/**
 * Id of the public workspace for trying the service without an account. It is the same in every deployment and spelled
 * as words, so that it is not mistaken for a user's workspace. A random id equals it with probability 2^-71, like any
 * other id.
 */
export const SANDBOX_WORKSPACE_ID = "ws_TaffrailDemo";

/** What one client IP may use of the sandbox. `preset` is the rule under which violations are recorded. */
export interface Budget {
  /** Units per window. */
  limit: number;
  windowSeconds: number;
  preset: string;
}

const HOUR_SECONDS = 3600;

/** Entries sent and read requests, counted per client IP in a sliding hour. */
export const SANDBOX_BUDGETS = {
  entries: { limit: 100, windowSeconds: HOUR_SECONDS, preset: "SANDBOX_LOGS" },
  reads: { limit: 20, windowSeconds: HOUR_SECONDS, preset: "SANDBOX_QUERIES" },
} as const satisfies Record<string, Budget>;

/**
 * Stored bytes that the sandbox accepts from all clients together in a sliding hour. The budgets bound one client IP,
 * and a client with many could fill the storage of all tenants: at 256 KiB an entry, one client IP may send 25 MiB an
 * hour.
 */
export const SANDBOX_INTAKE = { limit: 256 * 1024 * 1024, windowSeconds: HOUR_SECONDS } as const;

export type BudgetName = keyof typeof SANDBOX_BUDGETS;

/**
 * Milliseconds between two resets, at 00:00, 06:00, 12:00 and 18:00 UTC as the cron trigger in wrangler.toml states.
 */
export const RESET_EVERY_MS = 6 * HOUR_SECONDS * 1000;

/** Returns when the sandbox created at `epoch` is due for replacement, epoch milliseconds. */
export function nextReset(epoch: number): number {
  return (Math.floor(epoch / RESET_EVERY_MS) + 1) * RESET_EVERY_MS;
}
