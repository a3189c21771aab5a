import type { Delivery, Mailer } from "./message.ts";
import type { Sender } from "./sender.ts";

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
