import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, register } from "../support/api.ts";
import { linkMailedTo, newEmail, PASSWORD, signedIn, signedOut, signIn, signUp } from "./support/account.ts";
import { type ConsoleUnderTest, startConsole } from "./support/console.ts";

let console: ConsoleUnderTest;
let url: string;

beforeAll(async () => {
  console = await startConsole();
  url = console.server.url;
});

afterAll(() => console?.close());

async function openPage() {
  const context = await console.open();
  return { context, page: await context.newPage() };
}

describe("an account with a password", () => {
  it("is made, confirmed by the mail's link, and signed in to again", async () => {
    const { context, page } = await openPage();
    const email = newEmail();
    await signUp(page, email);
    await signedIn(page);
    const mail = await context.newPage();
    await mail.goto(await linkMailedTo(url, email, "verify-email"));
    // Out of the address before anybody has clicked.
    expect(new URL(mail.url()).hash).toBe("");
    await mail.getByRole("button", { name: "Yes, confirm the address" }).click();
    await mail.getByRole("heading", { name: "Your address is confirmed" }).waitFor();
    await mail.getByText(email).waitFor();
    // The tab that waits for it hears of it.
    await page.getByRole("heading", { name: "Your address is confirmed" }).waitFor();
    await page.getByRole("link", { name: "Go on" }).click();
    await page.waitForURL(`${url}/`);
    await page.getByRole("button", { name: "Sign out" }).click();
    await signedOut(page);
    await signedOut(mail);
    await page.goto("/login?next=%2Fplayground");
    await signIn(page, email);
    await page.waitForURL("**/playground");
    await signedIn(page);
    await context.close();
  });

  it("is refused with one message for whatever is wrong, and stays on the page", async () => {
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

  it("that exists already is not made again: the page says where to go", async () => {
    const { email } = await register(url);
    const { context, page } = await openPage();
    await page.goto("/auth/sign-up");
    await page.getByLabel("E-mail address").fill(email);
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByRole("button", { name: "Make the account" }).click();
    await page.getByText("This address has an account already.").waitFor();
    await page.getByRole("link", { name: "set a new password" }).waitFor();
    await context.close();
  });

  it("gets a new password by mail, and all its sessions end", async () => {
    const { email, accessToken } = await register(url);
    const { context, page } = await openPage();
    await page.goto("/login");
    await page.getByRole("link", { name: "Forgot the password?" }).click();
    await page.getByRole("heading", { name: "Set a new password" }).waitFor();
    await page.getByLabel("E-mail address").fill(email);
    await page.getByRole("button", { name: "Mail me a link" }).click();
    await page.getByRole("heading", { name: "Look into your mail" }).waitFor();
    await page.goto(await linkMailedTo(url, email, "reset-password"));
    await page.getByLabel("New password").fill("another pass phrase");
    await page.getByRole("button", { name: "Set the password" }).click();
    await page.getByRole("heading", { name: "Your new password is set" }).waitFor();
    expect((await call(url, "/workspaces", { token: accessToken })).body.error.code).toBe("SESSION_REVOKED");
    await page.getByRole("main").getByRole("link", { name: "Sign in" }).click();
    await signIn(page, email, "another pass phrase");
    await signedIn(page);
    await context.close();
  });

  it("that somebody else made with one's address is disowned, after a second question", async () => {
    const { email, accessToken } = await register(url);
    const { context, page } = await openPage();
    await page.goto(await linkMailedTo(url, email, "verify-email"));
    await page.getByRole("button", { name: "This was not me" }).click();
    await page.getByRole("heading", { name: "Was it not you?" }).waitFor();
    expect((await call(url, "/workspaces", { token: accessToken })).status).toBe(200);
    await page.getByRole("button", { name: "Remove all of it" }).click();
    await page.getByRole("heading", { name: "Thank you" }).waitFor();
    expect((await call(url, "/workspaces", { token: accessToken })).status).toBe(401);
    await context.close();
  });
});

describe("a mailed sign-in link", () => {
  it("of a stranger makes an account, and goes on to where the sign-in began", async () => {
    const { context, page } = await openPage();
    const email = newEmail();
    await page.goto("/login?next=%2Fauth%2Faccount");
    await page.getByLabel("E-mail address").fill(email);
    await page.getByRole("button", { name: "Mail me a sign-in link" }).click();
    await page.getByRole("heading", { name: "Look into your mail" }).waitFor();
    expect(await page.getByRole("button", { name: /Send it again/ }).isDisabled()).toBe(true);
    const mail = await context.newPage();
    await mail.goto(await linkMailedTo(url, email, "magic-link"));
    expect(new URL(mail.url()).hash).toBe("");
    await mail.getByRole("button", { name: "Sign in", exact: true }).click();
    await mail.waitForURL("**/auth/account");
    await mail.getByText(`Welcome! Your account is made: ${email}`).waitFor();
    await mail.getByText("Confirmed", { exact: true }).waitFor();
    // The tab that asked for it is signed in, too, and goes on.
    await page.waitForURL("**/auth/account");
    await context.close();
  });

  it("works once, says so after that, and a second link in the same tab begins anew", async () => {
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
    // The fragment alone changes: the browser does not load the page anew.
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

it("keyboard alone signs in", async () => {
  const { email, password } = await register(url);
  const { context, page } = await openPage();
  await page.goto("/login");
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  // Tab through the page to the first field, as far as that is.
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

it("contacts nobody else and breaks no rule of the policy", () => {
  expect(console.faults()).toEqual([]);
});
