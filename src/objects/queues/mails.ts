import type { Env } from "../../env.ts";
import { composeLetter } from "../../mail/compose.ts";
import type { Mail, Mailer, MailMessage } from "../../mail/mail.ts";
import { cloudflareMailer, outboxMailer, resendMailer } from "../../mail/mailers.ts";
import { takeDueMails } from "../../mail/pending-mails.ts";
import { classOf, logEvent, logObjectEvent } from "../../platform/log.ts";
import type { Origin } from "../../platform/origin.ts";
import { callAddress, callUser, callWorkspace } from "../../rpc/call.ts";
import { parseSender, settingsOf } from "../../settings.ts";

/**
 * Hands the mails that are due to the queue, after the turn that promised them: the runtime lets no message out before
 * the turn's writes are on disk. A message that is lost on the way is handed over again by the object's alarm.
 * @param origin the request or alarm run that hands over; each mail carries the request that promised it
 */
export function enqueueDueMails(env: Env, sql: SqlStorage, owner: string, now: number, origin: Origin): void {
  const { due, dropped } = takeDueMails(sql, now);
  const object = classOf(owner);
  for (const { id: mailId, requestId } of dropped) {
    const cause = { requestId: requestId ?? origin.requestId };
    logObjectEvent(env, object, cause, "error", { event: "mail.send", outcome: "expired", owner, mailId });
  }
  if (due.length === 0) return;
  const messages = due.map(({ id, requestId }) => ({ body: [owner, id, requestId ?? origin.requestId] as const }));
  env.MAIL_QUEUE.sendBatch(messages).catch((error: unknown) => {
    const fault = error instanceof Error ? error.name : "unknown";
    const line = { event: "mail.hand-over", outcome: "failed", owner, count: due.length, fault };
    logObjectEvent(env, object, origin, "warn", line);
  });
}

/** Seconds until the queue brings a message back whose mail could not be sent; then twice as long each time. */
const RETRY_SECONDS = 10;

/** What the consumer needs of an object that promises mails. */
interface MailOwner {
  claimMail(mailId: string): Promise<Mail | null>;
  mailSent(mailId: string): Promise<void>;
  releaseMail(mailId: string): Promise<void>;
}

/** Sends the mails that a batch names, each by itself: one that fails holds up no other. */
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
      if (name === "failed") message.retry({ delaySeconds: RETRY_SECONDS * 2 ** (message.attempts - 1) });
      else message.ack();
    }),
  );
}

/** What the queue gave up on. The mail itself is still promised: its object hands it over again, until it expires. */
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
 * One try. Whoever claims the mail sends it; a message that comes twice, or while another try is under way, finds nothing
 * to claim. Where a claim ends without a word, the mail's object hands it over again.
 */
async function sendOne(env: Env, mailer: Mailer, ownerId: string, mailId: string): Promise<Outcome> {
  let kind: string | undefined;
  try {
    const mail = await owned(env, ownerId, (owner) => owner.claimMail(mailId));
    if (!mail) return { name: "nothing" };
    kind = mail.content.kind;
    const delivery = await mailer.send(composeLetter(mail, ownerId, settingsOf(env)));
    if (delivery.ok || delivery.reason === "refused") {
      await owned(env, ownerId, (owner) => owner.mailSent(mailId));
      return delivery.ok ? { name: "ok", kind } : { name: "refused", kind, detail: delivery.detail };
    }
    await owned(env, ownerId, (owner) => owner.releaseMail(mailId));
    return { name: "failed", kind, detail: delivery.detail };
  } catch (error) {
    const detail = error instanceof Error ? error.name : "unknown";
    return { name: "failed", detail, ...(kind === undefined ? {} : { kind }) };
  }
}

function owned<T>(env: Env, ownerId: string, call: (owner: MailOwner) => Promise<T>): Promise<T> {
  if (ownerId.startsWith("usr_")) return callUser(env, ownerId, "replay-safe", call);
  if (ownerId.startsWith("ws_")) return callWorkspace(env, ownerId, "replay-safe", call);
  return callAddress(env, ownerId, "replay-safe", call);
}

function mailerOf(env: Env): Mailer {
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
