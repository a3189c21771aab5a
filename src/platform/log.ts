import type { Env } from "../env.ts";
import { settingsOf } from "../settings.ts";
import type { Origin } from "./origin.ts";

/** Levels of operation lines; `LOG_LEVEL` silences those below it. */
export type EventLevel = "info" | "warn" | "error";

const ORDER: Record<EventLevel, number> = { info: 0, warn: 1, error: 2 };

/** Names that would carry a secret, an address or log content: the type refuses them. */
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
  /** Dotted name of what was done, e.g. `workspace.ingest`. */
  event: string;
  /** `ok`, or the error code or reason that ended it. */
  outcome: string;
} & { [name: string]: string | number | boolean | null | undefined } & { [name in Forbidden]?: never };

/**
 * Writes one JSON line per operation, made for `wrangler tail --format json`.
 * The threshold is per isolate: router and objects of one worker share their settings.
 */
export function logEvent(threshold: EventLevel, level: EventLevel, fields: EventFields): void {
  if (ORDER[level] >= ORDER[threshold]) console.log(JSON.stringify({ level, ...fields }));
}

/** The level an answer deserves: a fault of ours is an error, a refusal is information. */
export function levelOfStatus(status: number): EventLevel {
  return status >= 500 ? "error" : "info";
}

export type ObjectClass = "workspace" | "user" | "address";

/** Writes an operation line of an object: with its class, and the id of the request or alarm run that caused it. */
export function logObjectEvent(
  env: Env,
  object: ObjectClass,
  { requestId }: Pick<Origin, "requestId">,
  level: EventLevel,
  fields: EventFields,
): void {
  logEvent(settingsOf(env).LOG_LEVEL, level, { ...fields, object, requestId });
}

/** The class of the object that goes by this name: `ws_...`, `usr_...`, or `ip:...` and `email:...`. */
export function classOf(owner: string): ObjectClass {
  if (owner.startsWith("ws_")) return "workspace";
  return owner.startsWith("usr_") ? "user" : "address";
}
