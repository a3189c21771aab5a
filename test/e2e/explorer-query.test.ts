import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Locator, Page, Route } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { asUser, call, createTenant, type FoundLogs, type Tenant } from "../support/api.ts";
import { counted, explorerPath, NASTY, rows, type SentEntry, send, variedEntries } from "./explorer-query-support.ts";
import { choose } from "./support/choose.ts";
import { axeFaults, beyondTab, type ConsoleUnderTest, startSharedConsole, tooWide } from "./support/console.ts";
import { fieldValue } from "./support/explorer.ts";

const run = promisify(execFile);

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

describe("the actions of a view", () => {
  it("save, load, rename and delete it", async () => {
    await open("?minLevel=error&range=6h");
    const dialog = page.getByRole("dialog", { name: "Saved views" });
    await page.getByRole("button", { name: "Views" }).click();
    await dialog.getByText("No saved views yet.").waitFor();
    // Another tab saves a view of the name meanwhile: what is typed stays, and the name is one to replace.
    const { workspaceId } = tenant.account;
    const other = { name: "Bad things", projectId: null, query: "*", range: { last: "1h" }, columns: [] };
    const made = await call(console.server.url, `/workspaces/${workspaceId}/views`, {
      ...asUser(tenant.account),
      body: other,
    });
    expect(made.status).toBe(201);
    await dialog.getByLabel("Save this view as").fill("Bad things");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("alert").getByText('A view has the name "Bad things" already.').waitFor();
    const replace = dialog.getByRole("button", { name: "Replace" });
    await replace.waitFor();
    // After an outage, only the call that failed has a notice, and the views are not asked for.
    const ofViews = /\/workspaces\/\w+\/views/;
    const asked: string[] = [];
    page.on("request", (request) => {
      if (ofViews.test(request.url())) asked.push(request.method());
    });
    await page.route(ofViews, (route) => route.abort());
    await replace.click();
    await dialog.getByRole("alert").getByText("The service could not be reached.").waitFor();
    await page.unroute(ofViews);
    await replace.click();
    await dialog.getByRole("alert").waitFor({ state: "detached" });
    await expect.poll(() => asked).toEqual(["PATCH", "PATCH", "GET"]);
    await dialog.getByRole("link", { name: "Bad things" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Clear query" }).click();
    await page.reload();
    await page.getByRole("button", { name: "Views" }).click();
    await dialog.getByRole("button", { name: "Rename Bad things" }).click();
    await dialog.getByLabel("New name").fill("Worse things");
    await page.keyboard.press("Enter");
    await dialog.getByRole("link", { name: "Worse things" }).click();
    await page.waitForURL(
      (url) => url.searchParams.get("q") === "level:>=error" && url.searchParams.get("range") === "6h",
    );
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Views" }).click();
    await dialog.getByRole("button", { name: "Delete Worse things" }).click();
    await dialog.getByText("No saved views yet.").waitFor();
  });

  it("move from the browser to the workspace once, with free names", async () => {
    await open();
    const { workspaceId } = tenant.account;
    const old = [
      { id: "1", name: "Slow", projectId: tenant.projectId, search: "?q=status%3A500&range=7d" },
      { id: "2", name: "Slow", projectId: "proj_000000000000", search: "?minLevel=warn" },
    ];
    await page.evaluate(
      ([key, text]) => localStorage.setItem(key ?? "", text ?? ""),
      [`taffrail.views.${workspaceId}`, JSON.stringify(old)],
    );
    await page.getByRole("button", { name: "Views" }).click();
    const dialog = page.getByRole("dialog", { name: "Saved views" });
    await dialog.getByRole("button", { name: "Move to workspace" }).click();
    await dialog.getByRole("link", { name: "Slow 2" }).waitFor();
    await dialog.getByRole("button", { name: "Move to workspace" }).waitFor({ state: "detached" });
    expect(await page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes("views")))).toEqual([]);
    const views = await call<{ items: object[] }>(
      console.server.url,
      `/workspaces/${workspaceId}/views`,
      asUser(tenant.account),
    );
    expect(views.body.data.items).toMatchObject([
      { name: "Slow", projectId: tenant.projectId, query: "status:500", range: { last: "7d" } },
      { name: "Slow 2", projectId: null, query: "level:>=warn", range: { last: "24h" } },
    ]);
  });

  it("copy a command that runs in a shell", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await open(`?${new URLSearchParams({ search: NASTY })}`);
    await counted(page, /^1 entry$/).waitFor();
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("button", { name: "Copy as curl" }).click();
    await page.getByText("Copied").waitFor();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    expect(command).not.toContain(tenant.key.secret);
    const env = { PATH: process.env.PATH ?? "", TAFFRAIL_API_KEY: tenant.key.secret };
    const { stdout } = await run("sh", ["-c", command], { env });
    // SAFETY: the envelope of a query response; any other value fails below.
    const { data } = JSON.parse(stdout) as { data: FoundLogs };
    expect(data.logs.map(({ message }) => message)).toEqual([NASTY]);
    const without = await run("sh", ["-c", command], { env: { PATH: env.PATH } }).catch((error: Error) => error);
    expect(String(without)).toContain("logs:read");
  });

  it("copy a link with a fixed time range", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await open("?range=1h&level=info");
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("button", { name: "Copy link to this time" }).click();
    await page.getByText("Copied").waitFor();
    const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
    expect([...link.searchParams.keys()]).toEqual(["q", "from", "to"]);
  });
});

describe("pages", () => {
  it("load one snapshot page by page, with no second count beside that of the histogram", async () => {
    const busy = await createTenant(console.server.url);
    const now = Date.now();
    const logs = Array.from({ length: 250 }, (_, index) => ({ message: `row ${index}`, timestamp: now - index }));
    await send(console.server.url, busy, logs);
    const own = await console.open({ as: busy.account, viewport: { width: 1440, height: 900 } });
    const other = await own.newPage();
    await other.goto(explorerPath(busy));
    await counted(other, "100 loaded").waitFor();
    await other.getByRole("button", { name: "Count all" }).waitFor({ state: "detached" });
    await send(console.server.url, busy, [{ message: "too late" }]);
    await rows(other).first().click();
    await other.keyboard.press("End");
    await counted(other, "200 loaded").waitFor();
    await other.keyboard.press("End");
    await counted(other, "250 entries").waitFor();
    await other.getByRole("button", { name: "Refresh" }).click();
    // The end of the list may be near enough for the next page.
    await counted(other, /^[12]00 loaded$/).waitFor();
    await other.locator("[data-list]").evaluate((list) => list.scrollTo(0, 0));
    await rows(other).first().getByText("too late").waitFor();
    await own.close();
  });

  it("name the projects of entries, and show one project if selected", async () => {
    const { account } = tenant;
    await page.goto(`/w/${account.workspaceId}?q=category:billing`);
    const billing = sent.filter(({ category }) => category === "billing").length;
    await counted(page, `${billing} entries`).waitFor();
    await choose(page.getByRole("combobox", { name: "Project" }), "test");
    await page.waitForURL(`**/w/${account.workspaceId}/p/${tenant.projectId}?q=category%3Abilling`);
    await counted(page, `${billing} entries`).waitFor();
  });
});

describe("live", () => {
  it("follows a project from the end of the list without a gap, pauses and resumes", async () => {
    const watched = await createTenant(console.server.url);
    await send(console.server.url, watched, [{ message: "before" }]);
    const own = await console.open({ as: watched.account, viewport: { width: 1440, height: 900 } });
    const other = await own.newPage();
    await other.goto(explorerPath(watched));
    await rows(other).filter({ hasText: "before" }).waitFor();
    // Sent after the list has loaded and before the tail opens.
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
    await other.getByRole("status").filter({ hasText: "1 new" }).waitFor();
    await expect.poll(() => rows(other).count()).toBe(3);
    await other.getByRole("button", { name: "Resume" }).click();
    await rows(other).first().getByText("live two").waitFor();
    await expect.poll(() => rows(other).count()).toBe(4);
    expect(new URL(other.url()).search).toBe("?live=1");
    await other.getByRole("button", { name: "Stop following" }).click();
    await other.waitForURL((url) => url.search === "");
    await expect.poll(() => rows(other).count()).toBe(4);
    await own.close();
  });
});

const searchBox = () => page.getByRole("textbox", { name: "Search", exact: true });

describe("the query language in the search box", () => {
  it("17.6: completes by keyboard, marks errors where they are, and keeps a history", async () => {
    await open("?range=24h");
    await searchBox().pressSequentially("level:fat");
    const suggestions = page.getByRole("listbox", { name: "Suggestions" });
    await suggestions.getByRole("option", { name: "fatal" }).waitFor();
    // What a screen reader is told: how many there are, and which one the keys have reached.
    const announced = () => page.getByRole("search").getByRole("status").textContent();
    const isCounted = async () => {
      const count = await suggestions.getByRole("option").count();
      return (await announced()) === (count === 1 ? "1 suggestion" : `${count} suggestions`);
    };
    await expect.poll(isCounted).toBe(true);
    expect(await searchBox().getAttribute("aria-controls")).toBe(await suggestions.getAttribute("id"));
    expect(await searchBox().getAttribute("aria-activedescendant")).toBe(null);
    await page.keyboard.press("Escape");
    await expect.poll(announced).toBe("");
    await page.keyboard.press("ArrowDown");
    await suggestions.getByRole("option", { name: "fatal" }).waitFor();
    await page.keyboard.press("ArrowDown");
    const reached = await suggestions.getByRole("option", { selected: true }).getAttribute("id");
    expect(await searchBox().getAttribute("aria-activedescendant")).toBe(reached);
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await expect.poll(() => searchBox().inputValue()).toBe("level:fatal");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("q") === "level:fatal");
    await histogramSettled();

    await searchBox().fill("level:fatal | stats p9(n)");
    await page.keyboard.press("Enter");
    const alert = page.getByRole("alert").filter({ hasText: "Unknown function `p9`. Did you mean p90?" });
    await alert.waitFor();
    expect(new URL(page.url()).searchParams.get("q")).toBe("level:fatal");
    expect(await searchBox().getAttribute("aria-invalid")).toBe("true");
    // One error after the other: a pipe of another language, then its number.
    await searchBox().fill("level:fatal | head 3 | top 5 by n desc");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "limit 3", exact: true }).click();
    await page.getByRole("button", { name: "sort n desc | limit 5", exact: true }).waitFor();
    expect(await searchBox().inputValue()).toBe("level:fatal | limit 3 | top 5 by n desc");
    await page.keyboard.press("Alt+Enter");
    await page.waitForURL((url) => url.searchParams.get("q") === "level:fatal | limit 3 | sort n desc | limit 5");
    await page.keyboard.press("Control+z");
    await expect.poll(() => searchBox().inputValue()).toBe("level:fatal | limit 3 | top 5 by n desc");

    await searchBox().fill("");
    await page.keyboard.press("ArrowDown");
    await suggestions.getByRole("option", { name: "level:fatal", exact: true }).waitFor();
    const offered = await suggestions.getByRole("option").allTextContents();
    expect(offered.indexOf("status:number")).toBeGreaterThan(offered.indexOf("level:fatal"));

    // Of a megabyte that is pasted by mistake, the box has what each key can lay out.
    await page.keyboard.insertText("level:error OR ".repeat(70_000));
    expect((await searchBox().inputValue()).length).toBe(32_768);
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: "The query is longer than 8,192 bytes." }).waitFor();
  });

  it("17.1: ends a long query before its button, and shows it whole with the focus, over what follows", async () => {
    const parts = Array.from({ length: 6 }, (_, at) => `-status:${900 + at} -route:/api/orders/${at}`);
    await open(`?range=24h&q=${encodeURIComponent(parts.join(" "))}`);
    await histogramSettled();
    const look = () =>
      searchBox().evaluate((box) => {
        const shown = box.parentElement?.firstElementChild;
        const below = document.querySelector('section[aria-label="Histogram"]');
        if (!(shown instanceof HTMLElement) || below === null) throw new Error("The page has other parts.");
        const { paddingRight, textOverflow } = getComputedStyle(shown);
        return {
          lines: Math.round((shown.clientHeight - 4) / 24),
          isWhole: box.scrollHeight <= box.clientHeight && box.scrollWidth <= box.clientWidth,
          isAligned: box.clientHeight === shown.clientHeight,
          end: `${paddingRight} ${textOverflow}`,
          below: below.getBoundingClientRect().top,
        };
      });
    const before = await look();
    expect(before).toMatchObject({ lines: 1, isWhole: false, isAligned: true, end: "40px ellipsis" });
    await searchBox().focus();
    const after = await look();
    expect(after).toMatchObject({ isWhole: true, isAligned: true, below: before.below });
    expect(after.lines).toBeGreaterThanOrEqual(2);
    // Lines of a pasted query become one.
    await searchBox().fill("level:info\n| count by type");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("q") === "level:info | count by type");
  });

  it("17: stays within a narrow page: errors with their place, and the chosen suggestion", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await open("?range=24h");
    // All levels are in view, beside the tools of the histogram and above its drawing.
    const histogram = page.getByRole("region", { name: "Histogram" });
    const levels = histogram.getByRole("button", { name: /^(fatal|error|warn|info|log|debug|trace) ?\d+$/ });
    await expect.poll(() => levels.count()).toBe(7);
    const tools = await histogram.getByRole("button", { name: "Save to board" }).boundingBox();
    const chart = await histogram.getByRole("slider", { name: "Entries over time" }).boundingBox();
    // What the bars are has the rest of the second line, and no line of its own.
    const top = (await histogram.boundingBox())?.y ?? Number.NaN;
    expect((chart?.y ?? Number.NaN) - top).toBeLessThanOrEqual(48);
    for (const level of await levels.all()) {
      const box = await level.boundingBox();
      expect((box?.x ?? 360) + (box?.width ?? 0)).toBeLessThanOrEqual(tools?.x ?? 0);
      expect((box?.y ?? 740) + (box?.height ?? 0)).toBeLessThanOrEqual(chart?.y ?? 0);
    }
    expect(await axeFaults(page)).toEqual([]);
    const long = `level:error ${"route:/api/orders ".repeat(8)}| stats p99(status), counnt() by type`;
    await searchBox().fill(long);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    const alert = page.getByRole("alert").filter({ hasText: "Unknown function `counnt`" });
    await alert.waitFor();
    const place = () =>
      searchBox().evaluate((input) => {
        const left = (selector: string, from: ParentNode | null) =>
          from?.querySelector(selector)?.getBoundingClientRect().left ?? Number.NaN;
        const box = input.getBoundingClientRect();
        const wrong = left('[class*="wrong"]', input.parentElement);
        const caret = left('[class*="caret"]', input.closest("search"));
        const line = input.parentElement?.querySelector('[class*="wrong"]')?.getClientRects()[0];
        if (line === undefined) throw new Error("Nothing is marked.");
        return {
          isInside: wrong >= box.left && wrong < box.right && line.top >= box.top && line.bottom <= box.bottom,
          off: Math.abs(wrong - caret),
        };
      });
    await expect.poll(place).toMatchObject({ isInside: true });
    expect((await place()).off).toBeLessThan(2);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    expect(await axeFaults(page)).toEqual([]);

    await searchBox().fill("level:info ");
    const options = page.getByRole("listbox", { name: "Suggestions" }).getByRole("option");
    await expect.poll(() => options.count()).toBe(12);
    await page.keyboard.press("ArrowUp");
    const last = options.last();
    expect(await last.getAttribute("aria-selected")).toBe("true");
    const hidden = await last.evaluate((element) => {
      const list = element.parentElement?.getBoundingClientRect();
      return element.getBoundingClientRect().bottom - (list?.bottom ?? 0);
    });
    expect(hidden).toBeLessThanOrEqual(0);
    expect(await axeFaults(page)).toEqual([]);
    // The list stays while the word is written on.
    await page.keyboard.type("le");
    expect(await options.first().isVisible()).toBe(true);
  });

  it("17: says what a query that finds little probably means", async () => {
    await open(`?${new URLSearchParams({ range: "24h", q: "status:2xx or level:info" })}`);
    await page.getByText("status:2xx compares the whole value. A range is written status:200..299.").waitFor();
    await page.goto(explorerPath(tenant, `?${new URLSearchParams({ range: "24h", q: "staus:200 level:info" })}`));
    await page.getByText("No recent entry has the member staus; did you mean status?").waitFor();
    await page.getByText("No entries match this query").waitFor();
  });

  it("17: keeps a table while it is refreshed, and draws each of its values", async () => {
    const q = "* | stats count(), max(status) by status, bin(5m)";
    await page.goto(explorerPath(tenant, `?${new URLSearchParams({ range: "24h", q })}`));
    await page.getByRole("img", { name: /^count\(\) from / }).waitFor();
    await page.getByRole("img", { name: /^max\(status\) from .* at most 500$/ }).waitFor();
    expect(await page.getByRole("img", { name: /^status from / }).count()).toBe(0);
    // The fields beside a table count the entries that it is made of.
    await fieldValue(page, "level", "info", 8).waitFor();
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    await page.route("**/logger/search", async (route) => {
      await gate;
      await route.continue();
    });
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.locator('[aria-busy="true"]').getByRole("table").waitFor();
    go();
    await page.locator('[aria-busy="false"]').getByRole("table").waitFor();
    // Of an earlier time, because the last request failed.
    const table = page.getByRole("table");
    const colour = () => table.evaluate((element) => getComputedStyle(element).getPropertyValue("--text"));
    const current = await colour();
    await page.unroute("**/logger/search");
    const isAnswer = (route: Route): boolean => route.request().postDataJSON().query === q;
    await page.route("**/logger/search", (route) => (isAnswer(route) ? route.abort() : route.continue()));
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByRole("alert").getByText("The service could not be reached").waitFor();
    await expect.poll(colour).not.toBe(current);
    expect(await axeFaults(page)).toEqual([]);
    await page.unroute("**/logger/search");
    // Without a click, which would race with the next attempt.
    await page.getByRole("alert").waitFor({ state: "detached" });
    expect(await colour()).toBe(current);
  });

  it("17.6: charts have room for their names, stay under the pointer, and zoom by dragging and by keys", async () => {
    await page.setViewportSize({ width: 360, height: 800 });
    const q = "* | stats count(), max(status) by user.id, bin(5m)";
    await page.goto(explorerPath(tenant, `?${new URLSearchParams({ range: "2h", q })}`));
    const counts = page.getByRole("img", { name: /^count\(\) from / });
    const highest = page.getByRole("img", { name: /^max\(status\) from / });
    await highest.waitFor();
    const parts = await page.locator("figure, table").evaluateAll((all) =>
      all.map((part) => {
        const bottoms = [part, ...part.querySelectorAll("li")].map((each) => each.getBoundingClientRect().bottom);
        return { top: part.getBoundingClientRect().top, bottom: Math.max(...bottoms) };
      }),
    );
    expect(parts.length).toBe(3);
    for (const [index, { top }] of parts.slice(1).entries()) expect(parts[index]?.bottom).toBeLessThanOrEqual(top);

    const place = await counts.boundingBox();
    if (place === null) throw new Error("Nothing is drawn.");
    const below = await highest.boundingBox();
    const [x, y, part] = [place.x, place.y + 30, place.width / 25];
    await page.mouse.move(x + 14.5 * part, y);
    await page.getByText("50 more", { exact: true }).nth(1).waitFor();
    expect([await counts.boundingBox(), await highest.boundingBox()]).toEqual([place, below]);
    expect(await axeFaults(page)).toEqual([]);

    // A series alone has its own height, and is one of the stack again after the next click.
    const drawn = page.locator("figure", { has: counts });
    const more = drawn.getByRole("button", { name: "50 more" });
    const named = drawn.locator("button[aria-pressed]").first();
    const firstName = (await named.textContent()) ?? "";
    await more.click();
    await drawn.getByRole("button", { name: "50 more", pressed: true }).waitFor();
    expect(await counts.locator("path").count()).toBe(1);
    // The table has the same groups.
    const cells = () => page.locator("tbody tr > :first-child").allTextContents();
    await page.getByText(/^[\d,]+ entries found in [\d,]+ ms, shown in 56 rows\. [\d,]+ scanned$/).waitFor();
    await page.getByRole("status").getByText("Only rows of 50 more: 50 of 56.", { exact: true }).waitFor();
    expect([(await cells()).length, (await cells()).includes(firstName)]).toEqual([50, false]);
    await named.click();
    await page.getByRole("status").getByText(`Only rows of ${firstName}: 1 of 56.`, { exact: true }).waitFor();
    expect(await cells()).toEqual([firstName]);
    await named.click();
    expect((await cells()).length).toBe(56);
    expect(await counts.locator("path").count()).toBe(7);
    // The names behind the sum, by keys.
    await drawn.getByRole("button", { name: "Names of the 50" }).focus();
    await page.keyboard.press("Enter");
    const names = page.getByRole("dialog", { name: "Names of the 50" });
    await names.getByRole("list", { name: "Names of the 50" }).waitFor();
    expect(new Set(await names.getByRole("listitem").allTextContents()).size).toBe(50);
    await expect.poll(() => names.evaluate((box) => box.contains(document.activeElement))).toBe(true);
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await names.waitFor({ state: "detached" });
    // Groups of other values than counts are not added.
    await page.locator("figure", { has: highest }).getByRole("button", { name: "49 more, not drawn" }).waitFor();
    // A name has one colour in both drawings, in which it is at different places.
    const coloursIn = async (chart: Locator) =>
      new Map(
        await page
          .locator("figure", { has: chart })
          .locator("button[aria-pressed]")
          .evaluateAll((all) =>
            all.map((each) => {
              const key = each.firstElementChild ?? each;
              return [each.textContent, getComputedStyle(key).backgroundColor] as const;
            }),
          ),
      );
    const [ofCounts, ofHighest] = [await coloursIn(counts), await coloursIn(highest)];
    const common = [...ofCounts.keys()].filter((name) => ofHighest.has(name));
    expect(new Set(ofCounts.values()).size).toBe(7);
    expect(common.map((name) => ofHighest.get(name))).toEqual(common.map((name) => ofCounts.get(name)));

    await page.mouse.move(x + 14.5 * part, y);
    await page.mouse.down();
    await page.mouse.move(x + 18.5 * part, y, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL((url) => url.searchParams.has("to"));
    const lengthOf = ({ searchParams }: URL) =>
      (Date.parse(searchParams.get("to") ?? "") - Date.parse(searchParams.get("from") ?? "")) / 60_000;
    expect(lengthOf(new URL(page.url()))).toBe(25);
    const slider = page.getByRole("slider", { name: "Times of count()" });
    await expect.poll(() => slider.getAttribute("aria-valuemax")).toBe("5");
    await slider.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Shift+ArrowLeft");
    expect(await slider.getAttribute("aria-valuetext")).toMatch(/\d\d:\d\d, total 10, /);
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => lengthOf(url) === 10);

    await page.goto(explorerPath(tenant, `?${new URLSearchParams({ range: "2h", q: "* | count by plan, bin(5m)" })}`));
    await page.getByRole("button", { name: "no plan", pressed: false }).waitFor();
    await page.getByRole("cell", { name: "no plan" }).first().waitFor();
    await page.getByText("Number", { exact: true }).click();
    await page.getByText("count \u00b7 total", { exact: true }).waitFor();
    expect(await page.locator("main").getByText("56", { exact: true }).isVisible()).toBe(true);
  });

  it("17.6: shows tables, with a chart over spans of time, and narrows them by filters of earlier addresses", async () => {
    await page.goto(
      explorerPath(tenant, `?${new URLSearchParams({ range: "24h", q: "* | count by level, bin(1m)" })}`),
    );
    const table = page.getByRole("table");
    await table.getByRole("columnheader", { name: "count" }).waitFor();
    await page.getByRole("img", { name: /^count from / }).waitFor();
    expect(await table.getByRole("row").count()).toBeGreaterThan(2);
    expect(await page.getByRole("button", { name: "Refresh" }).isEnabled()).toBe(true);
    // What the explorer does with a list, it does with a table.
    await page.getByRole("link", { name: "Create alert" }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Commands" }).getByRole("option", { name: "Clear query" }).waitFor();
    const narrowed = new URLSearchParams({ range: "24h", level: "fatal", q: "* | count by level" });
    await page.goto(explorerPath(tenant, `?${narrowed}`));
    await table.getByRole("cell", { name: "fatal" }).waitFor();
    expect(await table.getByRole("row").count()).toBe(2);
    expect(await searchBox().inputValue()).toBe("level:fatal | count by level");
  });
});

describe("keyboard", () => {
  it("searches, filters and zooms", async () => {
    await open("?range=1h");
    await page.keyboard.press("/");
    await page.keyboard.type("entry");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("q") === "entry");
    await histogramSettled();
    // In an input the key is a letter.
    await page.keyboard.press("h");
    expect(await searchBox().inputValue()).toBe("entryh");
    await page.keyboard.press("Tab");
    await page.keyboard.press("h");
    const slider = page.getByRole("slider", { name: "Entries over time" });
    expect(await slider.evaluate((element) => element === document.activeElement)).toBe(true);
    for (let press = 0; press < 20; press++) await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Shift+PageDown");
    expect(await slider.getAttribute("aria-valuetext")).toMatch(/\d\d:\d\d – \d\d:\d\d, \d+ entr/);
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.has("to"));
    // The focus stays while the zoomed range loads.
    expect(await slider.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.getByRole("list", { name: "Values of level" }).waitFor();
    await page.keyboard.press("f");
    await page.keyboard.type("lev");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await page.waitForURL((url) => url.searchParams.get("q")?.startsWith("entry level:") === true);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Help" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  it("has single-key shortcuts that can be turned off", async () => {
    await open();
    await page.keyboard.press("?");
    await page.getByLabel("Single-key shortcuts").uncheck();
    await page.keyboard.press("Escape");
    await page.keyboard.press("v");
    expect(await page.getByRole("dialog").count()).toBe(0);
  });
});

describe("accessible and fitting", () => {
  const LONG = `?${new URLSearchParams({ session: "x".repeat(200), data: '{"user.id":{"gte":3}}' })}`;

  // Both themes have the same elements.
  it.each([
    [360, "dark"],
    [768, "light"],
    [1440, "light"],
  ] as const)("at %i pixels, %s", async (width, colorScheme) => {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    await open();
    await page.locator(".u-over").waitFor();
    if (width < 1000) await page.getByRole("button", { name: "Fields" }).click();
    await page.getByRole("button", { name: "Show table" }).click();
    await page.getByRole("button", { name: /^Time range/ }).click();
    await page.getByRole("textbox", { name: "Range" }).fill("yesterday 14:00..13:00");
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    expect(await beyondTab(page)).toEqual([]);
    await page.goto(explorerPath(tenant, LONG));
    await page.getByText("No matching entries").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
  });

  it.each(["light", "dark"] as const)("in its dialogs, %s", async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await open();
    for (const name of ["Views", "Share", "Download", "Help"]) {
      // The rail has a menu of this name.
      await page.getByRole("main").getByRole("button", { name, exact: true }).click();
      await page.getByRole("dialog").waitFor();
      expect(await axeFaults(page), name).toEqual([]);
      expect(await beyondTab(page), name).toEqual([]);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
  });
});

describe("the explorer", () => {
  it("requests only list, histogram, fields, releases, projects, workspaces and the missing entries on a reload", async () => {
    await open();
    // The page's own requests are made, also those that follow the first row.
    await fieldValue(page, "level", "info").waitFor();
    const asked: string[] = [];
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (!pathname.startsWith("/app/") && !pathname.startsWith("/w/")) asked.push(pathname);
    });
    await page.reload();
    await fieldValue(page, "level", "info").waitFor();
    await expect.poll(() => asked.length).toBeGreaterThanOrEqual(7);
    expect(asked.sort()).toEqual([
      "/logger/query",
      "/logger/search",
      // A field with versions, for the marks of releases.
      "/logger/search/batch",
      "/logger/stats",
      "/projects",
      expect.stringMatching(/^\/projects\/proj_\w+\/ledger$/),
      "/workspaces",
    ]);
  });

  it("contacts no other origin and violates no content security policy", async () => {
    expect(await call(console.server.url, "/health")).toMatchObject({ status: 200 });
    expect(console.faults()).toEqual([]);
  });
});
