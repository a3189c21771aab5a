import type { Sender } from "../settings.ts";
import type { Delivery, Letter, Mailer } from "./mail.ts";

/** The three ways to send a mail: the local outbox, Cloudflare, Resend. */

/** Mails that the local outbox keeps. It is meant for development, not as an archive. */
const KEPT = 500;

/** Stores mails in D1 for `GET /dev/outbox`. The primary key makes a repeated attempt a no-op. */
export function outboxMailer(db: D1Database, now: () => number): Mailer {
  return {
    async send(letter) {
      await storeInOutbox(db, letter, now());
      return { ok: true };
    },
  };
}

export interface OutboxItem extends Letter {
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

/** Returns all mails of the local outbox, newest first. */
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
/** Milliseconds after which a call to a provider is aborted. */
const SEND_TIMEOUT_MS = 10_000;

/** The part of Cloudflare's mail binding that is used here. */
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
 * Sends mails by Cloudflare's binding, which has no idempotency key. The claim on the pending mail keeps attempts
 * apart. If the service crashes after sending and before recording it, the equal Message-ID lets a mailbox recognize
 * the duplicate.
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

/** Sends mails by Resend's HTTP API. Its idempotency key is valid for 24 hours, longer than a mail is retried. */
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
        // Read the body only to free the connection. Its text may contain the e-mail address.
        await response.arrayBuffer();
      } catch (error) {
        return fault(error);
      }
      return verdict(response.status);
    },
  };
}

/**
 * Converts a provider's status: 400 and 422 concern the letter; 401, 403, 429 and 5xx the account or a temporary state.
 */
function verdict(status: number): Delivery {
  if (status < 300) return { ok: true };
  const refused = status === 400 || status === 422;
  return { ok: false, reason: refused ? "refused" : "failed", detail: String(status) };
}

/** Returns the name of a fault without its message, which may contain the e-mail address. */
function fault(error: unknown): Delivery {
  return { ok: false, reason: "failed", detail: error instanceof Error ? error.name : "unknown" };
}
