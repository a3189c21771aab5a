import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, asUser, call, register, type SignedIn } from "../support/api.ts";
import { nextMail, tokenIn } from "../support/outbox.ts";
import { linkMailedTo, newEmail, PASSWORD, signedIn, signedOut, signIn, signUp } from "./support/account.ts";
import { type ConsoleUnderTest, startConsole } from "./support/console.ts";

let console: ConsoleUnderTest;
let url: string;

beforeAll(async () => {
  console = await startConsole();
  url = console.server.url;
});

afterAll(() => console?.close());

async function accountPage(account: Account): Promise<{ context: BrowserContext; page: Page }> {
  const context = await console.open({ as: account });
  const page = await context.newPage();
  await page.goto("/auth/account");
  return { context, page };
}

/** An account that came by a mailed link, so without a password. */
async function withoutPassword(): Promise<Account> {
  const email = newEmail();
  await call(url, "/auth/magic-link", { body: { email } });
  const token = tokenIn(await nextMail(url, email, "magic-link"));
  const { data } = (await call<SignedIn>(url, "/auth/magic-link/verify", { body: { token } })).body;
  const { user, accessToken, refreshToken, personalWorkspace } = data;
  return { userId: user.id, email, password: "", accessToken, refreshToken, workspaceId: personalWorkspace.id };
}

async function confirm({ email }: Account): Promise<void> {
  const token = tokenIn(await nextMail(url, email, "verify-email"));
  await call(url, "/auth/verify-email", { body: { token } });
}

/** A workspace to share, and somebody's invitation to it. */
async function invited(email: string, name: string): Promise<{ owner: Account; workspaceId: string }> {
  const owner = await register(url);
  await confirm(owner);
  const made = await call<{ id: string }>(url, "/workspaces", { token: owner.accessToken, body: { name } });
  const workspaceId = made.body.data.id;
  const body = { email, role: "member" };
  const invitation = await call(url, `/workspaces/${workspaceId}/members`, { token: owner.accessToken, body });
  expect(invitation.status).toBe(201);
  return { owner, workspaceId };
}

describe("the account page", () => {
  it("asks for another mail, and shows that the address is confirmed meanwhile", async () => {
    const account = await register(url);
    // A new link takes the place of one that is still on its way: then only one mail comes.
    await nextMail(url, account.email, "verify-email");
    const { context, page } = await accountPage(account);
    await page.getByText("Not confirmed").waitFor();
    await page.getByRole("button", { name: "Send me a link" }).click();
    await page.getByText("Asked for.").waitFor();
    expect(await page.getByRole("button", { name: /Send me a link \(in \d+ s\)/ }).isDisabled()).toBe(true);
    const mail = await context.newPage();
    await mail.goto(await linkMailedTo(url, account.email, "verify-email", 2));
    await mail.getByRole("button", { name: "Yes, confirm the address" }).click();
    await page.getByText("Confirmed", { exact: true }).waitFor();
    await context.close();
  });

  it("changes the password, which ends the other sessions; a wrong one is said at its field", async () => {
    const account = await register(url);
    const other = await call<SignedIn>(url, "/auth/login", {
      body: { email: account.email, password: account.password },
    });
    const { context, page } = await accountPage(account);
    await page.getByRole("button", { name: "Change the password" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Current password").fill("not the password");
    await dialog.getByLabel("New password").fill(PASSWORD);
    await dialog.getByRole("button", { name: "Change it" }).click();
    await dialog.getByRole("alert").filter({ hasText: "The current password is wrong." }).waitFor();
    await dialog.getByLabel("Current password").fill(account.password);
    await dialog.getByRole("button", { name: "Change it" }).click();
    await page.getByText("The password is set. All other sessions were ended.").waitFor();
    expect((await call(url, "/workspaces", { token: other.body.data.accessToken })).status).toBe(401);
    expect((await call(url, "/workspaces", { token: account.accessToken })).status).toBe(200);
    await page.getByRole("button", { name: "Sign out" }).click();
    await signedOut(page);
    await page.goto("/login");
    await signIn(page, account.email);
    await signedIn(page);
    await context.close();
  });

  it("sets the first password of an account that has none", async () => {
    const account = await withoutPassword();
    const { context, page } = await accountPage(account);
    await page.getByText("Not set", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Set a password" }).click();
    await page.getByRole("dialog").getByLabel("New password").fill(PASSWORD);
    await page.getByRole("dialog").getByRole("button", { name: "Set it" }).click();
    await page.getByRole("button", { name: "Change the password" }).waitFor();
    expect((await call(url, "/auth/login", { body: { email: account.email, password: PASSWORD } })).status).toBe(200);
    await context.close();
  });

  it("ends all other sessions, after asking", async () => {
    const account = await register(url);
    const { email, password } = account;
    for (let i = 0; i < 2; i++) await call(url, "/auth/login", { body: { email, password } });
    const { context, page } = await accountPage(account);
    await page.getByRole("button", { name: "Show the sessions" }).click();
    await page.getByRole("button", { name: "End all other sessions" }).click();
    await page.getByRole("dialog").getByText("2 other browsers and programs are signed out at once.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "End them" }).click();
    await page.getByText("2 sessions were ended.").waitFor();
    await page.getByText("This browser is the only one that is signed in.").waitFor();
    await context.close();
  });

  it("says of a provider that the service does not know that it is not set up", async () => {
    const account = await register(url);
    await confirm(account);
    const { context, page } = await accountPage(account);
    await page.getByRole("button", { name: "Link provider A" }).click();
    await page.getByText("Not set up on this service.").waitFor();
    await context.close();
  });

  it("deletes the account with its password and its address typed, and names what goes", async () => {
    const account = await register(url);
    const { context, page } = await accountPage(account);
    await page.getByRole("button", { name: "Delete the account …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("(personal: it goes in any case)").waitFor();
    const button = dialog.getByRole("button", { name: "Delete the account" });
    await dialog.getByLabel("Password", { exact: true }).fill("not the password");
    expect(await button.isDisabled()).toBe(true);
    await dialog.getByLabel("Type the e-mail address of the account").fill(account.email);
    await button.click();
    await dialog.getByText("The current password is wrong.").waitFor();
    await dialog.getByLabel("Password", { exact: true }).fill(account.password);
    await button.click();
    await page.getByText("Your account is deleted.").waitFor();
    await signedOut(page);
    expect((await call(url, "/workspaces", { token: account.accessToken })).status).toBe(401);
    expect((await call(url, "/auth/login", { body: account })).status).toBe(400);
    const { email, password } = account;
    expect((await call(url, "/auth/login", { body: { email, password } })).status).toBe(401);
    await context.close();
  });

  it("deletes an account without a password for who has just signed in", async () => {
    const account = await withoutPassword();
    const { context, page } = await accountPage(account);
    await page.getByRole("button", { name: "Delete the account …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("signed in within the last 10 minutes").waitFor();
    await dialog.getByLabel("Type the e-mail address of the account").fill(account.email);
    await dialog.getByRole("button", { name: "Delete the account" }).click();
    await signedOut(page);
    await context.close();
  });
});

describe("an invitation", () => {
  it("leads through making and confirming an account to the workspace", async () => {
    const email = newEmail();
    const { workspaceId } = await invited(email, "Harbour");
    const context = await console.open();
    const page = await context.newPage();
    await page.goto(await linkMailedTo(url, email, "invite"));
    await page.getByRole("heading", { name: "You are invited to a workspace" }).waitFor();
    expect(new URL(page.url()).hash).toBe("");
    await page.getByRole("link", { name: "Make an account" }).click();
    await page.getByRole("heading", { name: "Make an account" }).waitFor();
    await signUp(page, email, page.url());
    await page.getByRole("link", { name: "Go on" }).click();
    await page.getByRole("button", { name: "Accept" }).click();
    await page.getByText("Confirm your address first.").waitFor();
    // The mail's link opens a tab of its own, which goes on here, too.
    const mail = await context.newPage();
    await mail.goto(await linkMailedTo(url, email, "verify-email"));
    await mail.getByRole("button", { name: "Yes, confirm the address" }).click();
    await mail.getByRole("link", { name: "Go on" }).click();
    await mail.waitForURL("**/auth/invitation");
    await page.getByText("Confirm your address first.").waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Accept" }).click();
    await page.waitForURL(`**/w/${workspaceId}`);
    await page.getByText("You are a member of Harbour now.").waitFor();
    // It works once.
    await mail.getByRole("button", { name: "Accept" }).click();
    await mail.getByRole("heading", { name: "This invitation does not work" }).waitFor();
    await context.close();
  });

  it("of somebody else says whose account it takes, and lets one change it", async () => {
    const guest = await register(url);
    await confirm(guest);
    const stranger = await register(url);
    await confirm(stranger);
    const { workspaceId } = await invited(guest.email, "Pier");
    const context = await console.open({ as: stranger });
    const page = await context.newPage();
    await page.goto(await linkMailedTo(url, guest.email, "invite"));
    await page.getByRole("button", { name: "Accept" }).click();
    await page.getByText(`The invitation is for another address than ${stranger.email}.`).waitFor();
    await page.getByRole("button", { name: "Use another account" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await signIn(page, guest.email, guest.password);
    await page.waitForURL("**/auth/invitation");
    await page.getByText(guest.email).waitFor();
    await page.getByRole("button", { name: "Accept" }).click();
    await page.waitForURL(`**/w/${workspaceId}`);
    const { items } = (await call<{ items: { id: string }[] }>(url, "/workspaces", asUser(guest))).body.data;
    expect(items.map(({ id }) => id)).toContain(workspaceId);
    await context.close();
  });

  it("without its token is none", async () => {
    const context = await console.open();
    const page = await context.newPage();
    await page.goto("/auth/invitation");
    await page.getByRole("heading", { name: "No invitation is open" }).waitFor();
    await context.close();
  });
});

it("contacts nobody else and breaks no rule of the policy", () => {
  expect(console.faults()).toEqual([]);
});
