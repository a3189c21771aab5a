import type { Context, MiddlewareHandler } from "hono";
import { parse, serialize } from "hono/utils/cookie";
import { findByEmail } from "../../accounts/directory.ts";
import { providerClient } from "../../accounts/oauth/clients.ts";
import {
  beginFlow,
  FLOW_TTL_MS,
  type FlowMode,
  type FlowRecord,
  hashOf,
  isSecretShaped,
  randomSecret,
  takeFlow,
} from "../../accounts/oauth/flows.ts";
import { type ArrivalPorts, claimIdentity, findIdentity, releaseClaim } from "../../accounts/oauth/identities.ts";
import type {
  FlowSecrets,
  ProviderClient,
  ProviderFailure,
  ProviderName,
  ProviderProfile,
} from "../../accounts/oauth/provider.ts";
import type { Env } from "../../env.ts";
import type { AppEnv } from "../../http/context.ts";
import { ApiError, type ErrorCode, refuse } from "../../http/errors.ts";
import type { Origin } from "../../platform/origin.ts";
import { callUser } from "../../rpc/call.ts";
import type { Settings } from "../../settings.ts";
import { countByAddress, mayLookUpFlow, setAuthLimitState } from "../guards/address.ts";
import { isBrowser } from "../site/pages.ts";
import { signUp } from "./sign-in.ts";

/**
 * Characters of a state's hash in its cookie's name. Each flow has a separate cookie, so flows in two tabs do not mix.
 */
const FLOW_NAME_LENGTH = 12;

/** Returns the `Set-Cookie` that binds a flow to its browser. */
export function bindingCookie(settings: Settings, state: string, value: string): string {
  return setCookie(settings, state, value, FLOW_TTL_MS / 1000);
}

export function expiredCookie(settings: Settings, state: string): string {
  return setCookie(settings, state, "", 0);
}

/** Returns the value of the cookie that binds this flow; `null` in another browser. */
export function boundValue(settings: Settings, state: string, headers: Headers): string | null {
  const name = cookieName(settings, state);
  return parse(headers.get("Cookie") ?? "", name)[name] ?? null;
}

/** `Lax`, because the cookie must be sent when the provider redirects the browser back. */
function setCookie(settings: Settings, state: string, value: string, maxAge: number): string {
  const options = { httpOnly: true, sameSite: "Lax", path: "/", maxAge, secure: isHttps(settings) } as const;
  return serialize<string>(cookieName(settings, state), value, options);
}

/**
 * `__Host-` stops sibling hosts from setting the cookie and requires https. Over http on loopback the name is plain.
 */
function cookieName(settings: Settings, state: string): string {
  return `${isHttps(settings) ? "__Host-" : ""}taffrail_oauth_${hashOf(state).slice(0, FLOW_NAME_LENGTH)}`;
}

function isHttps({ BASE_URL }: Settings): boolean {
  return BASE_URL.startsWith("https:");
}

/** The start of a flow: the provider's page, and the cookie that identifies the browser in the callback. */
export interface FlowStart {
  authorizeUrl: URL;
  cookie: string;
}

export async function startFlow(c: Context<AppEnv>, provider: ProviderName, purpose: FlowMode): Promise<FlowStart> {
  const settings = c.get("settings");
  const client = configuredClient(provider, settings);
  const flow = flowSecrets(settings, provider, {
    state: randomSecret(),
    verifier: randomSecret(),
    nonce: randomSecret(),
  });
  const authorizeUrl = await client.authorizeUrl(flow);
  if (!authorizeUrl.ok) return refuseProvider(c, authorizeUrl);
  const browser = randomSecret();
  const { state, verifier, nonce } = flow;
  const record = { provider, purpose, verifier, nonce, browserHash: hashOf(browser) };
  await beginFlow(c.env.DB, state, record, Date.now());
  return { authorizeUrl: authorizeUrl.value, cookie: bindingCookie(settings, state, browser) };
}

/** The user who came back, and the mode of the flow. `bound`: in the browser that began the flow. */
export interface FlowEnd {
  profile: ProviderProfile;
  purpose: FlowMode;
  bound: boolean;
}

/**
 * Handles a callback and counts it. The state is used up first, whatever the outcome; then it is compared with the path
 * and the browser. A link continues in another browser too, because nothing is linked yet.
 */
export async function finishFlow(c: Context<AppEnv>, provider: ProviderName): Promise<FlowEnd> {
  const settings = c.get("settings");
  const callback = new URL(c.req.url).searchParams;
  const state = stateOf(callback);
  const flow = await takeCounted(c, state);
  const client = configuredClient(provider, settings);
  if (state === null || flow?.provider !== provider) return refuseState();
  const bound = isBound(settings, state, flow, c.req.raw.headers);
  const { purpose, verifier, nonce } = flow;
  if (!bound && purpose.mode !== "link") return refuseState();
  const profile = await client.profile(callback, flowSecrets(settings, provider, { state, verifier, nonce }));
  return profile.ok ? { profile: profile.value, purpose, bound } : refuseProvider(c, profile);
}

/**
 * Returns the flow of a callback's state; `null` if no flow has it. The start of the flow has counted under AUTH, so
 * the callback that uses it up does not: a sign-in must not fail at its last step. Every other callback counts.
 */
async function takeCounted(c: Context<AppEnv>, state: string | null): Promise<FlowRecord | null> {
  const take = async () => (state === null ? null : takeFlow(c.env.DB, state, Date.now()));
  const mayLook = state !== null && isSecretShaped(state) && (await mayLookUpFlow(c));
  const flow = mayLook ? await take() : null;
  if (flow) {
    await setAuthLimitState(c);
    return flow;
  }
  await countByAddress(c, "AUTH");
  return mayLook ? null : take();
}

/** Redirects the browser to the frontend only. */
export function toFrontend(settings: Settings, parameters: Readonly<Record<string, string>>): Response {
  const url = new URL("/auth/callback", settings.FRONTEND_URL);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return redirect(url);
}

/** The URL contains secrets, so neither a cache nor the next page's server may get it. */
export function redirect(to: URL): Response {
  const headers = { Location: to.href, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" };
  return new Response(null, { status: 302, headers });
}

/**
 * Redirects failures of the routes behind this to the frontend, because a browser that follows a redirect shows pages,
 * not envelopes. Covers all failures or those of one code; a browser, which lists `text/html`, is always redirected.
 */
export function failToFrontend(which: "all" | ErrorCode): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    await next();
    if (!c.error) return;
    const code = c.error instanceof ApiError ? c.error.refusal.code : "INTERNAL_ERROR";
    if (which !== "all" && which !== code && !isBrowser(c)) return;
    // Removed first: otherwise the headers of a replaced response are copied to the new one.
    c.res = undefined;
    c.res = toFrontend(c.get("settings"), { error: code });
  };
}

/**
 * Expires the cookie of a flow after its callback, whatever the outcome. Only a limited request has not reached the
 * flow. Use outside `failToFrontend`, which replaces the response.
 */
export const expireFlowCookie: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  if (c.error instanceof ApiError && c.error.refusal.code === "RATE_LIMITED") return;
  const state = stateOf(new URL(c.req.url).searchParams);
  const settings = c.get("settings");
  if (c.req.method === "HEAD" || state === null || boundValue(settings, state, c.req.raw.headers) === null) return;
  c.res.headers.append("Set-Cookie", expiredCookie(settings, state));
};

function configuredClient(provider: ProviderName, settings: Settings): ProviderClient {
  const client = providerClient(provider, settings);
  return client ?? refuse("OAUTH_NOT_CONFIGURED", "This provider is not configured.");
}

function flowSecrets(
  { BASE_URL }: Settings,
  provider: ProviderName,
  secrets: Omit<FlowSecrets, "redirectUri">,
): FlowSecrets {
  return { ...secrets, redirectUri: `${BASE_URL}/auth/oauth/${provider}/callback` };
}

function stateOf(callback: URLSearchParams): string | null {
  const [state, ...others] = callback.getAll("state");
  return state !== undefined && others.length === 0 ? state : null;
}

function isBound(settings: Settings, state: string, flow: FlowRecord, headers: Headers): boolean {
  const value = boundValue(settings, state, headers);
  return value !== null && hashOf(value) === flow.browserHash;
}

function refuseState(): never {
  return refuse("OAUTH_STATE_INVALID", "The sign-in was started in another browser, has expired or was already used.");
}

function refuseProvider(c: Context<AppEnv>, { code, reason }: ProviderFailure): never {
  c.get("log").providerReason = reason;
  const denied = code === "OAUTH_ACCESS_DENIED";
  return refuse(code, denied ? "Access was denied at the provider." : "The provider returned an invalid response.");
}

/** Seconds after which the alarm of the account retries an unfinished purge. */
const RETRY_LATER = { headers: { "Retry-After": "30" } } as const;

/** The steps of a sign-in and of a link, on the real objects and the real directory. */
export function arrivalPorts(env: Env, origin: Origin): ArrivalPorts {
  return {
    findIdentity: (identity) => findIdentity(env.DB, identity),
    findByEmail: (email) => findByEmail(env.DB, email),
    register: (account, link) => signUp(env, { ...account, passwordHash: null, emailVerified: true }, origin, link),
    beginLink: async (userId, link, authority) => {
      const begun = await callUser(env, userId, "replay-safe", (stub) => stub.beginLink(link, authority, origin));
      if (!begun.ok || !begun.unfinishedPurge) return begun;
      // A user object of the version before leaves the purge to the router. A current one gets a second attempt.
      if (await callUser(env, userId, "replay-safe", (stub) => stub.finishPurge(origin))) return begun;
      return refuse("SERVICE_UNAVAILABLE", "The account is not ready yet. Sign in again in a minute.", RETRY_LATER);
    },
    claimIdentity: (identity, holder) => claimIdentity(env.DB, identity, holder, Date.now()),
    completeLink: (userId, link) => callUser(env, userId, "replay-safe", (stub) => stub.completeLink(link, origin)),
    linkedEpoch: (userId, link) => callUser(env, userId, "replay-safe", (stub) => stub.linkedEpoch(link)),
    releaseClaim: (identity, claim) => releaseClaim(env.DB, identity, claim),
  };
}
