import { type ClientDropReason, type ClientDrops, MAX_DROPPED } from "../logs/ingest/client-drops.ts";

/** Categories of what becomes an entry. `log_byte` counts the same logs again. */
const CATEGORIES: ReadonlySet<unknown> = new Set(["log_item", "error", "default"]);
/**
 * Why entries are missing, by Sentry's reasons. Sampling, filters and the application's own hooks are no loss.
 * @see https://develop.sentry.dev/sdk/telemetry/client-reports/
 */
const REASONS = new Map<unknown, ClientDropReason | null>([
  ...["queue_overflow", "cache_overflow", "buffer_overflow", "backpressure"].map((one) => [one, "queue-full"] as const),
  ...["sample_rate", "before_send", "event_processor"].map((one) => [one, null] as const),
  ["ratelimit_backoff", "limited"],
  ["network_error", "retries"],
  ["send_error", "rejected"],
]);
/** Rows of a report that are read: there is one for each reason and category. */
const MAX_ROWS = 1_000;

/** Adds the logs and events that a client report says were dropped. A report of another shape says nothing. */
export function addClientReport(drops: ClientDrops, report: Readonly<Record<string, unknown>>): void {
  const rows = report.discarded_events;
  for (const row of Array.isArray(rows) ? rows.slice(0, MAX_ROWS) : []) {
    const { reason: sent, category, quantity } = typeof row === "object" && row !== null ? row : {};
    if (!CATEGORIES.has(category) || !Number.isSafeInteger(quantity) || quantity <= 0) continue;
    const reason = REASONS.has(sent) ? REASONS.get(sent) : "unknown";
    if (reason) drops[reason] = Math.min((drops[reason] ?? 0) + quantity, MAX_DROPPED);
  }
}
