import type { Mail, MailContent } from "./mail.ts";

/**
 * Mails that an object has promised: written in the transaction of what causes them, handed to the queue after it, and
 * deleted once they are sent. A crash anywhere in between leaves the row, and the object's alarm hands it over again.
 */

/** A notice of one kind goes out at most once in this many milliseconds: whoever triggers it may be a stranger. */
const NOTICE_EVERY_MS = 3_600_000;

/**
 * A consumer has this long for one try, in milliseconds; then another may begin. Three times what a mailer waits for its
 * provider, and no longer, as a mail whose consumer died waits for it.
 */
const CLAIM_MS = 30_000;

/** Milliseconds until the alarm hands a mail to the queue again: doubled with every time, up to the maximum. */
const RETRY = { firstMs: 30_000, maxMs: 900_000 } as const;

export const PENDING_MAIL_SCHEMA = [
  `CREATE TABLE IF NOT EXISTS promised_mails (
     id TEXT PRIMARY KEY,
     kind TEXT NOT NULL,
     address TEXT NOT NULL,
     -- 32 random bytes that the link's token is derived from with the pepper; null for a mail without a link.
     seed BLOB,
     -- JSON: what else its text needs, and requestId, the request that caused it.
     details TEXT NOT NULL,
     expires_at INTEGER NOT NULL,
     -- When the alarm hands it to the queue (again).
     next_at INTEGER NOT NULL,
     handed_over INTEGER NOT NULL DEFAULT 0,
     -- A consumer is sending it until this instant.
     claimed_until INTEGER NOT NULL DEFAULT 0
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS notices (
     notice TEXT PRIMARY KEY,
     promised_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
] as const;

/**
 * Promises a mail; the caller hands it over after its transaction. The same id again changes nothing.
 * @returns false for a notice of a kind that went out within the hour
 */
export function addPendingMail(sql: SqlStorage, mail: Mail, now: number): boolean {
  const { kind, ...rest } = mail.content;
  if (mail.content.kind === "notice" && !admitNotice(sql, mail.content.notice, now)) return false;
  const { seed = null, ...parts } = "seed" in rest ? rest : { ...rest, seed: null };
  const details = mail.requestId === undefined ? parts : { ...parts, requestId: mail.requestId };
  sql.exec(
    `INSERT OR IGNORE INTO promised_mails (id, kind, address, seed, details, expires_at, next_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    mail.id,
    kind,
    mail.to,
    seed,
    JSON.stringify(details),
    mail.expiresAt,
    now,
  );
  return true;
}

function admitNotice(sql: SqlStorage, notice: string, now: number): boolean {
  const last = sql.exec("SELECT promised_at FROM notices WHERE notice = ?", notice).toArray()[0]?.promised_at;
  if (typeof last === "number" && now - last < NOTICE_EVERY_MS) return false;
  sql.exec("INSERT OR REPLACE INTO notices (notice, promised_at) VALUES (?, ?)", notice, now);
  return true;
}

/** A promised mail by its id, with the request that caused it; null where none is known. */
export interface MailRef {
  id: string;
  requestId: string | null;
}

type RefRow = { id: string; requestId: string | null };

const REF = "id, json_extract(details, '$.requestId') AS requestId";

/** Takes what is due for the queue and notes that it was handed over; what has expired is dropped. */
export function takeDueMails(sql: SqlStorage, now: number): { due: MailRef[]; dropped: MailRef[] } {
  const dropped = sql.exec<RefRow>(`DELETE FROM promised_mails WHERE expires_at <= ? RETURNING ${REF}`, now).toArray();
  const rows = sql
    .exec<RefRow & { handed_over: number }>(`SELECT ${REF}, handed_over FROM promised_mails WHERE next_at <= ?`, now)
    .toArray();
  for (const { id, handed_over } of rows) {
    const wait = Math.min(RETRY.firstMs * 2 ** handed_over, RETRY.maxMs);
    sql.exec("UPDATE promised_mails SET next_at = ?, handed_over = handed_over + 1 WHERE id = ?", now + wait, id);
  }
  return { due: rows.map(({ id, requestId }) => ({ id, requestId })), dropped };
}

/** When the alarm must look at the promised mails again; null where there are none. */
export function nextMailAt(sql: SqlStorage): number | null {
  const row = sql.exec<{ at: number | null }>("SELECT MIN(MIN(next_at, expires_at)) AS at FROM promised_mails").one();
  return row.at;
}

/**
 * Claims a mail for one try of sending it; null where it is sent, dropped, or being sent by somebody else. The alarm waits
 * for the end of the claim: a message before it would find nothing to do, and the next one would be longer in coming.
 */
export function claimMail(sql: SqlStorage, id: string, now: number): Mail | null {
  const row = sql
    .exec<MailRow>(
      `UPDATE promised_mails SET claimed_until = ?1, next_at = MAX(next_at, ?1)
       WHERE id = ?2 AND claimed_until <= ?3 AND expires_at > ?3
       RETURNING id, kind, address, seed, details, expires_at`,
      now + CLAIM_MS,
      id,
      now,
    )
    .toArray()[0];
  return row ? fromRow(row) : null;
}

/** The mail is sent: nothing of it is kept. */
export function mailSent(sql: SqlStorage, id: string): void {
  sql.exec("DELETE FROM promised_mails WHERE id = ?", id);
}

/** The try failed: whoever gets the message again may begin at once. */
export function releaseMail(sql: SqlStorage, id: string): void {
  sql.exec("UPDATE promised_mails SET claimed_until = 0 WHERE id = ?", id);
}

type MailRow = {
  id: string;
  kind: string;
  address: string;
  seed: ArrayBuffer | null;
  details: string;
  expires_at: number;
};

function fromRow(row: MailRow): Mail {
  const seed = row.seed === null ? {} : { seed: new Uint8Array(row.seed) };
  // SAFETY: `addPendingMail` is the only writer, and writes exactly the parts of a `MailContent` and `requestId`.
  const { requestId, ...details } = JSON.parse(row.details) as { requestId?: string };
  const content = { kind: row.kind, ...seed, ...details } as MailContent;
  return { id: row.id, to: row.address, content, expiresAt: row.expires_at, requestId };
}
