import type { Env } from "../env.ts";
import type { ViolationOutbox } from "../limits/violation-outbox.ts";
import type { Origin } from "../platform/origin.ts";
import { classOf, logObjectEvent } from "./object-line.ts";

/** Violations in one message: about 400 bytes each, and a queue takes 128 KB. */
const IN_MESSAGE = 200;

/**
 * Hands violations that are due to the queue; called by an object's alarm. The runtime lets no message out before the
 * turn's writes are on disk. A message that is lost on the way is sent again by a later alarm.
 * @param run the alarm run that hands over
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
    env.VIOLATION_QUEUE.send([owner, part, requestId]).catch((error: unknown) => {
      const fault = error instanceof Error ? error.name : "unknown";
      const line = { event: "violations.send", outcome: "failed", owner, count: part.length, fault };
      logObjectEvent(env, object, { requestId }, "warn", line);
    });
  }
}
