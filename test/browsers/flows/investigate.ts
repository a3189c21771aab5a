import { Key } from "selenium-webdriver";
import { accessible, type Flow, logs, openFirst, ROWS } from "../trip.ts";

/** Context, traces, patterns and comparisons. */
export const INVESTIGATE_FLOWS: readonly Flow[] = [
  {
    name: "context",
    async run(trip) {
      const { page } = trip;
      await openFirst(trip, '"timed out"');
      await page.click("button", "Show in context");
      const dialog = await page.role("dialog", "In context");
      await page.role("button", "Load earlier entries", dialog);
      await page.click("button", "Close", dialog);
    },
  },
  {
    name: "trace",
    async run(trip) {
      const { page } = trip;
      await openFirst(trip, '"timed out"');
      await page.click("link", /^Trace/);
      const tree = await page.role("tree", "Timeline");
      await page.role("treeitem", /gateway/, tree);
      await page.click("treeitem", /payments/, tree);
      await page.role("complementary", "Span");
    },
  },
  {
    name: "patterns",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip));
      await page.click("link", "Patterns");
      await page.role("heading", "Patterns");
      await page.role("row", /answered/);
    },
  },
  {
    name: "compare",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/p/${trip.projectId}?range=6h`);
      await (await page.role("slider", "Entries over time")).sendKeys(Key.HOME, Key.SHIFT, Key.END);
      await page.click("button", "Compare");
      await page.role("img", /^Entries over time: /);
      await page.role("region", "Fields");
    },
  },
  {
    name: "context by service",
    async run(trip) {
      const { page } = trip;
      await openFirst(trip, '"timed out"');
      await page.click("button", "Show in context");
      const dialog = await page.role("dialog", "In context");
      // The choices wait for the entry, which shows what it has.
      await page.role("list", "Neighbouring entries", dialog);
      await (await page.label("Service", dialog)).click();
      await page.address("the context", ({ searchParams }) => searchParams.get("by") === "service");
      await page.driver.navigate().refresh();
      await page.role("list", "Neighbouring entries");
      await accessible(trip);
      await page.press(Key.ESCAPE);
      await page.gone("dialog", "In context");
    },
  },
  {
    name: "trace by keyboard, and as a table",
    async run(trip) {
      const { page } = trip;
      await openFirst(trip, '"timed out"');
      await page.click("link", /^Trace/);
      const tree = await page.role("tree", "Timeline");
      await page.focus(await page.role("treeitem", undefined, tree));
      const items = async () => (await page.texts("[role=treeitem]")).length;
      const all = await items();
      await page.press(Key.ARROW_LEFT);
      await page.until("a closed span", async () => (await items()) < all);
      await page.press(Key.ARROW_RIGHT);
      await page.until("an open span", async () => (await items()) === all);
      await page.press(Key.END, Key.ENTER);
      await page.role("complementary", "Span");
      await accessible(trip);
      await page.click("button", "Table");
      await page.role("cell", "payments", await page.role("table"));
      await page.goto(`/w/${trip.workspaceId}/trace/none`);
      await page.role("heading", "No entries");
    },
  },
  {
    name: "pattern excluded and opened",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/p/${trip.projectId}/patterns?range=all`);
      const row = await page.role("row", /answered/);
      await page.click("button", /^Actions of/, row);
      await page.role("menuitem", "Copy pattern");
      await accessible(trip);
      await page.click("menuitem", "Exclude");
      await page.address(
        "the query without it",
        ({ searchParams }) => searchParams.get("q")?.startsWith("-pattern:") === true,
      );
      await page.driver.navigate().back();
      await page.click("link", /answered/, await page.role("row", /answered/));
      await page.until("rows", async () => (await page.texts(ROWS)).length > 0);
      await page.address("the pattern", ({ searchParams }) => searchParams.get("q")?.startsWith("pattern:") === true);
    },
  },
  {
    name: "release and what it changed",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip));
      const marks = await page.role("toolbar", "Releases");
      await page.focus(await page.role("button", undefined, marks));
      await page.press(Key.ENTER);
      await page.role("dialog", "Release");
      await accessible(trip);
      await page.press(Key.ESCAPE);
      await page.gone("dialog", "Release");
      await page.press(Key.ENTER);
      await page.click("button", "Compare before and after", await page.role("dialog", "Release"));
      await page.address("the comparison", ({ pathname }) => pathname.endsWith("/compare"));
      await page.role("navigation", "Before and after a release");
      await page.role("region", /^What .* changed$/);
      await page.choose(await page.label("Compare with"), "Yesterday");
      await page.address("the other span", ({ searchParams }) => searchParams.get("with") === "1d");
      await page.role("region", "Patterns");
    },
  },
];
