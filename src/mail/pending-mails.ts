import { RowOutbox } from "../platform/outbox.ts";
import { maybe } from "../platform/sql.ts";
import type { Mail, MailContent } from "./mail.ts";

/**
 * Mails that an object stores in the transaction of their cause, enqueues after it, and deletes when they are sent.
 * After a crash in between, the row remains and the object's alarm enqueues it again.
 */

/** Milliseconds between two notices of one kind, because an attacker may be able to cause notices. */
const NOTICE_EVERY_MS = 3_600_000;

/**
 * Milliseconds that a consumer has for one attempt; then another attempt may begin. Three times a provider's timeout.
 * Not longer, because a mail whose consumer crashed waits for the end of its claim.
 */
const CLAIM_MS = 30_000;

export const PENDING_MAIL_SCHEMA = [
  `CREATE TABLE IF NOT EXISTS promised_mails (
     -- Row: a pending mail.
     -- Written by: changes that cause a mail; deleted by the consumer.
     -- \`mail_...\`
     id TEXT PRIMARY KEY,
     kind TEXT NOT NULL,
     address TEXT NOT NULL,
     -- 32 random bytes that its token is derived from with the pepper; null for a mail without a link.
     seed BLOB,
     -- JSON: further values of its text, and \`requestId\`, the request that caused it.
     details TEXT NOT NULL,
     expires_at INTEGER NOT NULL,
     -- When the alarm enqueues it, again.
     next_at INTEGER NOT NULL,
     -- How often it was enqueued.
     handed_over INTEGER NOT NULL DEFAULT 0,
     -- Until then a consumer is sending it.
     claimed_until INTEGER NOT NULL DEFAULT 0
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS notices (
     -- Row: the last notice of a kind.
     -- Written by: notices.
     notice TEXT PRIMARY KEY,
     promised_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
] as const;

/**
 * Stores a pending mail. In a user or workspace object call it within `change()`, which enqueues the mail after the
 * transaction. A repeated id changes nothing.
 * @returns `false` if a notice of this kind was stored within the hour
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
  const last = maybe<{ promised_at: number }>(sql, "SELECT promised_at FROM notices WHERE notice = ?", notice);
  if (last !== null && now - last.promised_at < NOTICE_EVERY_MS) return false;
  sql.exec("INSERT OR REPLACE INTO notices (notice, promised_at) VALUES (?, ?)", notice, now);
  return true;
}

/** Id of a pending mail and of the request that caused it; `requestId` is `null` in mails of older versions. */
export interface MailRef {
  id: string;
  requestId: string | null;
}

const OUTBOX = new RowOutbox<{ id: string; requestId: string | null }>({
  name: "promised_mails",
  attempts: "handed_over",
  columns: "id, json_extract(details, '$.requestId') AS requestId",
  retry: { firstMs: 30_000, maxMs: 900_000 },
});

/** Returns the mails to enqueue and records the attempt. Deletes expired mails and returns them as `dropped`. */
export function takeDueMails(sql: SqlStorage, now: number): { due: MailRef[]; dropped: MailRef[] } {
  const { due, expired } = OUTBOX.take(sql, now);
  return { due: due.map(({ id, requestId }) => ({ id, requestId })), dropped: expired };
}

/** Returns when the alarm must process pending mails next, epoch milliseconds; `null` if there are none. */
export function nextMailAt(sql: SqlStorage): number | null {
  return OUTBOX.nextAt(sql);
}

/**
 * Claims a mail for one attempt; `null` if it was sent, dropped or claimed by another consumer. The alarm waits for the
 * end of the claim: a message before it would find nothing to do and lengthen the backoff.
 */
export function claimMail(sql: SqlStorage, id: string, now: number): Mail | null {
  const row = maybe<MailRow>(
    sql,
    `UPDATE promised_mails SET claimed_until = ?1, next_at = MAX(next_at, ?1)
     WHERE id = ?2 AND claimed_until <= ?3 AND expires_at > ?3
     RETURNING id, kind, address, seed, details, expires_at`,
    now + CLAIM_MS,
    id,
    now,
  );
  return row ? fromRow(row) : null;
}

/** Deletes a mail that was sent. */
export function mailSent(sql: SqlStorage, id: string): void {
  OUTBOX.remove(sql, id);
}

/** Releases the claim after a failed attempt, so that the next consumer can begin immediately. */
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
