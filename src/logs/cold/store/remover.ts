import type { D1Database } from "@cloudflare/workers-types";

/** Maximum number of rows that one call deletes. Each row with a body frees a hundred pages or more. */
export const DELETION_ROWS = 50;
/** Maximum number of files that one call returns or removes; R2 deletes up to 1,000 with one call. */
export const DELETION_FILES = 500;

/** `noted_at` of the files of deleted rows, as SQL with parameters after those of the condition. */
interface Noted {
  sql: string;
  params: number[];
}

/** For files that need not wait. */
const IMMEDIATELY: Noted = { sql: "0", params: [] };

/** Orders of an index, so that both statements of a deletion choose the same rows. */
const BY_SEQ = "first_seq, part";
const BY_TIME = "max_ts, min_ts, project_id, first_seq, part";

/**
 * Deletes segments of one D1 database in bounded steps, and keeps the list of orphans: a file that a deleted row names becomes
 * an orphan in the same transaction. Every statement names a workspace.
 */
export class SegmentRemover {
  readonly #db: D1Database;
  readonly #hasFiles: boolean;
  #databaseBytes = 0;

  /** @param hasFiles whether the database has the table `orphans`; that of legacy segments has not */
  constructor(db: D1Database, hasFiles: boolean) {
    this.#db = db;
    this.#hasFiles = hasFiles;
  }

  /** Bytes of the database after the last deletion; 0 before the first one. */
  get databaseBytes(): number {
    return this.#databaseBytes;
  }

  /**
   * Deletes some of a project's segments. Call again until the result is 0.
   * @returns the number of deleted rows
   */
  deleteOfProject(workspaceId: string, projectId: string): Promise<number> {
    const condition = `workspace_id = ?1 AND project_id = ?2 ORDER BY ${BY_SEQ}`;
    return this.#delete(condition, [workspaceId, projectId], IMMEDIATELY);
  }

  deleteOfWorkspace(workspaceId: string): Promise<number> {
    return this.#delete(`workspace_id = ?1 ORDER BY ${BY_TIME}`, [workspaceId], IMMEDIATELY);
  }

  /** Deletes some of a workspace's segments whose newest entry is older than `cutoff`, epoch milliseconds. */
  deleteOlder(workspaceId: string, cutoff: number): Promise<number> {
    const condition = `workspace_id = ?1 AND max_ts < ?2 ORDER BY ${BY_TIME}`;
    return this.#delete(condition, [workspaceId, cutoff], IMMEDIATELY);
  }

  /**
   * Deletes some of a workspace's segments that were replaced before a time. Their files stay for a while.
   * @param before,now epoch milliseconds
   * @param expiryShift milliseconds from the newest timestamp of a file's entries to the latest time at which it is noted, so that
   * it does not stay longer than they would
   */
  deleteReplaced(workspaceId: string, before: number, now: number, expiryShift: number): Promise<number> {
    const condition = "workspace_id = ?1 AND replaced_at < ?2 ORDER BY replaced_at, id";
    const noted = { sql: "min(?3, max(max_ts) + ?4)", params: [now, expiryShift] };
    return this.#delete(condition, [workspaceId, before], noted);
  }

  /** @param noted of the rows' files. The newest reason decides how long they stay */
  async #delete(condition: string, params: (string | number)[], noted: Noted): Promise<number> {
    const chosen = `WHERE id IN (SELECT id FROM segments WHERE ${condition} LIMIT ${DELETION_ROWS})`;
    const note = (column: string) =>
      this.#db
        .prepare(
          `INSERT INTO orphans (file, workspace_id, noted_at)
           SELECT ${column}, workspace_id, ${noted.sql} FROM segments ${chosen} AND ${column} IS NOT NULL GROUP BY ${column}
           ON CONFLICT (file) DO UPDATE SET noted_at = excluded.noted_at`,
        )
        .bind(...params, ...noted.params);
    const notes = this.#hasFiles ? [note("file"), note("filter_file")] : [];
    const results = await this.#db.batch([
      ...notes,
      this.#db.prepare(`DELETE FROM segments ${chosen}`).bind(...params),
    ]);
    const meta = results.at(-1)?.meta;
    this.#databaseBytes = meta?.size_after ?? 0;
    return meta?.changes ?? 0;
  }

  /** Returns some orphans of a workspace that were noted before a time and that no row of this database names. */
  async dueOrphans(workspaceId: string, before: number): Promise<string[]> {
    const { results } = await this.#db
      .prepare(
        `SELECT file FROM orphans WHERE workspace_id = ? AND noted_at < ? AND NOT ${namedSql("orphans.file")}
         LIMIT ${DELETION_FILES}`,
      )
      .bind(workspaceId, before)
      .all<{ file: string }>();
    return results.map(({ file }) => file);
  }

  /** Removes deleted files from the list of orphans. */
  async forgetOrphans(files: readonly string[]): Promise<void> {
    const statement = "DELETE FROM orphans WHERE file IN (SELECT value FROM json_each(?))";
    await this.#db.prepare(statement).bind(JSON.stringify(files)).run();
  }
}

/** Returns the condition that a row names a file, as its segment or as its filter. */
function namedSql(file: string): string {
  const exists = (column: string) => `EXISTS (SELECT 1 FROM segments WHERE ${column} = ${file})`;
  return `(${exists("segments.file")} OR ${exists("segments.filter_file")})`;
}
