import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { register } from "../support/api.ts";
import { linkMailedTo, newEmail, signUp } from "./support/account.ts";
import { axeFaults, beyondTab, type ConsoleUnderTest, startSharedConsole, tooWide } from "./support/console.ts";

let console: ConsoleUnderTest;
let url: string;

beforeAll(async () => {
  console = await startSharedConsole();
  url = console.server.url;
});

afterAll(() => console?.close());

interface State {
  name: string;
  /** Whether the page is opened signed in. */
  as?: true;
  show: (page: Page) => Promise<void>;
}

const heading = (page: Page, name: string) => page.getByRole("heading", { name }).waitFor();

const STATES: State[] = [
  { name: "sign in", show: (page) => at(page, "/login", "Sign in") },
  {
    name: "sign in, with a refusal",
    show: async (page) => {
      await at(page, "/login", "Sign in");
      await page.getByLabel("E-mail address").fill(newEmail());
      await page.getByLabel("Password", { exact: true }).fill("not the password");
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.getByText("The e-mail address or the password is wrong.").waitFor();
    },
  },
  {
    name: "sign-in link sent",
    show: async (page) => {
      await at(page, "/login", "Sign in");
      await page.getByLabel("E-mail address").fill(newEmail());
      await page.getByRole("button", { name: "Mail me a sign-in link" }).click();
      await heading(page, "Check your e-mail");
    },
  },
  { name: "make an account", show: (page) => at(page, "/auth/sign-up", "Create an account") },
  {
    name: "account made",
    show: async (page) => {
      await signUp(page, newEmail());
      await page.getByText("Confirm your e-mail address.").waitFor();
    },
  },
  { name: "forgot the password", show: (page) => at(page, "/auth/forgot", "Set a new password") },
  { name: "confirm the address", show: (page) => at(page, "/auth/verify#token=vt_x", "Confirm your e-mail address") },
  {
    name: "this was not me",
    show: async (page) => {
      await page.goto("/auth/verify#token=vt_x");
      await page.getByRole("button", { name: "This was not me" }).click();
      await heading(page, "Remove this registration?");
    },
  },
  {
    name: "a link that does not work",
    show: async (page) => {
      await page.goto("/auth/verify#token=vt_x");
      await page.getByRole("button", { name: "Yes, confirm the address" }).click();
      await heading(page, "This link does not work");
    },
  },
  { name: "sign in by link", show: (page) => at(page, "/auth/magic#token=vt_x", "Sign in") },
  { name: "set a password", show: (page) => at(page, "/auth/reset#token=vt_x", "Set a new password") },
  {
    name: "back from a provider, refused",
    show: (page) => at(page, "/auth/callback?error=OAUTH_ACCESS_DENIED", "Not signed in"),
  },
  {
    name: "account",
    as: true,
    show: async (page) => {
      await page.goto("/auth/account");
      await page.getByRole("button", { name: "Show sessions" }).click();
      await page.getByText("No other sessions.").waitFor();
      await page.getByText("Not confirmed").waitFor();
    },
  },
  {
    name: "change the password",
    as: true,
    show: async (page) => {
      await page.goto("/auth/account");
      await page.getByRole("button", { name: "Change password" }).click();
      await page.getByRole("dialog").getByLabel("New password").waitFor();
    },
  },
  {
    name: "delete the account",
    as: true,
    show: async (page) => {
      await page.goto("/auth/account");
      await page.getByRole("button", { name: "Delete account …" }).click();
      await page.getByRole("dialog").getByLabel("Password", { exact: true }).waitFor();
    },
  },
];

async function at(page: Page, path: string, title: string): Promise<void> {
  await page.goto(path);
  await page.getByRole("heading", { name: title }).first().waitFor();
}

describe.each(STATES)("$name", ({ as, show }) => {
  it("has no axe violations in either theme and does not scroll horizontally at any width, and is reached by Tab", async () => {
    const context: BrowserContext = await console.open(as ? { as: await register(url) } : {});
    const page = await context.newPage();
    await show(page);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await axeFaults(page)]).toEqual([colorScheme, []]);
    }
    expect(await tooWide(page)).toEqual([]);
    expect(await beyondTab(page)).toEqual([]);
    await context.close();
  });
});

describe("the fields for password managers", () => {
  it("have names, and autocomplete values that identify the password", async () => {
    const context = await console.open();
    const page = await context.newPage();
    const fields = () =>
      page
        .locator("form input")
        .evaluateAll((inputs) =>
          inputs.map((input) => `${input.getAttribute("name")} ${input.getAttribute("autocomplete")}`),
        );
    await at(page, "/login", "Sign in");
    expect(await fields()).toEqual(["email username", "password current-password"]);
    await at(page, "/auth/sign-up", "Create an account");
    expect(await fields()).toEqual(["name name", "email username", "password new-password"]);
    await at(page, "/auth/reset#token=vt_x", "Set a new password");
    expect(await fields()).toEqual(["password new-password"]);
    await context.close();
  });
});

it("offers no provider that is not configured", async () => {
  const context = await console.open();
  const page = await context.newPage();
  await at(page, "/login", "Sign in");
  await page.getByRole("button", { name: "Mail me a sign-in link" }).waitFor();
  expect(await page.getByRole("button", { name: /Continue with/ }).count()).toBe(0);
  await at(page, "/auth/sign-up", "Create an account");
  await page.getByRole("button", { name: "Create account" }).waitFor();
  expect(await page.getByRole("button", { name: /Continue with/ }).count()).toBe(0);
  expect(await page.getByText("or without a password").count()).toBe(0);
  await context.close();
});

it.each(["/nowhere", "/w", "/nowhere/at/all?x=1"])(
  "shows a page of the console with status 404 at the unknown path %s",
  async (path) => {
    const context = await console.open();
    const page = await context.newPage();
    expect((await page.goto(path))?.status()).toBe(404);
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    await page.getByRole("link", { name: "Go to home page" }).click();
    await page.waitForURL(`${url}/`);
    await context.close();
  },
);

it("never follows a next parameter to another site", async () => {
  const account = await register(url);
  for (const next of [
    "https://example.com/",
    "//example.com/",
    "/\\example.com",
    "/.//example.com",
    "/\t/example.com",
  ]) {
    const context = await console.open({ as: account });
    const page = await context.newPage();
    await page.goto(`/login?next=${encodeURIComponent(next)}`);
    await page.waitForURL((address) => address.origin === url && !address.pathname.startsWith("/login"));
    await context.close();
  }
});

it("links to the local outbox from pages that mention a mail", async () => {
  const context = await console.open();
  const page = await context.newPage();
  const email = newEmail();
  await signUp(page, email);
  await page.getByRole("link", { name: "Open outbox" }).waitFor();
  expect(await linkMailedTo(url, email, "verify-email")).toContain("/auth/verify#token=");
  await context.close();
});

it("contacts no other origin and violates no content security policy", () => {
  expect(console.faults()).toEqual([]);
});
