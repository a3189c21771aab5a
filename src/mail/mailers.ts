import type { Sender } from "../settings.ts";
import type { Delivery, Letter, Mailer } from "./mail.ts";

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

const RESEND_URL = "https://api.resend.com/emails";
/** Milliseconds that a provider gets to answer. */
const SEND_TIMEOUT_MS = 10_000;

/** As much of Cloudflare's binding as is used here. */
export interface SendBinding {
  send(message: {
    from: { email: string; name: string };
    to: string;
    subject: string;
    text: string;
    html: string;
    headers: Record<string, string>;
  }): Promise<unknown>;
}

/**
 * Cloudflare's own binding. It knows no idempotency key; the claim on the promised mail keeps two tries apart, and the
 * same Message-ID lets a mailbox tell that two letters are one, should a crash fall right between sending and noting it.
 */
export function cloudflareMailer(binding: SendBinding, from: Sender): Mailer {
  return {
    async send(letter) {
      const { to, subject, text, html } = letter;
      try {
        await binding.send({
          from: { email: from.address, name: from.name },
          to,
          subject,
          text,
          html,
          headers: { "Message-ID": `<${letter.id}@${from.address.split("@")[1]}>`, "Auto-Submitted": "auto-generated" },
        });
        return { ok: true };
      } catch (error) {
        return fault(error);
      }
    },
  };
}

/** Resend's HTTP API; its idempotency key holds for 24 hours, longer than a mail is tried. */
export function resendMailer(apiKey: string, from: Sender, send: typeof fetch): Mailer {
  const sender = from.name ? `${from.name} <${from.address}>` : from.address;
  return {
    async send({ id, to, subject, text, html }) {
      let response: Response;
      try {
        response = await send(RESEND_URL, {
          method: "POST",
          headers: {
            Authorization: `Bearer ${apiKey}`,
            "Content-Type": "application/json",
            "Idempotency-Key": id,
          },
          body: JSON.stringify({ from: sender, to: [to], subject, text, html }),
          signal: AbortSignal.timeout(SEND_TIMEOUT_MS),
        });
        // Its text may quote the address: it is read to free the connection, and for nothing else.
        await response.arrayBuffer();
      } catch (error) {
        return fault(error);
      }
      return verdict(response.status);
    },
  };
}

/** 400 and 422 are about this letter; 401, 403, 429 and 5xx are about the account or the moment. */
function verdict(status: number): Delivery {
  if (status < 300) return { ok: true };
  const refused = status === 400 || status === 422;
  return { ok: false, reason: refused ? "refused" : "failed", detail: String(status) };
}

/** The kind of a fault, not its message, which may quote the address. */
function fault(error: unknown): Delivery {
  return { ok: false, reason: "failed", detail: error instanceof Error ? error.name : "unknown" };
}
