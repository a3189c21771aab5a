import type { ProviderName } from "../../../../src/accounts/oauth/provider.ts";
import { type Answer, call, type SignedIn } from "../../../support/api.ts";
import { Browser } from "./browser.ts";

/** The frontend's address in these tests. No server listens there. */
export const FRONTEND = "https://frontend.test";

/** The user who signs in at a local provider. */
export interface Visitor {
  email: string;
  name?: string;
  verified?: boolean;
  /** Digits. Derived from the address if absent. */
  subject?: string;
  decision?: "allow" | "deny";
}

let visitors = 0;

/** An address that is unique to the test. */
export function newEmail(): string {
  return `visitor-${process.pid}-${Date.now()}-${visitors++}@example.com`;
}

/** The end of a flow: the parameters for the frontend, and the redirecting response. */
export interface Landing {
  parameters: Record<string, string>;
  response: Response;
}

export function atFrontend(url: URL): boolean {
  return url.origin === FRONTEND;
}

/** The provider's address at which a flow begins. */
export async function authorizeUrlOf(
  service: string,
  provider: ProviderName,
  browser: Browser,
  query = "",
): Promise<URL> {
  const response = await browser.request(`${service}/auth/oauth/${provider}${query}`);
  const location = response.headers.get("Location");
  if (response.status !== 302 || location === null) throw new Error(`${response.status} ${await response.text()}`);
  return new URL(location);
}

/** The callback address that the provider redirects to, not requested yet. */
export async function callbackUrlOf(authorizeUrl: URL, visitor: Visitor, browser: Browser): Promise<URL> {
  const isCallback = (url: URL) => url.pathname.endsWith("/callback");
  const page = await browser.open(authorizeUrl, {}, isCallback);
  if (page.stopped) return page.url;
  const html = await page.response.text();
  if (page.response.status !== 200) throw new Error(`The provider answered ${page.response.status}: ${html}`);
  const form = new URLSearchParams({
    email: visitor.email,
    name: visitor.name ?? "Vera Visitor",
    verified: visitor.verified === false ? "no" : "yes",
    subject: visitor.subject ?? "",
    decision: visitor.decision ?? "allow",
  });
  const done = await browser.open(page.url, { method: "POST", body: form }, isCallback);
  if (!done.stopped) throw new Error(`The provider answered ${done.response.status}: ${await done.response.text()}`);
  return done.url;
}

/** Requests a callback address and returns where it redirects to. */
export async function land(callbackUrl: URL, browser: Browser): Promise<Landing> {
  const response = await browser.request(callbackUrl);
  const location = response.headers.get("Location");
  if (response.status !== 302 || location === null) throw new Error(`${response.status} ${await response.text()}`);
  const url = new URL(location);
  if (!atFrontend(url) || url.pathname !== "/auth/callback") throw new Error(`It went to ${url}`);
  return { parameters: Object.fromEntries(url.searchParams), response };
}

/** A whole sign-in, from the service to the provider and back. */
export async function signInWith(
  service: string,
  provider: ProviderName,
  visitor: Visitor,
  { browser = new Browser(), query = "" }: { browser?: Browser; query?: string } = {},
): Promise<Landing> {
  const authorizeUrl = await authorizeUrlOf(service, provider, browser, query);
  return land(await callbackUrlOf(authorizeUrl, visitor, browser), browser);
}

/** Links a provider in one browser, as a frontend on the service's origin does. */
export async function linkWith(
  service: string,
  provider: ProviderName,
  accessToken: string,
  visitor: Visitor,
  browser = new Browser(),
): Promise<Landing> {
  const authorizeUrl = await linkUrlOf(service, provider, accessToken, browser);
  return land(await callbackUrlOf(authorizeUrl, visitor, browser), browser);
}

export async function linkUrlOf(
  service: string,
  provider: ProviderName,
  accessToken: string,
  browser: Browser,
): Promise<URL> {
  const headers = { Authorization: `Bearer ${accessToken}` };
  const response = await browser.request(`${service}/auth/link/${provider}`, { method: "POST", headers });
  const { data, error } = await response.json();
  if (!response.ok) throw new Error(error.code);
  return new URL(data.authorizeUrl);
}

export function methodsOf(
  service: string,
  token: string,
): Promise<Answer<{ hasPassword: boolean; providers: string[] }>> {
  return call(service, "/auth/methods", { token });
}

export function me(
  service: string,
  token: string,
): Promise<Answer<{ user: SignedIn["user"] & { emailVerified: boolean } }>> {
  return call(service, "/auth/me", { token });
}

/** The access token of a landing. Fails the test if there is none. */
export function accessTokenOf({ parameters }: Landing): string {
  const { accessToken } = parameters;
  if (accessToken === undefined) throw new Error(`No tokens: ${JSON.stringify(parameters)}`);
  return accessToken;
}
