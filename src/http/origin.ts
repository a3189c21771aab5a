import type { Context } from "hono";
import type { Origin } from "../platform/origin.ts";
import { clientIp } from "./client-ip.ts";
import type { AppEnv } from "./context.ts";

/** The request as the cause of what it makes objects do. */
export function originOf(c: Context<AppEnv>): Origin {
  return { requestId: c.get("requestId"), address: clientAddress(c) };
}

/** The client's address, as limits count it and sessions and activity show it. */
export function clientAddress(c: Context<AppEnv>): string {
  return clientIp(c.req.raw.headers, c.get("settings").DEFAULT_CLIENT_IP);
}
