import type { Context } from "hono";
import type { Origin } from "../platform/origin.ts";
import { clientIp } from "./client-ip.ts";
import type { AppEnv } from "./context.ts";

/** The request as the cause of what it makes objects do. */
export function originOf(c: Context<AppEnv>): Origin {
  return { requestId: c.get("requestId"), address: clientIp(c.req.raw.headers) };
}
