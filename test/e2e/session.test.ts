import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, call, type SignedIn } from "../support/api.ts";
import { authCallsOf, newEmail, PASSWORD, signedIn, signedOut, signIn } from "./support/account.ts";
import { axeFaults, type ConsoleUnderTest, startConsole } from "./support/console.ts";

/** Requests to /auth a minute and client IP that a service allows by default. */
const AUTH_LIMIT = "5";

let console: ConsoleUnderTest;
let url: string;
let addresses = 0;

beforeAll(async () => {
  console = await startConsole({ env: { AUTH_LIMIT } });
  url = console.server.url;
});

afterAll(() => console?.close());

/** Headers of a client IP that no other test uses, so that each test has the whole limit. */
function newAddress(): Record<string, string> {
  return { "X-Forwarded-For": `198.51.100.${++addresses}` };
}

async function newAccount(): Promise<Account> {
  const email = newEmail();
  const body = { email, password: PASSWORD };
  const { data } = (await call<SignedIn>(url, "/auth/register", { body, headers: newAddress() })).body;
  const { user, accessToken, refreshToken, personalWorkspace } = data;
  const workspaceId = personalWorkspace.id;
  return { userId: user.id, email, password: PASSWORD, accessToken, refreshToken, workspaceId };
}

/** A signed-in browser with a separate client IP. */
async function signedInBrowser(account?: Account): Promise<BrowserContext> {
  return console.open({ extraHTTPHeaders: newAddress(), as: account ?? (await newAccount()) });
}

/** Loads a page and returns the status of its first call that is not refused because of its access token. */
async function load(page: Page): Promise<number> {
  const answer = page.waitForResponse(
    (response) => new URL(response.url()).pathname === "/workspaces" && response.status() !== 401,
  );
  await page.goto("/");
  const status = (await answer).status();
  // Waits for the last call of the page, so that no later call sees what a test changes.
  if (status === 200) await page.getByText("No projects yet").waitFor();
  return status;
}

/** Changes the access token that a tab has stored, and leaves the console so that nothing of the page remains. */
async function keepInTab(page: Page, change: { token?: string; until?: number }): Promise<void> {
  await page.evaluate((change) => {
    const kept = JSON.parse(sessionStorage.getItem("taffrail.access") ?? "{}");
    sessionStorage.setItem("taffrail.access", JSON.stringify({ ...kept, ...change }));
  }, change);
  await page.goto("about:blank");
}

const REFRESH = "POST /auth/refresh";

describe("tabs of one browser", () => {
  it("rotate once if their tokens expire at the same time, and all continue", async () => {
    const context = await signedInBrowser();
    const [one, two] = [await context.newPage(), await context.newPage()];
    await load(one);
    await load(two);
    for (const page of [one, two]) await keepInTab(page, { until: 0 });
    const calls = authCallsOf(context);
    expect(await Promise.all([load(one), load(two)])).toEqual([200, 200]);
    expect(calls).toEqual([REFRESH]);
    await context.close();
  });

  it("rotate once if the service no longer accepts their token", async () => {
    const context = await signedInBrowser();
    const [one, two] = [await context.newPage(), await context.newPage()];
    await load(one);
    await load(two);
    for (const page of [one, two]) await keepInTab(page, { token: "eyJ.no.more" });
    const calls = authCallsOf(context);
    expect(await Promise.all([load(one), load(two)])).toEqual([200, 200]);
    expect(calls).toEqual([REFRESH]);
    await context.close();
  });

  it("stay within the limit of /auth if ten of them open at once, with one call", async () => {
    const context = await signedInBrowser();
    const first = await context.newPage();
    await load(first);
    // It has stored the profile, which is asked for once and beside the page's last call.
    await first.waitForFunction(
      () => JSON.parse(localStorage.getItem("taffrail.session") ?? "{}").user?.emailVerified !== undefined,
    );
    await first.close();
    const calls = authCallsOf(context);
    const statuses: number[] = [];
    context.on("response", (response) => statuses.push(response.status()));
    const pages = await Promise.all(Array.from({ length: 10 }, () => context.newPage()));
    expect(await Promise.all(pages.map(load))).toEqual(Array(10).fill(200));
    expect(calls).toEqual([REFRESH]);
    expect(statuses).not.toContain(429);
    await context.close();
  }, 120_000);

  it("share access tokens: a new tab makes no call of /auth", async () => {
    const context = await signedInBrowser();
    await load(await context.newPage());
    const calls = authCallsOf(context);
    expect(await load(await context.newPage())).toBe(200);
    expect(calls).toEqual([]);
    await context.close();
  });

  it("are not signed out by a late response for a previous session", async () => {
    const account = await newAccount();
    const context = await signedInBrowser(account);
    const [late, other] = [await context.newPage(), await context.newPage()];
    await load(late);
    await load(other);
    // Its call is in flight while the other tab signs out and in again.
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await late.route("**/workspaces?*", async (route) => {
      await held;
      await route.continue();
    });
    const begun = late.waitForRequest("**/workspaces?*");
    await late.reload({ waitUntil: "commit" });
    const call = await begun;
    await other.getByRole("button", { name: "Sign out" }).click();
    await signedOut(other);
    // The page shows the sign-out before the service has ended the session. Leaving it now delays the end by 15 s.
    await other.waitForFunction(() => localStorage.getItem("taffrail.ending") === null);
    await other.goto("/login");
    await signIn(other, account.email);
    await signedIn(other);
    letGo();
    // Refused, unless the tab noticed the new session first and aborted the call.
    const answer = await call.response();
    if (answer !== null) expect(answer.status()).toBe(401);
    await late.unroute("**/workspaces?*");
    expect(await load(late)).toBe(200);
    await signedIn(other);
    await context.close();
  });
});

describe("a rotation whose response is lost", () => {
  it("is repeated with the same key, and the session continues", async () => {
    const context = await signedInBrowser();
    const page = await context.newPage();
    await load(page);
    await keepInTab(page, { until: 0 });
    const keys: (string | undefined)[] = [];
    await page.route("**/auth/refresh", async (route) => {
      keys.push(route.request().headers()["idempotency-key"]);
      const answer = await route.fetch();
      expect(answer.status()).toBe(200);
      // The service has rotated, but the response is lost.
      if (keys.length === 1) await route.abort("connectionreset");
      else await route.fulfill({ response: answer });
    });
    expect(await load(page)).toBe(200);
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(keys[0]).toMatch(/^[\da-f-]{36}$/);
    // The next rotation has another key and succeeds: the stored successor is the right one.
    await keepInTab(page, { until: 0 });
    expect(await load(page)).toBe(200);
    expect(keys).toHaveLength(3);
    expect(keys[2]).not.toBe(keys[0]);
    await context.close();
  });

  it("is repeated with that key by the next tab if its own tab was closed", async () => {
    const context = await signedInBrowser();
    const page = await context.newPage();
    await load(page);
    await keepInTab(page, { until: 0 });
    const keys: (string | undefined)[] = [];
    context.on("request", (request) => {
      if (request.url().endsWith("/auth/refresh")) keys.push(request.headers()["idempotency-key"]);
    });
    const rotated = new Promise<void>((resolve) => {
      void page.route("**/auth/refresh", async (route) => {
        await route.fetch();
        resolve();
      });
    });
    await page.goto("/");
    await rotated;
    await page.close();
    expect(await load(await context.newPage())).toBe(200);
    expect(keys).toEqual([keys[0], keys[0]]);
    await context.close();
  });
});

describe("a session that is ended from another browser", () => {
  it("ends at that tab's next call, which explains it and returns after signing in", async () => {
    const account = await newAccount();
    const there = await signedInBrowser(account);
    const page = await there.newPage();
    await load(page);
    const here = await console.open({ extraHTTPHeaders: newAddress() });
    const owner = await here.newPage();
    const calls = authCallsOf(here);
    await owner.goto("/login?next=%2Fauth%2Faccount");
    await signIn(owner, account.email);
    await owner.getByRole("button", { name: "Show sessions" }).click();
    const sessions = owner.getByRole("list", { name: "Sessions" }).getByRole("listitem");
    await sessions.nth(1).waitFor();
    expect(await sessions.filter({ hasText: "This browser" }).count()).toBe(1);
    await sessions.getByRole("button", { name: /^End the session of/ }).click();
    await owner.getByText("No other sessions.").waitFor();
    // Within the five calls of a minute.
    expect(calls.map((path) => path.replace(/fam_\w+$/, "one")).sort()).toEqual([
      "DELETE /auth/sessions/one",
      "GET /auth/me",
      "GET /auth/methods",
      "GET /auth/sessions",
      "POST /auth/login",
    ]);
    await page.goto(`/w/${account.workspaceId}`);
    await page.getByText("Your session ended. Sign in again.").waitFor();
    expect(new URL(page.url()).searchParams.get("next")).toBe(`/w/${account.workspaceId}`);
    await Promise.all([here.close(), there.close()]);
  });

  it("ends in all tabs of the browser as soon as one of them becomes visible", async () => {
    const account = await newAccount();
    const context = await signedInBrowser(account);
    const [seen, other] = [await context.newPage(), await context.newPage()];
    await seen.clock.install();
    for (const page of [seen, other]) {
      await page.goto("/auth/account");
      await page.getByRole("heading", { name: "Account", exact: true }).waitFor();
    }
    const { refreshToken } = account;
    await call(url, "/auth/logout", { body: { refreshToken }, headers: newAddress() });
    await seen.clock.fastForward(10_000);
    await seen.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    for (const page of [seen, other]) await page.getByText("Your session ended. Sign in again.").waitFor();
    await context.close();
  });
});

describe("a rate limit", () => {
  it("delays a sign-out at the service, which a later load completes", async () => {
    const account = await newAccount();
    const address = newAddress();
    const context = await console.open({ extraHTTPHeaders: address, as: account });
    const page = await context.newPage();
    await page.clock.install();
    await load(page);
    for (let tries = 0; tries < Number(AUTH_LIMIT); tries++) await call(url, "/auth/me", { headers: address });
    const refused = page.waitForResponse("**/auth/logout");
    await page.getByRole("button", { name: "Sign out" }).click();
    expect((await refused).status()).toBe(429);
    const said = page.getByText(/^Signed out in this browser\. Retrying in \d+ s\.$/);
    await said.waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.reload();
    await signedOut(page);
    await said.waitFor();
    // Another client IP has its own limit, so the test need not wait.
    await context.setExtraHTTPHeaders(newAddress());
    const told = page.waitForResponse("**/auth/logout");
    await page.clock.fastForward(61_000);
    expect((await told).status()).toBe(200);
    await said.waitFor({ state: "detached" });
    const { refreshToken } = account;
    const used = await call(url, "/auth/refresh", { body: { refreshToken }, headers: newAddress() });
    expect(used.status).toBe(401);
    await context.close();
  });

  it("shows a countdown and disables the form until the next attempt", async () => {
    const context = await console.open({ extraHTTPHeaders: newAddress() });
    const page = await context.newPage();
    await page.goto("/login");
    await page.getByLabel("E-mail address").fill(newEmail());
    await page.getByLabel("Password", { exact: true }).fill("not the password");
    const button = page.getByRole("button", { name: "Sign in", exact: true });
    for (let tries = 0; tries < Number(AUTH_LIMIT); tries++) {
      const answer = page.waitForResponse("**/auth/login");
      await button.click();
      expect((await answer).status()).toBe(401);
    }
    // Looks at each change of the page, as a second click may follow any of them.
    const enabled = await page.evaluateHandle(() => {
      const texts: string[] = [];
      new MutationObserver(() => {
        if (document.querySelector("main h2")?.textContent !== "Too many requests") return;
        for (const { textContent, disabled } of document.querySelectorAll("button")) {
          if (!disabled && /^(Sign in|Mail me a sign-in link)$/.test(textContent)) texts.push(textContent);
        }
      }).observe(document.body, { subtree: true, childList: true, attributes: true });
      return texts;
    });
    await button.click();
    await page.getByRole("heading", { name: "Too many requests" }).waitFor();
    await page
      .getByText(
        /^At most 5 requests in 60 s for this client IP \(rule: AUTH\)\. Try again in \d+ s, at \d+:\d+:\d+\.$/,
      )
      .waitFor();
    expect(await button.isDisabled()).toBe(true);
    expect(await page.getByRole("button", { name: "Mail me a sign-in link" }).isDisabled()).toBe(true);
    expect(await enabled.jsonValue()).toEqual([]);
    await context.close();
  });
});

describe("a storage that is full", () => {
  /** Fills it to the last character. */
  const fill = (page: Page) =>
    page.evaluate(() => {
      let text = "";
      for (let size = 2 ** 23; size >= 1; size /= 2) {
        try {
          localStorage.setItem("full", text + "x".repeat(size));
          text += "x".repeat(size);
        } catch {
          // The half may have room.
        }
      }
    });

  it("leaves the session and the appearance, and refuses a sign-in with words", async () => {
    const { email } = await newAccount();
    const context = await console.open({ extraHTTPHeaders: newAddress() });
    const page = await context.newPage();
    await page.goto("/login");
    await signIn(page, email);
    await signedIn(page);
    await fill(page);
    await keepInTab(page, { until: 0 });
    const calls = authCallsOf(context);
    expect(await load(page)).toBe(200);
    expect(calls).toContain(REFRESH);
    await page.getByRole("button", { name: "Appearance" }).click();
    await page.getByRole("menuitemradio", { name: "Dark" }).click();
    await page.locator("html[data-theme=dark]").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await signedOut(page);
    await context.setExtraHTTPHeaders(newAddress());
    await page.goto("/login");
    await fill(page);
    const ended = page.waitForResponse("**/auth/logout");
    await signIn(page, email);
    await page.getByRole("alert").getByText("This browser's storage for this site is full").waitFor();
    // No page could end the session later.
    expect((await ended).status()).toBe(200);
    await context.close();
  });
});

it("a tab of an outdated release reloads at the requested page", async () => {
  const context = await console.open({ extraHTTPHeaders: newAddress() });
  const page = await context.newPage();
  await page.goto("/login");
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  let loads = 0;
  page.on("request", (request) => {
    if (request.isNavigationRequest()) loads++;
  });
  // A new document names the files of the new release.
  await page.route("**/app/files/sign-up-*.js", (route) =>
    loads === 0 ? route.fulfill({ status: 404, body: "" }) : route.continue(),
  );
  await page.getByRole("link", { name: "Create account" }).click();
  await page.getByRole("button", { name: "Create account" }).waitFor();
  expect([loads, new URL(page.url()).pathname]).toEqual([1, "/auth/sign-up"]);
  await context.close();
});

it("a tab that is being left does not reload because of a file whose load that ended", async () => {
  const context = await console.open({ extraHTTPHeaders: newAddress() });
  const page = await context.newPage();
  let loads = 0;
  let missing = 0;
  page.on("request", (request) => {
    if (request.isNavigationRequest()) loads++;
  });
  await page.route("**/app/files/tooltips-*.js", async (route) => {
    await route.fulfill({ status: 404, body: "" });
    missing++;
  });
  // Firefox ends what is loading when it asks the page whether it may be left.
  await page.addInitScript(() => {
    addEventListener("DOMContentLoaded", () => dispatchEvent(new Event("beforeunload")));
  });
  await page.goto("/login");
  await expect.poll(() => missing).toBe(1);
  await page.waitForTimeout(1000);
  expect([loads, missing]).toEqual([1, 1]);
  await context.close();
});

it("contacts no other origin and violates no content security policy", () => {
  expect(console.faults()).toEqual([]);
});
