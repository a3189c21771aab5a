import type { Env } from "../env.ts";
import { takeDueMails } from "../mail/promised.ts";
import type { Origin } from "../platform/origin.ts";
import { classOf, logObjectEvent } from "./object-line.ts";

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
