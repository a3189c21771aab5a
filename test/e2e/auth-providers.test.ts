import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, register } from "../support/api.ts";
import { nextMail, tokenIn } from "../support/outbox.ts";
import { newEmail, signedIn } from "./support/account.ts";
import { type ConsoleUnderTest, startConsoleWithProviders } from "./support/console.ts";

let console: ConsoleUnderTest;
let url: string;

beforeAll(async () => {
  console = await startConsoleWithProviders();
  url = console.server.url;
});

afterAll(() => console?.close());

/** On the provider's page: signs in as this person, or returns an error. */
async function atProvider(page: Page, email: string, decision: "Sign in" | "Refuse" = "Sign in"): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByRole("button", { name: decision }).click();
}

/** An account with a confirmed address. */
async function confirmed() {
  const account = await register(url);
  const token = tokenIn(await nextMail(url, account.email, "verify-email"));
  await call(url, "/auth/verify-email", { body: { token } });
  return account;
}

describe.each(["provider A", "provider B"])("signing in with %s", (provider) => {
  it("uses a code that only this tab can exchange, and no address contains a token", async () => {
    const context = await console.open();
    const page = await context.newPage();
    const addresses: string[] = [];
    page.on("request", (request) => {
      if (request.isNavigationRequest()) addresses.push(request.url());
    });
    const email = newEmail();
    await page.goto("/login?next=%2Fauth%2Faccount");
    await page.getByRole("button", { name: `Continue with ${provider}` }).click();
    await atProvider(page, email);
    await page.waitForURL("**/auth/account");
    await page.getByText(email).first().waitFor();
    await page.getByText(`Welcome! Account created for ${email}`).waitFor();
    const row = page.getByRole("listitem").filter({ hasText: provider.replace("p", "P") });
    await row.getByText("Linked", { exact: true }).waitFor();
    // The only sign-in method cannot be unlinked.
    expect(await row.getByRole("button", { name: `Unlink ${provider}` }).isDisabled()).toBe(true);
    expect(addresses.some((address) => /[?&]mode=code&code_challenge=[\w-]{43}(&|$)/.test(address))).toBe(true);
    expect(addresses.filter((address) => /accessToken|refreshToken/.test(address))).toEqual([]);
    expect(new URL(page.url()).search).toBe("");
    await context.close();
  });

  it("explains a sign-in that was denied at the provider", async () => {
    const context = await console.open();
    const page = await context.newPage();
    await page.goto("/login");
    await page.getByRole("button", { name: `Continue with ${provider}` }).click();
    await atProvider(page, newEmail(), "Refuse");
    await page.getByText("Access was denied at the provider.").waitFor();
    await page.getByRole("link", { name: "Back to the sign-in page" }).click();
    await page.waitForURL("**/login");
    await context.close();
  });
});

describe("a provider of an account", () => {
  it("is linked, signs in, and is unlinked", async () => {
    const account = await confirmed();
    const context = await console.open({ as: account });
    const page = await context.newPage();
    const elsewhere = newEmail();
    await page.goto("/auth/account");
    await page.getByRole("button", { name: "Link provider B" }).click();
    await atProvider(page, elsewhere);
    await page.waitForURL("**/auth/account");
    await page.getByText("Linked provider B.").waitFor();
    const other = await console.open();
    const login = await other.newPage();
    await login.goto("/login");
    await login.getByRole("button", { name: "Continue with provider B" }).click();
    await atProvider(login, elsewhere);
    await signedIn(login);
    await login.goto("/auth/account");
    await login.getByText(account.email).first().waitFor();
    await other.close();
    await page.getByRole("button", { name: "Unlink provider B" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Unlink provider B" }).click();
    await page.getByText("Unlinked provider B.").waitFor();
    await page.getByRole("button", { name: "Link provider B" }).waitFor();
    const { data } = (await call<{ providers: string[] }>(url, "/auth/methods", { token: account.accessToken })).body;
    expect(data.providers).toEqual([]);
    await context.close();
  });

  it("that is linked to another user is refused with an explanation", async () => {
    const taken = newEmail();
    const owner = await console.open();
    const first = await owner.newPage();
    await first.goto("/login");
    await first.getByRole("button", { name: "Continue with provider A" }).click();
    await atProvider(first, taken);
    await signedIn(first);
    await owner.close();
    const context = await console.open({ as: await confirmed() });
    const page = await context.newPage();
    await page.goto("/auth/account");
    await page.getByRole("button", { name: "Link provider A" }).click();
    await atProvider(page, taken);
    await page.getByText("is linked to another Taffrail account").waitFor();
    await page.getByRole("link", { name: "Back to your account" }).click();
    await page.waitForURL("**/auth/account");
    await context.close();
  });

  it("is linked by a code if the cookie of the attempt is missing", async () => {
    const context = await console.open({ as: await confirmed() });
    const page = await context.newPage();
    await page.goto("/auth/account");
    await page.getByRole("button", { name: "Link provider A" }).click();
    await page.getByLabel("E-mail address").waitFor();
    await context.clearCookies({ name: /^taffrail_oauth_/ });
    await atProvider(page, newEmail());
    await page.getByText("Linked provider A.").waitFor();
    await context.close();
  });

  it("requires a confirmed address", async () => {
    const context = await console.open({ as: await register(url) });
    const page = await context.newPage();
    await page.goto("/auth/account");
    await page.getByText("Not confirmed").waitFor();
    expect(await page.getByRole("button", { name: "Link provider A" }).isDisabled()).toBe(true);
    await context.close();
  });
});

describe("the callback page", () => {
  it("in another tab asks to start again and keeps no code in the address", async () => {
    const context = await console.open();
    const page = await context.newPage();
    await page.goto("/auth/callback?code=abc");
    await page.getByText("started in another tab or browser").waitFor();
    expect(new URL(page.url()).search).toBe("");
    await context.close();
  });

  it("with tokens in the address names the account before signing in", async () => {
    const context = await console.open();
    const page = await context.newPage();
    const email = newEmail();
    // Like a client that starts with the API's own address.
    await page.goto("/auth/oauth/provider_a");
    await atProvider(page, email);
    await page.getByText(`The provider signed you in as ${email}.`).waitFor();
    const button = page.getByRole("button", { name: "Sign in with this account" });
    expect(new URL(page.url()).search).toBe("");
    await page.getByRole("link", { name: "Sign in", exact: true }).waitFor();
    await button.click();
    await signedIn(page);
    await context.close();
  });

  it.each([
    ["OAUTH_STATE_INVALID", "This sign-in was started in another browser"],
    ["OAUTH_EMAIL_UNVERIFIED", "no verified e-mail address"],
    ["OAUTH_PROVIDER_ERROR", "The provider returned an error"],
    ["RATE_LIMITED", "Try again in a minute."],
    ["OAUTH_NOT_CONFIGURED", "Sign-in with that provider is not configured."],
    ["__proto__", "Something went wrong"],
  ])("explains the error %s", async (code, words) => {
    const context = await console.open();
    const page = await context.newPage();
    await page.goto(`/auth/callback?error=${code}`);
    await page.getByText(words).waitFor();
    expect(new URL(page.url()).search).toBe("");
    await context.close();
  });
});

it("contacts no origin except the providers' and violates no content security policy", () => {
  expect(console.faults()).toEqual([]);
});
