import type { Env } from "../env.ts";
import { settingsOf } from "../settings.ts";
import type { Origin } from "./origin.ts";

/** Levels of events. `LOG_LEVEL` suppresses those below it. */
export type EventLevel = "info" | "warn" | "error";

const ORDER: Record<EventLevel, number> = { info: 0, warn: 1, error: 2 };

/** Names of members that could contain a secret, an address or log content. The type rejects them. */
type Forbidden =
  | "token"
  | "accessToken"
  | "refreshToken"
  | "secret"
  | "apiKey"
  | "password"
  | "email"
  | "authorization"
  | "cookie"
  | "message"
  | "body"
  | "data"
  | "entries"
  | "code"
  | "url";

export type EventFields = {
  /** Dotted name of the operation, e.g. `workspace.ingest`. */
  event: string;
  /** `ok`, or the error code or reason of the failure. */
  outcome: string;
} & { [name: string]: string | number | boolean | null | undefined } & { [name in Forbidden]?: never };

/**
 * Writes an event as one line of JSON, for `wrangler tail --format json`. `time` is ISO 8601 UTC with milliseconds. The
 * threshold is per isolate, because router and objects of one worker share their settings.
 */
export function logEvent(threshold: EventLevel, level: EventLevel, fields: EventFields): void {
  if (ORDER[level] < ORDER[threshold]) return;
  console.log(JSON.stringify({ time: new Date().toISOString(), level, ...fields }));
}

/** Returns the level of a response: `error` for a fault of the service, `info` otherwise. */
export function levelOfStatus(status: number): EventLevel {
  return status >= 500 ? "error" : "info";
}

export type ObjectClass = "workspace" | "user" | "address";

/** Writes an event of an object, with its class and the id of the request or alarm run that caused it. */
export function logObjectEvent(
  env: Env,
  object: ObjectClass,
  { requestId }: Pick<Origin, "requestId">,
  level: EventLevel,
  fields: EventFields,
): void {
  logEvent(settingsOf(env).LOG_LEVEL, level, { ...fields, object, requestId });
}

/** Returns the class of an object by its name: `ws_...`, `usr_...`, or `ip:...` and `email:...`. */
export function classOf(owner: string): ObjectClass {
  if (owner.startsWith("ws_")) return "workspace";
  return owner.startsWith("usr_") ? "user" : "address";
}
