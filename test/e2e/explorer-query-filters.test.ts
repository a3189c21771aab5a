import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTenant, type Tenant } from "../support/api.ts";
import {
  counted,
  explorerPath,
  NASTY,
  nextQuery,
  queryIn,
  rows,
  type SentEntry,
  type SentQuery,
  send,
  variedEntries,
} from "./explorer-query-support.ts";
import { choose } from "./support/choose.ts";
import { axeFaults, type ConsoleUnderTest, startSharedConsole } from "./support/console.ts";
import { fieldValue, openField } from "./support/explorer.ts";

let console: ConsoleUnderTest;
let tenant: Tenant;
let sent: SentEntry[];
let page: Page;

beforeAll(async () => {
  console = await startSharedConsole();
  tenant = await createTenant(console.server.url);
  sent = variedEntries(Date.now());
  await send(console.server.url, tenant, sent);
});

afterAll(() => console?.close());

beforeEach(async () => {
  // A zone other than UTC, so that confusing both fails.
  page = await console.reuse({
    as: tenant.account,
    timezoneId: "Europe/Berlin",
    viewport: { width: 1440, height: 900 },
  });
});

async function open(search = ""): Promise<void> {
  await page.goto(explorerPath(tenant, search));
  await counted(page, /^\d+ entr(y|ies)$|^[\d,]+ loaded$/).waitFor();
}

/** The previous count stays until the new one arrives. */
async function histogramSettled(): Promise<void> {
  await page.locator('section[aria-label="Histogram"][aria-busy="false"]').waitFor();
}

/** Whether a request asks for this query in a relative range. */
function isFor(q: string): (query: SentQuery) => boolean {
  return ({ filters: { from, ...simple }, ...query }) =>
    typeof from === "string" && Object.keys(simple).length === 0 && query.q === q;
}

async function found(passes: (entry: SentEntry) => boolean): Promise<void> {
  const count = sent.filter(passes).length;
  await counted(page, `${count} ${count === 1 ? "entry" : "entries"}`).waitFor();
}

/** Minutes between the two times of a text such as `10:15 – 10:30`. */
function minutesOf(text: string | null): number {
  const [from = Number.NaN, to = Number.NaN] = [...(text ?? "").matchAll(/(\d\d):(\d\d)/g)].map(
    ([, hour, minute]) => Number(hour) * 60 + Number(minute),
  );
  return (to - from + 1440) % 1440;
}

const query = (): string => new URL(page.url()).searchParams.get("q") ?? "";
const box = () => page.getByRole("textbox", { name: "Search", exact: true });
const fields = () => page.getByRole("complementary", { name: "Fields" });

describe("filters of earlier addresses", () => {
  it.each([
    [
      { level: "error", type: "query", session: "session-1" },
      "level:error type:=query session:=session-1",
      ({ level, type, session }: SentEntry) => level === "error" && type === "query" && session === "session-1",
    ],
    [
      { minLevel: "warn", search: NASTY, data: '{"status":{"gte":300,"lt":500}}' },
      `level:>=warn ${JSON.stringify(NASTY)} status:>=300 status:<500`,
      ({ message }: SentEntry) => message === NASTY,
    ],
    [
      { data: '{"plan":null,"[\\"a.b\\"]":{"exists":false},"user.id":{"in":[10,20,30]}}' },
      'plan:* -plan:~/^/ -"a.b":* user.id:(10 OR 20 OR 30)',
      ({ data }: SentEntry) => data.plan === null && data["a.b"] === undefined && [10, 20, 30].includes(data.user.id),
    ],
  ])("%j are tests of the query", async (parameters, q, passes) => {
    const asked = nextQuery(page, isFor(q));
    await page.goto(explorerPath(tenant, `?${new URLSearchParams(parameters)}`));
    const { projectId, order } = await asked;
    expect({ projectId, order }).toEqual({ projectId: tenant.projectId, order: "desc" });
    expect(await box().inputValue()).toBe(q);
    await found(passes);
  });
});

it("a hint on the query has a button that corrects it", async () => {
  await open("?q=level:error or level:fatal");
  const hint = page.getByText("or is searched for as a word. The operator is OR.");
  await hint.waitFor();
  const [note, list] = [
    await hint.boundingBox(),
    await page.getByRole("status").filter({ hasText: "entries" }).first().locator("xpath=..").boundingBox(),
  ];
  expect((note?.x ?? 0) - (list?.x ?? 0)).toBe(12);
  expect(await axeFaults(page)).toEqual([]);
  // What was written since the search stays.
  const use = page.getByRole("button", { name: "Use OR", exact: true });
  await box().fill("level:error or (");
  // The list of suggestions, which comes later, lies over the hint.
  await box().press("Escape");
  await use.click();
  await page.getByRole("alert").filter({ hasText: "Expected" }).waitFor();
  expect(await box().inputValue()).toBe("level:error or (");
  await box().fill("level:error or level:fatal or level:warn");
  await box().press("Escape");
  await use.click();
  await found(({ level }) => level === "error" || level === "fatal" || level === "warn");
  expect(query()).toBe("level:error OR level:fatal OR level:warn");
  await hint.waitFor({ state: "detached" });
  expect(await box().evaluate((element) => element === document.activeElement)).toBe(true);
});

describe("the list of fields", () => {
  it("counts what the query finds, and adds, removes and excludes values in its text", async () => {
    await open("?q=category:http");
    const inHttp = sent.filter(({ category }) => category === "http");
    const errors = inHttp.filter(({ level }) => level === "error").length;
    await fieldValue(page, "level", "error", errors).click();
    await found(({ category, level }) => category === "http" && level === "error");
    expect(query()).toBe("category:http level:error");
    // What the query leaves out of a field that it tests is listed, too. The counts before stay, dimmed, until the next ones arrive.
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route("**/logger/search", async (route) => {
      if (route.request().postData()?.includes("facets")) await held;
      await route.continue();
    });
    const list = fields().locator("> [data-stale]");
    await expect.poll(() => list.getAttribute("data-stale")).toBe("false");
    const look = () =>
      fields().evaluate((side) =>
        ["[class*=label]", "[class*=text]", "[class*=bar] > span"].map((part) => {
          const element = side.querySelector(part);
          const { color, backgroundColor } = getComputedStyle(element ?? side);
          return part.endsWith("span") ? backgroundColor : color;
        }),
      );
    const current = await look();
    await fieldValue(page, "level", "fatal").click();
    await expect.poll(() => list.getAttribute("data-stale")).toBe("true");
    expect(await list.getAttribute("aria-busy")).toBe("true");
    // Names, values and bars, of which the first two have inherited their colour.
    for (const at of [0, 1, 2]) await expect.poll(async () => (await look())[at]).not.toBe(current[at]);
    await fields().getByText("Counting …").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    answer();
    await expect.poll(() => list.getAttribute("data-stale")).toBe("false");
    await fields().getByText("Counting …").waitFor({ state: "detached" });
    expect(await look()).toEqual(current);
    await page.unroute("**/logger/search");
    await found(({ category, level }) => category === "http" && (level === "error" || level === "fatal"));
    expect(await box().inputValue()).toBe("category:http level:(error OR fatal)");
    await fieldValue(page, "level", "error").click();
    await found(({ category, level }) => category === "http" && level === "fatal");
    await fields().getByRole("button", { name: "Exclude fatal" }).click();
    await found(({ category, level }) => category === "http" && level !== "fatal");
    expect(query()).toBe("category:http -level:fatal");
    // Undo works on what the list has written.
    await box().focus();
    await page.keyboard.press("Control+z");
    expect(await box().inputValue()).toBe("category:http level:fatal");
    await page.keyboard.press("Control+Shift+z");
    expect(await box().inputValue()).toBe("category:http -level:fatal");
    // A field of `data`, found by its name.
    await page.getByRole("textbox", { name: "Find a field" }).fill("stat");
    await openField(page, "status");
    await fields().getByRole("list", { name: "Distribution of status" }).waitFor();
    await page.getByRole("textbox", { name: "Find a field" }).fill("");
    await fields().getByText("Counts without this filter").waitFor();
    // Their number is that of the values below it, of an open field, and else of those that the query finds.
    const nameOf = (levels: ReadonlySet<string>) =>
      fields().getByRole("button", { name: `level ${levels.size} values`, exact: true });
    const ofHttp = new Set(inHttp.map(({ level }) => level));
    await nameOf(ofHttp).click();
    await nameOf(new Set([...ofHttp].filter((level) => level !== "fatal"))).click();
    await nameOf(ofHttp).waitFor();
    expect(await fields().getByRole("list", { name: "Values of level" }).getByRole("listitem").count()).toBe(
      ofHttp.size,
    );
    // The values of a field that the query tests are counted by themselves, so they may be those of the query before for longer.
    let answerLevels = (): void => undefined;
    const levelsHeld = new Promise<void>((resolve) => (answerLevels = resolve));
    await page.route("**/logger/search", async (route) => {
      if (route.request().postData()?.includes("top 10 by level")) await levelsHeld;
      await route.continue();
    });
    await fields().getByRole("button", { name: "status at least max, 300" }).click();
    const levels = fields().getByRole("list", { name: "Values of level" });
    await page.waitForURL((url) => url.searchParams.get("q") === "category:http -level:fatal status:>=300");
    await expect.poll(() => list.getAttribute("data-stale")).toBe("true");
    await expect.poll(() => list.getAttribute("data-stale")).toBe("false");
    expect([await levels.getAttribute("data-stale"), await levels.getAttribute("aria-busy")]).toEqual(["true", "true"]);
    await fields().getByText("Counting …").waitFor();
    answerLevels();
    // The tested status has such a note, too.
    await fields().getByText("Counting …").waitFor({ state: "detached" });
    expect(await levels.getAttribute("data-stale")).toBe(null);
    await page.unroute("**/logger/search");
    await found(({ category, level, data }) => category === "http" && level !== "fatal" && data.status >= 300);
    expect(query()).toBe("category:http -level:fatal status:>=300");
    // Without a tooltip.
    await page.mouse.move(700, 5);
    expect(await axeFaults(page)).toEqual([]);
  });

  it("keeps open fields, their counts and its place while the next entries load", async () => {
    await page.setViewportSize({ width: 1440, height: 660 });
    await open("?q=level:(error OR fatal)");
    for (const field of ["category", "type", "status"]) await openField(page, field);
    await fields().getByRole("list", { name: "Distribution of status" }).waitFor();
    await fieldValue(page, "status", "300").scrollIntoViewIfNeeded();
    const look = () =>
      fields().evaluate((side) => ({
        open: [...side.querySelectorAll("button[aria-expanded=true]")].map((each) => each.textContent?.slice(0, 6)),
        lists: side.querySelectorAll("ul[aria-label]").length,
        top: side.scrollTop,
      }));
    const before = await look();
    expect(before.open).toHaveLength(4);
    expect(before.top).toBeGreaterThan(0);
    // The longest count has room, so that all end at the same place.
    const count = fieldValue(page, "status", "300").locator("[class*=count]");
    expect(
      await count.evaluate((element) => {
        const own = element.textContent;
        element.textContent = "192.9K";
        const hasRoom = element.scrollWidth <= element.clientWidth;
        element.textContent = own;
        return hasRoom;
      }),
    ).toBe(true);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route("**/logger/query", async (route) => {
      await held;
      await route.continue();
    });
    await fields().getByRole("button", { name: "Exclude 300" }).click();
    await page.waitForURL((url) => url.searchParams.get("q") === "level:(error OR fatal) -status:300");
    await fields().locator("> [aria-busy=true][data-stale=true]").waitFor();
    expect(await look()).toEqual(before);
    release();
    await fields().locator("> [data-stale=false]").waitFor();
    expect((await look()).open?.toSorted()).toEqual(before.open.toSorted());
    // Another order has the same entries: only the list is asked for, at the times of before.
    await page.unroute("**/logger/query");
    await histogramSettled();
    await expect.poll(() => fields().locator("[aria-busy=true]").count()).toBe(0);
    const asked: { path: string; order: string; from: unknown }[] = [];
    page.on("request", (request) => {
      if (request.method() !== "POST") return;
      const { order, filters } = queryIn(request);
      asked.push({ path: new URL(request.url()).pathname, order, from: filters?.from });
    });
    const top = () => rows(page).first().textContent();
    const newest = await top();
    await choose(page.getByLabel("Order"), "Oldest first");
    await expect.poll(top).not.toBe(newest);
    await choose(page.getByLabel("Order"), "Newest first");
    await expect.poll(top).toBe(newest);
    const [first] = asked;
    expect(first?.from).toMatch(/Z$/);
    expect(asked).toEqual(["asc", "desc"].map((order) => ({ path: "/logger/query", order, from: first?.from })));
  });

  it("groups, charts and shows a field as a column, which is moved, resized and kept", async () => {
    await open("?q=category:http");
    await openField(page, "status");
    await openField(page, "plan");
    await fields().getByRole("button", { name: "Add column status" }).click();
    await fields().getByRole("button", { name: "Add column plan" }).click();
    const heads = page.locator("[data-list-head] button", { hasText: /status|plan/ });
    await heads.nth(1).waitFor();
    expect(await heads.allTextContents()).toEqual(["status", "plan"]);
    const edge = page.getByRole("separator", { name: "Width of status" });
    await edge.focus();
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => edge.getAttribute("aria-valuenow")).toBe("144");
    await page.getByRole("button", { name: "Column plan", exact: true }).click();
    await page.getByRole("menuitem", { name: "Move left" }).click();
    await expect.poll(() => heads.allTextContents()).toEqual(["plan", "status"]);
    expect(new URL(page.url()).searchParams.get("columns")).toBe("plan,status:144");
    // Other fields stay beside the message, and the state of the list in the line of the names.
    await rows(page).first().getByText("user.id=").waitFor();
    const lineOf = (place: Locator) => place.evaluate((element) => element.getBoundingClientRect().bottom);
    const [names, state] = [await lineOf(heads.first()), await lineOf(counted(page, /entries|loaded/))];
    expect(Math.abs(names - state)).toBeLessThan(12);
    await page.getByRole("button", { name: "Columns", exact: true }).click();
    const choice = page.getByRole("dialog", { name: "Columns" });
    await choice.getByLabel("Find a column").fill("user");
    expect(await choice.getByRole("checkbox").count()).toBe(1);
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).searchParams.get("columns")).toBe("plan,status:144,user.id");
    await choice.getByLabel("Find a column").fill("");
    await choice.getByRole("checkbox", { name: "user.id" }).uncheck();
    await page.keyboard.press("Escape");
    await expect.poll(() => new URL(page.url()).searchParams.get("columns")).toBe("plan,status:144");
    await page.reload();
    await heads.nth(1).waitFor();
    expect(await heads.allTextContents()).toEqual(["plan", "status"]);
    const [first] = sent.filter(({ category }) => category === "http");
    await rows(page).first().getByText(String(first?.data.status), { exact: true }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await openField(page, "status");
    await fields().getByRole("button", { name: "Group by status" }).click();
    await page.getByRole("table").getByRole("columnheader", { name: "status" }).waitFor();
    expect(query()).toBe("category:http | top 10 by status");
    await fields().getByRole("button", { name: "Chart status" }).click();
    await page.getByRole("img", { name: /^p50\(status\) from / }).waitFor();
  });
});

describe("the tests of a query", () => {
  it("are inverted and removed as chips, edited in the text, and follow back and forward", async () => {
    await open("?level=error&category=http");
    await page.getByRole("button", { name: "Remove category:=http" }).click();
    const errors = ({ level }: SentEntry): boolean => level === "error";
    await found(errors);
    await page.getByRole("button", { name: "Exclude level:error" }).click();
    await found((entry) => !errors(entry));
    await page.getByRole("button", { name: "Edit -level:error" }).click();
    expect(await page.evaluate(() => getSelection()?.toString())).toBe("-level:error");
    await page.keyboard.type("level:fatal");
    await page.keyboard.press("Enter");
    await found(({ level }) => level === "fatal");
    await page.getByRole("button", { name: "Clear query" }).click();
    await found(() => true);
    await page.goBack();
    await found(({ level }) => level === "fatal");
    expect(await box().inputValue()).toBe("level:fatal");
    await page.goForward();
    await found(() => true);
  });

  it("report invalid parameters of a link", async () => {
    await open("?level=loud&data=%7B&range=3y&search=entry");
    await page.getByRole("alert").filter({ hasText: "level, data, range" }).waitFor();
  });
});

describe("the time range", () => {
  it("is chosen in the local time zone and requested in UTC", async () => {
    await open();
    const from = new Date(Math.floor((sent[30]?.timestamp ?? 0) / 60_000) * 60_000);
    const to = new Date(from.getTime() + 10 * 60_000);
    const local = (date: Date): string => date.toLocaleString("sv-SE", { timeZone: "Europe/Berlin" });
    await page.keyboard.press("t");
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Range" }).fill(`${local(from)}..${local(to)}`);
    const asked = nextQuery(page, ({ filters }) => filters.to !== undefined);
    await page.keyboard.press("Enter");
    expect((await asked).filters).toEqual({ from: from.toISOString(), to: to.toISOString() });
    await counted(page, /^10 entries$/).waitFor();
    await page.reload();
    await counted(page, /^10 entries$/).waitFor();
  });

  it("has any length, doubles up to now, and is shown in another zone", async () => {
    await open("?range=90m");
    await page.getByRole("button", { name: "Time range: Last 90 minutes Berlin" }).click();
    const zone = page.getByRole("combobox", { name: "Time zone" });
    await zone.click();
    await page.keyboard.type("tok");
    await page.getByRole("option", { name: /Vostok/ }).waitFor();
    expect(await page.getByRole("option").first().textContent()).toBe("Asia/Tokyo+09:00");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Time range: Last 90 minutes Tokyo" }).waitFor();
    await choose(zone, "UTC");
    // Zones chosen before come first, after the browser's.
    await zone.click();
    expect((await page.getByRole("option").allTextContents()).slice(0, 3)).toEqual([
      "UTC+00:00",
      expect.stringMatching(/^Europe\/Berlinbrowser, \+0[12]:00$/),
      "Asia/Tokyo+09:00",
    ]);
    // The list alone, then the popover around it.
    await page.keyboard.press("Escape");
    await page.getByRole("listbox", { name: "Time zones" }).waitFor({ state: "detached" });
    expect(await zone.evaluate((input) => input === document.activeElement)).toBe(true);
    await page.keyboard.press("Escape");
    await zone.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Time range: Last 90 minutes UTC" }).waitFor();
    const time = new Date(sent[0]?.timestamp ?? 0).toISOString().slice(11, 19);
    await rows(page).first().getByText(time).waitFor();
    await page.getByRole("button", { name: "Zoom out" }).click();
    await page.waitForURL((url) => url.search === "?range=3h");
  });

  it("stays relative on a reload", async () => {
    await open("?range=15m&order=asc");
    const asked = nextQuery(page);
    await page.reload();
    const { filters, order } = await asked;
    expect(order).toBe("asc");
    const minutes = (Date.now() - Date.parse(String(filters.from))) / 60_000;
    expect(minutes).toBeGreaterThan(14.9);
    expect(minutes).toBeLessThan(17);
  });

  it("follows a selection in the histogram, and zooms out again", async () => {
    await open("?range=1h");
    const plot = page.locator(".u-over");
    await plot.waitFor();
    const box = await plot.boundingBox();
    if (box === null) throw new Error("There is no plot.");
    await page.mouse.move(box.x + box.width * 0.25, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 20, { steps: 5 });
    // What is selected so far, and not only the bar below the pointer.
    const readout = page.getByRole("region", { name: "Histogram" }).locator("p time");
    await expect.poll(() => readout.textContent().then(minutesOf)).toBeGreaterThanOrEqual(15);
    const asked = nextQuery(page, ({ filters }) => filters.to !== undefined);
    await page.mouse.up();
    const { filters } = await asked;
    const [start, end] = [Date.parse(String(filters.from)), Date.parse(String(filters.to))];
    expect((end - start) / 60_000).toBeGreaterThanOrEqual(15);
    expect((end - start) / 60_000).toBeLessThanOrEqual(18);
    // Its own link in the rail keeps what the page shows.
    const logs = page.getByRole("navigation", { name: "Workspace" }).getByRole("link", { name: "Logs", exact: true });
    const kept = new URL((await logs.getAttribute("href")) ?? "", page.url()).searchParams;
    expect([kept.get("from"), kept.get("to")]).toEqual([filters.from, filters.to]);
    const within = sent.filter(({ timestamp }) => timestamp >= start && timestamp < end).length;
    await counted(page, `${within} entries`).waitFor();
    await page.goBack();
    await page.waitForURL((url) => url.search === "?range=1h");
  });

  it("shows the counts of the bar below the pointer", async () => {
    await open("?range=1h");
    const plot = page.locator(".u-over");
    await plot.hover();
    await page.getByText(/\d\d:\d\d – \d\d:\d\d/).waitFor();
  });

  it("can be zoomed in the histogram's table, too", async () => {
    await open("?range=1h&level=error");
    await page.getByRole("button", { name: "Show table" }).click();
    const table = page.getByRole("table");
    await table.getByRole("columnheader", { name: "error" }).waitFor();
    const asked = nextQuery(page, ({ filters }) => filters.to !== undefined);
    await table
      .getByRole("button", { name: /^Zoom to/ })
      .first()
      .click();
    await asked;
    await counted(page, /^1 entry$/).waitFor();
  });

  it("is open for all time, and the histogram fits its entries", async () => {
    await open();
    const asked = nextQuery(page);
    await page.getByRole("button", { name: /^Time range/ }).click();
    await page.getByRole("button", { name: "All time" }).click();
    expect((await asked).filters).toEqual({});
    await counted(page, `${sent.length} entries`).waitFor();
    await histogramSettled();
    const bars = Number(await page.getByRole("slider").getAttribute("aria-valuemax"));
    expect(bars).toBeGreaterThan(50);
    expect(bars).toBeLessThan(70);
  });
});

describe("the explorer", () => {
  it("contacts no other origin and violates no content security policy", () => {
    expect(console.faults()).toEqual([]);
  });
});
