import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anotherProject, createTenant, type Tenant } from "../support/api.ts";
import { axeFaults, type ConsoleUnderTest, startSharedConsole } from "./support/console.ts";
import { logsOf, row, rows, send } from "./support/explorer.ts";

const COUNT = 250;
/** Windows in which the page scrolls the list: with rows of two lines, and with rows of one line beside the fields. */
const IN_PAGE = [
  [360, 740],
  [1024, 560],
] as const;

let console: ConsoleUnderTest;
/** Tenant of the tests that add no entries. */
let unchanged: Tenant;

beforeAll(async () => {
  console = await startSharedConsole();
  unchanged = await createTenant(console.server.url);
  await numbered(unchanged, 1, COUNT);
});

afterAll(() => console?.close());

/** Entries "number 1" to `count`, the last one newest. */
async function numbered(tenant: Tenant, from: number, to: number): Promise<void> {
  await send(console.server.url, tenant, to - from + 1, (index) => ({ message: `number ${from + index}.` }));
}

async function filledProject(): Promise<Tenant> {
  const tenant = await anotherProject(console.server.url, unchanged);
  await numbered(tenant, 1, COUNT);
  return tenant;
}

async function opened(width: number, height: number, more = "", tenant = unchanged): Promise<Page> {
  const page = await console.reuse({ as: tenant.account, viewport: { width, height } });
  await page.goto(logsOf(tenant, more));
  await row(page, `number ${COUNT}.`).waitFor();
  if (more.includes("live=1")) await isLive(page);
  return page;
}

function isLive(page: Page): Promise<void> {
  return page
    .getByRole("status")
    .filter({ hasText: /^Live$/ })
    .waitFor();
}

/** The vertical scrollers among the list, its ancestors and the histogram's table. */
function scrollers(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const list = document.querySelector("[data-list]");
    const found: string[] = [];
    const look = (element: Element, name: string): void => {
      const isRoot = element === document.documentElement;
      const isScroller = isRoot || /auto|scroll/.test(getComputedStyle(element).overflowY);
      if (isScroller && element.scrollHeight > element.clientHeight) found.push(name);
    };
    for (let each = list; each !== null; each = each.parentElement) {
      look(each, each === list ? "list" : each === document.documentElement ? "page" : each.className || each.tagName);
    }
    const table = document.querySelector("[aria-label='Entries over time, table']");
    if (table !== null) look(table, "table");
    return found;
  });
}

/** Position of an element in the window, once it is stable. */
async function placeOf(target: Locator): Promise<number> {
  let before = Number.NaN;
  for (let look = 0; look < 100; look++) {
    const now = (await target.boundingBox())?.y ?? Number.NaN;
    if (now === before) return now;
    before = now;
    await target.page().waitForTimeout(100);
  }
  throw new Error("The element does not come to rest, or is not there.");
}

async function isInWindow(target: Locator): Promise<boolean> {
  const box = await target.boundingBox();
  const size = target.page().viewportSize();
  return box !== null && size !== null && box.y >= -1 && box.y + box.height <= size.height + 1;
}

/** Scrolls with the wheel until a row is in the page, and returns that row. */
async function wheelTo(page: Page, text: string): Promise<Locator> {
  const target = row(page, text);
  await page.mouse.move(180, 400);
  for (let step = 0; step < 100; step++) {
    if ((await target.count()) > 0 && (await isInWindow(target))) return target;
    await page.mouse.wheel(0, 240);
    await page.waitForTimeout(50);
  }
  throw new Error(`The wheel does not come to ${text}`);
}

/** Message of the topmost visible row, even if partly visible. */
function firstInSight(page: Page): Promise<string | null | undefined> {
  return page.evaluate(() => {
    const top = Math.max(0, document.querySelector("[data-list]")?.getBoundingClientRect().top ?? 0);
    const items = [...document.querySelectorAll("[data-list] [data-index]")];
    const first = items.find((item) => item.getBoundingClientRect().bottom > top + 2);
    return first?.querySelector("[data-message]")?.textContent;
  });
}

describe("6: the only scroll bar", () => {
  let resized: Page;

  beforeAll(async () => {
    resized = await opened(1280, 720, "&level=info&live=1");
  });

  it.each([
    [360, 740, ["page"]],
    [768, 1024, ["page"]],
    [1024, 560, ["page"]],
    [1280, 600, ["page"]],
    [1000, 640, ["list"]],
    [1280, 720, ["list"]],
    [1920, 1080, ["list"]],
  ])("in a window of %i x %i is of the %j, with everything above the list", async (width, height, only) => {
    const page = resized;
    await page.setViewportSize({ width, height });
    await expect.poll(() => scrollers(page)).toEqual(only);
    await page.getByRole("button", { name: "Show table" }).click();
    await page.getByRole("table").waitFor();
    await expect.poll(() => scrollers(page)).toEqual(only);
    expect(await page.locator("[data-list]").evaluate((list) => list.clientHeight)).toBeGreaterThan(90);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await page.getByRole("button", { name: "Hide table" }).click();
  });

  it("is the panel's while the context view is open", async () => {
    const page = await opened(768, 700);
    const target = await wheelTo(page, "number 220.");
    await target.focus();
    await page.keyboard.press("c");
    await row(page.getByRole("dialog"), "number 220.").waitFor();
    const before = await page.evaluate(() => scrollY);
    // Over the panel's title, where the panel does not scroll.
    await page.mouse.move(180, 24);
    for (let step = 0; step < 3; step++) await page.mouse.wheel(0, 200);
    await page.waitForTimeout(300);
    expect(await page.evaluate(() => scrollY)).toBe(before);
  });
});

describe.each(IN_PAGE)("6: the list in the page, %i x %i", (width, height) => {
  it("has every entry once, newest first, with only visible rows in the page", async () => {
    const page = await opened(width, height);
    const found: string[] = [];
    const deadline = Date.now() + 20_000;
    for (;;) {
      const { shown, isEnd } = await page.evaluate(() => {
        const items = [...document.querySelectorAll("[data-list] [data-index]")];
        const isWhole = document.querySelector("[aria-setsize='-1']") === null;
        return {
          shown: items.map((item) => item.querySelector("[data-message]")?.textContent ?? ""),
          isEnd: isWhole && scrollY + innerHeight >= document.documentElement.scrollHeight - 1,
        };
      });
      expect(shown.length).toBeLessThan(60);
      for (const message of shown) if (!found.includes(message)) found.push(message);
      if (isEnd) break;
      expect(Date.now()).toBeLessThan(deadline);
      await page.evaluate(() => scrollBy(0, innerHeight / 2));
      await page.waitForTimeout(50);
    }
    expect(found).toEqual(Array.from({ length: COUNT }, (_, at) => `number ${COUNT - at}.`));
  });

  it("supports navigation by keys and keeps each row visible", async () => {
    const page = await opened(width, height);
    const focused = async (text: string): Promise<void> => {
      const target = row(page, text).and(page.locator(":focus"));
      await target.waitFor();
      await expect.poll(() => isInWindow(target)).toBe(true);
    };
    await rows(page).first().focus();
    for (const key of ["ArrowDown", "j", "k", "PageDown", "PageDown", "PageDown"]) await page.keyboard.press(key);
    await focused(`number ${COUNT - 46}.`);
    // Out of view, and back with a key.
    await page.mouse.move(180, 400);
    for (let step = 0; step < 10; step++) await page.mouse.wheel(0, 300);
    await expect.poll(() => isInWindow(page.locator("[data-row]:focus"))).toBe(false);
    await placeOf(page.locator("[data-row]:focus"));
    await page.keyboard.press("ArrowUp");
    await focused(`number ${COUNT - 45}.`);
    await page.keyboard.press("Home");
    await focused(`number ${COUNT}.`);
    await page.keyboard.press("End");
    await expect.poll(() => isInWindow(page.locator("[data-row]:focus"))).toBe(true);
  });

  it("adds new entries at its top while the top is visible, without scrolling the page", async () => {
    const tenant = await filledProject();
    const page = await opened(width, height, "&live=1", tenant);
    const before = await placeOf(row(page, `number ${COUNT}.`));
    await numbered(tenant, COUNT + 1, COUNT + 3);
    await row(page, `number ${COUNT + 3}.`).waitFor();
    expect(await placeOf(row(page, `number ${COUNT + 3}.`))).toBe(before);
    expect(await page.evaluate(() => scrollY)).toBe(0);
  });

  it("keeps the visible rows in place and counts new entries", async () => {
    const tenant = await filledProject();
    const page = await opened(width, height, "&live=1", tenant);
    const read = await wheelTo(page, "number 210.");
    const before = await placeOf(read);
    await numbered(tenant, COUNT + 1, COUNT + 40);
    const fresh = page.getByRole("button", { name: "40 new" });
    await fresh.waitFor();
    expect(await isInWindow(fresh)).toBe(true);
    expect(await placeOf(read)).toBe(before);
    await fresh.click();
    const newest = row(page, `number ${COUNT + 40}.`).and(page.locator(":focus"));
    await newest.waitFor();
    await expect.poll(() => isInWindow(newest)).toBe(true);
    await fresh.waitFor({ state: "detached" });
    // Back at the top, new entries are shown.
    await numbered(tenant, COUNT + 41, COUNT + 41);
    const last = row(page, `number ${COUNT + 41}.`);
    await last.waitFor();
    expect(await isInWindow(last)).toBe(true);
  });

  it("stays in place while an entry is opened, closed and shown in its context as others arrive", async () => {
    const tenant = await filledProject();
    const page = await opened(width, height, "&live=1", tenant);
    const read = await wheelTo(page, "number 210.");
    const before = await placeOf(read);
    await read.click();
    await page.getByRole("region", { name: "Details of entry 210" }).waitFor();
    expect(await placeOf(read)).toBe(before);
    await read.click();
    await page.getByRole("region", { name: "Details of entry 210" }).waitFor({ state: "detached" });
    expect(await placeOf(read)).toBe(before);
    await page.keyboard.press("c");
    const context = page.getByRole("dialog", { name: "In context" });
    await row(context, "number 210.").waitFor();
    await numbered(tenant, COUNT + 1, COUNT + 20);
    await page.getByText("20 new", { exact: false }).first().waitFor({ state: "attached" });
    await page.keyboard.press("Escape");
    await context.waitFor({ state: "detached" });
    await read.and(page.locator(":focus")).waitFor();
    expect(await placeOf(read)).toBe(before);
  });

  it("keeps the visible row in place when a notice appears above and disappears", async () => {
    const page = await opened(width, height);
    const read = await wheelTo(page, "number 220.");
    // Scrolling uses whole pixels, and content above may end within one.
    const before = await placeOf(read);
    await page.route("**/logger/{query,stats}", (route) => route.abort());
    await page.keyboard.press("r");
    await page.getByRole("alert").filter({ hasText: "could not be reached" }).waitFor();
    expect(Math.abs((await placeOf(read)) - before)).toBeLessThanOrEqual(1);
    await page.unroute("**/logger/{query,stats}");
    await page.getByRole("alert").filter({ hasText: "could not be reached" }).waitFor({ state: "detached" });
    expect(Math.abs((await placeOf(read)) - before)).toBeLessThanOrEqual(1);
  });

  it("starts at its top for another query", async () => {
    const page = await opened(width, height);
    const read = await wheelTo(page, "number 200.");
    await read.click();
    await page
      .getByRole("region", { name: "Details of entry 200" })
      .getByRole("button", { name: "custom" })
      .first()
      .click();
    await page.waitForURL(/q=category/);
    await row(page, `number ${COUNT}.`).waitFor();
    await expect.poll(() => isInWindow(row(page, `number ${COUNT}.`))).toBe(true);
  });
});

describe("6: an open entry", () => {
  it("is measured also if another one was open in its element before, and is open again elsewhere", async () => {
    const page = await opened(1024, 560);
    const details = (seq: string | null) => page.getByRole("region", { name: `Details of entry ${seq}` });
    const again = row(page, "number 245.");
    await again.click();
    await details("245").waitFor();
    await again.click();
    await details("245").waitFor({ state: "detached" });
    const element = await again.evaluate((shown) => shown.closest("[data-element]")?.getAttribute("data-element"));
    // The row with the focus stays in the page, and elements below it are filled again by rows below it.
    await row(page, "number 246.").focus();
    await page.evaluate(() => scrollTo(0, 1500));
    const item = page.locator(`[data-element="${element}"]`);
    await expect.poll(() => item.locator("[data-message]").textContent()).not.toBe("number 245.");
    const [seq = ""] = /\d+/.exec((await item.locator("[data-message]").textContent()) ?? "") ?? [];
    await row(page, `number ${seq}.`).click();
    await details(seq).waitFor();
    await page.evaluate(() => scrollTo(0, 0));
    await again.click();
    await details("245").waitFor();
    await item.scrollIntoViewIfNeeded();
    await placeOf(item);
    const gap = () =>
      item.evaluate((open) => {
        const next = document.querySelector(`[data-index="${Number(open.getAttribute("data-index")) + 1}"]`);
        return (next?.getBoundingClientRect().top ?? Number.NaN) - open.getBoundingClientRect().bottom;
      });
    await expect.poll(gap).toBeGreaterThanOrEqual(-1);
    await item.evaluate((open) => {
      open.style.paddingBottom = "200px";
    });
    await expect.poll(gap).toBeGreaterThanOrEqual(-1);
  });
});

describe("6: a rotated window", () => {
  it("continues at the same row with the other scroll bar, also if that reports its offset first", async () => {
    const page = await opened(900, 1200);
    await placeOf(await wheelTo(page, "number 190."));
    const first = await firstInSight(page);
    await page.setViewportSize({ width: 1200, height: 900 });
    await expect.poll(() => scrollers(page)).toEqual(["list"]);
    await expect.poll(() => firstInSight(page)).toBe(first);
    // The style sheet chooses the page, and the list, which is at its start then, reports its offset before the resize.
    await page.evaluate(() => {
      const list = document.querySelector<HTMLElement>("[data-list]");
      if (list === null) throw new Error("there is no list");
      list.style.overflow = "visible";
      list.dispatchEvent(new Event("scroll"));
      list.style.overflow = "";
    });
    await page.setViewportSize({ width: 900, height: 1200 });
    await expect.poll(() => scrollers(page)).toEqual(["page"]);
    await expect.poll(() => firstInSight(page)).toBe(first);
  });

  it("continues at the same row with rows of another height", async () => {
    const page = await opened(900, 1200);
    await placeOf(await wheelTo(page, "number 190."));
    const first = await firstInSight(page);
    const heights = () =>
      rows(page)
        .first()
        .evaluate((element) => element.clientHeight);
    const before = await heights();
    await page.setViewportSize({ width: 700, height: 1200 });
    await expect.poll(heights).toBeGreaterThan(before);
    await expect.poll(() => firstInSight(page)).toBe(first);
  });
});

describe("6: entries of several days", () => {
  it("have the date between them, which is no row, in both orders, densities and widths", async () => {
    const tenant = await anotherProject(console.server.url, unchanged);
    // Noon of days that all zones have in common in part.
    const noon = new Date().setUTCHours(12, 0, 0, 0) - 24 * 3_600_000;
    await send(console.server.url, tenant, 40, (n) => ({
      ...{ message: `hour ${n}.`, timestamp: noon - n * 3_600_000 },
    }));
    const page = await console.reuse({ as: tenant.account, timezoneId: "UTC" });
    const dates = () => page.locator("[data-index] > p").allTextContents();
    const dateOf = (ms: number): string =>
      new Date(ms).toLocaleDateString("en-US", { dateStyle: "full", timeZone: "UTC" });
    /** Gaps and overlaps of neighbouring rows in pixels. */
    const gaps = () =>
      page.evaluate(() => {
        const items = [...document.querySelectorAll("[data-index]")]
          .map((item) => ({ at: Number(item.getAttribute("data-index")), box: item.getBoundingClientRect() }))
          .sort((a, b) => a.at - b.at);
        return items.flatMap(({ at, box }, n) => {
          const next = items[n + 1];
          return next?.at === at + 1 && Math.abs(next.box.top - box.bottom) > 0.5 ? [next.box.top - box.bottom] : [];
        });
      });
    for (const [width, density, order] of [
      [360, "compact", "desc"],
      [360, "comfortable", "asc"],
      [1280, "compact", "asc"],
      [1280, "comfortable", "desc"],
    ] as const) {
      await page.setViewportSize({ width, height: 2600 });
      await page.goto(logsOf(tenant, order === "asc" ? "&order=asc" : ""));
      await page.evaluate((density) => localStorage.setItem("taffrail.density", density), density);
      await page.reload();
      await row(page, "hour 39.").waitFor();
      const days = [dateOf(noon - 24 * 3_600_000), dateOf(noon - 48 * 3_600_000)];
      const asc = [dateOf(noon - 24 * 3_600_000), dateOf(noon)];
      await expect.poll(dates).toEqual(order === "desc" ? days : asc);
      await expect.poll(gaps).toEqual([]);
    }
    // Newest first: the first day has 13 entries.
    expect(await page.locator("[data-index='13'] > p").count()).toBe(1);
    await row(page, "hour 12.").click();
    await page.keyboard.press("Enter");
    await page.keyboard.press("j");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("hour 13.");
    await page.keyboard.press("k");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("hour 12.");
    // A click on the date opens nothing, and a row that was open has the height for it once it is closed.
    await page.locator("[data-index='13'] > p").click();
    await row(page, "hour 13.").click();
    await page.getByRole("region", { name: /^Details of entry/ }).waitFor();
    await expect.poll(gaps).toEqual([]);
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: /^Details of entry/ }).waitFor({ state: "detached" });
    await expect.poll(gaps).toEqual([]);
    // In another zone other rows have it.
    await page.evaluate(() => localStorage.setItem("taffrail.zone", "Asia/Tokyo"));
    await page.reload();
    await page.locator("[data-index='22'] > p").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find a command" }).fill("time zone utc");
    await page.keyboard.press("Enter");
    await page.locator("[data-index='13'] > p").waitFor();
    await expect.poll(gaps).toEqual([]);
    expect(await axeFaults(page)).toEqual([]);
  });
});

describe("6: every window", () => {
  it("complies with the content security policy", () => {
    expect(console.faults().filter((fault) => !/ERR_FAILED|could not be reached/.test(fault))).toEqual([]);
  });
});
