import type { Context } from "hono";
import type { AppEnv } from "../../http/context.ts";
import { isLoopback } from "../../platform/loopback.ts";

/**
 * Whether a request is for a service that runs on this machine for development. DNS rebinding: a foreign page can point
 * its host name at this machine. Under that name it gets nothing.
 */
export function isLocal(c: Context<AppEnv>): boolean {
  return c.get("settings").MAILER === "outbox" && isLoopback(new URL(c.req.url));
}
