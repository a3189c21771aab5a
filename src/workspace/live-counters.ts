import { API_DEFAULT } from "../limits/state.ts";
import type { Gate } from "./admission.ts";

/** A counter that holds something now, as `GET /workspaces/{id}/rate-limits` shows it. */
export interface LiveCounter {
  /** `key:<keyId>` or `user:<userId>`. */
  identifier: string;
  /** `default`: what no rule matches. */
  rule: string;
  limit: number;
  remaining: number;
  /** Epoch milliseconds at which the oldest counted request leaves the window. */
  resetAt: number;
}

/** Counters shown at most; a workspace with more live identifiers sees those used first. */
const SHOWN = 200;

export function liveCounters({ sql, limiter, limits }: Gate, now: number): LiveCounter[] {
  const { limit, windowSeconds } = limits.default ?? API_DEFAULT;
  const live: LiveCounter[] = [];
  for (const row of sql.exec("SELECT identifier FROM rate_counters ORDER BY id").toArray()) {
    const identifier = String(row.identifier);
    // A name with a space is that of a rule's or a preset's own counter.
    if (identifier.includes(" ")) continue;
    const state = limiter.peek({ identifier, limit, windowSeconds, cost: 1 }, now);
    if (state.remaining === limit) continue;
    live.push({ identifier, rule: "default", limit, remaining: state.remaining, resetAt: state.resetAt });
    if (live.length === SHOWN) break;
  }
  return live;
}
