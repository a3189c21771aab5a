import type { Context, MiddlewareHandler } from "hono";
import { type AppEnv, clientAddress, noteLimit, originOf, refuseIfLimited } from "../../http/context.ts";
import { API_DEFAULT, AUTH_WINDOW_SECONDS, type LimitState } from "../../limits/state.ts";
import { callAddress } from "../../rpc/call.ts";

/** Which counter of the client's address a request falls under. */
export type AddressPreset = "AUTH" | "API_DEFAULT";

/**
 * Counts one request by client address: all of `/auth`, API requests without a valid credential, and JSON answers outside
 * the API's groups. Ends the request with 429 when the limit is used up.
 */
export async function countByAddress(c: Context<AppEnv>, preset: AddressPreset): Promise<void> {
  refuseIfLimited(c, await check(c, preset, 1));
}

/** What the headers of a request say that does not count under AUTH. */
export async function setAuthLimitState(c: Context<AppEnv>): Promise<void> {
  noteLimit(c, await check(c, "AUTH", 0));
}

/**
 * Whether the state of one more provider's callback may be looked for before it counts under AUTH. A callback that is free
 * is known by that look alone, which costs the database as much as any request without a credential does, and is as
 * limited: past 1,000 a minute callbacks of an address count first.
 */
export async function mayLookUpFlow(c: Context<AppEnv>): Promise<boolean> {
  return (await check(c, "API_DEFAULT", 1, "callback")).admitted;
}

/** @param counter what the counter is called beside the address: each preset has its own, as the windows are equal */
function check(
  c: Context<AppEnv>,
  preset: AddressPreset,
  cost: 0 | 1,
  counter = preset === "AUTH" ? "auth" : "ip",
): Promise<LimitState> {
  const ip = clientAddress(c);
  const limits =
    preset === "AUTH" ? { limit: c.get("settings").AUTH_LIMIT, windowSeconds: AUTH_WINDOW_SECONDS } : API_DEFAULT;
  const request = { identifier: `${counter}:${ip}`, cost, ...limits };
  return callAddress(c.env, `ip:${ip}`, "once", (stub) => stub.check(request, preset, originOf(c)));
}

/** Every `/auth` route counts by address, before anything of the request is read. */
export const authLimit: MiddlewareHandler<AppEnv> = async (c, next) => {
  await countByAddress(c, "AUTH");
  await next();
};

/** JSON answers outside the API's groups count by address: they know no caller. */
export const publicLimit: MiddlewareHandler<AppEnv> = async (c, next) => {
  await countByAddress(c, "API_DEFAULT");
  await next();
};

const AUTH_GROUP = /^\/auth(\/|$)/;

/** Counts a request that no route serves by its client address: under AUTH below `/auth`, elsewhere under API_DEFAULT. */
export function countUnrouted(c: Context<AppEnv>): Promise<void> {
  return countByAddress(c, AUTH_GROUP.test(c.req.path) ? "AUTH" : "API_DEFAULT");
}
