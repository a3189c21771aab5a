import { type Backoff, delayOf } from "./backoff.ts";
import { one } from "./sql.ts";

type Row = { id: string } & Record<string, SqlStorageValue>;

/** The table of an outbox. It has the columns `id`, `next_at` and `expires_at` (epoch milliseconds). */
export interface OutboxTable {
  name: string;
  /** The column that counts the attempts. */
  attempts: string;
  /** What `take` selects, with `id`. */
  columns: string;
  /** Delay between attempts. */
  retry: Backoff;
}

/**
 * An outbox in a table: rows written in the transaction of their cause, attempted by a duty of the object's alarm until they are
 * removed or expire. Each attempt postpones the next one before it begins, so that a crash repeats it and nothing else does.
 */
export class RowOutbox<R extends Row> {
  readonly #table: OutboxTable;

  constructor(table: OutboxTable) {
    this.#table = table;
  }

  /** Returns the rows to attempt now and postpones each. Deletes expired rows and returns them too. */
  take(sql: SqlStorage, now: number): { due: (R & { attempts: number })[]; expired: R[] } {
    const { name, attempts, columns, retry } = this.#table;
    const expired = sql.exec<R>(`DELETE FROM ${name} WHERE expires_at <= ? RETURNING ${columns}`, now).toArray();
    const select = `SELECT ${columns}, ${attempts} AS attempts FROM ${name} WHERE next_at <= ?`;
    const due = sql.exec<R & { attempts: number }>(select, now).toArray();
    for (const row of due) {
      const next = now + delayOf(retry, row.attempts);
      sql.exec(`UPDATE ${name} SET next_at = ?, ${attempts} = ${attempts} + 1 WHERE id = ?`, next, row.id);
    }
    return { due, expired };
  }

  remove(sql: SqlStorage, id: string): void {
    sql.exec(`DELETE FROM ${this.#table.name} WHERE id = ?`, id);
  }

  /** Returns when `take` must be called next, epoch milliseconds; `null` if there are no rows. */
  nextAt(sql: SqlStorage): number | null {
    return one<{ at: number | null }>(sql, `SELECT MIN(MIN(next_at, expires_at)) AS at FROM ${this.#table.name}`).at;
  }
}
