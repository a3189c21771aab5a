import { Key } from "selenium-webdriver";
import { type Flow, logs, openFirst } from "../trip.ts";

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
];
