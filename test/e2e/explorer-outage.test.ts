import type { APIResponse, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTenant, type Tenant } from "../support/api.ts";
import { axeFaults, type OwnConsole, startConsole } from "./support/console.ts";
import { ask, fieldValue, logsOf, row, send } from "./support/explorer.ts";

/** Longest wait between two attempts. */
const LONGEST_WAIT_MS = 15_000;

let console: OwnConsole;

beforeAll(async () => {
  console = await startConsole();
});

afterAll(() => console?.close());

async function sendOne(tenant: Tenant, entry: object): Promise<void> {
  await send(console.server.url, tenant, 1, () => entry);
}

async function opened(more: string): Promise<{ tenant: Tenant; page: Page }> {
  const tenant = await createTenant(console.server.url);
  await sendOne(tenant, { message: "before", level: "error" });
  const context = await console.open({ as: tenant.account, viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(logsOf(tenant, more));
  await row(page, "before").waitFor();
  await chartSays(page, "1 entry");
  return { tenant, page };
}

function chartSays(page: Page, words: string): Promise<void> {
  return page
    .getByRole("slider", { name: "Entries over time" })
    .and(page.locator(`[aria-valuetext^='${words}']`))
    .waitFor();
}

/** The notice above entries that are not of the query of the page. */
function ofPrevious(page: Page): Locator {
  return page.getByRole("status").filter({ hasText: /^Entries of the previous query\./ });
}

describe("3: an outage", () => {
  it("while code is loaded early reloads nothing: what was typed stays, and lists open afterwards", async () => {
    const { page } = await opened("");
    const lists = "**/app/files/*-list-*.js";
    await page.route(lists, (route) => route.abort());
    await page.reload();
    const failed = page.waitForEvent("requestfailed", (request) => request.url().includes("select-list"));
    const box = page.getByRole("textbox", { name: "Search", exact: true });
    await box.fill("level:error half a th");
    const loads: string[] = [];
    page.on("framenavigated", (frame) => loads.push(frame.url()));
    await failed;
    // The reload asked for the page first, to see whether the service is reachable.
    await page.evaluate(() => fetch("/"));
    await page.waitForTimeout(500);
    expect(loads).toEqual([]);
    expect(await box.inputValue()).toBe("level:error half a th");
    await page.unroute(lists);
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByRole("combobox", { name: "Order" }).click();
    await page.getByRole("listbox").waitFor();
    await page.context().close();
  });

  it("while a part of the page is loaded reloads nothing, and the part comes afterwards", async () => {
    const { page } = await opened("");
    let isAway = false;
    // Routes turn the browser's cache off, which has the files that were loaded before the outage.
    const cached = new Map<string, APIResponse>();
    await page.route("**/*", async (route) => {
      const url = route.request().url();
      isAway ||= /\/esm-/.test(url);
      const file = cached.get(url);
      if (file !== undefined) return route.fulfill({ response: file });
      if (isAway) return route.abort();
      if (!url.includes("/app/files/")) return route.continue();
      const response = await route.fetch();
      cached.set(url, response);
      return route.fulfill({ response });
    });
    const failed = page.waitForEvent("requestfailed", (request) => /\/esm-/.test(request.url()));
    await page.reload();
    await failed;
    await page.evaluate(() => Reflect.set(globalThis, "isSamePage", true));
    const box = page.getByRole("textbox", { name: "Search", exact: true });
    await box.fill("half a th");
    const loaded = page.waitForResponse((response) => /\/esm-/.test(response.url()));
    await page.unroute("**/*");
    await loaded;
    // With its code, the list shows the details of an entry.
    await row(page, "before").click();
    await page.getByRole("region", { name: "Details of entry 1" }).waitFor();
    expect(await box.inputValue()).toBe("half a th");
    expect(await page.evaluate(() => Reflect.get(globalThis, "isSamePage"))).toBe(true);
    await page.context().close();
  });

  it("recovers without a click: entries, histogram, counts and the live view, after one notice", async () => {
    const { tenant, page } = await opened("&live=1");
    await page
      .getByRole("status")
      .filter({ hasText: /^Live$/ })
      .waitFor();
    await sendOne(tenant, { message: "unrelated", level: "info" });
    await row(page, "unrelated").waitFor();
    await console.server.kill9();
    // Another query, of which nothing is loaded yet.
    await ask(page, "level:error");
    await ofPrevious(page).waitFor();
    expect(await page.locator("[data-message]").allTextContents()).toEqual(["unrelated", "before"]);
    expect(await axeFaults(page)).toEqual([]);
    const again = page.getByRole("button", { name: "Try now" });
    await again.first().waitFor();
    // There is one notice, also while attempts fail.
    for (let look = 0; look < 20; look++) {
      expect(await again.count()).toBe(1);
      expect(await page.getByRole("alert").getByText("The service could not be reached. Trying again.").count()).toBe(
        1,
      );
      await page.waitForTimeout(100);
    }
    await console.server.restart();
    await again.waitFor({ state: "detached" });
    await row(page, "unrelated").waitFor({ state: "detached" });
    await row(page, "before").waitFor();
    expect(await ofPrevious(page).count()).toBe(0);
    await chartSays(page, "1 entry");
    await fieldValue(page, "level", "error", 1).waitFor();
    await page
      .getByRole("status")
      .filter({ hasText: /^Live$/ })
      .waitFor();
    await sendOne(tenant, { message: "after", level: "error" });
    await row(page, "after").waitFor();
    await chartSays(page, "2 entries");
    await fieldValue(page, "level", "error", 2).waitFor();
    await page.context().close();
  });

  it("keeps the content and shows one notice above it until a refresh succeeds", async () => {
    const { tenant, page } = await opened("");
    await console.server.kill9();
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByText("The service could not be reached. Trying again.").waitFor();
    expect(await row(page, "before").count()).toBe(1);
    expect(await page.getByRole("button", { name: "Try now" }).count()).toBe(1);
    expect(await ofPrevious(page).count()).toBe(0);
    // Another query leaves the entries, without marks of its text and without its chart.
    await ask(page, "bef");
    await ofPrevious(page).waitFor();
    expect(await row(page, "before").count()).toBe(1);
    expect(await page.locator("mark").count()).toBe(0);
    expect(await page.getByRole("slider", { name: "Entries over time" }).count()).toBe(0);
    // That of the entries again.
    await page.goBack();
    await ofPrevious(page).waitFor({ state: "detached" });
    expect(await row(page, "before").count()).toBe(1);
    await console.server.restart();
    await sendOne(tenant, { message: "after" });
    await page.getByRole("button", { name: "Try now" }).waitFor({ state: "detached" });
    // The successful attempt may have been before the entry was sent.
    await page.getByRole("button", { name: "Refresh" }).click();
    await row(page, "after").waitFor();
    await chartSays(page, "2 entries");
    await page.context().close();
  });

  it("shows one notice also if only the fields failed before, and they come with the rest", async () => {
    const { page } = await opened("");
    const again = page.getByRole("button", { name: "Try now" });
    await page.route("**/logger/search", (route) => route.abort());
    // Another query, whose list is there and whose fields are not.
    await ask(page, "level:error");
    const ownNotice = page.getByRole("complementary", { name: "Fields" }).getByRole("alert");
    await ownNotice.waitFor();
    expect(await again.count()).toBe(1);
    await page.route("**/logger/query", (route) => route.abort());
    await page.getByRole("button", { name: "Refresh" }).click();
    await ownNotice.waitFor({ state: "detached" });
    expect(await page.getByText("The service could not be reached. Trying again.").count()).toBe(1);
    expect(await again.count()).toBe(1);
    await page.unroute("**/logger/query");
    await page.unroute("**/logger/search");
    await again.waitFor({ state: "detached" });
    await fieldValue(page, "level", "error", 1).waitFor();
    await page.context().close();
  });

  it("ends as soon as the network is back, after any time", async () => {
    const { page } = await opened("");
    let failed = 0;
    page.on("requestfailed", (request) => {
      if (request.url().endsWith("/logger/query")) failed++;
    });
    await page.clock.install();
    await page.context().setOffline(true);
    await page.getByRole("button", { name: "Refresh" }).click();
    const waited = async (): Promise<number> => {
      await page.clock.fastForward(LONGEST_WAIT_MS);
      return failed;
    };
    // The next wait is at least 4 s.
    await expect.poll(waited, { timeout: 20_000 }).toBeGreaterThanOrEqual(6);
    const answered = page.waitForResponse("**/logger/query", { timeout: 2000 });
    await page.context().setOffline(false);
    await answered;
    await page.getByRole("button", { name: "Try now" }).waitFor({ state: "detached" });
    await page.context().close();
  });

  it("ends in the settings, too", async () => {
    const { tenant, page } = await opened("");
    await page.goto(`/w/${tenant.account.workspaceId}/settings/keys`);
    await page.getByRole("heading", { name: "API keys" }).first().waitFor();
    await page.context().route("**/projects*", (route) => route.abort());
    await page.reload();
    await page.getByRole("alert").getByText("The service could not be reached").waitFor();
    await page.context().unroute("**/projects*");
    await page.getByRole("alert").waitFor({ state: "detached" });
    await page.context().close();
  });

  it("opens a page that could not be loaded as soon as it ends, with its styles and without a reload", async () => {
    const { tenant, page } = await opened("");
    await page.evaluate(() => Reflect.set(globalThis, "isSamePage", true));
    await page.context().setOffline(true);
    await page.getByRole("link", { name: "Settings" }).click();
    const notice = page.getByText("The page opens as soon as it can.");
    await notice.waitFor();
    await page.context().setOffline(false);
    await page.waitForURL(`**/w/${tenant.account.workspaceId}/settings`);
    await page.getByRole("heading", { name: "General" }).first().waitFor();
    await notice.waitFor({ state: "detached" });
    expect(await page.evaluate(() => Reflect.get(globalThis, "isSamePage"))).toBe(true);
    const missing = () =>
      page.evaluate(() =>
        [...document.querySelectorAll<HTMLLinkElement>("link[rel=stylesheet]")]
          .filter(({ sheet }) => sheet === null)
          .map(({ href }) => href),
      );
    // Parts that the page loads ahead are under way.
    await expect.poll(missing).toEqual([]);
    await page.context().close();
  });

  it("violates no content security policy", () => {
    expect(console.faults()).toEqual([]);
  });
});
