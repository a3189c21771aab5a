import type { Context } from "hono";
import type { AppEnv } from "../http/context.ts";
import { countByAddress } from "./address-limits.ts";

const AUTH_GROUP = /^\/auth(\/|$)/;

/** Counts a request that no route serves by its client address: under AUTH below `/auth`, elsewhere under API_DEFAULT. */
export function countUnrouted(c: Context<AppEnv>): Promise<void> {
  return countByAddress(c, AUTH_GROUP.test(c.req.path) ? "AUTH" : "API_DEFAULT");
}
