import type { Env } from "../../env.ts";
import type { ViolationOutbox } from "../../limits/violation-outbox.ts";
import { dropOldViolations, storeViolations, type ViolationMessage } from "../../limits/violations.ts";
import type { Duty } from "../../platform/alarm.ts";
import { classOf, logEvent, logObjectEvent } from "../../platform/log.ts";
import type { Origin } from "../../platform/origin.ts";
import { settingsOf } from "../../settings.ts";
import { callOwner, retryLater } from "./messages.ts";

/** Violations in one message: about 400 bytes each; a queue accepts 128 KB. */
const IN_MESSAGE = 200;

/**
 * Enqueues violations that are due; called by an object's alarm. The runtime sends no message before the turn's writes
 * are on disk. A later alarm sends a lost message again.
 * @param run the alarm run that enqueues
 */
export function enqueueDueViolations(env: Env, outbox: ViolationOutbox, owner: string, now: number, run: Origin): void {
  const object = classOf(owner);
  const { violations, dropped } = outbox.take(now);
  if (dropped > 0) {
    logObjectEvent(env, object, run, "error", { event: "violations.send", outcome: "expired", owner, count: dropped });
  }
  for (let at = 0; at < violations.length; at += IN_MESSAGE) {
    const part = violations.slice(at, at + IN_MESSAGE);
    const requestId = part.find((violation) => violation.requestId !== undefined)?.requestId ?? run.requestId;
    const message: ViolationMessage = [owner, part, requestId];
    env.VIOLATION_QUEUE.send(message).catch((error: unknown) => {
      const fault = error instanceof Error ? error.name : "unknown";
      const line = { event: "violations.send", outcome: "failed", owner, count: part.length, fault };
      logObjectEvent(env, object, { requestId }, "warn", line);
    });
  }
}

/** The duty of an object to enqueue its violations. @param owner returns the object's name */
export function violationDuty(env: Env, outbox: ViolationOutbox, owner: () => string): Duty {
  return {
    name: "violations",
    dueAt: () => outbox.dueAt,
    run: (now, origin) => enqueueDueViolations(env, outbox, owner(), now, origin),
  };
}

/** Writes violations to D1 and notifies their objects, each message separately; then deletes expired rows in steps. */
export async function consumeViolations(batch: MessageBatch<ViolationMessage>, env: Env): Promise<void> {
  const threshold = settingsOf(env).LOG_LEVEL;
  await Promise.all(
    batch.messages.map(async (message) => {
      const [owner, violations, requestId = null] = message.body;
      const whose = { owner, requestId, count: violations.length, attempt: message.attempts };
      const line = { event: "violations.store", ...whose };
      try {
        await storeViolations(env.DB, message.body);
        message.ack();
      } catch (error) {
        logEvent(threshold, "warn", { ...line, outcome: "failed", fault: nameOf(error) });
        retryLater(message);
        return;
      }
      try {
        await callOwner(env, owner, (object) => object.violationsStored(violations));
        logEvent(threshold, "info", { ...line, outcome: "ok" });
      } catch (error) {
        // The object enqueues them again, which changes nothing in D1.
        logEvent(threshold, "warn", { ...line, outcome: "unconfirmed", fault: nameOf(error) });
      }
    }),
  );
  try {
    await dropOldViolations(env.DB, Date.now());
  } catch (error) {
    logEvent(threshold, "warn", { event: "violations.drop-old", outcome: "failed", fault: nameOf(error) });
  }
}

/** Logs messages that the queue gave up on. The object still has the violations and enqueues them again for a day. */
export async function noteDeadViolations(batch: MessageBatch<ViolationMessage>, env: Env): Promise<void> {
  for (const { body } of batch.messages) {
    const [owner, violations, requestId = null] = body;
    const line = { event: "violations.dead-letter", outcome: "noted", owner, requestId, count: violations.length };
    logEvent(settingsOf(env).LOG_LEVEL, "error", line);
  }
  batch.ackAll();
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "unknown";
}
