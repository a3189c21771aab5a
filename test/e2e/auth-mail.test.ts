import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, register } from "../support/api.ts";
import { linkMailedTo, newEmail, PASSWORD, signedIn, signedOut, signIn, signUp } from "./support/account.ts";
import { type ConsoleUnderTest, startSharedConsole } from "./support/console.ts";

let console: ConsoleUnderTest;
let url: string;

beforeAll(async () => {
  console = await startSharedConsole();
  url = console.server.url;
});

afterAll(() => console?.close());

async function openPage() {
  const context = await console.open();
  return { context, page: await context.newPage() };
}

describe("an account with a password", () => {
  it("leads to the first entry at once, where it is confirmed by the mail's link, and is signed in to again", async () => {
    const { context, page } = await openPage();
    const email = newEmail();
    await signUp(page, email);
    await page.waitForURL("**/w/ws_*/start");
    await signedIn(page);
    const notice = page.getByRole("region", { name: "E-mail address" });
    await notice.getByText(email).waitFor();
    expect(await notice.getByRole("button", { name: /Send again/ }).isDisabled()).toBe(true);
    // The language can be chosen before there is a project.
    await page.getByRole("tab", { name: "Python", exact: true }).click();
    await page.getByRole("tabpanel").getByText("export TAFFRAIL_PROJECT=proj_...").waitFor();
    const mail = await context.newPage();
    await mail.goto(await linkMailedTo(url, email, "verify-email"));
    // Removed from the address before any click.
    expect(new URL(mail.url()).hash).toBe("");
    await mail.getByRole("button", { name: "Yes, confirm the address" }).click();
    await mail.getByRole("heading", { name: "Address confirmed" }).waitFor();
    await mail.getByText(email).waitFor();
    // The waiting tab notices the confirmation.
    await page.getByRole("status").filter({ hasText: "Address confirmed" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await signedOut(page);
    await signedOut(mail);
    await page.goto("/login?next=%2Fplayground");
    await signIn(page, email);
    await page.waitForURL("**/playground?live=1");
    await signedIn(page);
    await context.close();
  });

  it("keeps the project, its key and the language over the way to the outbox and back", async () => {
    const { context, page } = await openPage();
    const email = newEmail();
    await signUp(page, email);
    await page.getByRole("tab", { name: "curl", exact: true }).click();
    await page.getByLabel("Name of the project").fill("shop");
    await page.getByRole("button", { name: "Create project and key" }).click();
    const secret = /sk_\w{40,}/;
    const variables = () => page.getByRole("tabpanel").locator("pre").first().textContent();
    await expect.poll(variables).toMatch(secret);
    const before = await variables();
    await page.getByRole("link", { name: "Open outbox" }).click();
    await page.getByRole("link", { name: "Back to the first entry" }).click();
    await expect.poll(variables).toBe(before);
    await page.getByRole("link", { name: "Open outbox" }).click();
    await linkMailedTo(url, email, "verify-email");
    const mail = page.getByRole("article").filter({ hasText: email });
    await mail.getByRole("link", { name: /auth\/verify/ }).click();
    await page.getByRole("button", { name: "Yes, confirm the address" }).click();
    await page.getByRole("link", { name: "Continue" }).click();
    await page.waitForURL("**/start?project=proj_*");
    await expect.poll(variables).toBe(before);
    expect(await page.getByText("Confirm your e-mail address.").count()).toBe(0);
    await context.close();
  });

  it("is refused with one message for any wrong credentials, and stays on the page", async () => {
    const { email } = await register(url);
    const { context, page } = await openPage();
    for (const [address, password] of [
      [email, "not the password"],
      [newEmail(), PASSWORD],
    ] as const) {
      await page.goto("/login");
      await signIn(page, address, password);
      await page.getByText("The e-mail address or the password is wrong.").waitFor();
    }
    expect(new URL(page.url()).pathname).toBe("/login");
    await context.close();
  });

  it("that already exists is not created again: the page links to sign-in", async () => {
    const { email } = await register(url);
    const { context, page } = await openPage();
    await page.goto("/auth/sign-up");
    await page.getByLabel("E-mail address").fill(email);
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByText("This address already has an account.").waitFor();
    await page.getByRole("link", { name: "set a new password" }).waitFor();
    await context.close();
  });

  it("gets a new password by mail, which ends all its sessions", async () => {
    const { email, accessToken } = await register(url);
    const { context, page } = await openPage();
    await page.goto("/login");
    await page.getByRole("link", { name: "Forgot password?" }).click();
    await page.getByRole("heading", { name: "Set a new password" }).waitFor();
    await page.getByLabel("E-mail address").fill(email);
    await page.getByRole("button", { name: "Mail me a link" }).click();
    await page.getByRole("heading", { name: "Check your e-mail" }).waitFor();
    await page.goto(await linkMailedTo(url, email, "reset-password"));
    await page.getByLabel("New password").fill("another pass phrase");
    await page.getByRole("button", { name: "Set password" }).click();
    await page.getByRole("heading", { name: "Password saved" }).waitFor();
    expect((await call(url, "/workspaces", { token: accessToken })).body.error.code).toBe("SESSION_REVOKED");
    await page.getByRole("main").getByRole("link", { name: "Sign in" }).click();
    await signIn(page, email, "another pass phrase");
    await signedIn(page);
    await context.close();
  });

  it("that another person created with an address is rejected after a confirmation", async () => {
    const { email, accessToken } = await register(url);
    const { context, page } = await openPage();
    await page.goto(await linkMailedTo(url, email, "verify-email"));
    await page.getByRole("button", { name: "This was not me" }).click();
    await page.getByRole("heading", { name: "Remove this registration?" }).waitFor();
    expect((await call(url, "/workspaces", { token: accessToken })).status).toBe(200);
    await page.getByRole("button", { name: "Remove registration" }).click();
    await page.getByRole("heading", { name: "Registration removed" }).waitFor();
    expect((await call(url, "/workspaces", { token: accessToken })).status).toBe(401);
    await context.close();
  });
});

describe("a mailed sign-in link", () => {
  it("of a new user creates an account and continues where the sign-in began", async () => {
    const { context, page } = await openPage();
    const email = newEmail();
    await page.goto("/login?next=%2Fauth%2Faccount");
    await page.getByLabel("E-mail address").fill(email);
    await page.getByRole("button", { name: "Mail me a sign-in link" }).click();
    await page.getByRole("heading", { name: "Check your e-mail" }).waitFor();
    expect(await page.getByRole("button", { name: /Send it again/ }).isDisabled()).toBe(true);
    const mail = await context.newPage();
    await mail.goto(await linkMailedTo(url, email, "magic-link"));
    expect(new URL(mail.url()).hash).toBe("");
    await mail.getByRole("button", { name: "Sign in", exact: true }).click();
    await mail.waitForURL("**/auth/account");
    await mail.getByText(`Welcome! Account created for ${email}`).waitFor();
    await mail.getByText("Confirmed", { exact: true }).waitFor();
    // The tab that requested the link is signed in, too, and continues.
    await page.waitForURL("**/auth/account");
    await context.close();
  });

  it("works once, then explains that, and a second link in the same tab works", async () => {
    const { context, page } = await openPage();
    const email = newEmail();
    await call(url, "/auth/magic-link", { body: { email } });
    const link = await linkMailedTo(url, email, "magic-link");
    await page.goto(link);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await signedIn(page);
    await page.getByRole("button", { name: "Sign out" }).click();
    await signedOut(page);
    await page.goto(link);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("heading", { name: "This link does not work" }).waitFor();
    // Only the fragment changes, so the browser does not reload the page.
    await page.evaluate(() => {
      location.hash = "#token=vt_other";
    });
    await page.getByRole("button", { name: "Sign in", exact: true }).waitFor();
    expect(new URL(page.url()).hash).toBe("");
    await context.close();
  });

  it("without its token is incomplete", async () => {
    const { context, page } = await openPage();
    for (const path of ["/auth/verify", "/auth/magic#token=", "/auth/reset"]) {
      await page.goto(path);
      await page.getByRole("heading", { name: "This link is incomplete" }).waitFor();
    }
    await context.close();
  });
});

it("signs in by keyboard alone", async () => {
  const { email, password } = await register(url);
  const { context, page } = await openPage();
  await page.goto("/login");
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  // Press Tab until the first field has the focus.
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("name"));
  for (let steps = 0; (await focused()) !== "email"; steps++) {
    expect(steps).toBeLessThan(15);
    await page.keyboard.press("Tab");
  }
  await page.keyboard.type(email);
  await page.keyboard.press("Tab");
  await page.keyboard.type(password);
  await page.keyboard.press("Enter");
  await signedIn(page);
  await context.close();
});

it("contacts no other origin and violates no content security policy", () => {
  expect(console.faults()).toEqual([]);
});
