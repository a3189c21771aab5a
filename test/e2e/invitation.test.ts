import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, asUser, call, register } from "../support/api.ts";
import { linkMailedTo, newEmail, PASSWORD, signedIn, signedOut, signIn } from "./support/account.ts";
import { axeFaults, type ConsoleUnderTest, startConsoleWithProviders, tooWide } from "./support/console.ts";
import { sharedWorkspace, verifiedAccount } from "./support/settings.ts";

let console: ConsoleUnderTest;
let url: string;

beforeAll(async () => {
  console = await startConsoleWithProviders();
  url = console.server.url;
});

afterAll(() => console?.close());

interface Invited {
  owner: Account;
  workspaceId: string;
  /** The link in the invitation's mail. */
  link: string;
}

async function invite(email: string, name = "Harbour"): Promise<Invited> {
  const owner = await verifiedAccount(url);
  const workspaceId = await sharedWorkspace(url, owner, name);
  const body = { email, role: "member" };
  const made = await call(url, `/workspaces/${workspaceId}/members`, { token: owner.accessToken, body });
  expect(made.status).toBe(201);
  return { owner, workspaceId, link: await linkMailedTo(url, email, "invite") };
}

async function newPage(options: { as?: Account } = {}): Promise<{ context: BrowserContext; page: Page }> {
  const context = await console.open(options);
  return { context, page: await context.newPage() };
}

async function openLink(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole("heading", { name: "You are invited to a workspace" }).waitFor();
}

async function acceptInto(page: Page, workspaceId: string): Promise<void> {
  await page.getByRole("button", { name: "Accept" }).click();
  await page.waitForURL(`**/w/${workspaceId}`);
}

describe("an invitation", () => {
  it("lets a new person join without another confirmation of the address", async () => {
    const email = newEmail();
    const { owner, workspaceId, link } = await invite(email);
    const { context, page } = await newPage();
    await openLink(page, link);
    expect(new URL(page.url()).hash).toBe("");
    await page.getByText(`${owner.email} invites you to the workspace Harbour as a member.`).waitFor();
    await page.getByRole("link", { name: "Create account" }).click();
    await page.getByRole("heading", { name: "Create an account" }).waitFor();
    // The invited address is filled in.
    await expect.poll(() => page.getByLabel("E-mail address").inputValue()).toBe(email);
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.waitForURL("**/auth/invitation");
    await acceptInto(page, workspaceId);
    await page.getByText("Joined Harbour.").waitFor();
    await page.goto("/auth/account");
    await page.getByText("Confirmed", { exact: true }).waitFor();
    // The link works once.
    await page.goto(link);
    await page.getByRole("heading", { name: "This invitation does not work" }).waitFor();
    await context.close();
  });

  it("survives sign-up, confirmation and sign-in", async () => {
    const email = newEmail();
    const { context, page } = await newPage();
    // The account is created before the invitation is opened, so its own mail confirms it.
    await page.goto("/auth/sign-up?next=%2Fauth%2Finvitation");
    await page.getByLabel("E-mail address").fill(email);
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByRole("heading", { name: "No open invitation" }).waitFor();
    const { workspaceId, link } = await invite(email);
    await openLink(page, link);
    await page.goto(await linkMailedTo(url, email, "verify-email"));
    await page.getByRole("button", { name: "Yes, confirm the address" }).click();
    await page.getByRole("link", { name: "Continue" }).click();
    await page.waitForURL("**/auth/invitation");
    await acceptInto(page, workspaceId);
    await context.close();
  });

  it("survives a mailed sign-in link, which has a token, too", async () => {
    const email = newEmail();
    const { workspaceId, link } = await invite(email);
    const { context, page } = await newPage();
    await openLink(page, link);
    await page.getByRole("main").getByRole("link", { name: "Sign in" }).click();
    await expect.poll(() => page.getByLabel("E-mail address").inputValue()).toBe(email);
    await page.getByRole("button", { name: "Mail me a sign-in link" }).click();
    await page.getByRole("heading", { name: "Check your e-mail" }).waitFor();
    await page.goto(await linkMailedTo(url, email, "magic-link"));
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.waitForURL("**/auth/invitation");
    await acceptInto(page, workspaceId);
    await context.close();
  });

  it("survives a password reset, which ends every session", async () => {
    const guest = await verifiedAccount(url);
    const { workspaceId, link } = await invite(guest.email);
    const { context, page } = await newPage();
    await openLink(page, link);
    await page.getByRole("main").getByRole("link", { name: "Sign in" }).click();
    await page.getByRole("link", { name: "Forgot password?" }).click();
    // The previous page has a field of the same name.
    await page.getByRole("heading", { name: "Set a new password" }).waitFor();
    await page.getByLabel("E-mail address").fill(guest.email);
    await page.getByRole("button", { name: "Mail me a link" }).click();
    await page.getByRole("heading", { name: "Check your e-mail" }).waitFor();
    await page.goto(await linkMailedTo(url, guest.email, "reset-password"));
    await page.getByLabel("New password").fill("another pass phrase");
    await page.getByRole("button", { name: "Set password" }).click();
    await page.getByRole("main").getByRole("link", { name: "Sign in" }).click();
    await signIn(page, guest.email, "another pass phrase");
    await page.waitForURL("**/auth/invitation");
    await acceptInto(page, workspaceId);
    await context.close();
  });

  it("has its address replaced by what is typed if it is filled in under the cursor", async () => {
    const { link } = await invite(newEmail());
    const { context, page } = await newPage();
    await openLink(page, link);
    const { promise: isFocused, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/invitations/*", async (route) => {
      await isFocused;
      await route.continue();
    });
    await page.getByRole("main").getByRole("link", { name: "Sign in" }).click();
    const field = page.getByLabel("E-mail address");
    await field.focus();
    release();
    await expect.poll(() => field.inputValue()).not.toBe("");
    await page.keyboard.type("me@example.com");
    expect(await field.inputValue()).toBe("me@example.com");
    await context.close();
  });

  it("is returned to by the header's sign-in, for an existing account", async () => {
    const guest = await verifiedAccount(url);
    const { workspaceId, link } = await invite(guest.email);
    const { context, page } = await newPage();
    await openLink(page, link);
    const header = page.getByRole("navigation", { name: "Taffrail" }).getByRole("link", { name: "Sign in" });
    await header.click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    // A second click, or another sign-in page, returns to the invitation, too.
    await header.click();
    await page.getByRole("link", { name: "Create account" }).click();
    await page.getByRole("heading", { name: "Create an account" }).waitFor();
    await header.click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await signIn(page, guest.email, guest.password);
    await page.waitForURL("**/auth/invitation");
    await acceptInto(page, workspaceId);
    await context.close();
  });

  it.each(["provider A", "provider B"])("is accepted after signing in with %s", async (provider) => {
    const email = newEmail();
    const { workspaceId, link } = await invite(email);
    const { context, page } = await newPage();
    await openLink(page, link);
    await page.getByRole("main").getByRole("link", { name: "Sign in" }).click();
    await page.getByRole("button", { name: `Continue with ${provider}` }).click();
    await page.getByLabel("E-mail address").fill(email);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL("**/auth/invitation");
    await acceptInto(page, workspaceId);
    await context.close();
  });

  it("confirms the address of an unconfirmed account", async () => {
    const guest = await register(url);
    const { workspaceId, link } = await invite(guest.email);
    const { context, page } = await newPage();
    await page.goto("/login");
    await signIn(page, guest.email, guest.password);
    await signedIn(page);
    await page.goto("/auth/account");
    await page.getByText("Not confirmed").waitFor();
    await openLink(page, link);
    await page.getByText("Accepting also confirms this address").waitFor();
    await acceptInto(page, workspaceId);
    await page.goto("/auth/account");
    await page.getByText("Confirmed", { exact: true }).waitFor();
    await context.close();
  });

  it("for another user names the required account and lets the user switch", async () => {
    const [guest, stranger] = [await verifiedAccount(url), await verifiedAccount(url)];
    const { workspaceId, link } = await invite(guest.email, "Pier");
    const { context, page } = await newPage({ as: stranger });
    await openLink(page, link);
    await page.getByText(`This invitation is not for ${stranger.email}.`).waitFor();
    expect(await page.getByRole("button", { name: "Accept" }).count()).toBe(0);
    await page.getByRole("button", { name: "Use another account" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await signIn(page, guest.email, guest.password);
    await page.waitForURL("**/auth/invitation");
    await page.getByText("You are signed in as").waitFor();
    await acceptInto(page, workspaceId);
    const { items } = (await call<{ items: { id: string }[] }>(url, "/workspaces", asUser(guest))).body.data;
    expect(items.map(({ id }) => id)).toContain(workspaceId);
    await context.close();
  });

  it("shows hostile names as plain text, at every width", async () => {
    const name = `<img src=x onerror=alert(1)>${"W".repeat(60)}`;
    const email = newEmail();
    const { link } = await invite(email, name);
    const { context, page } = await newPage();
    await openLink(page, link);
    await page.getByText(name).waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    expect(await tooWide(page)).toEqual([]);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await axeFaults(page)]).toEqual([colorScheme, []]);
    }
    await context.close();
  });

  it("without its token shows that no invitation is open, and an invalid one is reported immediately", async () => {
    const { context, page } = await newPage();
    await page.goto("/auth/invitation");
    await page.getByRole("heading", { name: "No open invitation" }).waitFor();
    await page.goto("/auth/invitation#token=vt_x");
    await page.getByRole("heading", { name: "This invitation does not work" }).waitFor();
    await page.goto("/auth/invitation");
    await page.getByRole("heading", { name: "No open invitation" }).waitFor();
    await signedOut(page);
    await context.close();
  });
});

it("contacts no origin except the providers' and violates no content security policy", () => {
  expect(console.faults()).toEqual([]);
});
