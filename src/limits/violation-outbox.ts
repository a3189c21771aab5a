import { minuteEnd, minuteOf, type RefusedRequest, type Violation } from "./violations.ts";

/** Milliseconds from the first refusal after a quiet time to the alarm that hands it over. */
const FIRST_LOOK_MS = 2000;
/** Milliseconds between two looks at a flood: less than the 10 s after which an idle object loses its memory. */
const FLOOD_LOOK_MS = 8000;
/** A flood is over when nothing has been refused for so many milliseconds. */
const QUIET_MS = 1000;
/** Between two looks the count is written when it reaches this, its square and so on: what a crash leaves of it. */
const SAVE_FACTOR = 100;
/** Milliseconds until a violation that nobody has confirmed is handed over again: doubled every time, up to the maximum. */
const RETRY = { firstMs: 60_000, maxMs: 900_000 } as const;
/** A violation that could not be handed over for so many milliseconds is dropped. */
const GIVE_UP_MS = 24 * 60 * 60 * 1000;
/** The earliest time that an alarm takes. */
const AT_ONCE = 1;
/** Violations handed over by one look at most: an alarm must stay short. */
const MAX_ENQUEUED = 1000;

export const VIOLATION_SCHEMA = [
  `CREATE TABLE IF NOT EXISTS violations (
     minute INTEGER NOT NULL,
     identifier TEXT NOT NULL,
     rule TEXT NOT NULL,
     rate_limit INTEGER NOT NULL,
     window_seconds INTEGER NOT NULL,
     count INTEGER NOT NULL,
     first_at INTEGER NOT NULL,
     last_at INTEGER NOT NULL,
     -- How many of \`count\` are known to be in D1.
     stored INTEGER NOT NULL DEFAULT 0,
     PRIMARY KEY (minute, identifier, rule)
   ) STRICT, WITHOUT ROWID`,
] as const;

/** A mapped type, as `exec` takes no interface. */
type Row = Omit<Violation, "requestId"> & { stored: number };

interface Entry extends Violation {
  /** The count that the row on disk has; 0 without a row. */
  saved: number;
  /** The count at which the row is next written without waiting for a look. */
  saveAt: number;
  /** The count that was last handed over, and the one that is known to be in D1. */
  sent: number;
  stored: number;
  /** When it is handed over again if it is not confirmed. */
  retryAt: number;
  tries: number;
}

/** What one look has to hand over. */
export interface Due {
  violations: Violation[];
  /** How many were given up. */
  dropped: number;
}

/**
 * Refused requests of one object, on their way to D1: counted in memory by identifier, rule and minute, handed to the
 * queue by the object's alarm, kept until the queue's consumer says that they are stored.
 *
 * The first refusal of a minute writes a row in the turn that refuses it, so the violation itself is never lost. Its
 * count is written when the flood is over, which the alarm looks for while the object is still awake: a flood of any size
 * costs a handful of rows. Losing the memory in the middle of one loses counts, nothing else.
 */
export class ViolationOutbox {
  readonly #sql: SqlStorage;
  #entries: Map<string, Entry> | null = null;
  #hasTable = false;
  /** Refusals of the turn under way, which may still be rolled back. */
  #turn: { request: RefusedRequest; at: number }[] = [];
  #dueAt: number | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** When the object's alarm must call `take`; null when there is nothing to do. */
  get dueAt(): number | null {
    if (this.#entries === null) this.#load();
    return this.#dueAt;
  }

  /** Notes a refusal. Call `flush` before the transaction ends, or `forget` after it was taken back. */
  recordRefusal(request: RefusedRequest, at: number): void {
    this.#turn.push({ request, at });
  }

  /** Counts what the turn has refused. Writes a row for the first refusal of a minute only, and rarely for a later one. */
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
      // Quiet until now: the next look is far off, if there is one at all.
      if (this.#dueAt === null || this.#dueAt > at + FLOOD_LOOK_MS) this.#dueAt = at + FIRST_LOOK_MS;
    }
  }

  /** What was written is gone, the table perhaps, too: after a rollback, and when everything has been deleted. */
  forget(): void {
    this.#turn = [];
    this.#hasTable = false;
    for (const entry of this.#entries?.values() ?? []) entry.saved = 0;
  }

  /** What is to be handed over now. Sets `dueAt` to the next look. */
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

  /** The consumer has written these to D1. */
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
    // Whether or not it was handed over before: from now on the object may sleep.
    if (isOver && entry.saved < entry.count) this.#save(entry);
    if (entry.count > entry.sent) {
      // In the middle of a flood only what has never been handed over: the rest follows when it ends.
      if (!isOver && entry.sent > 0) return;
    } else if (entry.stored >= entry.count || now < entry.retryAt) return;
    entry.sent = entry.count;
    entry.retryAt = now + Math.min(RETRY.firstMs * 2 ** entry.tries++, RETRY.maxMs);
    const { minute, identifier, rule, limit, windowSeconds, requestId, count, firstAt, lastAt } = entry;
    due.push({ minute, identifier, rule, limit, windowSeconds, requestId, count, firstAt, lastAt });
  }

  /** Its minute is over and all of it is in D1. Until then it is kept, as its count must go on, not begin again. */
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

  /** Most objects never refuse anything, and have no table. */
  #makeTable(): void {
    if (!this.#hasTable) for (const statement of VIOLATION_SCHEMA) this.#sql.exec(statement);
    this.#hasTable = true;
  }

  #load(): Map<string, Entry> {
    const entries = new Map<string, Entry>();
    this.#entries = entries;
    this.#hasTable = this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'violations'").toArray().length > 0;
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

/** What an entry begins with, new or read from disk: whatever was handed over before a restart may be lost. */
const UNKNOWN = { sent: 0, stored: 0, retryAt: 0, tries: 0 } as const;

function keyOf({ identifier, rule }: RefusedRequest, minute: number): string {
  return `${minute} ${identifier} ${rule}`;
}

/** Nothing more will be added to it, or nothing has been for a while; also where the clock has been set back. */
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
