import type { Context, MiddlewareHandler } from "hono";
import { type AppEnv, clientAddress, noteLimit, originOf, refuseIfLimited } from "../../http/context.ts";
import { API_DEFAULT, AUTH_WINDOW_SECONDS, type LimitState } from "../../limits/state.ts";
import { callAddress } from "../../rpc/call.ts";

/** The limit of the client IP that a request counts under. */
export type AddressPreset = "AUTH" | "API_DEFAULT";

/**
 * Counts one request by client IP: all of `/auth`, API requests without a valid credential, and JSON responses outside
 * the API's groups. Ends the request with 429 if the limit is used up.
 */
export async function countByAddress(c: Context<AppEnv>, preset: AddressPreset): Promise<void> {
  refuseIfLimited(c, await check(c, preset, 1));
}

/** Sets the limit headers of a request that does not count under AUTH. */
export async function setAuthLimitState(c: Context<AppEnv>): Promise<void> {
  noteLimit(c, await check(c, "AUTH", 0));
}

/**
 * Whether the state of one more provider callback may be looked up before it counts under AUTH. Only the lookup shows
 * whether a callback is free. A lookup costs the database as much as any unauthenticated request, so it has the same
 * limit: after 1,000 a minute, callbacks of a client IP count first.
 */
export async function mayLookUpFlow(c: Context<AppEnv>): Promise<boolean> {
  return (await check(c, "API_DEFAULT", 1, "callback")).admitted;
}

/** @param counter name of the counter beside the IP. Each preset has a separate one, because the windows are equal. */
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

/** Counts every `/auth` request by client IP before anything of the request is read. */
export const authLimit: MiddlewareHandler<AppEnv> = async (c, next) => {
  await countByAddress(c, "AUTH");
  await next();
};

/** Counts JSON responses outside the API's groups by client IP, because they have no other caller. */
export const publicLimit: MiddlewareHandler<AppEnv> = async (c, next) => {
  await countByAddress(c, "API_DEFAULT");
  await next();
};

/**
 * Limits of the authorization server for one client IP in an hour: registrations of clients, and fetches of metadata documents
 * from other hosts.
 */
const HOURLY = { AGENT_REGISTRATION: 20, CLIENT_DOCUMENT: 60 } as const;
const HOUR_SECONDS = 3600;

/** Counts one of a client IP's actions that are limited by the hour. */
function countHourly(c: Context<AppEnv>, rule: keyof typeof HOURLY): Promise<LimitState> {
  const ip = clientAddress(c);
  const counter = rule.toLowerCase().replace("_", "-");
  const request = { identifier: `${counter}:${ip}`, cost: 1, limit: HOURLY[rule], windowSeconds: HOUR_SECONDS };
  return callAddress(c.env, `ip:${ip}`, "once", (stub) => stub.check(request, rule, originOf(c)));
}

/** Counts the fetch of a metadata document. The headers of the response show the limit only if it refuses the request. */
export async function countDocumentFetch(c: Context<AppEnv>): Promise<void> {
  const state = await countHourly(c, "CLIENT_DOCUMENT");
  if (!state.admitted) refuseIfLimited(c, state);
}

/** Counts registrations of clients. */
export const registrationLimit: MiddlewareHandler<AppEnv> = async (c, next) => {
  refuseIfLimited(c, await countHourly(c, "AGENT_REGISTRATION"));
  await next();
};

const AUTH_GROUP = /^\/auth(\/|$)/;

/** Counts a request without a route by client IP: under AUTH below `/auth`, otherwise under API_DEFAULT. */
export function countUnrouted(c: Context<AppEnv>): Promise<void> {
  return countByAddress(c, AUTH_GROUP.test(c.req.path) ? "AUTH" : "API_DEFAULT");
}
