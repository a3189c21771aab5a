import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anotherProject, asUser, call, createTenant, type Tenant } from "../support/api.ts";
import { type OwnConsole, startConsole } from "./support/console.ts";
import { allMessages, fieldValue, logsOf, openField, row, send } from "./support/explorer.ts";

let console: OwnConsole;
/** Tenant of the account whose projects the tests show. */
let first: Tenant;

beforeAll(async () => {
  console = await startConsole();
  first = await createTenant(console.server.url);
});

afterAll(() => console?.close());

/** Follows a new project with one entry. */
async function following(): Promise<{ tenant: Tenant; page: Page }> {
  const tenant = await anotherProject(console.server.url, first);
  await sendNumbered(tenant, 1, 1);
  return { tenant, page: await follow(tenant, await console.reuse({ as: tenant.account })) };
}

async function follow(tenant: Tenant, page: Page): Promise<Page> {
  await page.goto(logsOf(tenant, "&live=1"));
  await waitForStatus(page, "Live");
  await row(page, "number 1").waitFor();
  return page;
}

/** The status of the live view. */
function waitForStatus(page: Page, words: string): Promise<void> {
  return page.getByRole("status").filter({ hasText: words }).first().waitFor();
}

/** Waits until the histogram has this number of entries. */
function chartSays(page: Page, words: string, timeout = 15_000): Promise<void> {
  const chart = page.getByRole("slider", { name: "Entries over time" });
  return chart.and(page.locator(`[aria-valuetext^='${words}']`)).waitFor({ timeout });
}

async function sendNumbered(tenant: Tenant, from: number, through: number): Promise<void> {
  await send(console.server.url, tenant, through - from + 1, (index) => ({ message: `number ${from + index}` }));
}

/** The messages that the list must show once all these entries have arrived, newest first. */
function down(from: number, through = 1): string[] {
  return Array.from({ length: from - through + 1 }, (_, at) => `number ${from - at}`);
}

describe("a live view", () => {
  it("shows new entries at the top", async () => {
    const { tenant, page } = await following();
    await sendNumbered(tenant, 2, 3);
    await row(page, "number 3").waitFor();
    expect(await allMessages(page)).toEqual(down(3));
    // A list that fails to reload loses no entry, either.
    await page.route("**/logger/query", (route) => route.abort());
    await page.getByRole("button", { name: "Refresh" }).click();
    const again = page.getByRole("alert").getByRole("button", { name: "Try now" });
    await again.waitFor();
    await sendNumbered(tenant, 4, 4);
    await row(page, "number 4").waitFor();
    expect(await allMessages(page)).toEqual(down(4));
    await page.unroute("**/logger/query");
    await again.waitFor({ state: "detached" });
    await waitForStatus(page, "4 entries");
    expect(await allMessages(page)).toEqual(down(4));
  });

  it("keeps the order when a filter is removed that excluded live entries", async () => {
    const tenant = await anotherProject(console.server.url, first);
    await sendNumbered(tenant, 1, 1);
    const page = await console.reuse({ as: tenant.account });
    await page.goto(logsOf(tenant, "&live=1&level=error"));
    await waitForStatus(page, "Live");
    await sendNumbered(tenant, 2, 300);
    await page.getByRole("button", { name: "Clear query" }).first().click();
    await row(page, "number 300").waitFor();
    await waitForStatus(page, "Live");
    await sendNumbered(tenant, 301, 301);
    await row(page, "number 301").waitFor();
    expect(await allMessages(page)).toEqual(down(301));
    await page.getByText("1 new", { exact: true }).waitFor();
  });

  it("loses and duplicates nothing in a pause during which 2,000 entries arrive", async () => {
    const { tenant, page } = await following();
    await page.getByRole("button", { name: "Pause" }).click();
    await waitForStatus(page, "Paused");
    await sendNumbered(tenant, 2, 2001);
    await waitForStatus(page, "2,000 new");
    expect(await allMessages(page)).toEqual(["number 1"]);
    await page.getByRole("button", { name: "Resume" }).click();
    await row(page, "number 2001").waitFor();
    expect(await allMessages(page)).toEqual(down(2001));
  });

  it("keeps the visible rows in place and counts new entries", async () => {
    const { tenant, page } = await following();
    await sendNumbered(tenant, 2, 60);
    await row(page, "number 60").waitFor();
    const list = page.locator("[data-list]");
    await list.evaluate((element) => {
      element.scrollTop = 800;
    });
    const read = row(page, "number 22");
    const before = await read.boundingBox();
    await sendNumbered(tenant, 61, 100);
    await page.getByRole("button", { name: "40 new" }).waitFor();
    expect(await read.boundingBox()).toEqual(before);
    await page.getByRole("button", { name: "40 new" }).click();
    await row(page, "number 100").and(page.locator(":focus")).waitFor();
    await page.getByRole("button", { name: "40 new" }).waitFor({ state: "detached" });
  });

  it("continues where it was after the network was offline", async () => {
    const { tenant, page } = await following();
    await page.context().setOffline(true);
    await waitForStatus(page, "You are offline");
    await sendNumbered(tenant, 2, 40);
    await page.context().setOffline(false);
    await row(page, "number 40").waitFor();
    expect(await allMessages(page)).toEqual(down(40));
  });

  it("continues where it was after the server was killed", async () => {
    const { tenant, page } = await following();
    await sendNumbered(tenant, 2, 20);
    await row(page, "number 20").waitFor();
    await console.server.kill9();
    await waitForStatus(page, "Trying again.");
    await console.server.restart();
    await sendNumbered(tenant, 21, 600);
    await row(page, "number 600").waitFor();
    await waitForStatus(page, "Live");
    expect(await allMessages(page)).toEqual(down(600));
  });

  it("ends with a reason when its session ends, and keeps its entries", async () => {
    const tenant = await createTenant(console.server.url);
    await sendNumbered(tenant, 1, 1);
    const page = await follow(tenant, await (await console.open({ as: tenant.account })).newPage());
    // What the page requests after its first rows would be refused, which signs out the page.
    await page.waitForLoadState("networkidle");
    const { refreshToken } = tenant.account;
    expect((await call(console.server.url, "/auth/logout", { body: { refreshToken } })).status).toBe(200);
    await waitForStatus(page, "Your session ended.");
    expect(await allMessages(page)).toEqual(["number 1"]);
    const link = page.getByRole("link", { name: "Sign in", exact: true });
    await link.first().click();
    await page.waitForURL(
      (url) => url.pathname === "/login" && url.searchParams.get("next")?.includes("live=1") === true,
    );
    await page.context().close();
  });

  it("5: counts new entries immediately in the histogram, without a request, and soon in the fields", async () => {
    const { tenant, page } = await following();
    await page.setViewportSize({ width: 1440, height: 900 });
    await chartSays(page, "1 entry");
    await openField(page, "category");
    await fieldValue(page, "category", "custom", 1).waitFor();
    let asked = 0;
    await page.route("**/logger/stats", () => void asked++);
    await sendNumbered(tenant, 2, 5);
    await send(console.server.url, tenant, 3, () => ({ message: "call", category: "http", type: "response" }));
    await row(page, "call").first().waitFor();
    await chartSays(page, "8 entries", 500);
    expect(asked).toBe(0);
    await fieldValue(page, "category", "custom", 5).waitFor();
    await fieldValue(page, "category", "http", 3).waitFor();
    // A count that takes longer than the time to the next one goes on, and what arrived meanwhile is counted after it.
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let counts = 0;
    let givenUp = 0;
    page.on("requestfailed", (request) => {
      if (request.postData()?.includes("facets") === true) givenUp++;
    });
    await page.route("**/logger/search", async (route) => {
      if (route.request().postData()?.includes("facets") !== true) return route.continue();
      counts++;
      await released;
      await route.continue();
    });
    for (const number of [6, 7]) {
      await sendNumbered(tenant, number, number);
      await row(page, `number ${number}`).waitFor();
      // Like a page that becomes visible again: its fields are counted immediately.
      await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
      await expect.poll(() => counts).toBeGreaterThan(0);
    }
    release();
    await fieldValue(page, "category", "custom", 7).waitFor();
    expect(givenUp).toBe(0);
  });

  it("5: counts each entry once and never decreases while the service counts, too", async () => {
    const { tenant, page } = await following();
    await chartSays(page, "1 entry");
    await page.evaluate(() => {
      const chart = document.querySelector("[role=slider]");
      const seen: number[] = [];
      Object.assign(globalThis, { seen });
      if (chart === null) throw new Error("There is no chart.");
      const look = (): void => {
        seen.push(Number(/^([\d,]+) entr/.exec(chart.getAttribute("aria-valuetext") ?? "")?.[1]?.replaceAll(",", "")));
      };
      new MutationObserver(look).observe(chart, { attributes: true, attributeFilter: ["aria-valuetext"] });
    });
    let counts = 0;
    page.on("response", (response) => {
      if (response.url().endsWith("/logger/stats")) counts++;
    });
    for (let batch = 0; batch < 40; batch++) {
      await sendNumbered(tenant, 2 + batch * 50, 51 + batch * 50);
      // Like a page that becomes visible again: the service then counts immediately.
      await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    }
    await chartSays(page, "2,001 entries");
    await expect.poll(() => counts).toBeGreaterThan(5);
    // SAFETY: the script above defined it.
    const seen = await page.evaluate(() => (globalThis as unknown as { seen: number[] }).seen);
    expect(seen.length).toBeGreaterThan(5);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(Math.max(...seen)).toBe(2001);
  });

  it("ends with a reason when its project is deleted", async () => {
    const { tenant, page } = await following();
    const { projectId, account } = tenant;
    await call(console.server.url, `/projects/${projectId}`, { method: "DELETE", ...asUser(account) });
    await waitForStatus(page, "The project was deleted");
  });

  it("of all projects follows the only one or the chosen one, and ends where it began", async () => {
    const tenant = await createTenant(console.server.url);
    const page = await console.reuse({ as: tenant.account });
    const all = `/w/${tenant.account.workspaceId}`;
    await page.goto(`${all}?range=6h`);
    await page.getByRole("button", { name: "Live", exact: true }).click();
    await page.waitForURL(`**/p/${tenant.projectId}?range=6h&live=1`);
    await page.getByText("Live follows the project test.").waitFor();
    await page.getByRole("button", { name: "Stop following" }).click();
    await page.waitForURL(`**${all}?range=6h`);
    const other = await anotherProject(console.server.url, tenant);
    await page.reload();
    await page.getByRole("button", { name: "Live", exact: true }).and(page.locator("[aria-haspopup]")).waitFor();
    await page.keyboard.press("l");
    const choices = page.getByRole("menuitem", { name: /^Follow / });
    await expect.poll(() => choices.count()).toBe(2);
    await choices.first().click();
    await page.waitForURL(/\/p\/[^?]+\?range=6h&live=1$/);
    expect([tenant.projectId, other.projectId].some((id) => page.url().includes(`/p/${id}?`))).toBe(true);
    await page.getByRole("button", { name: "Stop following" }).click();
    await page.waitForURL(`**${all}?range=6h`);
  });

  it("applies filters of data, as earlier addresses have them", async () => {
    const { tenant, page } = await following();
    await page.goto(`${logsOf(tenant, "&live=1")}&data=${encodeURIComponent('{"status":{"gte":500}}')}`);
    await waitForStatus(page, "Live");
    await send(console.server.url, tenant, 4, (index) => ({
      message: `status ${index}`,
      data: { status: index * 200 },
    }));
    await row(page, "status 3").waitFor();
    expect(await allMessages(page)).toEqual(["status 3"]);
  });

  it("violates no content security policy", () => {
    expect(console.faults()).toEqual([]);
  });
});
