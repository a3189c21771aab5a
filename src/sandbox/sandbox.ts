/**
 * The workspace that anybody may try the service in, without an account. Its id is the same in every deployment, and
 * spelled as words, so that nobody takes it for somebody's; a random id is this one as seldom as any other (2^-71).
 */
export const SANDBOX_WORKSPACE_ID = "ws_TaffrailDemo";

/** What a client address may take out of the sandbox's budgets. `preset` is what a refusal is recorded under. */
export interface Budget {
  /** Units per window. */
  limit: number;
  windowSeconds: number;
  preset: string;
}

const HOUR_SECONDS = 3600;

/** Entries sent, and requests that read. Counted per client address in a sliding hour. */
export const SANDBOX_BUDGETS = {
  entries: { limit: 100, windowSeconds: HOUR_SECONDS, preset: "SANDBOX_LOGS" },
  reads: { limit: 20, windowSeconds: HOUR_SECONDS, preset: "SANDBOX_QUERIES" },
} as const satisfies Record<string, Budget>;

/**
 * Bytes as stored that the sandbox takes in from everybody together, in a sliding hour. The budgets bound an address, and
 * whoever has many could fill the storage of all tenants: at 256 KiB an entry one address may send 25 MiB an hour.
 */
export const SANDBOX_INTAKE = { limit: 256 * 1024 * 1024, windowSeconds: HOUR_SECONDS } as const;

export type BudgetName = keyof typeof SANDBOX_BUDGETS;

/** Milliseconds between two resets: at 00, 06, 12 and 18 o'clock UTC, as the cron trigger in wrangler.toml has it. */
export const RESET_EVERY_MS = 6 * HOUR_SECONDS * 1000;

/** When the sandbox that was made at `epoch` is to be replaced. Epoch milliseconds, as every time here. */
export function nextReset(epoch: number): number {
  return (Math.floor(epoch / RESET_EVERY_MS) + 1) * RESET_EVERY_MS;
}
