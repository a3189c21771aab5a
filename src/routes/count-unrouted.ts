import type { Context } from "hono";
import type { AppEnv } from "../http/context.ts";
import { countByAddress } from "./address-limits.ts";

const API_GROUPS = /^\/(logger|projects|workspaces|sandbox|invitations)(\/|$)/;
const AUTH_GROUP = /^\/auth(\/|$)/;

/** A request below a limited group that no route serves still counts: by its address, as nobody is known. */
export async function countUnrouted(c: Context<AppEnv>): Promise<void> {
  if (AUTH_GROUP.test(c.req.path)) await countByAddress(c, "AUTH");
  else if (API_GROUPS.test(c.req.path)) await countByAddress(c, "API_DEFAULT");
}
