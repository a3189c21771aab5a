import type { Duty } from "../platform/alarm.ts";
import { exists, mapRows } from "../platform/sql.ts";
import { forEachPacked, PackedSecond, SlidingLog, VirtualClock } from "./sliding-log.ts";
import type { LimitState } from "./state.ts";

/** Longest window that a configuration may set, in seconds. Older rows count in no window. */
export const MAX_WINDOW_SECONDS = 3600;

/** Rows that one sweep deletes at most, so that an alarm stays short. */
const SWEEP_ROWS = 2000;
/** Milliseconds until the next step of a sweep that is not complete. */
const SWEEP_STEP_MS = 100;
/** Milliseconds between sweeps: the longest window plus a minute. */
export const SWEEP_AFTER_MS = (MAX_WINDOW_SECONDS + 60) * 1000;

/** Counters cached at most. The one loaded first is evicted and read from disk when it is needed again. */
const MAX_CACHED_COUNTERS = 2000;

export const LIMITER_SCHEMA = [
  // A counter's row is written once, at its first admitted request. Its log is kept for the longest possible window, so
  // that a change of the configured window loses no counts and admits no request twice.
  `CREATE TABLE IF NOT EXISTS rate_counters (
     -- Row: a limit counter.
     id INTEGER PRIMARY KEY,
     -- \`key:<id>\` or \`user:<id>\`, followed by a rule's method and path for the counter of a rule, by
     -- \`API_DEFAULT\` for the counter of the settings routes; \`ip:\` and a name with \`:\` in an address object;
     -- \`sandbox-intake\` in the sandbox's object: stored bytes.
     identifier TEXT NOT NULL UNIQUE
   ) STRICT`,
  `CREATE TABLE IF NOT EXISTS rate_seconds (
     -- Row: a counter's admitted units within one second, kept for an hour, the longest window.
     -- \`id\` of the counter.
     counter INTEGER NOT NULL,
     -- Since the epoch.
     second INTEGER NOT NULL,
     -- Pairs of millisecond and units, LEB128.
     counts BLOB NOT NULL,
     PRIMARY KEY (counter, second)
   ) STRICT, WITHOUT ROWID`,
] as const;

/** The key of a counter in memory: `rate:{identifier}:{window}`, the window in seconds. */
export function counterKey(identifier: string, windowSeconds: number): string {
  return `rate:${identifier}:${windowSeconds}`;
}

export interface LimitRequest {
  /** `key:<keyId>`, `user:<userId>` or `ip:<address>`; a rule's own counter adds its method and path. */
  identifier: string;
  limit: number;
  windowSeconds: number;
  /** Units that the request takes; usually 1. A cost above `limit` never fits, and the caller refuses it before. */
  cost: number;
  /** In an address object: the search that the request belongs to, whose requests count once (`SearchCover`). */
  search?: string;
}

interface Counter {
  identifier: string;
  /** Row id; `null` until the first admitted unit, so that a counter that admits nothing writes nothing. */
  id: number | null;
  log: SlidingLog;
  /** The current second and its packed counts. */
  second: number;
  packed: PackedSecond;
}

/**
 * Exact sliding limits over one object's storage.
 *
 * State is on disk before a request is answered: an admitted unit is added to the row of its counter and second in the
 * caller's transaction. Memory is a cache of those rows. `check` is synchronous; the caller calls `forget` if the
 * transaction it ran in is rolled back.
 */
export class Limiter {
  readonly #sql: SqlStorage;
  readonly #clock = new VirtualClock();
  readonly #counters = new Map<string, Counter>();
  readonly #dirty = new Set<Counter>();
  #resumed = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Decides on one request and, if it is admitted, counts it. Call `flush` before the transaction ends. */
  check(request: LimitRequest, wall: number): LimitState {
    const now = this.#now(wall);
    const { limit, cost } = request;
    const counter = this.#counter(request, now);
    const used = counter.log.used(now);
    const admitted = used + cost <= limit;
    if (admitted) this.#add(counter, now, cost);
    return {
      admitted,
      limit,
      remaining: Math.max(0, limit - used - (admitted ? cost : 0)),
      resetAt: this.#clock.toWall(counter.log.oldestLeavesAt(now)),
      retryAfter: admitted || cost > limit ? 0 : counter.log.fitsAt(now, cost, limit) - now,
    };
  }

  /** Returns the state of a limit without counting. */
  peek(request: LimitRequest, wall: number): LimitState {
    const now = this.#now(wall);
    const { log } = this.#counter(request, now);
    const used = log.used(now);
    return {
      admitted: used + request.cost <= request.limit,
      limit: request.limit,
      remaining: Math.max(0, request.limit - used),
      resetAt: this.#clock.toWall(log.oldestLeavesAt(now)),
      retryAfter: 0,
    };
  }

  /** Returns at most `max` identifiers that have counts in the longest window, in order of their first count. */
  identifiers(wall: number, max: number): string[] {
    const from = Math.floor((this.#now(wall) - MAX_WINDOW_SECONDS * 1000) / 1000);
    return mapRows(
      this.#sql,
      ({ identifier }: { identifier: string }) => identifier,
      `SELECT identifier FROM rate_counters
       WHERE EXISTS (SELECT 1 FROM rate_seconds WHERE counter = id AND second >= ?) ORDER BY id LIMIT ?`,
      from,
      max,
    );
  }

  /** Writes the counts since the last flush: one row for each changed counter. */
  flush(): void {
    for (const counter of this.#dirty) {
      this.#sql.exec(
        "INSERT OR REPLACE INTO rate_seconds (counter, second, counts) VALUES (?, ?, ?)",
        counter.id,
        counter.second,
        counter.packed.toBlob(),
      );
    }
    this.#dirty.clear();
  }

  /** Clears the cache. Call after a rollback and after a change of windows. */
  forget(): void {
    this.#counters.clear();
    this.#dirty.clear();
  }

  /**
   * Deletes rows that count in no window, in bounded steps, and counters without rows.
   * @returns the wall-clock time of the next sweep, soon if this one is not complete; `null` if nothing is left
   */
  sweep(wall: number): number | null {
    const now = this.#now(wall);
    const bound = Math.floor(now / 1000) - MAX_WINDOW_SECONDS - 1;
    const expired = this.#sql
      .exec("SELECT counter, second FROM rate_seconds WHERE second < ? LIMIT ?", bound, SWEEP_ROWS)
      .toArray();
    for (const row of expired) {
      this.#sql.exec("DELETE FROM rate_seconds WHERE counter = ? AND second = ?", row.counter, row.second);
    }
    this.forget();
    if (expired.length === SWEEP_ROWS) return wall + SWEEP_STEP_MS;
    this.#sql.exec("DELETE FROM rate_counters WHERE NOT EXISTS (SELECT 1 FROM rate_seconds WHERE counter = id)");
    return this.nextSweepAt(wall);
  }

  /** Returns when the next sweep is due; `null` while nothing is counted. */
  nextSweepAt(wall: number): number | null {
    return exists(this.#sql, "SELECT 1 FROM rate_seconds LIMIT 1") ? wall + SWEEP_AFTER_MS : null;
  }

  #now(wall: number): number {
    if (!this.#resumed) {
      const newest = this.#newestStamp();
      if (newest !== null) this.#clock.resumeAt(newest, wall);
      this.#resumed = true;
    }
    return this.#clock.now(wall);
  }

  #newestStamp(): number | null {
    const rows = this.#sql.exec(
      "SELECT second, counts FROM rate_seconds WHERE second = (SELECT MAX(second) FROM rate_seconds)",
    );
    let newest: number | null = null;
    for (const row of rows) {
      const base = Number(row.second) * 1000;
      // SAFETY: the column is `BLOB NOT NULL` in a STRICT table.
      forEachPacked(row.counts as ArrayBuffer, (ms) => {
        newest = Math.max(newest ?? 0, base + ms);
      });
    }
    return newest;
  }

  #counter(request: LimitRequest, now: number): Counter {
    const key = counterKey(request.identifier, request.windowSeconds);
    const known = this.#counters.get(key);
    if (known) return known;
    const counter = this.#load(request.identifier, request.windowSeconds * 1000, now);
    if (this.#counters.size >= MAX_CACHED_COUNTERS) this.#evictOne();
    this.#counters.set(key, counter);
    return counter;
  }

  #load(identifier: string, windowMs: number, now: number): Counter {
    const second = Math.floor(now / 1000);
    const counter: Counter = {
      identifier,
      id: null,
      log: new SlidingLog(windowMs),
      second,
      packed: new PackedSecond(),
    };
    const id = this.#sql.exec("SELECT id FROM rate_counters WHERE identifier = ?", identifier).toArray()[0]?.id;
    if (typeof id !== "number") return counter;
    counter.id = id;
    const from = Math.floor((now - windowMs) / 1000);
    const rows = this.#sql.exec(
      "SELECT second, counts FROM rate_seconds WHERE counter = ? AND second >= ? ORDER BY second",
      id,
      from,
    );
    for (const row of rows) {
      // SAFETY: the column is `BLOB NOT NULL` in a STRICT table.
      const blob = row.counts as ArrayBuffer;
      const base = Number(row.second) * 1000;
      forEachPacked(blob, (ms, count) => counter.log.add(base + ms, count));
      if (row.second === second) counter.packed = PackedSecond.from(blob);
    }
    return counter;
  }

  #add(counter: Counter, now: number, cost: number): void {
    if (cost === 0) return;
    const second = Math.floor(now / 1000);
    if (second !== counter.second) {
      if (this.#dirty.has(counter)) this.flush();
      counter.second = second;
      counter.packed = new PackedSecond();
    }
    counter.log.add(now, cost);
    counter.packed.add(now % 1000, cost);
    if (counter.id === null) counter.id = this.#insert(counter);
    this.#dirty.add(counter);
  }

  #insert(counter: Counter): number {
    const row = this.#sql.exec("INSERT INTO rate_counters (identifier) VALUES (?) RETURNING id", counter.identifier);
    return Number(row.one().id);
  }

  #evictOne(): void {
    for (const [key, counter] of this.#counters) {
      if (this.#dirty.has(counter)) continue;
      this.#counters.delete(key);
      return;
    }
  }
}

/** The duty of an object to delete expired counts. */
export function sweepDuty(limiter: Limiter): Duty {
  let nextStepAt: number | null = null;
  return {
    name: "limits",
    dueAt: (now) => nextStepAt ?? limiter.nextSweepAt(now),
    run: (now) => {
      const at = limiter.sweep(now);
      nextStepAt = at !== null && at < now + SWEEP_AFTER_MS ? at : null;
    },
  };
}
