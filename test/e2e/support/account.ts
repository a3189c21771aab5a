import type { BrowserContext, Page } from "playwright-core";
import { nextMail } from "../../support/outbox.ts";

let people = 0;

/** An e-mail address that no other test uses. */
export function newEmail(): string {
  return `person-${process.pid}-${Date.now()}-${people++}@example.com`;
}

export const PASSWORD = "correct horse battery";

/**
 * Fills in the sign-up form and waits until the page has left it.
 * @param path of the form; `null` if the page shows it already
 */
export async function signUp(page: Page, email: string, path: string | null = "/auth/sign-up"): Promise<void> {
  if (path !== null) await page.goto(path);
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.waitForURL((url) => url.pathname !== "/auth/sign-up");
}

export async function signIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** The link of the `count`th mail of a kind. */
export async function linkMailedTo(url: string, email: string, kind: string, count = 1): Promise<string> {
  const [link] = (await nextMail(url, email, kind, { count })).links;
  if (link === undefined) throw new Error(`The ${kind} mail has no link.`);
  return link;
}

/** Waits until the page is signed in. */
export async function signedIn(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}

export async function signedOut(page: Page): Promise<void> {
  await page.getByRole("navigation", { name: "Taffrail" }).getByRole("link", { name: "Sign in" }).waitFor();
}

/** Paths of `/auth` routes that a context requests from now on, without the addresses of its pages. */
export function authCallsOf(context: BrowserContext): string[] {
  const calls: string[] = [];
  context.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/auth/") && request.resourceType() === "fetch") {
      calls.push(`${request.method()} ${pathname}`);
    }
  });
  return calls;
}
