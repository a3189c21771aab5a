import type { AdmissionContext } from "./admission.ts";

/** A counter with requests in its window, as `GET /workspaces/{id}/rate-limits` returns it. */
export interface LiveCounter {
  /** `key:<keyId>`, `user:<userId>` or `grant:<grantId>`. */
  identifier: string;
  /** Method and path of a rule, `default`, or `API_DEFAULT`. */
  rule: string;
  limit: number;
  remaining: number;
  /** Epoch milliseconds at which the oldest counted request leaves the window. */
  resetAt: number;
}

/** Maximum number of counters scanned. A workspace with more sees the oldest ones. */
const LOOKED_AT = 1000;

/** Returns the counters of the current configuration, without those of removed rules. */
export function liveCounters({ limiter, limits }: AdmissionContext, now: number): LiveCounter[] {
  const live: LiveCounter[] = [];
  for (const counter of limiter.identifiers(now, LOOKED_AT)) {
    const [identifier = ""] = counter.split(" ", 1);
    const applied = limits.limitOfCounter(counter.slice(identifier.length));
    if (!applied) continue;
    const { rule, limit, windowSeconds } = applied;
    const { remaining, resetAt } = limiter.peek({ identifier: counter, limit, windowSeconds, cost: 1 }, now);
    if (remaining < limit) live.push({ identifier, rule, limit, remaining, resetAt });
  }
  return live;
}
