import type { Logger } from "../types.ts";

/** Milliseconds: platforms end what waits behind a response after 30 s. */
const MAX_MS = 25_000;

/**
 * Sends all that waits, for a platform that ends requests, timers and all with the request they were made in. A
 * request that flushes may have started the delivery of what others logged, so it stays until nothing is under way.
 */
export async function drained(logger: Logger): Promise<void> {
  const startedAt = Date.now();
  while ((await logger.flush()).pending > 0 && Date.now() - startedAt < MAX_MS);
}
