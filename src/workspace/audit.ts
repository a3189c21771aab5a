import type { Origin } from "../platform/origin.ts";
import { type AuditAction, actionWords } from "./audit-actions.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Milliseconds for which an item is listed and stored: 365 days. */
export const AUDIT_KEPT_MS = 365 * DAY_MS;

/** Maximum bytes of JSON of `before` and of `after`; larger values are omitted. */
export const AUDIT_STATE_BYTES = 1024;

/** Maximum rows that one page scans, whatever its filters: a few milliseconds. */
const SCAN_ROWS = 5000;
/** The same with a search, which reads the states of each row. */
const SEARCHED_ROWS = 1000;

/** Maximum rows that one step deletes. */
const SWEEP_ROWS = 1000;

/**
 * One row per change, written in the change's transaction. `num` is the order and the only index, because rows written
 * are the cost. The newest row is never deleted, so a `num` is never reused.
 */
export const AUDIT_SCHEMA = [
  `CREATE TABLE audit (
     -- Row: a change, the first use of a session, or a call of an agent.
     -- The order, never reused, because the newest row is never deleted.
     num INTEGER PRIMARY KEY,
     at INTEGER NOT NULL,
     -- A user id, the id of a key or a grant that an agent used, or \`system\`.
     actor TEXT NOT NULL,
     action TEXT NOT NULL,
     -- The id of what was changed.
     target TEXT NOT NULL,
     -- The client IP.
     address TEXT,
     -- Of the request or the alarm run.
     request_id TEXT NOT NULL,
     -- JSON of at most 1,024 bytes.
     before TEXT,
     -- JSON of at most 1,024 bytes.
     after TEXT
   ) STRICT`,
  `CREATE TABLE audited_sessions (
     -- Row: a session whose first use has its row in \`audit\`; deleted after 91 days, because a session lasts at
     -- most 90.
     session TEXT PRIMARY KEY,
     at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
] as const;

/** Values before or after a change. Never a secret. */
export type AuditState = Readonly<Record<string, unknown>>;

export interface AuditChange {
  before?: AuditState;
  after?: AuditState;
}

export interface AuditEntry extends AuditChange {
  actor: string;
  action: AuditAction;
  target: string;
}

export interface AuditItem extends AuditEntry {
  /** Rises by 1 with each item of a workspace. */
  num: number;
  /** Epoch milliseconds. */
  at: number;
  address: string | null;
  requestId: string;
}

/**
 * Records a change of the current turn. Call in the transaction of the change, once it is certain that something
 * changes.
 */
export type AuditNote = (target: string, change?: AuditChange) => void;

export function recordAudit(sql: SqlStorage, entry: AuditEntry, { requestId, address }: Origin, now: number): void {
  sql.exec(
    `INSERT INTO audit (at, actor, action, target, address, request_id, before, after) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    now,
    entry.actor,
    entry.action,
    entry.target,
    address,
    requestId,
    stateText(entry.before),
    stateText(entry.after),
  );
}

const encoder = new TextEncoder();

function stateText(state: AuditState | undefined): string | null {
  if (state === undefined) return null;
  const text = JSON.stringify(state);
  return encoder.encode(text).length <= AUDIT_STATE_BYTES ? text : null;
}

export interface AuditFilter {
  actor?: string | undefined;
  /** An action, or the group of several: `key` for `key.create`, `key.rotate` and `key.revoke`. */
  action?: string | undefined;
  target?: string | undefined;
  search?: AuditSearch | undefined;
}

/** Words, each of which an item must have: in its action, in a name, address or role that it records, or in the address of its users. */
export interface AuditSearch {
  text: string;
  /** Addresses of users that have one of the words, by id. */
  emails: Readonly<Record<string, string>>;
}

/** Maximum words of a search. */
export const AUDIT_SEARCH_WORDS = 20;

export interface AuditPage {
  items: AuditItem[];
  /** Start of the next page; `null` at the end. A page may have fewer items than requested, or none, before the end. */
  next: number | null;
}

type Row = {
  num: number;
  at: number;
  actor: string;
  action: AuditAction;
  target: string;
  address: string | null;
  request_id: string;
  before: string | null;
  after: string | null;
};

/**
 * Returns a page, newest first.
 * @param before the `next` of the previous page; null for the newest items
 * @param limit items, at least 1
 */
export function listAudit(
  sql: SqlStorage,
  filter: AuditFilter,
  before: number | null,
  limit: number,
  now: number,
): AuditPage {
  const maxRows = filter.search === undefined ? SCAN_ROWS : SEARCHED_ROWS;
  const isWanted = testOf(filter);
  const rows = sql.exec<Row>(
    "SELECT * FROM audit WHERE num < ? ORDER BY num DESC LIMIT ?",
    before ?? Number.MAX_SAFE_INTEGER,
    maxRows + 1,
  );
  const items: AuditItem[] = [];
  let scanned = 0;
  let last = 0;
  for (const row of rows) {
    // There are more rows after the last scanned one.
    if (scanned === maxRows || items.length === limit) return { items, next: last };
    scanned++;
    last = row.num;
    // Rows are in order of time except for clock changes, so an expired row does not end the scan.
    if (row.at > now - AUDIT_KEPT_MS && isWanted(row)) items.push(fromRow(row));
  }
  return { items, next: null };
}

function testOf({ actor, action, target, search }: AuditFilter): (row: Row) => boolean {
  const isFoundRow = search === undefined ? () => true : searchOf(search);
  return (row) => {
    if (actor !== undefined && row.actor !== actor) return false;
    if (target !== undefined && row.target !== target) return false;
    if (action !== undefined && row.action !== action && !row.action.startsWith(`${action}.`)) return false;
    return isFoundRow(row);
  };
}

/** Prepares a search once for all rows. Parsing the states of every row would take too long, so their texts are searched first. */
function searchOf({ text, emails }: AuditSearch): (row: Row) => boolean {
  const words = searchWords(text);
  const quoted = words.map((word) => JSON.stringify(word).slice(1, -1));
  return (row) => {
    const { action, actor, target, before, after } = row;
    const all = [actionWords(action), emails[actor], emails[target], before, after].join("\n").toLowerCase();
    return quoted.every((word) => all.includes(word)) && hasWords(fromRow(row), words, emails);
  };
}

/** Returns the words of a search, in lower case. */
export function searchWords(text: string): string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

/** Members of `before` and `after` that a search reads. */
const SEARCHED = ["name", "email", "role"] as const;

/** Returns whether an item has all words of a search. */
export function hasWords(
  { action, actor, target, before, after }: Omit<AuditItem, "num">,
  words: readonly string[],
  emails: AuditSearch["emails"],
): boolean {
  const states = [before, after].flatMap((state) => SEARCHED.map((name) => state?.[name]));
  const texts = [actionWords(action), emails[actor], emails[target], ...states];
  const all = texts
    .filter((text) => typeof text === "string")
    .join("\n")
    .toLowerCase();
  return words.every((word) => all.includes(word));
}

function fromRow({ request_id, before, after, ...row }: Row): AuditItem {
  return {
    ...row,
    requestId: request_id,
    // SAFETY: `recordAudit` is the only writer.
    ...(before === null ? {} : { before: JSON.parse(before) as AuditState }),
    ...(after === null ? {} : { after: JSON.parse(after) as AuditState }),
  };
}

/**
 * Deletes some expired items, oldest first, and sessions that ended long ago.
 * @returns whether there may be more of them
 */
export function sweepAudit(sql: SqlStorage, now: number): boolean {
  sql.exec("DELETE FROM audited_sessions WHERE at <= ?", now - SESSION_KEPT_MS);
  const rows = sql.exec<{ num: number; at: number }>("SELECT num, at FROM audit ORDER BY num LIMIT ?", SWEEP_ROWS);
  let last = 0;
  let count = 0;
  for (const { num, at } of rows) {
    if (at > now - AUDIT_KEPT_MS) break;
    last = num;
    count++;
  }
  if (count > 0) sql.exec("DELETE FROM audit WHERE num <= ? AND num < (SELECT MAX(num) FROM audit)", last);
  return count === SWEEP_ROWS;
}

/** The maximum lifetime of a session; see `families.ts`. */
const SESSION_KEPT_MS = 91 * DAY_MS;
