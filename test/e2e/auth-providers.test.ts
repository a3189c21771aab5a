import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, register } from "../support/api.ts";
import { nextMail, tokenIn } from "../support/outbox.ts";
import { linkMailedTo, newEmail, PASSWORD, signedIn, signIn, signUp } from "./support/account.ts";
import { type AgentProgram, startAgentProgram } from "./support/agent-program.ts";
import { type ConsoleUnderTest, startConsoleWithProviders } from "./support/console.ts";

let console: ConsoleUnderTest;
let url: string;
let program: AgentProgram;

beforeAll(async () => {
  console = await startConsoleWithProviders();
  url = console.server.url;
  program = await startAgentProgram(url);
});

afterAll(async () => {
  program?.close();
  await console?.close();
});

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

describe("an agent's request for access, opened where nobody is signed in", () => {
  const consent = async (page: Page, email: string): Promise<void> => {
    await page.getByRole("heading", { name: "Allow access" }).waitFor();
    await page.getByText(email).first().waitFor();
  };
  const allow = async (page: Page): Promise<URL> => {
    await page.getByRole("button", { name: "Allow" }).click();
    return program.answerIn(page);
  };

  it("21.3: continues after a sign-in through a provider, also if the provider refuses first", async () => {
    const context = await console.open();
    const page = await context.newPage();
    // What a query contains must come back as it is.
    const asked = await program.authorization({ state: "a b+c%2F&d=é" });
    const email = newEmail();
    await page.goto(asked.url);
    await page.getByRole("button", { name: "Continue with provider B" }).click();
    await atProvider(page, email, "Refuse");
    await page.getByRole("link", { name: "Back to the sign-in page" }).click();
    await page.getByRole("button", { name: "Continue with provider B" }).click();
    await atProvider(page, email);
    await consent(page, email);
    const tokens = await program.exchange(await allow(page), asked);
    expect(tokens.scope).toBe("logs:read");
    await context.close();
  });

  it("21.3: continues in both tabs after a mailed link, for the account that is signed in then", async () => {
    const [other, email] = [await register(url), newEmail()];
    const context = await console.open();
    const page = await context.newPage();
    const asked = await program.authorization();
    await page.goto(asked.url);
    await page.getByLabel("E-mail address").fill(email);
    await page.getByRole("button", { name: "Mail me a sign-in link" }).click();
    await page.getByRole("heading", { name: "Check your e-mail" }).waitFor();
    const mail = await context.newPage();
    await mail.goto("/auth/magic#token=vt_expired");
    await mail.getByRole("button", { name: "Sign in", exact: true }).click();
    const again = await mail.getByRole("link", { name: "Get a new link" }).getAttribute("href");
    expect(new URL(again ?? "", url).searchParams.get("next")).toBe(`/auth/consent${new URL(asked.url).search}`);
    // Another account signs in between.
    await mail.goto("/login");
    await signIn(mail, other.email, other.password);
    await consent(page, other.email);
    await mail.goto(await linkMailedTo(url, email, "magic-link"));
    await mail.getByText(other.email).first().waitFor();
    await mail.getByRole("button", { name: "Sign in", exact: true }).click();
    await Promise.all([consent(mail, email), consent(page, email)]);
    const [first, second] = [await allow(mail), await allow(page)];
    expect(first.searchParams.get("code")).not.toBe(second.searchParams.get("code"));
    await program.exchange(first, asked);
    // The program uses one of the codes. The other one gives no access.
    await page.goto("/auth/account");
    await page.getByRole("button", { name: "End access of Night agent" }).waitFor();
    expect(await page.getByRole("button", { name: "End access of Night agent" }).count()).toBe(1);
    const grants = await call(url, "/oauth/grants", { token: other.accessToken });
    expect(grants.body.data).toEqual({ items: [] });
    await context.close();
  });

  it("21.3: continues after a sign-up with its confirmation, and offers no workspace that was lost meanwhile", async () => {
    const context = await console.open();
    const page = await context.newPage();
    const asked = await program.authorization();
    const email = newEmail();
    await page.goto(asked.url);
    await page.getByRole("link", { name: "Create account" }).click();
    await page.getByRole("heading", { name: "Create an account" }).waitFor();
    await signUp(page, email, null);
    const mail = await context.newPage();
    await mail.goto(await linkMailedTo(url, email, "verify-email"));
    await mail.getByRole("button", { name: "Yes, confirm the address" }).click();
    await mail.getByRole("heading", { name: "Address confirmed" }).waitFor();
    const body = { email, password: PASSWORD };
    const token = (await call<{ accessToken: string }>(url, "/auth/login", { body })).body.data.accessToken;
    const team = await call<{ id: string }>(url, "/workspaces", { token, body: { name: "Team" } });
    await mail.getByRole("link", { name: "Continue" }).click();
    await consent(mail, email);
    // The new workspace is not in the list that the tab has loaded.
    await mail.reload();
    const choice = mail.getByRole("combobox", { name: "Workspace", exact: true });
    await choice.filter({ hasText: "Team" }).waitFor();
    const path = `/workspaces/${team.body.data.id}`;
    expect((await call(url, path, { method: "DELETE", token })).status).toBe(200);
    await mail.getByRole("button", { name: "Allow" }).click();
    await choice.filter({ hasText: "Choose a workspace" }).waitFor();
    expect(await mail.getByRole("button", { name: "Allow" }).isDisabled()).toBe(true);
    await choice.click();
    await mail.getByRole("option", { name: /Personal/ }).click();
    await program.exchange(await allow(mail), asked);
    // The tab of the sign-up has continued, too.
    await consent(page, email);
    await context.close();
  });
});

it("contacts no origin except the providers' and the program's, and violates no content security policy", () => {
  expect(console.faults().filter((fault) => fault !== `contacted ${program.origin}`)).toEqual([]);
});
