import { type Backoff, delayOf } from "../platform/backoff.ts";
import { hasTable } from "../platform/sql.ts";
import type { Limiter } from "./limiter.ts";
import { minuteEnd, minuteOf, type RefusedRequest, type Violation } from "./violations.ts";

/** Milliseconds from the first refusal after a quiet period to the alarm that enqueues it. */
const FIRST_LOOK_MS = 2000;
/** Milliseconds between two alarms during a flood: less than the 10 s after which an idle object loses its memory. */
const FLOOD_LOOK_MS = 8000;
/** Milliseconds without a refusal after which a flood is over. */
const QUIET_MS = 1000;
/**
 * Between two alarms the count is saved when it reaches this factor, its square and so on, which bounds the loss in a
 * crash.
 */
const SAVE_FACTOR = 100;
/** Delay until a violation that was not confirmed is enqueued again. */
const RETRY: Backoff = { firstMs: 60_000, maxMs: 900_000 };
/** Milliseconds after which a violation that could not be enqueued is dropped. */
const GIVE_UP_MS = 24 * 60 * 60 * 1000;
/** The earliest time that can be set for an alarm. */
const AT_ONCE = 1;
/** Violations that one alarm enqueues at most, so that it stays short. */
const MAX_ENQUEUED = 1000;

export const VIOLATION_SCHEMA = [
  `CREATE TABLE IF NOT EXISTS violations (
     -- Row: refusals of one identifier under one rule within one minute, until they are in D1 and the minute is
     -- over.
     -- Since the epoch.
     minute INTEGER NOT NULL,
     identifier TEXT NOT NULL,
     -- \`<method> <path>\`, \`default\` or the name of a preset.
     rule TEXT NOT NULL,
     -- Limit of the last refusal.
     rate_limit INTEGER NOT NULL,
     -- Window of the last refusal.
     window_seconds INTEGER NOT NULL,
     count INTEGER NOT NULL,
     first_at INTEGER NOT NULL,
     last_at INTEGER NOT NULL,
     -- How many of \`count\` D1 has confirmed.
     stored INTEGER NOT NULL DEFAULT 0,
     PRIMARY KEY (minute, identifier, rule)
   ) STRICT, WITHOUT ROWID`,
] as const;

/** A mapped type, because `exec` does not accept an interface. */
type Row = Omit<Violation, "requestId"> & { stored: number };

interface Entry extends Violation {
  /** The count in the row on disk; 0 without a row. */
  saved: number;
  /** The count at which the row is saved again before the next alarm. */
  saveAt: number;
  /** The count that was last enqueued, and the count confirmed to be in D1. */
  sent: number;
  stored: number;
  /** When the violation is enqueued again if it is not confirmed, epoch milliseconds. */
  retryAt: number;
  tries: number;
}

/** The result of one alarm. */
export interface Due {
  violations: Violation[];
  /** Violations that were dropped. */
  dropped: number;
}

/**
 * The refused requests of one object until they are stored in D1. Counted in memory by identifier, rule and minute,
 * enqueued by the object's alarm, and kept until the consumer confirms that they are stored.
 *
 * The first refusal of a minute writes a row in the same transaction, so that the violation is never lost. Its count is
 * saved when the flood is over; the alarm checks for that while the object is still in memory, so that a flood of any
 * size costs a few rows. If the memory is lost during a flood, only counts are lost.
 */
export class ViolationOutbox {
  readonly #sql: SqlStorage;
  #entries: Map<string, Entry> | null = null;
  #hasTable = false;
  /** Refusals of the current turn, which may still be rolled back. */
  #turn: { request: RefusedRequest; at: number }[] = [];
  #dueAt: number | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** When the object's alarm must call `take`, epoch milliseconds; `null` if nothing is pending. */
  get dueAt(): number | null {
    if (this.#entries === null) this.#load();
    return this.#dueAt;
  }

  /** Records a refusal, inside `counted`. After a rollback, `forget` discards it. */
  recordRefusal(request: RefusedRequest, at: number): void {
    this.#turn.push({ request, at });
  }

  /** Counts the refusals of the turn. Writes a row for the first refusal of a minute, and rarely for later ones. */
  flush(): void {
    if (this.#turn.length === 0) return;
    const turn = this.#turn;
    this.#turn = [];
    for (const { request, at } of turn) {
      const entry = this.#entry(request, at);
      entry.limit = request.limit;
      entry.windowSeconds = request.windowSeconds;
      entry.count++;
      entry.lastAt = Math.max(entry.lastAt, at);
      if (entry.count >= entry.saveAt) this.#save(entry);
      // The next alarm is far off or not set, because there were no refusals until now.
      if (this.#dueAt === null || this.#dueAt > at + FLOOD_LOOK_MS) this.#dueAt = at + FIRST_LOOK_MS;
    }
  }

  /** Marks all rows as not saved and the table as unknown. Call after a rollback and after all data was deleted. */
  forget(): void {
    this.#turn = [];
    this.#hasTable = false;
    for (const entry of this.#entries?.values() ?? []) entry.saved = 0;
  }

  /** Returns the violations to enqueue now. Sets `dueAt` to the next alarm. */
  take(now: number): Due {
    const due: Due = { violations: [], dropped: 0 };
    let next = Number.POSITIVE_INFINITY;
    for (const [key, entry] of this.#entries ?? this.#load()) {
      if (this.#isDone(entry, now) || now - entry.lastAt > GIVE_UP_MS) {
        if (entry.stored < entry.count) due.dropped++;
        this.#drop(key, entry);
        continue;
      }
      if (due.violations.length < MAX_ENQUEUED) this.#look(entry, now, due.violations);
      next = Math.min(next, nextLook(entry, now));
    }
    this.#dueAt = next === Number.POSITIVE_INFINITY ? null : next;
    return due;
  }

  /** Records that the consumer has stored these violations in D1. */
  stored(violations: readonly Violation[], now: number): void {
    const entries = this.#entries ?? this.#load();
    for (const violation of violations) {
      const key = keyOf(violation, violation.minute);
      const entry = entries.get(key);
      if (!entry) continue;
      entry.stored = Math.max(entry.stored, violation.count);
      if (this.#isDone(entry, now)) this.#drop(key, entry);
      else if (entry.stored >= entry.count && isQuiet(entry, now)) this.#save(entry);
    }
  }

  #look(entry: Entry, now: number, due: Violation[]): void {
    const isOver = isQuiet(entry, now);
    // Saves the count even if it was enqueued before, because the object may leave memory from now on.
    if (isOver && entry.saved < entry.count) this.#save(entry);
    if (entry.count > entry.sent) {
      // During a flood, only new violations are enqueued; the final counts follow when it ends.
      if (!isOver && entry.sent > 0) return;
    } else if (entry.stored >= entry.count || now < entry.retryAt) return;
    entry.sent = entry.count;
    entry.retryAt = now + delayOf(RETRY, entry.tries++);
    const { minute, identifier, rule, limit, windowSeconds, requestId, count, firstAt, lastAt } = entry;
    due.push({ minute, identifier, rule, limit, windowSeconds, requestId, count, firstAt, lastAt });
  }

  /**
   * Whether the violation's minute is over and its count is in D1. Until then it is kept, so that its count continues.
   */
  #isDone(entry: Entry, now: number): boolean {
    return entry.stored >= entry.count && now >= minuteEnd(entry.minute);
  }

  #entry(request: RefusedRequest, at: number): Entry {
    const entries = this.#entries ?? this.#load();
    const minute = minuteOf(at);
    const key = keyOf(request, minute);
    const known = entries.get(key);
    if (known) return known;
    const { identifier, rule, limit, windowSeconds, requestId } = request;
    const times = { minute, firstAt: at, lastAt: at };
    const entry = {
      identifier,
      rule,
      limit,
      windowSeconds,
      requestId,
      ...times,
      ...UNKNOWN,
      count: 0,
      saved: 0,
      saveAt: 1,
    };
    entries.set(key, entry);
    return entry;
  }

  #save(entry: Entry): void {
    this.#makeTable();
    this.#sql.exec(
      `INSERT OR REPLACE INTO violations
         (minute, identifier, rule, rate_limit, window_seconds, count, first_at, last_at, stored)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      entry.minute,
      entry.identifier,
      entry.rule,
      entry.limit,
      entry.windowSeconds,
      entry.count,
      entry.firstAt,
      entry.lastAt,
      entry.stored,
    );
    entry.saved = entry.count;
    entry.saveAt = nextSave(entry.count);
  }

  #drop(key: string, { minute, identifier, rule }: Entry): void {
    this.#entries?.delete(key);
    this.#makeTable();
    this.#sql.exec("DELETE FROM violations WHERE minute = ? AND identifier = ? AND rule = ?", minute, identifier, rule);
  }

  /** Creates the table on first use. Most objects never refuse a request and have no table. */
  #makeTable(): void {
    if (!this.#hasTable) for (const statement of VIOLATION_SCHEMA) this.#sql.exec(statement);
    this.#hasTable = true;
  }

  #load(): Map<string, Entry> {
    const entries = new Map<string, Entry>();
    this.#entries = entries;
    this.#hasTable = hasTable(this.#sql, "violations");
    if (!this.#hasTable) return entries;
    const rows = this.#sql.exec<Row>(
      `SELECT minute, identifier, rule, rate_limit AS "limit", window_seconds AS windowSeconds, count,
         first_at AS firstAt, last_at AS lastAt, stored FROM violations`,
    );
    for (const row of rows) {
      entries.set(keyOf(row, row.minute), { ...UNKNOWN, ...row, saved: row.count, saveAt: nextSave(row.count) });
      this.#dueAt = AT_ONCE;
    }
    return entries;
  }
}

/** Runs `work` and writes the counts of its checks and refusals. The caller rolls both back with its transaction. */
export function counted<T>(limiter: Limiter, violations: ViolationOutbox, work: () => T): T {
  const result = work();
  limiter.flush();
  violations.flush();
  return result;
}

/** Initial state of an entry, new or read from disk. What was enqueued before a restart may be lost. */
const UNKNOWN = { sent: 0, stored: 0, retryAt: 0, tries: 0 } as const;

function keyOf({ identifier, rule }: RefusedRequest, minute: number): string {
  return `${minute} ${identifier} ${rule}`;
}

/**
 * Whether no refusal is being added: the minute is over, or the last refusal is a while ago. Also `true` if the clock
 * was set back.
 */
function isQuiet({ lastAt, minute }: Entry, now: number): boolean {
  return now >= minuteEnd(minute) || now - lastAt >= QUIET_MS || now < lastAt;
}

function nextLook(entry: Entry, now: number): number {
  if (entry.count > entry.sent || !isQuiet(entry, now)) return now + FLOOD_LOOK_MS;
  return entry.stored < entry.count ? entry.retryAt : minuteEnd(entry.minute);
}

function nextSave(count: number): number {
  let next = 1;
  while (next <= count) next *= SAVE_FACTOR;
  return next;
}
