import { exists } from "../platform/sql.ts";
import { recordAudit } from "./audit.ts";
import type { SessionUse } from "./permissions.ts";

/** Maximum number of sessions in memory: enough for a few members at a time. */
const REMEMBERED = 1000;

/**
 * The sign-ins to a workspace: the first use of each session has one audit item. The disk records which sessions have
 * an item, and memory the recent ones, so a request costs at most one row read.
 */
export class AuditedSessions {
  readonly #sql: SqlStorage;
  readonly #seen = new Set<string>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Records the session if this is its first use. Call in the transaction that admits the request. */
  note(userId: string, { id, method, origin }: SessionUse, now: number): void {
    if (this.#seen.has(id)) return;
    if (this.#seen.size >= REMEMBERED) this.#seen.clear();
    this.#seen.add(id);
    const insert = "INSERT OR IGNORE INTO audited_sessions (session, at) VALUES (?, ?) RETURNING 1";
    if (!exists(this.#sql, insert, id, now)) return;
    const entry = { actor: userId, action: "session.start", target: id } as const;
    recordAudit(this.#sql, method === null ? entry : { ...entry, after: { method } }, origin, now);
  }

  /** Drops the cache. Call after a rollback, and after all data was deleted. */
  forget(): void {
    this.#seen.clear();
  }
}
