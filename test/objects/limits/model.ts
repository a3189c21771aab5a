import { type LimitRequest, MAX_WINDOW_SECONDS } from "../../../src/limits/limiter.ts";
import type { LimitState } from "../../../src/limits/state.ts";

interface Admission {
  at: number;
  cost: number;
}

/** A direct implementation of a sliding limit: a list of all admissions, searched for every request. */
export class LimitModel {
  readonly #admitted = new Map<string, Admission[]>();
  /** Virtual time of the last request, and the wall clock at that time; `null` after a start. */
  #last: { now: number; wall: number } | null = null;

  check(request: LimitRequest, wall: number): LimitState {
    const now = this.#advance(wall);
    const { limit, cost } = request;
    const windowMs = request.windowSeconds * 1000;
    const all = this.#admitted.get(request.identifier) ?? [];
    this.#admitted.set(request.identifier, all);
    const usedAt = (time: number) => all.reduce((sum, one) => sum + (one.at > time - windowMs ? one.cost : 0), 0);
    const used = usedAt(now);
    const admitted = used + cost <= limit;
    if (admitted && cost > 0) all.push({ at: now, cost });
    const leaves = all.filter(({ at }) => at > now - windowMs).map(({ at }) => at + windowMs);
    const fits = leaves.filter((time) => usedAt(time) + cost <= limit);
    return {
      admitted,
      limit,
      remaining: Math.max(0, limit - used - (admitted ? cost : 0)),
      resetAt: wall + (leaves.length === 0 ? 0 : Math.min(...leaves) - now),
      retryAfter: admitted || cost > limit ? 0 : Math.min(...fits) - now,
    };
  }

  /** Removes the admissions of a transaction that was rolled back. */
  snapshot(): () => void {
    const kept = [...this.#admitted].map(([name, list]) => [name, list.length] as const);
    return () => {
      const lengths = new Map(kept);
      for (const [name, list] of this.#admitted) list.length = lengths.get(name) ?? 0;
    };
  }

  /**
   * Deletes admissions older than the longest window, to the second. If the clock is set back and the process restarts
   * afterwards, the model has forgotten the latest time, but in real time those windows have passed.
   */
  sweep(wall: number): void {
    const oldest = Math.floor(this.#advance(wall) / 1000) - MAX_WINDOW_SECONDS - 1;
    for (const [name, list] of this.#admitted) {
      this.#admitted.set(
        name,
        list.filter(({ at }) => Math.floor(at / 1000) >= oldest),
      );
    }
  }

  /** Loses memory. The clock continues from the newest admission if the wall clock is behind it. */
  restart(): void {
    this.#last = null;
  }

  #advance(wall: number): number {
    const newest = Math.max(...[...this.#admitted.values()].flat().map(({ at }) => at), Number.NEGATIVE_INFINITY);
    const now = this.#last === null ? Math.max(wall, newest) : this.#last.now + Math.max(0, wall - this.#last.wall);
    this.#last = { now, wall };
    return now;
  }
}
