import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, call, register, type SignedIn } from "../support/api.ts";
import { nextMail, tokenIn } from "../support/outbox.ts";
import { linkMailedTo, newEmail, PASSWORD, signedIn, signedOut, signIn } from "./support/account.ts";
import { axeFaults, type ConsoleUnderTest, startConsoleWithProviders, tooWide } from "./support/console.ts";

let console: ConsoleUnderTest;
let url: string;

beforeAll(async () => {
  console = await startConsoleWithProviders();
  url = console.server.url;
});

afterAll(() => console?.close());

async function atProvider(page: Page, email: string): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** An account with a confirmed address and a password. */
async function confirmed(): Promise<Account> {
  const account = await register(url);
  const token = tokenIn(await nextMail(url, account.email, "verify-email"));
  await call(url, "/auth/verify-email", { body: { token } });
  return account;
}

/**
 * Makes the account's first session appear older than 10 minutes: its calls without a password are refused like the
 * service would. All other calls go to the service.
 */
async function aged(account: Account): Promise<{ context: BrowserContext; page: Page }> {
  const context = await console.open({ as: account });
  await age(context, account.accessToken);
  const page = await context.newPage();
  await page.goto("/auth/account");
  return { context, page };
}

async function age(context: BrowserContext, accessToken: string): Promise<void> {
  await context.route(/\/auth\/(link\/|password|recovery|me)/, async (route) => {
    const request = route.request();
    const isOld = request.headers().authorization === `Bearer ${accessToken}`;
    const isAsked = request.method() !== "GET" && !/"(current)?[pP]assword":/.test(request.postData() ?? "");
    if (!isOld || !isAsked) return route.continue();
    const error = { code: "REAUTHENTICATION_REQUIRED", message: "Sign in again." };
    const body = JSON.stringify({ success: false, data: null, error, meta: {} });
    return route.fulfill({ status: 403, contentType: "application/json", body });
  });
}

/** Links a provider to an account through the console. */
async function linkedB(account: Account): Promise<string> {
  const email = newEmail();
  const context = await console.open({ as: account });
  const page = await context.newPage();
  await page.goto("/auth/account");
  await page.getByRole("button", { name: "Link provider B" }).click();
  await atProvider(page, email);
  await page.getByText("Linked provider B.").waitFor();
  await context.close();
  return email;
}

async function methodsOf(account: Account): Promise<unknown> {
  return (await call(url, "/auth/methods", { token: account.accessToken })).body.data;
}

const dialogOf = (page: Page) => page.getByRole("dialog", { name: "Confirm your identity" });

describe("B8: a session older than 10 minutes", () => {
  it("B8: asks for the password before unlinking, and continues", async () => {
    const account = await confirmed();
    await linkedB(account);
    const { context, page } = await aged(account);
    await page.getByRole("button", { name: "Unlink provider B" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Unlink provider B" }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel("Password", { exact: true }).fill("not the password");
    await dialog.getByRole("button", { name: "Continue", exact: true }).click();
    await dialog.getByText("The current password is wrong.").waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await axeFaults(page)]).toEqual([colorScheme, []]);
    }
    await dialog.getByLabel("Password", { exact: true }).fill(account.password);
    await dialog.getByRole("button", { name: "Continue", exact: true }).click();
    await page.getByText("Unlinked provider B.").waitFor();
    await dialog.waitFor({ state: "hidden" });
    expect(await methodsOf(account)).toEqual({ hasPassword: true, providers: [] });
    await context.close();
  });

  it("B8: asks for the password before linking, and continues to the provider", async () => {
    const account = await confirmed();
    const { context, page } = await aged(account);
    await page.getByRole("button", { name: "Link provider A" }).click();
    await dialogOf(page).getByLabel("Password", { exact: true }).fill(account.password);
    await dialogOf(page).getByRole("button", { name: "Continue", exact: true }).click();
    await atProvider(page, newEmail());
    await page.getByText("Linked provider A.").waitFor();
    expect(await methodsOf(account)).toEqual({ hasPassword: true, providers: ["provider_a"] });
    await context.close();
  });

  it("B8: without a password accepts a mailed link, which continues at the same step", async () => {
    const context = await console.open();
    const page = await context.newPage();
    const email = newEmail();
    await page.goto("/login?next=%2Fauth%2Faccount");
    await page.getByRole("button", { name: "Continue with provider A" }).click();
    await atProvider(page, email);
    await page.getByText("Not set", { exact: true }).waitFor();
    const access = await page.evaluate(() => sessionStorage.getItem("taffrail.access"));
    await age(context, JSON.parse(access ?? "{}").token);
    await page.getByRole("button", { name: "Set a password" }).click();
    await page.getByRole("dialog").getByLabel("New password").fill(PASSWORD);
    await page.getByRole("dialog").getByRole("button", { name: "Save password" }).click();
    await dialogOf(page).getByRole("button", { name: "Mail me a sign-in link" }).click();
    await dialogOf(page).getByText("We sent a sign-in link").waitFor();
    const mail = await context.newPage();
    await mail.goto(await linkMailedTo(url, email, "magic-link"));
    await mail.getByRole("button", { name: "Sign in", exact: true }).click();
    const dialog = mail.getByRole("dialog", { name: "Set a password" });
    await dialog.getByLabel("New password").fill(PASSWORD);
    await dialog.getByRole("button", { name: "Save password" }).click();
    await mail.getByText("Password saved.").waitFor();
    expect((await call(url, "/auth/login", { body: { email, password: PASSWORD } })).status).toBe(200);
    await context.close();
  });

  it("B8: accepts a provider, which continues at the same step", async () => {
    const account = await confirmed();
    const email = await linkedB(account);
    const { context, page } = await aged(account);
    await page.getByRole("button", { name: "Unlink provider B" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Unlink provider B" }).click();
    await dialogOf(page).getByRole("button", { name: "Continue with provider B" }).click();
    await atProvider(page, email);
    const dialog = page.getByRole("dialog", { name: "Unlink provider B?" });
    await dialog.waitFor();
    expect(new URL(page.url()).search).toBe("");
    await dialog.getByRole("button", { name: "Unlink provider B" }).click();
    await page.getByText("Unlinked provider B.").waitFor();
    await context.close();
  });

  it.each([
    ["link-provider_a", "Link provider A?"],
    ["password", "Change password"],
    ["delete", "Delete account?"],
  ])("B8: opens the step %s of an address without performing it", async (step, title) => {
    const context = await console.open({ as: await confirmed() });
    const page = await context.newPage();
    const calls: string[] = [];
    page.on("request", (request) => {
      if (request.resourceType() === "fetch" && request.method() !== "GET") calls.push(request.url());
    });
    await page.goto(`/auth/account?step=${step}`);
    await page.getByRole("dialog", { name: title }).waitFor();
    expect(new URL(page.url()).search).toBe("");
    expect(calls).toEqual([]);
    await context.close();
  });
});

describe("B8: the review of an account", () => {
  it("B8: follows a reset: signs out everywhere else, unlinks new providers and revokes keys", async () => {
    const account = await confirmed();
    await linkedB(account);
    const headers = { token: account.accessToken, workspaceId: account.workspaceId };
    const project = await call<{ id: string }>(url, "/projects", { ...headers, body: { name: "Harbour" } });
    const path = `/projects/${project.body.data.id}/keys`;
    const body = { name: "odd key", scopes: ["logs:write"] };
    const made = await call<{ secret: string }>(url, path, { ...headers, body });
    await call(url, "/auth/forgot-password", { body: { email: account.email } });
    const context = await console.open();
    const page = await context.newPage();
    await page.goto(await linkMailedTo(url, account.email, "reset-password"));
    await page.getByLabel("New password").fill(PASSWORD);
    await page.getByRole("button", { name: "Set password" }).click();
    await page.getByRole("link", { name: "Review account" }).click();
    const login = { email: account.email, password: PASSWORD };
    const other = await call<SignedIn>(url, "/auth/login", { body: login });
    await signIn(page, account.email);
    await page.getByRole("heading", { name: "Review your account" }).waitFor();
    await page.getByRole("list", { name: "Providers linked in the last 30 days" }).getByText("Provider B").waitFor();
    await page.getByText("1 other browser or program is signed in.").waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await axeFaults(page)]).toEqual([colorScheme, []]);
    }
    expect(await tooWide(page)).toEqual([]);
    await page.getByRole("button", { name: "Sign out elsewhere, unlink" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Sign out elsewhere, unlink" }).click();
    await page.getByText("1 session ended, 1 provider unlinked.").waitFor();
    await page.getByText("No other sessions.").waitFor();
    expect((await call(url, "/workspaces", { token: other.body.data.accessToken })).status).toBe(401);
    await page.getByRole("button", { name: "Delete odd key" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete key" }).click();
    await page.getByText("You created no key in the last 30 days that still works.").waitFor();
    const ingest = `/logger/${project.body.data.id}/log`;
    const refused = await call(url, ingest, { token: made.body.data.secret, body: { message: "x" } });
    expect([refused.status, refused.body.error.code]).toEqual([401, "API_KEY_REVOKED"]);
    await context.close();
  });

  it("B8: asks for the password in an old session", async () => {
    const account = await confirmed();
    await linkedB(account);
    const { context, page } = await aged(account);
    await page.getByRole("link", { name: "Review your account" }).click();
    await page.getByRole("button", { name: "Sign out elsewhere, unlink" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Sign out elsewhere, unlink" }).click();
    await dialogOf(page).getByLabel("Password", { exact: true }).fill(account.password);
    await dialogOf(page).getByRole("button", { name: "Continue", exact: true }).click();
    await page.getByText("0 sessions ended, 1 provider unlinked.").waitFor();
    await context.close();
  });
});

describe("B11: tokens in the address of the callback page", () => {
  const shown = (parameters: Record<string, string>): string => `/auth/callback?${new URLSearchParams(parameters)}`;

  it("B11: of two accounts sign in to neither, and end the session of the refresh token", async () => {
    const [named, hidden] = [await confirmed(), await confirmed()];
    const context = await console.open();
    const page = await context.newPage();
    await page.goto(shown({ accessToken: named.accessToken, refreshToken: hidden.refreshToken, isNewUser: "false" }));
    await page.getByText(`The provider signed you in as ${named.email}.`).waitFor();
    await page.getByRole("button", { name: "Sign in with this account" }).click();
    await page.getByText("belong to different accounts or sessions").waitFor();
    await signedOut(page);
    expect(await page.evaluate(() => localStorage.getItem("taffrail.session"))).toBeNull();
    await expect.poll(async () => (await call(url, "/auth/me", { token: hidden.accessToken })).status).toBe(401);
    expect((await call(url, "/auth/me", { token: named.accessToken })).status).toBe(200);
    await context.close();
  });

  it("B11: of two sessions of one account are refused, too", async () => {
    const account = await confirmed();
    const { email, password } = account;
    const other = (await call<SignedIn>(url, "/auth/login", { body: { email, password } })).body.data;
    const context = await console.open();
    const page = await context.newPage();
    await page.goto(shown({ accessToken: account.accessToken, refreshToken: other.refreshToken, isNewUser: "false" }));
    await page.getByRole("button", { name: "Sign in with this account" }).click();
    await page.getByText("belong to different accounts or sessions").waitFor();
    await signedOut(page);
    await context.close();
  });

  it("B11: of one session sign in to the named account", async () => {
    const account = await confirmed();
    const { accessToken, refreshToken } = account;
    const context = await console.open();
    const page = await context.newPage();
    await page.goto(shown({ accessToken, refreshToken, isNewUser: "false" }));
    await page.getByRole("button", { name: "Sign in with this account" }).click();
    await signedIn(page);
    await page.goto("/auth/account");
    await page.getByText(account.email).first().waitFor();
    await context.close();
  });
});

describe("B10: the device token", () => {
  it("B10: survives signing out and is sent only with a login of its address", async () => {
    const [account, other] = [await confirmed(), await confirmed()];
    const context = await console.open();
    const page = await context.newPage();
    const sent: { email: string; deviceToken?: string }[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/auth/login") && request.method() === "POST") sent.push(request.postDataJSON());
    });
    for (const { email, password } of [account, account, other]) {
      await page.goto("/login");
      await signIn(page, email, password);
      await signedIn(page);
      await page.getByRole("button", { name: "Sign out" }).click();
      await signedOut(page);
    }
    expect(sent.map(({ deviceToken }) => deviceToken?.slice(0, 3))).toEqual([undefined, "dt_", undefined]);
    const kept = await page.evaluate(() => localStorage.getItem("taffrail.devices"));
    expect(JSON.parse(kept ?? "[]")).toHaveLength(2);
    expect(kept).not.toContain("@");
    await context.close();
  });
});

it("contacts no origin except the providers' and violates no content security policy", () => {
  expect(console.faults()).toEqual([]);
});
