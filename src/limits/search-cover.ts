import { maybe } from "../platform/sql.ts";

/** What one counted read of a search covers: further requests of it, until a time. */
export const SEARCH_COVER = { requests: 23, ms: 10 * 60_000 } as const;

/** Longest name of a search. */
const NAME = /^[\w-]{1,64}$/;

/** Returns the name of a search that a client sent; `null` if the text is not a valid name. */
export function searchName(text: string | undefined): string | null {
  return text !== undefined && NAME.test(text) ? text : null;
}

export const SEARCH_COVER_SCHEMA = `CREATE TABLE IF NOT EXISTS covered_searches (
     -- Row: a search of the sandbox whose first request was counted as a read. Deleted by the next search after its end.
     -- As in \`rate_counters\`.
     identifier TEXT NOT NULL,
     -- As the client named it.
     search TEXT NOT NULL,
     -- Requests that are still covered.
     requests INTEGER NOT NULL,
     -- Epoch milliseconds.
     ends_at INTEGER NOT NULL,
     PRIMARY KEY (identifier, search)
   ) STRICT, WITHOUT ROWID`;

/**
 * The searches of a client IP that were counted. A page asks for the rows, the histogram and the facets of one search with
 * several requests, which count once. Each row was paid for with a read, so there are at most as many as the budget has reads.
 */
export class SearchCover {
  readonly #sql: SqlStorage;
  #isReady = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Takes one request of a search that was counted. @returns whether it is covered */
  take(identifier: string, search: string, now: number): boolean {
    this.#provision();
    const row = maybe(
      this.#sql,
      `UPDATE covered_searches SET requests = requests - 1
       WHERE identifier = ? AND search = ? AND requests > 0 AND ends_at > ? RETURNING requests`,
      identifier,
      search,
      now,
    );
    return row !== null;
  }

  /** Begins the cover of a search whose read was counted in the same transaction. */
  begin(identifier: string, search: string, now: number): void {
    this.#provision();
    this.#sql.exec("DELETE FROM covered_searches WHERE ends_at <= ?", now);
    this.#sql.exec(
      `INSERT INTO covered_searches (identifier, search, requests, ends_at) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (identifier, search) DO UPDATE SET requests = ?3, ends_at = ?4`,
      identifier,
      search,
      SEARCH_COVER.requests,
      now + SEARCH_COVER.ms,
    );
  }

  /** Called when the object has deleted its tables. */
  forget(): void {
    this.#isReady = false;
  }

  #provision(): void {
    if (this.#isReady) return;
    this.#sql.exec(SEARCH_COVER_SCHEMA);
    this.#isReady = true;
  }
}
