import assert from "node:assert/strict";
import { Key } from "selenium-webdriver";
import { accessible, ask, type Flow, logs, openFirst, ROWS, said, shown } from "../trip.ts";

/** What is around the rows: errors of a query, times, dialogs and the look. */
export const EXPLORER_TOOL_FLOWS: readonly Flow[] = [
  {
    name: "wrong query",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip, "&q=level%3Aerror"));
      await page.until("rows", async () => (await page.texts(ROWS)).length > 0);
      await ask(page, "level:error | stats p9(n)");
      await shown(trip, "[role=alert]", "Did you mean p90?");
      await page.address("the query before", ({ searchParams }) => searchParams.get("q") === "level:error");
      const search = await page.role("textbox", "Search");
      assert.equal(await search.getAttribute("aria-invalid"), "true");
      await accessible(trip);
      // Undone, done again.
      await search.sendKeys(Key.chord(Key.CONTROL, "z"));
      await page.until("the text before", async () => (await page.value(search)) !== "level:error | stats p9(n)");
    },
  },
  {
    name: "nothing found",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip, "&q=no-such-word-anywhere"));
      await page.role("heading", "No matching entries");
    },
  },
  {
    name: "time",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip));
      await page.click("button", /^Time range/);
      const range = await page.label("Range");
      await page.fill(range, "last 9o minutes");
      assert.equal(await range.getAttribute("aria-invalid"), "true");
      await accessible(trip);
      await page.fill(range, "last 90m");
      await page.click("button", "Apply");
      await page.address("the range", ({ searchParams }) => searchParams.get("range") === "90m");
      await page.click("button", /^Time range/);
      // As a reader finds one of more than 400 zones. To name them all takes the driver a second.
      await page.fill(await page.role("combobox", "Time zone"), "Tokyo");
      await page.click("option", /^Asia\/Tokyo/);
      await page.role("button", /^Time range.*(JST|GMT\+9|Tokyo)/);
      await accessible(trip);
      await page.choose(await page.role("combobox", "Time zone"), /browser/);
      await page.press(Key.ESCAPE);
      await page.role("button", /^Time range.*Last 90/i);
    },
  },
  {
    name: "share",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/p/${trip.projectId}?range=6h&q=level%3Aerror`);
      await page.until("rows", async () => (await page.texts(ROWS)).length > 0);
      await page.click("button", "Share");
      const dialog = await page.role("dialog", "Share");
      for (const copy of ["Copy link to this time", "Copy link", "Copy as curl"]) {
        await page.click("button", copy, dialog);
        await page.text("Copied");
      }
      const texts = await page.texts("dialog[open] pre");
      assert.ok(texts[0]?.includes("from=") && texts[1]?.includes("range=6h") && texts[2]?.startsWith("curl"));
    },
  },
  {
    name: "help",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip));
      await page.until("rows", async () => (await page.texts(ROWS)).length > 0);
      await page.press("?");
      const dialog = await page.role("dialog", "Help");
      await page.role("heading", "Filters", dialog);
      await accessible(trip);
      await page.click("link", /^level:/, dialog);
      await page.address("the example", ({ searchParams }) => searchParams.get("q")?.startsWith("level:") === true);
      await page.gone("dialog", "Help");
    },
  },
  {
    name: "look",
    async run(trip) {
      const { page } = trip;
      const look = () =>
        page.driver.executeScript<string>(
          "const { theme, density } = document.documentElement.dataset; return theme + ' ' + density",
        );
      const choose = async (item: string): Promise<void> => {
        await page.click("button", "Appearance");
        await page.click("menuitemradio", item);
      };
      await openFirst(trip, "service:payments");
      const before = await look();
      await choose("Dark");
      await choose("Comfortable");
      await page.until("the look", async () => /^dark .*comfortable/.test(await look()));
      await accessible(trip);
      await page.driver.navigate().refresh();
      await page.role("region", /^Details of entry/);
      assert.match(await look(), /^dark .*comfortable/);
      await choose("Light");
      await accessible(trip);
      await choose("Compact");
      await choose("System theme");
      await page.until("the look before", async () => (await look()) === before || /^undefined/.test(await look()));
    },
  },
  {
    name: "order and refresh",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip, "&q=answered"));
      await page.until("rows", async () => (await page.texts(ROWS)).length > 0);
      // In the line of which the order has its place.
      await page.until("the head of the list", async () => (await page.texts("[data-list-head]")).length > 0);
      const [newest] = await page.texts(ROWS);
      await page.choose(await page.role("combobox", "Order"), /oldest/i);
      await page.address("the order", ({ search }) => search.includes("order=asc"));
      await page.until("other rows", async () => {
        const [first] = await page.texts(ROWS);
        return first !== undefined && first !== newest;
      });
      await page.click("button", "Refresh");
      await said(trip, /entries|loaded/);
    },
  },
  {
    name: "outage",
    async run(trip) {
      const { page } = trip;
      const notice = "The service could not be reached. Trying again.";
      await page.goto(`/w/${trip.workspaceId}/p/${trip.projectId}?range=6h&live=1`);
      await said(trip, /Live/);
      const search = await page.role("textbox", "Search");
      await page.fill(search, "level:error half a th");
      await page.driver.executeScript("document.documentElement.dataset.document = 'the same'");
      trip.setAway(true);
      await page.click("button", "Refresh");
      await page.text(notice);
      trip.setAway(false);
      await page.until(
        "the end of the notice",
        async () => !(await page.texts("[role=alert]")).join().includes(notice),
      );
      await said(trip, /Live/);
      assert.equal(await page.value(search), "level:error half a th");
      trip.setAway(true);
      // Its code is not loaded yet.
      await page.click("link", "Compare");
      await page.text(/The page opens as soon as it can/);
      trip.setAway(false);
      await page.role("region", "Levels");
      const missing =
        "return [...document.styleSheets].length - document.querySelectorAll('link[rel=stylesheet]').length";
      assert.equal(await page.driver.executeScript(missing), 0);
      const same = "return document.documentElement.dataset.document";
      assert.equal(await page.driver.executeScript(same), "the same");
    },
  },
];
