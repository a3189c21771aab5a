import type { Env } from "../env.ts";
import { type EventFields, type EventLevel, logEvent } from "../http/log.ts";
import type { Origin } from "../platform/origin.ts";
import { settingsOf } from "../settings.ts";

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
