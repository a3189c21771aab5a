import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, call, register, type SignedIn } from "../support/api.ts";
import { nextMail, tokenIn } from "../support/outbox.ts";
import { linkMailedTo, newEmail, PASSWORD, signedIn, signedOut, signIn } from "./support/account.ts";
import { type ConsoleUnderTest, startSharedConsole } from "./support/console.ts";

let console: ConsoleUnderTest;
let url: string;

beforeAll(async () => {
  console = await startSharedConsole();
  url = console.server.url;
});

afterAll(() => console?.close());

async function accountPage(account: Account): Promise<{ context: BrowserContext; page: Page }> {
  const context = await console.open({ as: account });
  const page = await context.newPage();
  await page.goto("/auth/account");
  return { context, page };
}

/** An account created by a mailed link, without a password. */
async function withoutPassword(): Promise<Account> {
  const email = newEmail();
  await call(url, "/auth/magic-link", { body: { email } });
  const token = tokenIn(await nextMail(url, email, "magic-link"));
  const { data } = (await call<SignedIn>(url, "/auth/magic-link/verify", { body: { token } })).body;
  const { user, accessToken, refreshToken, personalWorkspace } = data;
  return { userId: user.id, email, password: "", accessToken, refreshToken, workspaceId: personalWorkspace.id };
}

describe("the account page", () => {
  it("requests another mail, and notices that the address was confirmed", async () => {
    const account = await register(url);
    // A new link replaces a link that was not sent yet: only one mail then arrives.
    await nextMail(url, account.email, "verify-email");
    const { context, page } = await accountPage(account);
    await page.getByText("Not confirmed").waitFor();
    await page.getByRole("button", { name: "Send me a link" }).click();
    await page.getByText("Requested.").waitFor();
    expect(await page.getByRole("button", { name: /Send me a link \(in \d+ s\)/ }).isDisabled()).toBe(true);
    const mail = await context.newPage();
    await mail.goto(await linkMailedTo(url, account.email, "verify-email", 2));
    await mail.getByRole("button", { name: "Yes, confirm the address" }).click();
    await page.getByText("Confirmed", { exact: true }).waitFor();
    await context.close();
  });

  it("changes the password, which ends the other sessions, and shows a wrong one at its field", async () => {
    const account = await register(url);
    const other = await call<SignedIn>(url, "/auth/login", {
      body: { email: account.email, password: account.password },
    });
    const { context, page } = await accountPage(account);
    await page.getByRole("button", { name: "Change name" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Ada Lovelace");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Ada Lovelace", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Change password" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Current password").fill("not the password");
    await dialog.getByLabel("New password").fill(PASSWORD);
    await dialog.getByRole("button", { name: "Save password" }).click();
    await dialog.getByRole("alert").filter({ hasText: "The current password is wrong." }).waitFor();
    await dialog.getByLabel("Current password").fill(account.password);
    await dialog.getByRole("button", { name: "Save password" }).click();
    await page.getByText("Password saved. All other sessions ended.").waitFor();
    expect((await call(url, "/workspaces", { token: other.body.data.accessToken })).status).toBe(401);
    expect((await call(url, "/workspaces", { token: account.accessToken })).status).toBe(200);
    await page.getByRole("button", { name: "Sign out" }).click();
    await signedOut(page);
    await page.goto("/login");
    await signIn(page, account.email);
    await signedIn(page);
    await context.close();
  });

  it("sets the first password of an account without one", async () => {
    const account = await withoutPassword();
    const { context, page } = await accountPage(account);
    await page.getByText("Not set", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Set a password" }).click();
    await page.getByRole("dialog").getByLabel("New password").fill(PASSWORD);
    await page.getByRole("dialog").getByRole("button", { name: "Save password" }).click();
    await page.getByRole("button", { name: "Change password" }).waitFor();
    expect((await call(url, "/auth/login", { body: { email: account.email, password: PASSWORD } })).status).toBe(200);
    await context.close();
  });

  it("ends all other sessions after a confirmation", async () => {
    const account = await register(url);
    const { email, password } = account;
    for (let i = 0; i < 2; i++) await call(url, "/auth/login", { body: { email, password } });
    const { context, page } = await accountPage(account);
    await page.getByRole("button", { name: "Show sessions" }).click();
    await page.getByRole("button", { name: "End all other sessions" }).click();
    await page.getByRole("dialog").getByText("Signs out 2 other browsers and programs immediately.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "End sessions" }).click();
    await page.getByText("2 sessions ended.").waitFor();
    await page.getByText("No other sessions.").waitFor();
    await context.close();
  });

  it("offers to link no provider that is not configured", async () => {
    const account = await register(url);
    const { context, page } = await accountPage(account);
    await page.getByText("Mailed link").waitFor();
    expect(await page.getByText(/provider [AB]/i).count()).toBe(0);
    await context.close();
  });

  it("deletes the account after its password and address are typed, and lists what is deleted", async () => {
    const account = await register(url);
    const { context, page } = await accountPage(account);
    await page.getByRole("button", { name: "Delete account …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("(personal, always deleted)").waitFor();
    const button = dialog.getByRole("button", { name: "Delete account" });
    await dialog.getByLabel("Password", { exact: true }).fill("not the password");
    expect(await button.isDisabled()).toBe(true);
    await dialog.getByLabel("Type the account's e-mail address").fill(account.email);
    await button.click();
    await dialog.getByText("The current password is wrong.").waitFor();
    await dialog.getByLabel("Password", { exact: true }).fill(account.password);
    await button.click();
    await page.getByText("Account deleted.").waitFor();
    await signedOut(page);
    expect((await call(url, "/workspaces", { token: account.accessToken })).status).toBe(401);
    expect((await call(url, "/auth/login", { body: account })).status).toBe(400);
    const { email, password } = account;
    expect((await call(url, "/auth/login", { body: { email, password } })).status).toBe(401);
    await context.close();
  });

  it("deletes an account without a password after a recent sign-in", async () => {
    const account = await withoutPassword();
    const { context, page } = await accountPage(account);
    await page.getByRole("button", { name: "Delete account …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("signed in within the last 10 minutes").waitFor();
    await dialog.getByLabel("Type the account's e-mail address").fill(account.email);
    await dialog.getByRole("button", { name: "Delete account" }).click();
    await signedOut(page);
    await context.close();
  });
});

it("contacts no other origin and violates no content security policy", () => {
  expect(console.faults()).toEqual([]);
});
