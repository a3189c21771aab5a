import { parse, serialize } from "hono/utils/cookie";
import { FLOW_TTL_MS } from "../accounts/oauth/flows.ts";
import { hashOf } from "../accounts/oauth/secret-text.ts";
import type { Settings } from "../settings.ts";

/** Characters of a state's hash in its cookie's name: each flow has its own cookie, so flows in two tabs do not mix. */
const FLOW_NAME_LENGTH = 12;

/** The `Set-Cookie` that binds a flow to the browser that gets it. */
export function bindingCookie(settings: Settings, state: string, value: string): string {
  return setCookie(settings, state, value, FLOW_TTL_MS / 1000);
}

export function expiredCookie(settings: Settings, state: string): string {
  return setCookie(settings, state, "", 0);
}

/** The value of the cookie that binds this flow; null in another browser. */
export function boundValue(settings: Settings, state: string, headers: Headers): string | null {
  const name = cookieName(settings, state);
  return parse(headers.get("Cookie") ?? "", name)[name] ?? null;
}

/** Lax: it must come along when the provider sends the browser back. */
function setCookie(settings: Settings, state: string, value: string, maxAge: number): string {
  const options = { httpOnly: true, sameSite: "Lax", path: "/", maxAge, secure: isHttps(settings) } as const;
  return serialize<string>(cookieName(settings, state), value, options);
}

/** `__Host-` keeps siblings of the host from setting it, and demands https: over http on loopback the name is plain. */
function cookieName(settings: Settings, state: string): string {
  return `${isHttps(settings) ? "__Host-" : ""}taffrail_oauth_${hashOf(state).slice(0, FLOW_NAME_LENGTH)}`;
}

function isHttps({ BASE_URL }: Settings): boolean {
  return BASE_URL.startsWith("https:");
}
