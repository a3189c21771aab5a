import { CLIENT_DROP_REASONS, type ClientDrops } from "../logs/ingest/client-drops.ts";

/** Counts of the entries that were sent and are not stored, or were sent again: by key, hour and reason. */
export const LEDGER_SCHEMA = [
  `CREATE TABLE ledger (
     -- Row: entries of a key in an hour for which there is one reason not to be stored.
     project INTEGER NOT NULL,
     -- Hours since the epoch.
     hour INTEGER NOT NULL,
     -- \`key_...\`
     key TEXT NOT NULL,
     -- \`merged\`, \`rejected\`, \`limited\`, \`full\`, \`queue-full\` or \`closed\`.
     reason TEXT NOT NULL,
     entries INTEGER NOT NULL,
     requests INTEGER NOT NULL,
     PRIMARY KEY (project, hour, key, reason)
   ) STRICT, WITHOUT ROWID`,
] as const;

/**
 * Why entries are counted. `merged`: a request was recognized as a repetition by its content. `rejected`: invalid.
 * `limited`: the rate limit was used up. `full`: the storage was full. Clients repeat most requests that were limited.
 * `queue-full`, `closed`: what clients of the library dropped before they put it in a request; see `streams.ts`. Other clients
 * say for which of these reasons they dropped entries, also `retries` and `unknown`.
 */
export const LEDGER_REASONS = [
  "merged",
  "rejected",
  "limited",
  "full",
  "queue-full",
  "closed",
  "retries",
  "unknown",
] as const;
export type LedgerReason = (typeof LEDGER_REASONS)[number];

export const HOUR_MS = 60 * 60 * 1000;
/** Hours for which counts are kept. */
export const LEDGER_HOURS = 30 * 24;
/** Rows that one sweep deletes. */
const SWEEP_ROWS = 1_000;
/** Entries of a row or of a gap: a client may claim any number, and sums must be exact. */
export const MAX_COUNT = 1_000_000_000_000_000;

interface Count {
  project: number;
  key: string;
  reason: LedgerReason;
  entries: number;
  requests: number;
}

/** Counts a request of a valid key that was refused before its entries were known. */
export function countRefused(
  sql: SqlStorage,
  frequent: FrequentCounts,
  project: number,
  key: string,
  now: number,
): void {
  const counts = new LedgerCounts();
  counts.add(project, key, "rejected", 0);
  counts.write(sql, frequent, now);
}

/**
 * Counts of requests beyond the rate limit, of which a client in a loop sends thousands a second. They are written with
 * their 1st, 10th, 100th request and so on, with other counts, when the violations are sent, and before the ledger is read.
 */
export class FrequentCounts {
  readonly #held = new Map<string, { count: Count; seen: number; saveAt: number }>();

  add(id: string, count: Count): void {
    const held = this.#held.get(id) ?? { count: { ...count, entries: 0, requests: 0 }, seen: 0, saveAt: 1 };
    held.count.entries += count.entries;
    held.count.requests += count.requests;
    held.seen += count.requests;
    this.#held.set(id, held);
  }

  /** Returns counts that are to be written, and holds them no longer. @param isAll also those that could wait */
  take(isAll: boolean): Count[] {
    const due: Count[] = [];
    for (const held of this.#held.values()) {
      const { count, seen } = held;
      if (count.requests === 0 || !(isAll || seen >= held.saveAt)) continue;
      due.push({ ...count });
      count.entries = 0;
      count.requests = 0;
      while (held.saveAt <= seen) held.saveAt *= 10;
    }
    return due;
  }

  /** Forgets all counts. Call after all data was deleted. */
  clear(): void {
    this.#held.clear();
  }
}

/** Writes the counts that are held, before the ledger is read. */
export function writeFrequent(sql: SqlStorage, frequent: FrequentCounts, now: number): void {
  writeCounts(sql, frequent.take(true), now);
}

/** The counts of one transaction, written once at its end. */
export class LedgerCounts {
  readonly #counts = new Map<string, Count>();

  add(project: number, key: string, reason: LedgerReason, entries: number): void {
    const id = `${project} ${key} ${reason}`;
    const count = this.#counts.get(id) ?? { project, key, reason, entries: 0, requests: 0 };
    count.entries += entries;
    count.requests++;
    this.#counts.set(id, count);
  }

  /** Adds what a client says it has dropped. */
  addDrops({ project, id }: { project: number; id: string }, drops: ClientDrops): void {
    for (const reason of CLIENT_DROP_REASONS) {
      const entries = drops[reason] ?? 0;
      if (entries > 0) this.add(project, id, reason, entries);
    }
  }

  /** @param frequent holds the counts that are not written at once */
  write(sql: SqlStorage, frequent: FrequentCounts, now: number): void {
    if (this.#counts.size === 0) return;
    const written: Count[] = [];
    for (const [id, count] of this.#counts) {
      if (count.reason === "limited") frequent.add(id, count);
      else written.push(count);
    }
    writeCounts(sql, [...written, ...frequent.take(written.length > 0)], now);
  }
}

function writeCounts(sql: SqlStorage, counts: readonly Count[], now: number): void {
  const hour = Math.floor(now / HOUR_MS);
  for (const project of new Set(counts.map((count) => count.project))) deleteSome(sql, project, hour - LEDGER_HOURS);
  for (const { project, key, reason, entries, requests } of counts) {
    sql.exec(
      `INSERT INTO ledger (project, hour, key, reason, entries, requests) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET entries = MIN(entries + excluded.entries, ${MAX_COUNT}), requests = requests + excluded.requests`,
      project,
      hour,
      key,
      reason,
      entries,
      requests,
    );
  }
}

/**
 * Deletes counts of a project up to an hour, some at a time.
 * @returns whether none is left
 */
function deleteSome(sql: SqlStorage, project: number, hour: number): boolean {
  const { rowsWritten } = sql.exec(
    `DELETE FROM ledger WHERE project = ?1 AND (hour, key, reason) IN
       (SELECT hour, key, reason FROM ledger WHERE project = ?1 AND hour <= ?2 LIMIT ?3)`,
    project,
    hour,
    SWEEP_ROWS,
  );
  return rowsWritten < SWEEP_ROWS;
}

/** Deletes some of a deleted project's counts. @returns whether none is left */
export function deleteSomeOfLedger(sql: SqlStorage, project: number): boolean {
  return deleteSome(sql, project, Number.MAX_SAFE_INTEGER);
}
