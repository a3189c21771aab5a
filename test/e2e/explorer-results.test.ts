import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FIRST_ROW_SCRIPT_BYTES, scriptsBeforeFirstRow } from "../../scripts/bench-console/first-row.ts";
import { createTenant, type Tenant } from "../support/api.ts";
import { axeFaults, type ConsoleUnderTest, type ReuseOptions, startSharedConsole } from "./support/console.ts";
import { allMessages, logsOf, row, rows, send } from "./support/explorer.ts";

const COUNT = 250;
/** An entry whose message changes the writing direction. */
const HIDING = 3;
const LONG = "lorem ipsum ".repeat(100);

const STACK = [
  "TypeError: x is not a function",
  "    at node:internal/process/task_queues:95:5",
  "    at retry (/app/node_modules/p-retry/index.js:5:1)",
  "    at charge (/app/src/pay/charge.ts:41:7)",
].join("\n");

let console: ConsoleUnderTest;
let tenant: Tenant;

beforeAll(async () => {
  console = await startSharedConsole();
  tenant = await createTenant(console.server.url);
  const start = Date.now() - COUNT * 1000;
  await send(console.server.url, tenant, COUNT, (index) => ({
    level: index % 10 === 0 ? "error" : "info",
    category: "http",
    type: "request",
    message: `Request number ${index}${index === HIDING ? "\u202egnp.\u0007" : ""}`,
    timestamp: new Date(start + index * 1000).toISOString(),
    session: `session-${index % 5}`,
    data: {
      status: index % 10 === 0 ? 504 : 200,
      "http.route": "/charges/:id",
      user: { plan: "team" },
      ...(index === COUNT - 1 ? { many: Array.from({ length: 230 }, (_, at) => at), long: LONG } : {}),
      ...(index === COUNT - 2 ? { colours: "\u001b[31mred\u001b[0m plain", error: { stack: STACK } } : {}),
    },
  }));
});

afterAll(() => console?.close());

async function opened(options: Omit<ReuseOptions, "as"> = {}, more = ""): Promise<Page> {
  const page = await console.reuse({ as: tenant.account, ...options });
  await page.goto(logsOf(tenant, more));
  await rows(page).first().waitFor();
  return page;
}

describe("the list of entries", () => {
  it("has every entry once, newest first, over any number of pages", async () => {
    const page = await opened();
    const messages = await allMessages(page);
    const sent = Array.from({ length: COUNT }, (_, at) => `Request number ${COUNT - 1 - at}`);
    // Invisible characters of a message are escaped.
    sent[COUNT - 1 - HIDING] += "\\u202egnp.\\u0007";
    expect(messages).toEqual(sent);
    expect(await rows(page).count()).toBeLessThan(100);
  });

  it("19: needs at most 60 KB of script for its first row", async () => {
    const context = await console.open({ as: tenant.account, viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    const bytes = await scriptsBeforeFirstRow(page, logsOf(tenant));
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThanOrEqual(FIRST_ROW_SCRIPT_BYTES);
    // They are compiled as a whole while they arrive.
    const named = (await page.content()).match(/\/app\/files\/(?:index|shared)-[\w-]+\.js/g) ?? [];
    const codes = await Promise.all(named.map(async (file) => (await context.request.get(file)).text()));
    expect(codes.map((code) => code.split("\n", 1)[0])).toEqual(Array(2).fill("//# allFunctionsCalledOnLoad"));
    await context.close();
  });

  it("19: requests its first entries before its code is loaded, and once", async () => {
    const context = await console.open({ as: tenant.account });
    const page = await context.newPage();
    const asked: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route("**/logger/query", async (route) => {
      asked.push(route.request().postData() ?? "");
      resolve();
      await route.continue();
    });
    await page.route("**/app/files/index-*.js", async (route) => {
      await promise;
      await route.continue();
    });
    await page.goto(logsOf(tenant));
    await rows(page).first().waitFor();
    expect(asked).toHaveLength(1);
    await context.close();
  });

  it.each([
    [1440, 900],
    [1024, 700],
    [360, 740],
  ])("19: stays in place when histogram, actions and fields appear, in %i x %i", async (width, height) => {
    const context = await console.open({ as: tenant.account, viewport: { width, height } });
    const page = await context.newPage();
    // They come after the content. Their other widths move the search box of a wide window by some pixels.
    if (width >= 1440) await page.route("**/*.woff2", (route) => route.abort());
    await page.addInitScript(() => {
      const shifts: PerformanceEntry[] = [];
      new PerformanceObserver((list) => shifts.push(...list.getEntries())).observe({
        type: "layout-shift",
        buffered: true,
      });
      Reflect.set(globalThis, "shifts", shifts);
    });
    // The page is drawn before and after its entries come.
    const { promise: drawn, resolve } = Promise.withResolvers<void>();
    await page.route("**/logger/query", async (route) => {
      await drawn;
      await route.continue();
    });
    await page.goto(logsOf(tenant));
    await page.getByText("Searching …").first().waitFor();
    resolve();
    await page.getByRole("button", { name: width < 1000 ? "More" : "Share", exact: true }).waitFor();
    await page.getByRole("slider", { name: "Entries over time" }).waitFor();
    if (width >= 1000) await page.getByRole("list", { name: "Values of level" }).waitFor();
    expect(await page.evaluate(() => JSON.stringify(Reflect.get(globalThis, "shifts")))).toBe("[]");
    await context.close();
  });

  it("starts at its top for another query and stays in place on a reload", async () => {
    const page = await opened();
    const list = page.locator("[data-list]");
    const loaded = (text: string) => page.getByRole("status").filter({ hasText: text }).waitFor();
    await list.evaluate((element) => {
      element.scrollTop = 1500;
    });
    // Near the end of the first page the next one is loaded.
    await loaded("200 loaded");
    const again = page.waitForResponse("**/logger/query");
    await page.getByRole("button", { name: "Refresh" }).click();
    await again;
    await loaded("200 loaded");
    expect(await list.evaluate((element) => element.scrollTop)).toBeGreaterThan(1000);
    await page.getByRole("button", { name: "Zoom out" }).click();
    await page.waitForURL(/from=/);
    await page.waitForFunction(() => document.querySelector("[data-list]")?.scrollTop === 0);
    await row(page, "Request number 249").waitFor();
  });

  it("keeps its entries if a reload fails", async () => {
    const context = await console.open({ as: tenant.account });
    const page = await context.newPage();
    await page.goto(logsOf(tenant).replace("range=all", "range=1h"));
    await page.getByRole("status").filter({ hasText: "100 loaded" }).waitFor();
    // The same range starts at another time by now.
    await page.clock.setFixedTime(Date.now() + 120_000);
    await page.route("**/logger/query", (route) => {
      const isFirstPage = route.request().postDataJSON().pagination.cursor === undefined;
      return isFirstPage ? route.abort() : route.continue();
    });
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByRole("alert").filter({ hasText: "could not be reached" }).waitFor();
    await rows(page).first().focus();
    await page.keyboard.press("End");
    await page.getByRole("status").filter({ hasText: "200 loaded" }).waitFor();
    await context.close();
  });

  it("supports navigation by keys alone, and scrolling keeps the focus", async () => {
    const page = await opened();
    const focused = (text: string) => row(page, text).and(page.locator(":focus")).waitFor();
    await rows(page).first().focus();
    await page.keyboard.press("ArrowDown");
    await focused("Request number 248");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await focused("Request number 248");
    await page.keyboard.press("PageDown");
    await focused("Request number 233");
    await page.locator("[data-list]").hover();
    await page.mouse.wheel(0, 2500);
    // The focused row is far out of view by now.
    await row(page, "Request number 249").waitFor({ state: "detached" });
    await row(page, "Request number 210").waitFor({ state: "detached" });
    await page.keyboard.press("ArrowUp");
    await focused("Request number 234");
    await page.keyboard.press("Home");
    await focused("Request number 249");
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Details of entry 250" }).waitFor();
    await page.keyboard.press("Tab");
    await page.getByRole("button", { name: "Show in context" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Escape");
    await focused("Request number 249");
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("region", { name: "Details of entry 250" }).waitFor({ state: "detached" });
    const anyFocused = () => rows(page).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("End");
    await row(page, "Request number 249").waitFor({ state: "detached" });
    await anyFocused();
    await page.keyboard.press("End");
    await anyFocused();
    await page.keyboard.press("c");
    await page.getByRole("dialog", { name: "In context" }).waitFor();
  });
});

/** Drags over the middle of an element and returns the selected text. */
/** Scrolls to an element and returns where it is once the layout is final: what is above the rows is loaded after them. */
async function settledBox(target: Locator): Promise<Awaited<ReturnType<Locator["boundingBox"]>>> {
  await target.scrollIntoViewIfNeeded();
  for (let box = await target.boundingBox(); ; ) {
    await target.page().waitForTimeout(150);
    const next = await target.boundingBox();
    if (JSON.stringify(next) === JSON.stringify(box)) return next;
    box = next;
  }
}

async function dragged(page: Page, target: Locator): Promise<string> {
  const box = await settledBox(target);
  if (box === null) throw new Error("It is not there.");
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + 2, y);
  await page.mouse.down();
  await page.mouse.move(box.x + 120, y, { steps: 8 });
  await page.mouse.up();
  return page.evaluate(() => getSelection()?.toString() ?? "");
}

describe("6: the text of a row", () => {
  const details = (page: Page) => page.getByRole("region", { name: "Details of entry 245" });

  it("can be selected by dragging, also over several rows, and a click still opens the row", async () => {
    const page = await opened();
    const message = row(page, "Request number 244").locator("[data-message]");
    expect(await dragged(page, message)).toMatch(/^Request num/);
    expect(await details(page).count()).toBe(0);
    // Beside the selected text.
    await row(page, "Request number 244").locator("time").click();
    await details(page).waitFor();
    await row(page, "Request number 244").click();
    await details(page).waitFor({ state: "detached" });
    await message.hover();
    await page.mouse.down();
    await row(page, "Request number 242").locator("[data-message]").hover();
    await page.mouse.up();
    const selected = () => page.evaluate(() => getSelection()?.toString() ?? "");
    expect(await selected()).toContain("Request number 243");
    await details(page).waitFor({ state: "detached" });
    // The elements of these rows show no other entry while their text is selected.
    await page.locator("[data-list]").evaluate((list) => list.scrollTo({ top: 3000 }));
    await row(page, "Request number 243").waitFor({ state: "detached" });
    expect(await selected()).not.toMatch(/Request number (?!24[234]\b)/);
  });

  it("can be selected with a double click", async () => {
    const page = await opened();
    await row(page, "Request number 244")
      .locator("[data-message]")
      .dblclick({ position: { x: 10, y: 8 } });
    expect(await page.evaluate(() => getSelection()?.toString().trim())).toBe("Request");
  });

  it("is opened and closed with Enter and Space", async () => {
    const page = await opened();
    await row(page, "Request number 244").focus();
    await page.keyboard.press("Enter");
    await details(page).waitFor();
    await page.keyboard.press("Space");
    await details(page).waitFor({ state: "detached" });
  });

  it("can be selected in the details, where a click or Enter still filters", async () => {
    const page = await opened();
    await row(page, "Request number 244").click();
    const value = details(page).getByRole("button", { name: "session-4" });
    expect(await dragged(page, value)).toMatch(/^session/);
    expect(new URL(page.url()).searchParams.has("q")).toBe(false);
    await value.focus();
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("q") === "session:=session-4");
  });
});

describe("6: an entry in its context", () => {
  const context = (page: Page) => page.getByRole("dialog", { name: "In context" });
  const marked = (page: Page, text: string) =>
    context(page).locator("[data-row][aria-current]").filter({ hasText: text }).waitFor();

  it("is in the address: a reload keeps it, back closes it, and closing adds no history entry", async () => {
    // Of its own, because it counts the steps of the history.
    const page = await (await console.open({ as: tenant.account })).newPage();
    await page.goto(logsOf(tenant, "&level=error"));
    await rows(page).first().waitFor();
    const before = page.url();
    await row(page, "Request number 140").focus();
    await page.keyboard.press("c");
    await marked(page, "Request number 140");
    expect(page.url()).not.toBe(before);
    await page.reload();
    await marked(page, "Request number 140");
    await row(context(page), "Request number 139").focus();
    await page.keyboard.press("c");
    await marked(page, "Request number 139");
    await page.reload();
    await marked(page, "Request number 139");
    await page.goBack();
    await context(page).waitFor({ state: "detached" });
    expect(page.url()).toBe(before);
    await page.goForward();
    await marked(page, "Request number 139");
    await page.keyboard.press("Escape");
    await context(page).waitFor({ state: "detached" });
    await page.waitForURL(before);
    const steps = await page.evaluate(() => history.length);
    await row(page, "Request number 140").focus();
    await page.keyboard.press("c");
    await marked(page, "Request number 140");
    await page.keyboard.press("Escape");
    await page.waitForURL(before);
    await row(page, "Request number 140").and(page.locator(":focus")).waitFor();
    expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(steps + 1);
    await page.context().close();
  });

  it("is in the address of the page of all projects, too", async () => {
    const page = await opened();
    await page.goto(`/w/${tenant.account.workspaceId}?range=all`);
    await row(page, "Request number 240").focus();
    await page.keyboard.press("c");
    await marked(page, "Request number 240");
    await page.reload();
    await marked(page, "Request number 240");
  });
});

async function copyAs(page: Page, details: Locator, form: string): Promise<void> {
  await details.getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByRole("menuitem", { name: form }).click();
  const what = form === "Link" ? "the link" : form.replace("As", "as");
  await page.getByText(`Copied ${what}`, { exact: true }).waitFor();
}

describe("an open entry", () => {
  it("filters by a value, excludes a value, and filters by a field", async () => {
    const page = await opened();
    await row(page, "Request number 240").click();
    await page.getByRole("button", { name: "504", exact: true }).click();
    await row(page, "Request number 230").waitFor();
    await row(page, "Request number 239").waitFor({ state: "detached" });
    expect(new URL(page.url()).searchParams.get("q")).toBe("status:504");

    await page.goto(logsOf(tenant));
    await row(page, "Request number 240").click();
    await page.getByRole("button", { name: 'More for ["http.route"]' }).click();
    await page.getByRole("button", { name: "Exists" }).click();
    await page.waitForURL((url) => url.searchParams.get("q") === '"http.route":*');

    await page.goto(logsOf(tenant));
    await row(page, "Request number 240").click();
    await page.getByRole("button", { name: "More for status" }).click();
    await page.getByRole("button", { name: "Exclude", exact: true }).click();
    await row(page, "Request number 230").waitFor({ state: "detached" });
    await row(page, "Request number 239").click();
    await page.getByRole("button", { name: "session-4" }).click();
    await page.waitForURL((url) => url.searchParams.get("q") === "-status:504 session:=session-4");
    await row(page, "Request number 234").waitFor();
    await row(page, "Request number 238").waitFor({ state: "detached" });
  });

  it("shows why it was found: the searched text is marked in its row, message and data", async () => {
    const page = await opened({}, "&search=504");
    const found = row(page, "Request number 240");
    await found.locator("mark").first().waitFor();
    expect(await found.textContent()).toContain("status=504");
    expect(await found.locator("mark").allTextContents()).toEqual(["504"]);
    await found.click();
    const details = page.getByRole("region", { name: "Details of entry 241" });
    await details.locator("mark").first().waitFor();
    expect(await details.locator("mark").allTextContents()).toEqual(["504"]);

    await page.goto(logsOf(tenant, "&search=NUMBER+24"));
    await row(page, "Request number 249").click();
    const other = page.getByRole("region", { name: "Details of entry 250" });
    await other.locator("mark").first().waitFor();
    expect(await row(page, "Request number 249").locator("mark").allTextContents()).toEqual(["number 24"]);
    expect(await other.locator("mark").allTextContents()).toEqual(["number 24"]);
    expect(await axeFaults(page)).toEqual([]);
  });

  it("shows long lists in pages, truncates long texts and copies its JSON", async () => {
    const page = await opened({ permissions: ["clipboard-read", "clipboard-write"] });
    await row(page, "Request number 249").click();
    const details = page.getByRole("region", { name: "Details of entry 250" });
    await details.getByRole("button", { name: /^Show all 1,200 characters/ }).click();
    await details.getByRole("button", { name: `"${LONG}"` }).waitFor();
    await details.getByRole("button", { name: /many.*230 items/ }).click();
    await details.getByRole("button", { name: "Show 50 more of 180" }).click();
    await details.getByRole("button", { name: "99", exact: true }).waitFor();
    await copyAs(page, details, "As JSON");
    const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
    expect(copied).toMatchObject({ seq: 250, message: "Request number 249", data: { long: LONG } });
  });

  it("folds the frames of libraries, shows colours of terminals, and is in the address", async () => {
    const page = await opened();
    await row(page, "Request number 248").click();
    const details = page.getByRole("region", { name: "Details of entry 249" });
    expect(await details.locator("[data-first=true]").textContent()).toContain("charge.ts:41:7");
    await details.getByRole("button", { name: "… 2 frames of libraries" }).click();
    await details.getByText("p-retry/index.js").waitFor();
    expect(await details.locator("span", { hasText: /^red$/ }).first().getAttribute("class")).toContain("red");
    expect(await axeFaults(page)).toEqual([]);
    await page.waitForURL(/open=/);
    await page.reload();
    await details.waitFor();
    await row(page, "Request number 248").click();
    await page.waitForURL((url) => !url.searchParams.has("open"));
  });

  it("is moved to with j and k from anywhere, and the palette has what the page can do", async () => {
    const page = await opened();
    await page.keyboard.press("j");
    await row(page, "Request number 249").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("j");
    await row(page, "Request number 248").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Commands" });
    await palette.getByRole("option", { name: "Next entry" }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.type("oldest");
    await page.keyboard.press("Enter");
    await page.waitForURL(/order=asc/);
    await page.keyboard.press("Control+k");
    await palette.waitFor();
    await page.keyboard.press("Escape");
    await palette.waitFor({ state: "detached" });
  });

  it("has what the open entry, fields and the workspace can do in the palette, once it is asked for", async () => {
    const page = await opened();
    await row(page, "Request number 248").click();
    await page.waitForURL((url) => url.searchParams.has("open"));
    await page.getByRole("button", { name: "Group by level" }).waitFor();
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Commands" });
    const options = palette.getByRole("option");
    await palette.getByRole("option", { name: "Copy as text y" }).waitFor();
    expect(await palette.getByRole("option", { name: /^Group by/ }).count()).toBe(0);
    for (const [text, label] of [
      ["copy", "Copy as JSON"],
      ["context", "Show in context c"],
      ["columns", "Add column level"],
      ["group by", "Group by level"],
      ["zone", "Time zone UTC"],
      ["12-hour", "12-hour clock"],
      ["single-key", "Turn off single-key shortcuts"],
      ["send first", "Send the first entry"],
      ["docs", "Documents"],
      ["save to board", "Save to board"],
      ["new alert", "New alert"],
    ] as const) {
      await palette.getByRole("combobox").fill(text);
      await options
        .filter({ has: page.getByText(label.replace(/ [yc]$/, ""), { exact: true }) })
        .first()
        .waitFor();
    }
    await palette.getByRole("combobox").fill("group by level");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("q") === "* | top 10 by level");
    await page.keyboard.press("Control+k");
    await palette.getByRole("combobox").fill("new board");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "New board" }).waitFor();
    expect(new URL(page.url()).search).toBe("");
  });

  it("loses no key while the palette, its commands or a part of the page are loading", async () => {
    const context = await console.open({ as: tenant.account, viewport: { width: 768, height: 800 } });
    const page = await context.newPage();
    const held = async (file: string) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      await page.route(`**/app/files/${file}-*.js`, (route) => promise.then(() => route.continue()));
      return resolve;
    };
    const [loadPalette, loadCommands, loadFields] = await Promise.all(
      ["palette-dialog", "explorer-commands", "fields-panel"].map(held),
    );
    await page.goto(logsOf(tenant));
    await rows(page).first().waitFor();
    await page.keyboard.press("Control+k");
    // On the page, each of these letters is a shortcut or nothing.
    await page.keyboard.type("lost");
    await page.keyboard.press("Backspace");
    await page.keyboard.press("Backspace");
    await page.keyboard.type("gs");
    loadPalette?.();
    const palette = page.getByRole("dialog", { name: "Commands" });
    const input = palette.getByRole("combobox");
    await input.and(page.locator(":focus")).waitFor();
    await expect.poll(() => input.inputValue()).toBe("logs");
    await palette.getByRole("option", { name: "Logs", selected: true }).waitFor();
    await input.fill("");
    expect(await palette.getByRole("option", { name: "Next entry" }).count()).toBe(0);
    await page.keyboard.press("ArrowDown");
    const boards = palette.getByRole("option", { name: "Boards", selected: true });
    await boards.waitFor();
    loadCommands?.();
    await palette.getByRole("option", { name: "Next entry" }).waitFor();
    // What the user chose stays chosen when commands appear above it.
    expect(await boards.count()).toBe(1);
    await page.keyboard.press("Escape");
    await palette.waitFor({ state: "detached" });
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(new URL(page.url()).searchParams.has("live")).toBe(false);
    await page.keyboard.press("f");
    loadFields?.();
    await page.getByRole("textbox", { name: "Find a field" }).and(page.locator(":focus")).waitFor();
    await context.close();
  });

  it("has a link that opens it, regardless of the filters", async () => {
    const page = await opened({ permissions: ["clipboard-read", "clipboard-write"] }, "&level=error");
    await row(page, "Request number 140").click();
    const details = page.getByRole("region", { name: "Details of entry 141" });
    await copyAs(page, details, "Link");
    const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
    expect(link.origin).toBe(console.server.url);
    link.searchParams.set("q", "level:fatal");
    await page.goto(link.href);
    const context = page.getByRole("dialog", { name: "In context" });
    await context.getByRole("region", { name: "Details of entry 141" }).waitFor();
    expect(await context.locator("[data-row][aria-current]").textContent()).toContain("Request number 140");
    await context.getByRole("button", { name: "Close" }).click();
    await page.waitForURL((url) => url.searchParams.get("q") === "level:fatal" && !url.searchParams.has("entry"));
    await context.waitFor({ state: "detached" });
  });

  it("is shown with its neighbours, loads more of them and restores the focus", async () => {
    const page = await opened({}, "&level=error");
    await row(page, "Request number 140").click();
    await page.getByRole("button", { name: "Show in context" }).click();
    const context = page.getByRole("dialog", { name: "In context" });
    const marked = context.locator("[data-row][aria-current]");
    await marked.and(page.locator(":focus")).waitFor();
    expect(await marked.textContent()).toContain("Request number 140");
    await row(context, "Request number 139").waitFor();
    await row(context, "Request number 141").waitFor();
    const at = await marked.boundingBox();
    await context.getByRole("button", { name: "Load earlier entries" }).click();
    await context.getByRole("button", { name: "Load earlier entries" }).click();
    await context.getByText("No earlier entries.").waitFor();
    expect(await marked.boundingBox()).toEqual(at);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Show in context" }).and(page.locator(":focus")).waitFor();
  });
});

describe("the list on any screen", () => {
  it.each([360, 1440, 2560])("fits a width of %i pixels, including details and context", async (width) => {
    const page = await opened({ viewport: { width, height: 800 } });
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await row(page, "Request number 249").click();
    await page.getByRole("region", { name: "Details of entry 250" }).waitFor();
    expect(await overflow()).toBeLessThanOrEqual(0);
    expect(await page.locator("[data-list]").evaluate((list) => list.scrollWidth - list.clientWidth)).toBe(0);
    await page.getByRole("button", { name: "Show in context" }).click();
    const context = page.getByRole("dialog", { name: "In context" });
    await rows(context).first().waitFor();
    expect(await context.evaluate((panel) => panel.scrollWidth - panel.clientWidth)).toBe(0);
  });

  it.each(["light", "dark"] as const)("has no axe violations, %s", async (colorScheme) => {
    const page = await opened({ colorScheme });
    await row(page, "Request number 249").click();
    await page.getByRole("button", { name: "More for status" }).click();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Show in context" }).click();
    await page.locator("dialog [data-row][aria-current]").waitFor();
    expect(await axeFaults(page)).toEqual([]);
  });

  it("contacts no other origin and violates no content security policy", () => {
    expect(console.faults()).toEqual([]);
  });
});
