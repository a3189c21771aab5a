import { recordAudit } from "./audit.ts";
import type { SessionUse } from "./caller.ts";

/** Sessions kept in memory: a few members' at a time. */
const REMEMBERED = 1000;

/**
 * The sign-ins to a workspace: the first use of each session has one audit item. Which sessions have theirs is on disk, and
 * in memory for those seen of late, so a request costs a row read at most.
 */
export class AuditedSessions {
  readonly #sql: SqlStorage;
  readonly #seen = new Set<string>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** To be called in the transaction that admits a member's request. */
  note(userId: string, { id, method, origin }: SessionUse, now: number): void {
    if (this.#seen.has(id)) return;
    if (this.#seen.size >= REMEMBERED) this.#seen.clear();
    this.#seen.add(id);
    const noted = this.#sql.exec(
      "INSERT OR IGNORE INTO audited_sessions (session, at) VALUES (?, ?) RETURNING 1",
      id,
      now,
    );
    if (noted.toArray().length === 0) return;
    const entry = { actor: userId, action: "session.start", target: id } as const;
    recordAudit(this.#sql, method === null ? entry : { ...entry, after: { method } }, origin, now);
  }

  /** What was written is gone: after a rollback, and when everything has been deleted. */
  forget(): void {
    this.#seen.clear();
  }
}
