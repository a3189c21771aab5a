import type { Letter, Mailer } from "./message.ts";

/** Mails kept at most: it is a help for working on one machine, not an archive. */
const KEPT = 500;

/** Keeps mails in D1 for `GET /dev/outbox`: the primary key makes a second try change nothing. */
export function outboxMailer(db: D1Database, now: () => number): Mailer {
  return {
    async send(letter) {
      await storeInOutbox(db, letter, now());
      return { ok: true };
    },
  };
}

export interface OutboxItem {
  id: string;
  to: string;
  kind: string;
  subject: string;
  text: string;
  html: string;
  links: string[];
  /** Epoch milliseconds. */
  createdAt: number;
}

async function storeInOutbox(db: D1Database, letter: Letter, now: number): Promise<void> {
  const { id, to, kind, subject, text, html, links } = letter;
  await db.batch([
    db
      .prepare(
        `INSERT OR IGNORE INTO outbox (id, address, kind, subject, text, html, links, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .bind(id, to, kind, subject, text, html, JSON.stringify(links), now),
    db
      .prepare("DELETE FROM outbox WHERE num <= (SELECT num FROM outbox ORDER BY num DESC LIMIT 1 OFFSET ?)")
      .bind(KEPT),
  ]);
}

type OutboxRow = Omit<OutboxItem, "to" | "links" | "createdAt"> & {
  address: string;
  links: string;
  created_at: number;
};

/** All of it, newest first. */
export async function readOutbox(db: D1Database): Promise<OutboxItem[]> {
  const { results } = await db
    .prepare("SELECT id, address, kind, subject, text, html, links, created_at FROM outbox ORDER BY num DESC")
    .all<OutboxRow>();
  return results.map(({ address, links, created_at, ...rest }) => ({
    ...rest,
    to: address,
    links: JSON.parse(links),
    createdAt: created_at,
  }));
}
