import type { Logger } from "../types.ts";

/** Deadline in milliseconds. Platforms end work after a response within 30 s. */
const MAX_MS = 25_000;

/**
 * Flushes until no entry is pending, for platforms that end timers and requests with the request that created them.
 * Repeats the flush, because it may have started deliveries with entries of other requests, which would end with it.
 */
export async function flushAll(logger: Logger): Promise<void> {
  const startedAt = Date.now();
  while ((await logger.flush()).pending > 0 && Date.now() - startedAt < MAX_MS);
}
