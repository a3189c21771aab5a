import type { Context } from "hono";
import type { AppEnv } from "./context.ts";

/**
 * Lets work come to its end although its client disconnects. The runtime drops a request whose client has gone without
 * running its `finally` blocks, and what they would have released stays taken.
 */
export function finishAfterDisconnect<T>(c: Context<AppEnv>, work: Promise<T>): Promise<T> {
  c.executionCtx.waitUntil(work.catch(() => {}));
  return work;
}
