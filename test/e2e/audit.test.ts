import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, asUser, call, createKey, createProject } from "../support/api.ts";
import { choose } from "./support/choose.ts";
import { axeFaults, type ConsoleUnderTest, startSharedConsole, tooWide } from "./support/console.ts";
import { join, openSettings, sharedWorkspace, verifiedAccount } from "./support/settings.ts";

let under: ConsoleUnderTest;
let url: string;
let owner: Account;
let guest: Account;
let workspaceId: string;

beforeAll(async () => {
  under = await startSharedConsole();
  url = under.server.url;
  [owner, guest] = await Promise.all([verifiedAccount(url), verifiedAccount(url)]);
  workspaceId = await sharedWorkspace(url, owner, "Harbour");
  await join(url, { workspaceId, owner, guest, role: "viewer" });
  const here = { ...owner, workspaceId };
  const projectId = await createProject(url, here, "shop");
  await createKey(url, here, projectId);
  await call(url, `/workspaces/${workspaceId}`, { ...asUser(here), method: "PATCH", body: { retentionDays: 12 } });
});

afterAll(() => under?.close());

const rows = (page: Page) => page.getByRole("list", { name: "Audit, newest first" }).locator(":scope > li");

describe("B17: the audit page", () => {
  it("B17: shows changes and filters by actor, action and target", async () => {
    const page = await openSettings(under, owner, "audit", workspaceId);
    const changed = rows(page).filter({ hasText: "Settings changed" });
    await changed.getByText("retention in days: 30 → 12").waitFor();
    await changed.getByText(owner.email).waitFor();
    await rows(page)
      .filter({ hasText: "Signed in" })
      .first()
      .getByText(/^session fam_/)
      .waitFor();
    // In columns where there is room.
    const places = () =>
      rows(page).evaluateAll((items) =>
        ["Actor", "When", "IP address", "Request"].map((name) => {
          const names = items.flatMap((item) => [...item.querySelectorAll("dt")]);
          const lefts = names.filter(({ textContent }) => textContent === name);
          return new Set(lefts.map((each) => each.getBoundingClientRect().left)).size;
        }),
      );
    const size = page.viewportSize();
    await page.setViewportSize({ width: 1440, height: 900 });
    await expect.poll(places).toEqual([1, 1, 1, 1]);
    if (size !== null) await page.setViewportSize(size);
    const everything = await rows(page).count();
    await choose(page.getByLabel("Action"), "API keys");
    await expect.poll(() => rows(page).count()).toBe(1);
    const id = (await rows(page).last().locator("code").first().textContent()) ?? "";
    expect(id).toMatch(/^key_/);
    await choose(page.getByLabel("Action"), "Any action");
    await expect.poll(() => rows(page).count()).toBe(everything);
    await page.getByLabel("Search", { exact: true }).fill("SHOP added");
    await expect.poll(() => rows(page).count()).toBe(1);
    await rows(page).getByText("Project created").waitFor();
    await page.getByLabel("Search", { exact: true }).fill("");
    await choose(page.getByLabel("Actor"), guest.email);
    await rows(page).filter({ hasText: "Invitation accepted" }).waitFor();
    await expect.poll(() => rows(page).filter({ hasText: owner.email }).count()).toBe(0);
    await choose(page.getByLabel("Actor"), "Any actor");
    await page.getByLabel("Target ID").fill(id);
    await page.keyboard.press("Enter");
    await expect.poll(() => rows(page).count()).toBe(1);
    expect(new URL(page.url()).search).toBe(`?target=${id}`);
    await page.getByLabel("Target ID").fill("nonsense");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("12 letters or digits").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByLabel("Target ID").fill("key_000000000000");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByRole("heading", { name: "No results" }).waitFor();
    await page.context().close();
  });

  it("B17: loads older items on a click", async () => {
    const busy = await verifiedAccount(url);
    for (let i = 0; i < 55; i++) {
      const body = { name: `Name ${i}` };
      await call(url, `/workspaces/${busy.workspaceId}`, { ...asUser(busy), method: "PATCH", body });
    }
    const page = await openSettings(under, busy, "audit");
    await rows(page).first().waitFor();
    expect(await rows(page).count()).toBe(50);
    // A page that arrives after another filter is chosen is not of its list.
    const held = Promise.withResolvers<void>();
    await page.route(/\/audit\?.*cursor=/, async (route) => {
      await held.promise;
      await route.continue();
    });
    const older = page.getByRole("button", { name: "Show older" });
    await older.click();
    const filtered = page.waitForResponse(/\/audit\?.*action=/);
    await choose(page.getByLabel("Action"), "Settings changed");
    await filtered;
    held.resolve();
    await older.and(page.locator("[aria-busy=false]")).waitFor();
    expect(await rows(page).count()).toBe(50);
    await older.click();
    await expect.poll(() => rows(page).count()).toBe(55);
    await choose(page.getByLabel("Action"), "Any action");
    await expect.poll(() => rows(page).count()).toBe(50);
    await older.click();
    await rows(page).filter({ hasText: "Workspace created" }).waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Show older" }).count()).toBe(0);
    await page.context().close();
  });

  it("B17: explains to a viewer which roles may read it, and requests nothing", async () => {
    const page = await openSettings(under, guest, "general", workspaceId);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await page.getByRole("link", { name: "Audit" }).click();
    await page.getByText(/Reading the audit requires an .* You are a viewer\./).waitFor();
    expect(asked.filter((path) => path.endsWith("/audit") && path.startsWith("/workspaces"))).toEqual([]);
    await page.context().close();
  });

  it("B17: can be opened and filtered by keyboard", async () => {
    const page = await openSettings(under, owner, "general", workspaceId);
    const { keyboard } = page;
    await page.getByRole("link", { name: "Audit" }).focus();
    await keyboard.press("Enter");
    await rows(page).first().waitFor();
    await page.getByLabel("Action").focus();
    await keyboard.press("Enter");
    await page.getByRole("option", { name: "API keys", exact: true }).waitFor();
    await keyboard.type("API keys");
    await keyboard.press("Enter");
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.context().close();
  });

  it("B17: finds the deleted key also by the word of the API", async () => {
    const here = { ...owner, workspaceId };
    const projectId = await createProject(url, here, "yard");
    const { id } = await createKey(url, here, projectId);
    await call(url, `/projects/${projectId}/keys/${id}`, { ...asUser(here), method: "DELETE" });
    const page = await openSettings(under, owner, "audit", workspaceId);
    await page.getByLabel("Search", { exact: true }).fill("deleted key");
    await expect.poll(() => rows(page).count()).toBe(1);
    await rows(page).filter({ hasText: "API key deleted" }).filter({ hasText: id }).waitFor();
    await page.getByLabel("Search", { exact: true }).fill("revoked key");
    await page.waitForURL("**search=revoked+key");
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.context().close();
  });
});

describe("B17: the account's activity", () => {
  it("B17: shows sign-ins and changes on a click, in both themes and at all widths", async () => {
    const account = await verifiedAccount(url);
    const page = await (await under.open({ as: account })).newPage();
    await page.goto("/auth/account");
    await page.getByRole("button", { name: "Show activity" }).click();
    const list = page.getByRole("list", { name: "Activity, newest first" });
    await list.getByText("Signed in with password").first().waitFor();
    await list.getByText("Account created").waitFor();
    for (const [colorScheme, width] of [
      ["light", 1440],
      ["dark", 360],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      expect(await axeFaults(page)).toEqual([]);
    }
    expect(await tooWide(page)).toEqual([]);
    await page.context().close();
  });
});

it("B17: contacts no other origin and violates no content security policy", () => {
  expect(under.faults()).toEqual([]);
});
