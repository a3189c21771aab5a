import assert from "node:assert/strict";
import { By, Key } from "selenium-webdriver";
import type { BrowserPage } from "../page.ts";
import { downloaded, type Flow, logs, openFirst, ROWS, said, send, shown } from "../trip.ts";

/** Search, rows, fields and what is done with them. */
export const EXPLORER_FLOWS: readonly Flow[] = [
  {
    name: "search with completion",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip));
      await said(trip, /entries|loaded/);
      await page.fill(await page.role("textbox", "Search"), "serv");
      await page.role("option", /^service/);
      await page.press(Key.ARROW_DOWN, Key.ENTER);
      await page.role("option", /^payments/);
      await page.press("paym");
      await page.until("one value", async () => (await page.texts("[role=option]")).length === 1);
      await page.press(Key.ARROW_DOWN, Key.ENTER);
      await page.press(Key.ESCAPE, Key.ENTER);
      await page.address("the query", ({ searchParams }) => /service:payments/.test(searchParams.get("q") ?? ""));
      await onlyRowsOf(page, "payments");
    },
  },
  {
    name: "chips",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip, "&q=service%3Apayments%20level%3A%3E%3Dwarn"));
      await page.click("button", /^Exclude service/);
      await page.address("the inverted test", ({ searchParams }) =>
        /-service:payments/.test(searchParams.get("q") ?? ""),
      );
      await page.click("button", /^Remove -?service/);
      await page.address("the query without it", ({ searchParams }) => searchParams.get("q") === "level:>=warn");
    },
  },
  {
    name: "open entry",
    async run(trip) {
      const { page } = trip;
      await openFirst(trip, "service:payments");
      const details = await page.role("region", /^Details of entry/);
      assert.match((await page.path()).search, /log_/);
      await page.click("button", "Copy", details);
      await page.click("menuitem", /JSON/);
      await page.text("Copied as JSON");
    },
  },
  {
    name: "keys",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip));
      await page.until("rows", async () => (await page.texts(ROWS)).length > 5);
      const rows = await page.texts(ROWS);
      // Not by `:focus`, which matches in active windows alone.
      const focused = (row: number) =>
        page.until(`the focus on row ${row}`, async () => rows[row] === (await page.active(ROWS)));
      await page.press("j");
      await focused(0);
      await page.press("j", Key.ARROW_DOWN, "j", "k");
      await focused(2);
      await page.press("c");
      await page.until("the focus in the context", () => page.active(`dialog[open] ${ROWS}[aria-current]`));
      await page.press(Key.ESCAPE);
      await page.gone("dialog", "In context");
      await focused(2);
      await page.press(Key.HOME, Key.ENTER);
      await page.role("region", /^Details of entry/);
    },
  },
  {
    name: "text selection",
    async run(trip) {
      const { page } = trip;
      const { driver } = page;
      await page.goto(logs(trip, "&q=answered"));
      await page.until("rows", async () => (await page.texts(ROWS)).length > 5);
      await page.role("slider", "Entries over time");
      await page.idle();
      const messages = await driver.findElements(By.css(`${ROWS} [data-message]`));
      const [, second = ""] = await page.texts(`${ROWS} [data-message]`);
      const selected = () => driver.executeScript<string>("return getSelection().toString()");
      const [from, to] = [messages[0], messages[2]];
      assert.ok(from && to);
      await driver.actions().move({ origin: from }).press().move({ origin: to }).release().perform();
      assert.ok((await selected()).includes(second), await selected());
      // A selection opens nothing.
      assert.equal(await page.has("region", /^Details of entry/), false);
      await driver.actions().move({ origin: to, y: 1 }).doubleClick().perform();
      assert.match((await selected()).trim(), /^\S+$/);
    },
  },
  {
    name: "columns",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip, "&q=service%3Apayments"));
      await page.until("rows", async () => (await page.texts(ROWS)).length > 5);
      await page.click("button", /^Columns/);
      await page.click("checkbox", "provider", await page.role("dialog", "Columns"));
      await page.address("the column", ({ search }) => search.includes("provider"));
    },
  },
  {
    name: "histogram",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/p/${trip.projectId}?range=6h`);
      const bars = await page.role("slider", "Entries over time");
      await page.idle();
      await bars.sendKeys(Key.HOME, Key.ARROW_RIGHT, Key.ARROW_RIGHT);
      await page.pressShift(Key.ARROW_RIGHT);
      await page.press(Key.ENTER);
      await page.address("the chosen time", ({ searchParams }) => searchParams.has("from") && searchParams.has("to"));
      await page.click("button", "Show table");
      await page.role("columnheader", "Entries");
      await page.driver.navigate().back();
      await page.address("the time before", ({ search }) => search === "?range=6h");
    },
  },
  {
    name: "fields",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip));
      const fields = await page.role("complementary", "Fields");
      await page.click("button", /^service/, fields);
      const values = await page.role("list", "Values of service");
      await page.click("button", /^gateway/, values);
      await page.address("the value", ({ searchParams }) => searchParams.get("q") === "service:=gateway");
      await onlyRowsOf(page, "gateway");
    },
  },
  {
    name: "live tail",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip, "&live=1"));
      await said(trip, /Live/);
      await send(trip, { level: "warn", message: "seen live" });
      await shown(trip, ROWS, "seen live");
    },
  },
  {
    name: "saved views",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip, "&q=level%3A%3E%3Derror"));
      await page.click("button", "Views");
      await page.fill(await page.label("Save this view as"), "Bad things");
      await page.click("button", "Save");
      await page.role("link", "Bad things");
      await page.goto(logs(trip));
      await page.click("button", "Views");
      await page.click("button", "Rename Bad things");
      await page.fill(await page.label("New name"), "Worse things");
      await page.press(Key.ENTER);
      await page.click("link", "Worse things");
      await page.address("the view", ({ searchParams }) => searchParams.get("q") === "level:>=error");
      await page.click("button", "Views");
      await page.click("button", "Delete Worse things");
      await page.text("No saved views yet.");
    },
  },
  {
    name: "download",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip, "&q=service%3Apayments"));
      await page.click("button", "Download");
      const dialog = await page.role("dialog", "Download as NDJSON");
      await page.click("button", "Download", dialog);
      await page.text(/^Done: /, dialog);
      const lines = (await downloaded(trip, /\.ndjson$/)).trimEnd().split("\n");
      assert.ok(lines.length > 10);
      for (const line of lines) assert.equal(JSON.parse(line).service, "payments");
      await page.click("button", "Close", dialog);
    },
  },
  {
    name: "commands",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip));
      await page.until("rows", async () => (await page.texts(ROWS)).length > 0);
      await page.driver.actions().keyDown(Key.CONTROL).sendKeys("k").keyUp(Key.CONTROL).perform();
      await page.role("dialog");
      await page.press("Audit");
      await page.role("option", /Audit/);
      await page.press(Key.ENTER);
      await page.address("the audit log", ({ pathname }) => pathname.endsWith("/settings/audit"));
      await page.role("heading", "Audit");
    },
  },
];

/** Waits until there are rows and each of them has a text. */
async function onlyRowsOf(page: BrowserPage, text: string): Promise<void> {
  await page.until(`only rows of ${text}`, async () => {
    const rows = await page.texts(ROWS);
    return rows.length > 0 && rows.every((row) => row.includes(text));
  });
}
