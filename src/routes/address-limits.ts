import type { Context, MiddlewareHandler } from "hono";
import type { AppEnv } from "../http/context.ts";
import { refuse } from "../http/errors.ts";
import { clientAddress, originOf } from "../http/origin.ts";
import { API_DEFAULT, AUTH_WINDOW_SECONDS } from "../limits/state.ts";
import { callAddress } from "../objects/stubs.ts";

/** Which counter of the client's address a request falls under. */
export type AddressPreset = "AUTH" | "API_DEFAULT";

/**
 * Counts one request by client address: all of `/auth`, API requests without a valid credential, and JSON answers outside
 * the API's groups. Ends the request with 429 when the limit is used up.
 */
export async function countByAddress(c: Context<AppEnv>, preset: AddressPreset): Promise<void> {
  const ip = clientAddress(c);
  const limits =
    preset === "AUTH" ? { limit: c.get("settings").AUTH_LIMIT, windowSeconds: AUTH_WINDOW_SECONDS } : API_DEFAULT;
  // The preset is part of the identifier: both presets have the same window, and each counts by itself.
  const identifier = preset === "AUTH" ? `auth:${ip}` : `ip:${ip}`;
  const state = await callAddress(c.env, `ip:${ip}`, "once", (stub) =>
    stub.check({ identifier, cost: 1, ...limits }, preset, originOf(c)),
  );
  c.set("limit", state);
  if (!state.admitted) refuse("RATE_LIMITED", "Too many requests");
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
