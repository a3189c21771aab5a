import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, createProject, createTenant, type Tenant } from "../support/api.ts";
import { send } from "./explorer-query-support.ts";
import { choose } from "./support/choose.ts";
import { axeFaults, beyondTab, type ConsoleUnderTest, startSharedConsole, tooWide } from "./support/console.ts";
import { ask } from "./support/explorer.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
const TRACE = "5b8efff798038103d269b633813fc60c";

let under: ConsoleUnderTest;
let shop: Tenant;
/** Another project of the same workspace. */
let payments: Tenant;
/** A whole minute, one hour ago: the start of the incident. */
let incident: number;

beforeAll(async () => {
  under = await startSharedConsole();
  const { url } = under.server;
  shop = await createTenant(url);
  const projectId = await createProject(url, shop.account, "payments");
  payments = { account: shop.account, projectId, key: await createKey(url, shop.account, projectId) };
  incident = Math.floor((Date.now() - 60 * MINUTE) / MINUTE) * MINUTE;
  await Promise.all([send(url, shop, shopEntries()), send(url, payments, paymentEntries())]);
});

afterAll(() => under?.close());

/** An hour of traffic before the incident, an hour with it, and the same hour of yesterday. */
function shopEntries(): object[] {
  const served = (at: number, n: number) => ({
    timestamp: at,
    level: "info",
    category: "http",
    type: "response",
    message: `GET /products/${n} answered 200`,
    service: "edge",
    host: n % 2 === 0 ? "eu-1" : "eu-2",
    session: `session-${n % 4}`,
    data: { status: 200, durationMs: 20 + (n % 40), region: n % 3 === 0 ? "us" : "eu" },
  });
  const failed = (at: number, n: number) => ({
    timestamp: at,
    level: "error",
    category: "http",
    type: "response",
    message: `POST /checkout: payment gateway timed out after ${10_000 + n} ms`,
    service: "checkout",
    host: "eu-1",
    session: `session-${n % 4}`,
    data: { status: 504, durationMs: 10_000 + n, region: "eu" },
  });
  const minutes = Array.from({ length: 60 }, (_, n) => n);
  return [
    ...minutes.map((n) => served(incident - DAY + n * MINUTE, n)),
    { ...served(incident - DAY + MINUTE, 0), message: "Legacy cart is used", level: "warn" },
    ...minutes.map((n) => served(incident - 60 * MINUTE + n * MINUTE, n)),
    ...minutes.slice(0, 55).map((n) => served(incident + n * MINUTE, n)),
    ...minutes.slice(5, 55).map((n) => failed(incident + n * MINUTE + 500, n)),
    {
      ...{ timestamp: incident + 5 * MINUTE, level: "info", category: "system", type: "startup", service: "checkout" },
      message: "checkout started",
      data: { version: "2.0.0", pool: { size: 5, host: "db-1" } },
    },
    {
      ...{ timestamp: incident - 3 * DAY, level: "info", category: "system", type: "startup", service: "checkout" },
      message: "checkout started",
      data: { version: "1.9.0", pool: { size: 20, host: "db-1" } },
    },
    traceEntry({ after: 10_400, spanId: "a1", message: "POST /checkout", service: "edge", durationMs: 10_400 }),
    traceEntry({ after: 130, spanId: "b1", parentSpanId: "a1", message: "Cart is read", service: "checkout" }),
    traceEntry({
      after: 10_350,
      spanId: "b1",
      parentSpanId: "a1",
      message: "Checkout failed",
      service: "checkout",
      level: "error",
    }),
  ];
}

function paymentEntries(): object[] {
  return [
    traceEntry({
      after: 4200,
      spanId: "c1",
      parentSpanId: "b1",
      message: "Charge",
      service: "payments",
      durationMs: 4000,
    }),
  ];
}

interface TraceEntry {
  /** Milliseconds from the start of the incident. */
  after: number;
  spanId: string;
  parentSpanId?: string;
  message: string;
  service: string;
  level?: string;
  durationMs?: number;
}

function traceEntry({ after, parentSpanId, durationMs, ...rest }: TraceEntry): object {
  const data = { ...(parentSpanId && { parentSpanId }), ...(durationMs && { durationMs }) };
  return {
    level: "info",
    category: "http",
    type: "request",
    ...rest,
    timestamp: incident + after,
    traceId: TRACE,
    data,
  };
}

async function opened(path: string, options: { width?: number; colorScheme?: "light" | "dark" } = {}): Promise<Page> {
  const { width = 1440, colorScheme = "light" } = options;
  const page = await under.reuse({
    as: shop.account,
    colorScheme,
    viewport: { width, height: 900 },
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await page.goto(`/w/${shop.account.workspaceId}${path}`);
  return page;
}

/** Query string of the hour of the incident. */
function hour(more: Record<string, string> = {}): string {
  const [from, to] = [incident, incident + 60 * MINUTE].map((at) => new Date(at).toISOString());
  return `?${new URLSearchParams({ from: from ?? "", to: to ?? "", ...more })}`;
}

/** Looks at a page in its other states: no finding of axe in both themes, no sideways scrolling at any width, all by keyboard. */
async function looksRight(page: Page, ready: () => Promise<unknown>): Promise<void> {
  expect(await axeFaults(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await page.setViewportSize({ width: 360, height: 900 });
  await ready();
  expect(await axeFaults(page)).toEqual([]);
  expect(await tooWide(page)).toEqual([]);
  expect(await beyondTab(page)).toEqual([]);
}

/** The system's colours replace backgrounds, but not those that say what is drawn. */
async function keepsColours(page: Page, keys: string): Promise<void> {
  const colours = (): Promise<string[]> =>
    page.locator(keys).evaluateAll((all) => all.map((each) => getComputedStyle(each).backgroundColor));
  const before = await colours();
  expect(before.length).toBeGreaterThan(1);
  await page.emulateMedia({ forcedColors: "active" });
  expect(await colours()).toEqual(before);
  await page.emulateMedia({ forcedColors: "none" });
}

const GATEWAY = "POST /checkout: payment gateway timed out after <N> ms";

describe("19.3: patterns of a query", () => {
  it("and details fit the window with a character that does not wrap; a message of white space has a name", async () => {
    const { account } = shop;
    const projectId = await createProject(under.server.url, account, "accents");
    const accents = `Z${"\u0301\u0489".repeat(2000)}`;
    await send(under.server.url, { account, projectId, key: await createKey(under.server.url, account, projectId) }, [
      { message: accents, data: { [accents]: accents } },
      { message: " " },
    ]);
    const page = await opened(`/p/${projectId}/patterns`, { width: 360 });
    await page.getByRole("link", { name: "white space only" }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
    await page.goto(`/w/${account.workspaceId}/p/${projectId}`);
    await page.locator("[data-row]").filter({ hasText: "Z" }).click();
    await page.getByRole("region", { name: "Details of entry 1" }).waitFor();
    expect(await tooWide(page)).toEqual([]);
  });

  it("have counts, shares, trends and what is new against yesterday; a click adds one to the query or excludes it", async () => {
    const page = await opened(`/p/${shop.projectId}/patterns${hour()}`);
    const table = page.getByRole("table");
    const gateway = table.getByRole("row").filter({ hasText: GATEWAY });
    await gateway.getByRole("img", { name: /^At most [12] in / }).waitFor();
    expect(await gateway.getByRole("cell").allTextContents()).toEqual(
      expect.arrayContaining(["New", GATEWAY, "50", "0"]),
    );
    await table.getByRole("row").filter({ hasText: "Legacy cart is used" }).getByText("Gone").waitFor();
    await looksRight(page, () => gateway.waitFor());
    await page.setViewportSize({ width: 1440, height: 900 });
    // The times of its first and its last entry, and none of a pattern that is gone.
    const clock = /^(?:[A-Z][a-z]+ \d+, )?\d\d:\d\d(?::\d\d)?$/;
    await expect.poll(() => gateway.getByRole("cell").getByText(clock).count()).toBe(2);
    expect(await table.getByRole("row").filter({ hasText: "Legacy cart" }).getByText(clock).count()).toBe(0);
    await choose(page.getByLabel("Order"), "New first");
    await table.getByRole("row").nth(1).filter({ hasText: "New" }).waitFor();
    expect(new URL(page.url()).searchParams.get("order")).toBe("new");
    await page.getByRole("button", { name: /^New/ }).click();
    await table.getByText("GET /products").waitFor({ state: "detached" });
    expect(new URL(page.url()).searchParams.get("show")).toBe("new");
    await page.getByRole("button", { name: "All", exact: true }).click();
    // More entries are of the other pattern, but none of them is an error.
    await choose(page.getByLabel("Order"), "Most errors first");
    await table.getByRole("row").nth(1).filter({ hasText: GATEWAY }).waitFor();
    expect(new URL(page.url()).searchParams.get("order")).toBe("errors");
    // By keyboard: the menu of the row, and what it does.
    await gateway.getByRole("button", { name: /^Actions of/ }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Copy pattern" }).waitFor();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(GATEWAY);
    await gateway.getByRole("button", { name: /^Actions of/ }).click();
    await page.getByRole("menuitem", { name: "Exclude" }).click();
    await gateway.waitFor({ state: "detached" });
    expect(new URL(page.url()).searchParams.get("q")).toBe(`-pattern:="${GATEWAY}"`);
    await page.goBack();
    await gateway.getByRole("link").click();
    await page.getByRole("status").filter({ hasText: "50 entries" }).waitFor();
    expect(new URL(page.url()).searchParams.get("q")).toBe(`pattern:="${GATEWAY}"`);
    // And back by the explorer's link.
    await page.getByRole("main").getByRole("link", { name: "Patterns", exact: true }).click();
    await page.getByText("1 pattern of 50 entries").waitFor();
  });

  it("say why there are none, and what is wrong with the query", async () => {
    const page = await opened(`/patterns${hour({ q: "nowhere" })}`);
    await page.getByRole("heading", { name: "No patterns" }).waitFor();
    // A range without earlier entries is usual for a new project, so it is not said in the colour of warnings.
    await page.goto(`/w/${shop.account.workspaceId}/patterns${hour({ vs: "7d" })}`);
    const about = page.getByText("The earlier range has no entries of this query, so nothing is marked as new.");
    await about.waitFor();
    const isWarning = await about.evaluate((note) => {
      const { color } = getComputedStyle(note);
      note.style.color = "var(--warn)";
      return getComputedStyle(note).color === color;
    });
    expect(isWarning).toBe(false);
    await page.goto(`/w/${shop.account.workspaceId}/patterns${hour({ q: "level:>=" })}`);
    await page.getByRole("alert").getByText(/value/).first().waitFor();
    expect(await axeFaults(page)).toEqual([]);
  });
});

describe("19.3: two spans compared", () => {
  it("from the histogram: counts over time, levels, the fields that differ most, and new patterns", async () => {
    const page = await opened(`/p/${shop.projectId}${hour()}`);
    await page.getByRole("slider", { name: "Entries over time" }).focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("Shift+End");
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.waitForURL("**/compare?*");
    await page.getByRole("img", { name: /^Entries over time: 10[0-9] now, 60 before$/ }).waitFor();
    const fields = page.getByRole("region", { name: "Fields" });
    await fields.getByRole("heading", { name: "status" }).waitFor();
    const names = await fields.getByRole("heading", { level: 3 }).allTextContents();
    // What the incident changed, not the ids of sessions and not the regions and hosts in general.
    expect(names.slice(0, 3)).toEqual(expect.arrayContaining(["service", "status"]));
    // Levels have a table of their own.
    expect(names).not.toContain("level");
    expect(names).not.toContain("session");
    await page
      .getByRole("region", { name: "Patterns" })
      .getByRole("row")
      .filter({ hasText: GATEWAY })
      .getByText("New")
      .waitFor();
    await page
      .getByRole("region", { name: "Levels" })
      .getByRole("row")
      .filter({ hasText: "error" })
      .getByText("0 % → ")
      .or(page.getByText("0% → "))
      .first()
      .waitFor();
    await looksRight(page, () => fields.waitFor());
    await page.locator("figure [data-times] span").first().waitFor();
    // No time below the drawing is cut or touches another. Unit tests have other times of the test.
    const cut = await page.locator("figure [data-times] span").evaluateAll((labels: HTMLElement[]) =>
      labels.flatMap((label, at) => {
        const [line, own] = [label.parentElement?.getBoundingClientRect(), label.getBoundingClientRect()];
        const before = labels[at - 1]?.getBoundingClientRect().right ?? Number.NEGATIVE_INFINITY;
        const isWhole = line !== undefined && own.left >= line.left - 1 && own.right <= line.right + 1;
        return isWhole && own.left > before ? [] : [label.textContent];
      }),
    );
    expect(cut).toEqual([]);
    await keepsColours(page, "figcaption > span > [aria-hidden]");
    await page.setViewportSize({ width: 1440, height: 900 });
    await choose(page.getByLabel("Compare with"), "Yesterday");
    await page.getByRole("img", { name: /^Entries over time: 10[0-9] now, 61 before$/ }).waitFor();
    expect(new URL(page.url()).searchParams.get("with")).toBe("1d");
    await page.getByRole("region", { name: "Patterns" }).getByText("Gone").waitFor();
    // Times below the drawing are whole ones of the chosen zone, which is half an hour from those of others.
    const hours = { from: new Date(incident - 300 * MINUTE), to: new Date(incident + 60 * MINUTE) };
    const sixHours = new URLSearchParams({ from: hours.from.toISOString(), to: hours.to.toISOString(), with: "1d" });
    await page.evaluate(() => localStorage.setItem("taffrail.zone", "Asia/Kolkata"));
    await page.goto(`/w/${shop.account.workspaceId}/p/${shop.projectId}/compare?${sixHours}`);
    await page.getByRole("img", { name: /^Entries over time/ }).waitFor();
    const ticks = await page.locator("figure [style*=left]").allTextContents();
    expect(ticks.length).toBeGreaterThan(3);
    expect(ticks.filter((tick) => tick.includes(":") && !tick.endsWith(":00"))).toEqual([]);
    await page.evaluate(() => localStorage.removeItem("taffrail.zone"));
    await page.goto(`/w/${shop.account.workspaceId}/p/${shop.projectId}/compare${hour({ with: "1d" })}`);
    // A value leads to its entries.
    await fields.getByRole("link", { name: "504" }).click();
    await page.getByRole("status").filter({ hasText: "50 entries" }).waitFor();
    // Where the earlier range has no entries, the page compares what the range has.
    await page.goto(`/w/${shop.account.workspaceId}/p/${shop.projectId}/compare${hour({ with: "7d" })}`);
    const offers = page.getByRole("listitem").filter({ hasText: /newer half|most errors/ });
    await offers.first().waitFor();
    await looksRight(page, () => offers.first().waitFor());
    await offers
      .filter({ hasText: "the newer half of the time with entries, against the older half" })
      .getByRole("link")
      .click();
    await page.getByRole("img", { name: /^Entries over time: [1-9]\d+ now, [1-9]\d+ before$/ }).waitFor();
    expect(new URL(page.url()).searchParams.has("with")).toBe(false);
    // Nothing is before 1970, and what an address has and the page does not use is named.
    const first = "from=1970-01-01T00:00:00Z&to=1970-01-01T02:00:00Z";
    await page.goto(`/w/${shop.account.workspaceId}/compare?${first}&with=custom&baseFrom=-1&baseTo=1970-01-01T01:00Z`);
    await page.getByText("Ignored invalid parts of this link: baseFrom.").waitFor();
    const none = page.getByRole("heading", { name: "No range to compare with" });
    await none.waitFor();
    await looksRight(page, () => none.waitFor());
    await choose(page.getByLabel("Compare with"), "Last week");
    await page.getByText("Ignored invalid parts of this link").waitFor({ state: "detached" });
    await page.getByText("It would be before 1970. Choose a time range.").waitFor();
  });
});

describe("19: a release", () => {
  it("is marked in the histogram of a filtered link, too, and in a chart; its mark says what it changed and leads to its comparison", async () => {
    // No entry of the query has a version.
    const page = await opened(`/p/${shop.projectId}${hour()}&q=level:error`);
    const marks = page.getByRole("toolbar", { name: "Releases" }).getByRole("button");
    await marks.first().waitFor();
    expect(await marks.count()).toBe(1);
    await page.getByRole("slider", { name: "Entries over time" }).focus();
    await page.keyboard.press("Tab");
    const tip = page
      .getByRole("tooltip")
      .filter({ hasText: /^Release checkout 2\.0\.0, .*pool\.size\u00a020\u00a0\u2192\u00a05/s });
    await tip.waitFor();
    // Below the drawing, so that it covers no bar.
    const [drawn, told] = [await page.locator(".u-over").boundingBox(), await tip.boundingBox()];
    expect(told?.y).toBeGreaterThanOrEqual((drawn?.y ?? Number.NaN) + (drawn?.height ?? Number.NaN));
    // Its shape and its line say that it changed a setting, without the tooltip.
    expect(await marks.first().getAttribute("data-changed")).toBe("true");
    const shapeOf = () => marks.first().evaluate((mark) => getComputedStyle(mark, "::before").clipPath);
    expect(await shapeOf()).toMatch(/^polygon/);
    // What bars and marks are is said beside the levels, and the mark has its name.
    const histogram = page.getByRole("region", { name: "Histogram" });
    await histogram.getByText("release with a changed setting", { exact: true }).waitFor();
    await histogram.getByText(/^per (minute|\d+ minutes)$/).waitFor();
    await histogram.getByText("checkout 2.0.0", { exact: true }).waitFor();
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await axeFaults(page, "section[aria-label=Histogram]")).toEqual([]);
    await ask(page, "level:error | count by level, bin(1m)");
    await page.getByRole("img", { name: /^count from .*; releases: checkout 2\.0\.0, [^;]*$/ }).waitFor();
    await page.getByText("per minute", { exact: true }).waitFor();
    await page.getByText(/^\u25c6 checkout 2\.0\.0 .* pool\.size\u00a020\u00a0\u2192\u00a05$/).waitFor();
    expect(await axeFaults(page, "main")).toEqual([]);
    // A mark of a chart opens the same box.
    await marks.first().click();
    await page.getByRole("dialog", { name: "Release" }).getByText("Differs from 1.9.0:").waitFor();
    await page.keyboard.press("Escape");
    // A query that leaves out its entry keeps the mark.
    await ask(page, "level:error");
    await page.getByRole("status").filter({ hasText: "51 entries" }).waitFor();
    await marks.first().focus();
    await page.keyboard.press("Enter");
    const box = page.getByRole("dialog", { name: "Release" });
    await box.getByText("Differs from 1.9.0:").waitFor();
    expect(await box.getByRole("listitem").allTextContents()).toEqual(["pool.size 20\u00a0\u2192\u00a05"]);
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await expect.poll(() => marks.first().evaluate((mark) => mark === document.activeElement)).toBe(true);
    await page.keyboard.press("Enter");
    await box.getByRole("button", { name: "Compare before and after" }).click();
    await page.waitForURL("**/compare?*");
    const { searchParams } = new URL(page.url());
    expect([searchParams.get("from"), searchParams.get("to")]).toEqual(
      [5, 20].map((at) => new Date(incident + at * MINUTE).toISOString()),
    );
    const releases = page.getByRole("navigation", { name: "Before and after a release" });
    const offered = releases.getByRole("link");
    // No link: it is shown already.
    const chosen = releases.locator("[aria-current]").filter({ hasText: "checkout 2.0.0" });
    await chosen.waitFor();
    const changed = page.getByRole("region", { name: "What checkout 2.0.0 changed" });
    await changed.getByText("Differs from 1.9.0:").waitFor();
    expect(await changed.getByRole("listitem").allTextContents()).toEqual(["pool.size 20\u00a0\u2192\u00a05"]);
    expect(await axeFaults(page)).toEqual([]);
    // A release that begins with the span is marked.
    await changed.getByRole("link", { name: "Show its first entries" }).click();
    await page.waitForURL((url) => !url.pathname.endsWith("/compare"));
    await marks.first().waitFor();
    // The span compared is shorter than the one whose releases are offered: the address has both, until another range is chosen.
    await page.goto(`/w/${shop.account.workspaceId}/p/${shop.projectId}/compare${hour()}`);
    await offered.filter({ hasText: "checkout 2.0.0" }).click();
    await page.waitForURL("**&releasesFrom=*&releasesTo=*");
    await page.reload();
    await chosen.waitFor();
    expect(await tooWide(page)).toEqual([]);
  });

  it("is drawn once its shape is known; its first entries lead back to the search, also after a reload", async () => {
    const page = await opened(`/p/${shop.projectId}${hour()}&q=level:error`);
    let answer = (): void => undefined;
    const isAnswered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(/\/batch$/, async (route) => {
      const { queries } = route.request().postDataJSON();
      if (queries[0].query.endsWith("| sort time | limit 20")) await isAnswered;
      await route.continue();
    });
    await page.reload();
    const mark = page.getByRole("toolbar", { name: "Releases" }).locator("button");
    await mark.waitFor({ state: "attached" });
    expect(await mark.isVisible()).toBe(false);
    const drawn = page.getByRole("slider", { name: "Entries over time" });
    const place = await drawn.boundingBox();
    const key = page.getByText("release with a changed setting", { exact: true });
    expect(await key.count()).toBe(0);
    answer();
    await mark.waitFor();
    expect(await mark.getAttribute("data-changed")).toBe("true");
    await key.waitFor();
    expect(await drawn.boundingBox()).toEqual(place);
    await page.unroute(/\/batch$/);
    await mark.click();
    await page.getByRole("dialog", { name: "Release" }).getByRole("button", { name: "Show its first entries" }).click();
    const way = page.getByRole("navigation", { name: "Search before" });
    await way.getByText(/^level:error, /).waitFor();
    await page.reload();
    await way.waitFor();
    await looksRight(page, () => way.waitFor());
    // Another order has the same entries, whose search is the same.
    await choose(page.getByLabel("Order"), "Oldest first");
    await page.waitForURL("**order=asc*");
    await way.getByRole("link", { name: "Back to the search before" }).focus();
    await page.keyboard.press("Enter");
    await way.waitFor({ state: "detached" });
    await page.getByRole("status").filter({ hasText: "51 entries" }).waitFor();
    const { searchParams } = new URL(page.url());
    expect(Object.fromEntries(searchParams)).toEqual(
      Object.fromEntries(new URLSearchParams(hour({ q: "level:error" }))),
    );
  });

  it("at the start of the range has its mark and the tooltip of it within the drawing, beside the scale and the fields", async () => {
    const [from, to] = [5, 35].map((at) => new Date(incident + at * MINUTE).toISOString());
    const page = await opened(`/p/${shop.projectId}?${new URLSearchParams({ from: from ?? "", to: to ?? "" })}`);
    const toolbar = page.getByRole("toolbar", { name: "Releases" });
    const mark = toolbar.getByRole("button");
    await mark.waitFor();
    const drawing = (await page.locator(".u-over").boundingBox())?.x ?? Number.NaN;
    expect((await mark.boundingBox())?.x).toBeGreaterThanOrEqual(drawing - 1);
    await mark.focus();
    const tip = page.getByRole("tooltip").filter({ hasText: "Click for a menu" });
    await tip.waitFor();
    // It covers no bar, and not the search of the fields.
    const fields = await page.getByRole("complementary", { name: "Fields" }).boundingBox();
    expect((await tip.boundingBox())?.x).toBeGreaterThanOrEqual((fields?.x ?? Number.NaN) + (fields?.width ?? 0) - 1);
    // Its line stays at its time.
    const line = await toolbar.locator("[data-changed]").first().boundingBox();
    expect(Math.abs((line?.x ?? Number.NaN) - drawing)).toBeLessThanOrEqual(1);
  });
});

describe("19.3: a trace as a timeline", () => {
  it("nests spans of all projects; the keyboard moves, closes and opens them; details and a table are beside it", async () => {
    const page = await opened(`/trace/${TRACE}`);
    const tree = page.getByRole("tree", { name: "Timeline" });
    const items = tree.getByRole("treeitem");
    await expect.poll(() => items.count()).toBe(3);
    const levels = await items.evaluateAll((all) => all.map((each) => each.getAttribute("aria-level")));
    expect(levels).toEqual(["1", "2", "3"]);
    await page.getByText("2 projects").waitFor();
    await items.first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => items.count()).toBe(2);
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => items.count()).toBe(3);
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    const side = page.getByRole("complementary", { name: "Span" });
    await side.getByRole("heading", { name: "Charge" }).waitFor();
    expect(new URL(page.url()).searchParams.get("entry")).toMatch(/^log_/);
    await looksRight(page, () => tree.waitFor());
    const table = page.getByRole("button", { name: "Table" });
    // On a phone beside the numbers.
    const beside = await table.evaluate((button) => {
      const { top, bottom } = button.getBoundingClientRect();
      const facts = [...(button.parentElement?.parentElement?.querySelectorAll("p") ?? [])];
      return facts.filter((fact) => {
        const rect = fact.getBoundingClientRect();
        return rect.top < bottom && rect.bottom > top;
      }).length;
    });
    expect(beside).toBeGreaterThan(0);
    await keepsColours(page, "main li > [aria-hidden]:empty");
    await page.setViewportSize({ width: 1440, height: 900 });
    await table.click();
    const row = page.getByRole("table").getByRole("row").filter({ hasText: "Charge" });
    expect((await row.getByRole("cell").allTextContents()).slice(0, 4)).toEqual(["200 ms", "4 s", "2", "payments"]);
    expect(await axeFaults(page)).toEqual([]);
    // From an entry of the explorer.
    await page.goto(`/w/${shop.account.workspaceId}/p/${payments.projectId}?range=all`);
    await page.locator("[data-row]").first().click();
    for (const id of [TRACE, "c1"]) await page.locator("dd code").getByText(id, { exact: true }).waitFor();
    await page.getByRole("link", { name: "Trace" }).click();
    await expect.poll(() => items.count()).toBe(3);
  });

  it("is found by an id in the data of its entries, beside that of an entry", async () => {
    const at = incident - DAY;
    await send(under.server.url, payments, [
      { message: "ids in data", timestamp: at, data: { trace: { id: "data-1" }, span: { id: "d1" }, durationMs: 9 } },
      {
        message: "ids below",
        timestamp: at + 1,
        data: { trace: { id: "data-1" }, "span.id": "d2", parent: { id: "d1" } },
      },
      { message: "own id", timestamp: at + 2, traceId: "data-1", spanId: "d3", data: { parentSpanId: "d1" } },
      { message: "id in traceId", timestamp: at + 4, data: { traceId: "data-3" } },
      { message: "another", timestamp: at + 3, data: { trace: { id: "data-2" } } },
    ]);
    const page = await opened(`/p/${payments.projectId}?range=all&q=%22ids+in+data%22`);
    await page.locator("[data-row]").first().click();
    await page.getByRole("link", { name: "Trace" }).click();
    const items = page.getByRole("tree", { name: "Timeline" }).getByRole("treeitem");
    await expect.poll(() => items.count()).toBe(3);
    const levels = await items.evaluateAll((all) => all.map((each) => each.getAttribute("aria-level")));
    expect(levels).toEqual(["1", "2", "2"]);
    // A name that queries have for the entry's own id.
    await page.goto(`/w/${shop.account.workspaceId}/trace/data-3?by=traceId`);
    await expect.poll(() => items.count()).toBe(1);
    await page.goBack();
    await items.last().click();
    await page.waitForURL((url) => url.searchParams.get("by") === "trace.id" && url.searchParams.has("entry"));
    await page.getByRole("main").getByRole("link", { name: "Logs" }).click();
    await page.waitForURL((url) => url.searchParams.get("q") === 'trace:"data-1" OR data.trace.id:"data-1"');
  });

  it("of 2,000 entries is drawn in part, and an unknown one says so", async () => {
    const traceId = "long-trace";
    const entries = Array.from({ length: 2000 }, (_, n) => ({
      message: `step ${n}`,
      timestamp: incident - DAY + n,
      traceId,
      spanId: `s${n}`,
      data: n === 0 ? {} : { parentSpanId: `s${Math.floor(n / 3)}` },
    }));
    await send(under.server.url, payments, entries);
    const page = await opened(`/trace/${traceId}`);
    const tree = page.getByRole("tree", { name: "Timeline" });
    await page.getByText("2,000 entries").waitFor();
    await tree.getByRole("treeitem").first().focus();
    expect(await tree.getByRole("treeitem").count()).toBeLessThan(100);
    await page.keyboard.press("End");
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toMatch(/step \d+/);
    await page.goto(`/w/${shop.account.workspaceId}/trace/none`);
    await page.getByRole("heading", { name: "No entries" }).waitFor();
  });
});

describe("19.3: an entry in its context", () => {
  it("by arrival, session, trace, service and host, which is in the address", async () => {
    const page = await opened(`/p/${shop.projectId}?range=all&q=${encodeURIComponent('"Checkout failed"')}`);
    await page.locator("[data-row]").first().click();
    await page.getByRole("button", { name: "Show in context" }).click();
    const dialog = page.getByRole("dialog", { name: "In context" });
    const list = dialog.getByRole("list", { name: "Neighbouring entries" });
    await list.getByText("Checkout failed").first().waitFor();
    // The entry has no session.
    expect(await dialog.getByRole("radio", { name: "Session" }).isDisabled()).toBe(true);
    await dialog.getByRole("radio", { name: "Trace" }).check();
    await expect
      .poll(() => list.locator("[data-message]").allTextContents())
      .toEqual([...["Cart is read", "Charge", "Checkout failed", "POST /checkout"]]);
    expect(new URL(page.url()).searchParams.get("by")).toBe("trace");
    expect(await axeFaults(page)).toEqual([]);
    await page.reload();
    await list.getByText("Charge").waitFor();
    await dialog.getByRole("radio", { name: "Service" }).check();
    // 50 failures and two entries of the trace; more of them on both sides.
    await list.getByText("payment gateway timed out").first().waitFor();
    await list.getByText("Charge").waitFor({ state: "detached" });
    await dialog
      .getByRole("button", { name: "Load later entries" })
      .or(dialog.getByText("No later entries yet."))
      .first()
      .waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect([...new URL(page.url()).searchParams.keys()].sort()).toEqual(["open", "q", "range"]);
    expect(under.faults()).toEqual([]);
  });
});
