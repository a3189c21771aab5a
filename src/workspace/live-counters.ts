import type { AdmissionContext } from "./admission.ts";

/** A counter that holds something now, as `GET /workspaces/{id}/rate-limits` shows it. */
export interface LiveCounter {
  /** `key:<keyId>` or `user:<userId>`. */
  identifier: string;
  /** Method and path of a rule, `default`, or `API_DEFAULT`. */
  rule: string;
  limit: number;
  remaining: number;
  /** Epoch milliseconds at which the oldest counted request leaves the window. */
  resetAt: number;
}

/** Counters looked at: a workspace with more than these sees those that began to count first. */
const LOOKED_AT = 1000;

/** What counts now under the configuration; counters of rules that are gone do not. */
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
