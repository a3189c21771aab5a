import type { Env } from "../env.ts";
import { operation } from "../http/log.ts";
import { takeDueMails } from "../mail/promised.ts";
import { settingsOf } from "../settings.ts";

/**
 * Hands the mails that are due to the queue, after the turn that promised them: the runtime lets no message out before
 * the turn's writes are on disk. A message that is lost on the way is handed over again by the object's alarm.
 */
export function handOverMails(env: Env, sql: SqlStorage, owner: string, now: number): void {
  const threshold = settingsOf(env).LOG_LEVEL;
  const { due, dropped } = takeDueMails(sql, now);
  for (const mailId of dropped)
    operation(threshold, "error", { event: "mail.send", outcome: "expired", owner, mailId });
  if (due.length === 0) return;
  const messages = due.map((mailId) => ({ body: [owner, mailId] as const }));
  env.MAIL_QUEUE.sendBatch(messages).catch((error: unknown) => {
    const fault = error instanceof Error ? error.name : "unknown";
    operation(threshold, "warn", { event: "mail.hand-over", outcome: "failed", owner, count: due.length, fault });
  });
}
