import { createHash, timingSafeEqual } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import type { AppEnv } from "../http/context.ts";
import { refuse } from "../http/errors.ts";
import { countByAddress } from "./address-limits.ts";
import { bearerToken } from "./user-guard.ts";

/** Lets in the operator, by the token of the settings. Every try counts by address; without a token there is no route. */
export const operatorGuard: MiddlewareHandler<AppEnv> = async (c, next) => {
  await countByAddress(c, "API_DEFAULT");
  const { OPERATOR_TOKEN } = c.get("settings");
  if (OPERATOR_TOKEN === undefined) return refuse("NOT_FOUND", "There is nothing at this path.");
  const token = bearerToken(c);
  if (token === null || !isSame(token, OPERATOR_TOKEN)) {
    return refuse("UNAUTHORIZED", "Send the operator token as Authorization: Bearer.");
  }
  await next();
};

/** In a time that says nothing about either, their lengths included. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
