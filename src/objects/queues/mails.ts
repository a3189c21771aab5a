import type { Env } from "../../env.ts";
import { composeLetter } from "../../mail/compose.ts";
import type { Mailer, MailMessage } from "../../mail/mail.ts";
import { cloudflareMailer, outboxMailer, resendMailer } from "../../mail/mailers.ts";
import { nextMailAt, takeDueMails } from "../../mail/pending-mails.ts";
import type { Duty } from "../../platform/alarm.ts";
import { classOf, logEvent, logObjectEvent } from "../../platform/log.ts";
import type { Origin } from "../../platform/origin.ts";
import { parseSender, settingsOf } from "../../settings.ts";
import { callOwner, retryLater } from "./messages.ts";

/**
 * Enqueues the mails that are due, after the turn that stored them: the runtime sends no message before the turn's
 * writes are on disk. The object's alarm enqueues a mail again if its message was lost.
 * @param origin the request or alarm run that enqueues; each mail has the request that caused it
 */
export function enqueueDueMails(env: Env, sql: SqlStorage, owner: string, now: number, origin: Origin): void {
  const { due, dropped } = takeDueMails(sql, now);
  const object = classOf(owner);
  for (const { id: mailId, requestId } of dropped) {
    const cause = { requestId: requestId ?? origin.requestId };
    logObjectEvent(env, object, cause, "error", { event: "mail.send", outcome: "expired", owner, mailId });
  }
  if (due.length === 0) return;
  const messages = due.map(({ id, requestId }) => {
    const body: MailMessage = [owner, id, requestId ?? origin.requestId];
    return { body };
  });
  env.MAIL_QUEUE.sendBatch(messages).catch((error: unknown) => {
    const fault = error instanceof Error ? error.name : "unknown";
    const line = { event: "mail.hand-over", outcome: "failed", owner, count: due.length, fault };
    logObjectEvent(env, object, origin, "warn", line);
  });
}

/** The duty of an object to enqueue its pending mails. @param owner returns the object's name */
export function mailDuty(env: Env, sql: SqlStorage, owner: () => string): Duty {
  return {
    name: "mails",
    dueAt: () => nextMailAt(sql),
    run: (now, origin) => enqueueDueMails(env, sql, owner(), now, origin),
  };
}

/** Sends the mails of a batch of messages, each separately, so that a failed one does not delay others. */
export async function consumeMails(batch: MessageBatch<MailMessage>, env: Env): Promise<void> {
  const mailer = mailerOf(env);
  await Promise.all(
    batch.messages.map(async (message) => {
      const [owner, mailId, requestId] = message.body;
      const outcome = await sendOne(env, mailer, owner, mailId);
      const level = outcome.name === "failed" || outcome.name === "refused" ? "warn" : "info";
      const { name, ...fields } = outcome;
      const whose = { owner, mailId, requestId: requestId ?? null, attempt: message.attempts };
      const line = { event: "mail.send", outcome: name, ...fields, ...whose };
      logEvent(settingsOf(env).LOG_LEVEL, level, line);
      if (name === "failed") retryLater(message);
      else message.ack();
    }),
  );
}

/**
 * Logs messages that the queue gave up on. The mail is still pending: its object enqueues it again until it expires.
 */
export async function logDeadMails(batch: MessageBatch<MailMessage>, env: Env): Promise<void> {
  for (const { body } of batch.messages) {
    const [owner, mailId, requestId = null] = body;
    const line = { event: "mail.dead-letter", outcome: "noted", owner, mailId, requestId };
    logEvent(settingsOf(env).LOG_LEVEL, "error", line);
  }
  batch.ackAll();
}

type Outcome = { name: "ok" | "failed" | "refused" | "nothing"; kind?: string; detail?: string };

/**
 * Makes one attempt to send a mail. The attempt that claims the mail sends it; a duplicate message, or one during
 * another attempt, finds nothing to claim. If an attempt ends without an outcome, the mail's object enqueues the mail
 * again.
 */
async function sendOne(env: Env, mailer: Mailer, ownerId: string, mailId: string): Promise<Outcome> {
  let kind: string | undefined;
  try {
    const mail = await callOwner(env, ownerId, (owner) => owner.claimMail(mailId));
    if (!mail) return { name: "nothing" };
    kind = mail.content.kind;
    const delivery = await mailer.send(composeLetter(mail, ownerId, settingsOf(env)));
    if (delivery.ok || delivery.reason === "refused") {
      await callOwner(env, ownerId, (owner) => owner.mailSent(mailId));
      return delivery.ok ? { name: "ok", kind } : { name: "refused", kind, detail: delivery.detail };
    }
    await callOwner(env, ownerId, (owner) => owner.releaseMail(mailId));
    return { name: "failed", kind, detail: delivery.detail };
  } catch (error) {
    const detail = error instanceof Error ? error.name : "unknown";
    return { name: "failed", detail, ...(kind === undefined ? {} : { kind }) };
  }
}

/** The mailer that the settings name. */
export function mailerOf(env: Env): Mailer {
  const { MAILER, MAIL_FROM, RESEND_API_KEY } = settingsOf(env);
  const from = parseSender(MAIL_FROM) ?? { name: "", address: MAIL_FROM };
  switch (MAILER) {
    case "outbox":
      return outboxMailer(env.DB, () => Date.now());
    case "cloudflare":
      return cloudflareMailer(env.EMAIL, from);
    case "resend":
      return resendMailer(RESEND_API_KEY ?? "", from, fetch);
  }
}
