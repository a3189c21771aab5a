import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { call, createTenant, type FoundLogs, type Tenant } from "../support/api.ts";
import { counted, explorerPath, NASTY, rows, type SentEntry, send, variedEntries } from "./explorer-query-support.ts";
import { axeFaults, type ConsoleUnderTest, startConsole } from "./support/console.ts";

const run = promisify(execFile);

let console: ConsoleUnderTest;
let tenant: Tenant;
let sent: SentEntry[];
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  console = await startConsole();
  tenant = await createTenant(console.server.url);
  sent = variedEntries(Date.now());
  await send(console.server.url, tenant, sent);
});

afterAll(() => console?.close());

beforeEach(async () => {
  // A zone that is not UTC, so that mixing both up shows.
  context = await console.open({
    as: tenant.account,
    timezoneId: "Europe/Berlin",
    viewport: { width: 1440, height: 900 },
  });
  page = await context.newPage();
});

afterEach(() => context.close());

async function open(search = ""): Promise<void> {
  await page.goto(explorerPath(tenant, search));
  await counted(page, /^\d+ entr(y|ies)$|^[\d,]+ loaded$/).waitFor();
}

/** The count before stays until the new one is there. */
async function histogramSettled(): Promise<void> {
  await page.locator('section[aria-label="Histogram"][aria-busy="false"]').waitFor();
}

describe("what can be done with a view", () => {
  it("saves, loads, renames and deletes it", async () => {
    await open("?minLevel=error&range=6h");
    const dialog = page.getByRole("dialog", { name: "Saved views" });
    await page.getByRole("button", { name: "Views" }).click();
    await dialog.getByLabel("Save this view as").fill("Bad things");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("link", { name: "Bad things" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.reload();
    await page.getByRole("button", { name: "Views" }).click();
    await dialog.getByRole("button", { name: "Rename Bad things" }).click();
    await dialog.getByLabel("New name").fill("Worse things");
    await page.keyboard.press("Enter");
    await dialog.getByRole("link", { name: "Worse things" }).click();
    await page.waitForURL((url) => url.search === "?minLevel=error&range=6h");
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Views" }).click();
    await dialog.getByRole("button", { name: "Delete Worse things" }).click();
    await dialog.getByText("No view is saved yet.").waitFor();
  });

  it("says so where the browser keeps nothing, and takes no name away", async () => {
    await open();
    await page.evaluate(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException("full", "QuotaExceededError");
      };
    });
    const dialog = page.getByRole("dialog", { name: "Saved views" });
    await page.getByRole("button", { name: "Views" }).click();
    await dialog.getByLabel("Save this view as").fill("Bad things");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("This browser has no room for it").waitFor();
    expect(await dialog.getByLabel("Save this view as").inputValue()).toBe("Bad things");
    await dialog.getByText("No view is saved yet.").waitFor();
  });

  it("gives a command that a shell runs as it is", async () => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await open(`?${new URLSearchParams({ search: NASTY })}`);
    await counted(page, /^1 entry$/).waitFor();
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("button", { name: "Copy as curl" }).click();
    await page.getByText("Copied").waitFor();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    expect(command).not.toContain(tenant.key.secret);
    const env = { PATH: process.env.PATH ?? "", TAFFRAIL_API_KEY: tenant.key.secret };
    const { stdout } = await run("sh", ["-c", command], { env });
    // SAFETY: the envelope of a query's answer; anything else fails below.
    const { data } = JSON.parse(stdout) as { data: FoundLogs };
    expect(data.logs.map(({ message }) => message)).toEqual([NASTY]);
    const without = await run("sh", ["-c", command], { env: { PATH: env.PATH } }).catch((error: Error) => error);
    expect(String(without)).toContain("logs:read");
  });

  it("gives a link whose relative time is fixed", async () => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await open("?range=1h&level=info");
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("button", { name: "Copy link to this time" }).click();
    await page.getByText("Copied").waitFor();
    const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
    expect([...link.searchParams.keys()]).toEqual(["level", "from", "to"]);
  });
});

describe("pages", () => {
  it("loads further pages of one snapshot, and counts when asked", async () => {
    const busy = await createTenant(console.server.url);
    const now = Date.now();
    const logs = Array.from({ length: 250 }, (_, index) => ({ message: `row ${index}`, timestamp: now - index }));
    await send(console.server.url, busy, logs);
    const own = await console.open({ as: busy.account, viewport: { width: 1440, height: 900 } });
    const other = await own.newPage();
    await other.goto(explorerPath(busy));
    await counted(other, "100 loaded").waitFor();
    await other.getByRole("button", { name: "Count all" }).click();
    await counted(other, "100 of 250 loaded").waitFor();
    await send(console.server.url, busy, [{ message: "too late" }]);
    await rows(other).first().click();
    await other.keyboard.press("End");
    await counted(other, "200 of 250 loaded").waitFor();
    await other.keyboard.press("End");
    await counted(other, "250 entries").waitFor();
    await other.getByRole("button", { name: "Refresh" }).click();
    // The list is at its end, which may be near enough for the next page.
    await counted(other, /^[12]00 loaded$/).waitFor();
    await other.locator("[data-list]").evaluate((list) => list.scrollTo(0, 0));
    await rows(other).first().getByText("too late").waitFor();
    await own.close();
  });

  it("shows several projects with their names, and one when chosen", async () => {
    const { account } = tenant;
    await page.goto(`/w/${account.workspaceId}?category=billing`);
    const billing = sent.filter(({ category }) => category === "billing").length;
    await counted(page, `${billing} entries`).waitFor();
    await page.getByRole("combobox", { name: "Project" }).selectOption({ label: "test" });
    await page.waitForURL(`**/w/${account.workspaceId}/p/${tenant.projectId}?category=billing`);
    await counted(page, `${billing} entries`).waitFor();
  });
});

describe("live", () => {
  it("follows a project from where the list ends, without a gap, pauses, and goes on", async () => {
    const watched = await createTenant(console.server.url);
    await send(console.server.url, watched, [{ message: "before" }]);
    const own = await console.open({ as: watched.account, viewport: { width: 1440, height: 900 } });
    const other = await own.newPage();
    await other.goto(explorerPath(watched));
    await rows(other).filter({ hasText: "before" }).waitFor();
    // After the list, before the tail: what a careless one would miss.
    await send(console.server.url, watched, [{ message: "between" }]);
    await other.keyboard.press("l");
    await other
      .getByRole("status")
      .filter({ hasText: /^Live$/ })
      .waitFor();
    await rows(other).filter({ hasText: "between" }).waitFor();
    await send(console.server.url, watched, [{ message: "live one" }]);
    await rows(other).first().getByText("live one").waitFor();
    await other.getByRole("button", { name: "Pause" }).click();
    await send(console.server.url, watched, [{ message: "live two" }]);
    await other.getByRole("status").filter({ hasText: "1 waiting" }).waitFor();
    await expect.poll(() => rows(other).count()).toBe(3);
    await other.getByRole("button", { name: "Go on" }).click();
    await rows(other).first().getByText("live two").waitFor();
    await expect.poll(() => rows(other).count()).toBe(4);
    expect(new URL(other.url()).search).toBe("?live=1");
    await other.getByRole("button", { name: "Stop following" }).click();
    await other.waitForURL((url) => url.search === "");
    await expect.poll(() => rows(other).count()).toBe(4);
    await own.close();
  });
});

describe("keyboard", () => {
  it("searches, filters and zooms without a mouse", async () => {
    await open("?range=1h");
    await page.keyboard.press("/");
    await page.keyboard.type("entry");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("search") === "entry");
    await histogramSettled();
    // In the field it is a letter.
    await page.keyboard.press("h");
    expect(await page.getByLabel("Search in messages and data").inputValue()).toBe("entryh");
    await page.keyboard.press("Tab");
    await page.keyboard.press("h");
    const slider = page.getByRole("slider", { name: "Entries over time" });
    expect(await slider.evaluate((element) => element === document.activeElement)).toBe(true);
    for (let press = 0; press < 20; press++) await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Shift+PageDown");
    expect(await slider.getAttribute("aria-valuetext")).toMatch(/\d\d:\d\d – \d\d:\d\d, \d+ entr/);
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.has("to"));
    // It stays where it is while the zoomed one is loaded.
    expect(await slider.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press("f");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await page.waitForURL((url) => url.searchParams.get("level") === "fatal");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  it("lets single keys be turned off", async () => {
    await open();
    await page.keyboard.press("?");
    await page.getByLabel("Single keys work as shortcuts").uncheck();
    await page.keyboard.press("Escape");
    await page.keyboard.press("v");
    expect(await page.getByRole("dialog").count()).toBe(0);
  });
});

describe("accessible and fitting", () => {
  const LONG = `?${new URLSearchParams({ session: "x".repeat(200), data: '{"user.id":{"gte":3}}' })}`;

  it.each([
    [360, "light"],
    [360, "dark"],
    [768, "light"],
    [1440, "light"],
    [1440, "dark"],
  ] as const)("at %i pixels, %s", async (width, colorScheme) => {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    await open();
    await page.locator(".u-over").waitFor();
    if (width < 1000) await page.getByRole("button", { name: "Filters" }).click();
    await page.getByRole("button", { name: "As a table" }).click();
    await page.getByLabel("Time range").selectOption("custom");
    expect(await axeFaults(page)).toEqual([]);
    await page.goto(explorerPath(tenant, LONG));
    await page.getByText("Nothing matches").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  });

  it.each(["light", "dark"] as const)("in its dialogs, %s", async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await open();
    for (const name of ["Views", "Share", "Download", "Shortcuts"]) {
      await page.getByRole("button", { name, exact: true }).click();
      await page.getByRole("dialog").waitFor();
      expect(await axeFaults(page), name).toEqual([]);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
  });
});

describe("the whole", () => {
  it("never sends more than it must: a reload asks for list, histogram, projects, workspaces and two suggestions", async () => {
    await open();
    const asked: string[] = [];
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (!pathname.startsWith("/app/") && !pathname.startsWith("/w/")) asked.push(pathname);
    });
    await page.reload();
    await page.getByRole("checkbox", { name: "invoice" }).waitFor();
    expect(asked.sort()).toEqual([
      "/logger/query",
      "/logger/stats",
      "/logger/stats",
      "/logger/stats",
      "/projects",
      "/workspaces",
    ]);
  });

  it("contacts nobody else and breaks no rule of its policy", async () => {
    expect(await call(console.server.url, "/health")).toMatchObject({ status: 200 });
    expect(console.faults()).toEqual([]);
  });
});
