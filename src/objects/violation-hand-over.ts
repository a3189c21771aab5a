import type { Env } from "../env.ts";
import { operation } from "../http/log.ts";
import type { ViolationOutbox } from "../limits/violation-outbox.ts";
import { settingsOf } from "../settings.ts";

/** Violations in one message: about 300 bytes each, and a queue takes 128 KB. */
const IN_MESSAGE = 200;

/**
 * Hands violations that are due to the queue; called by an object's alarm. The runtime lets no message out before the
 * turn's writes are on disk. A message that is lost on the way is sent again by a later alarm.
 */
export function handOverViolations(env: Env, outbox: ViolationOutbox, owner: string, now: number): void {
  const threshold = settingsOf(env).LOG_LEVEL;
  const { violations, dropped } = outbox.take(now);
  if (dropped > 0) {
    operation(threshold, "error", { event: "violations.send", outcome: "expired", owner, count: dropped });
  }
  for (let at = 0; at < violations.length; at += IN_MESSAGE) {
    const part = violations.slice(at, at + IN_MESSAGE);
    env.VIOLATION_QUEUE.send([owner, part]).catch((error: unknown) => {
      const fault = error instanceof Error ? error.name : "unknown";
      operation(threshold, "warn", { event: "violations.send", outcome: "failed", owner, count: part.length, fault });
    });
  }
}
