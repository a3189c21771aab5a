import assert from "node:assert/strict";
import { Key } from "selenium-webdriver";
import { accessible, ask, type Flow, logs, said } from "../trip.ts";

const PANELS = [
  ["Entries an hour", "* | count by bin(1h)"],
  ["Errors by service", "level:error | count by service"],
] as const;

/** Applies the rules for print to the window, because a driver cannot emulate paper. */
const AS_ON_PAPER = `
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) if (rule.media?.mediaText === "print") rule.media.mediaText = "all";
  }
`;

/** Charts and boards. */
export const BOARD_FLOWS: readonly Flow[] = [
  {
    name: "chart to board",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip));
      await ask(page, "level:error | count by bin(1h), service");
      await page.role("img", /count/);
      await page.click("button", "Save to board");
      const dialog = await page.role("dialog", "Save to board");
      await page.click("button", "Save", dialog);
      await page.text(/^Saved to/);
      await page.goto(`/w/${trip.workspaceId}/boards`);
      await page.click("link", "shop");
      await page.role("region", "Entries by level");
      await page.role("img", /count/);
    },
  },
  {
    name: "board arranged by keyboard",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/boards`);
      await page.click("button", "New board");
      const creating = await page.role("dialog", "New board");
      await page.fill(await page.label("Name", creating), "Payments");
      await page.click("button", "Create", creating);
      await page.click("button", "Edit");
      for (const [title, query] of PANELS) {
        await page.click("button", "Add panel");
        const dialog = await page.role("dialog", "Add panel");
        await page.fill(await page.label("Title", dialog), title);
        await page.fill(await page.label("Query", dialog), query);
        await page.click("button", "Add", dialog);
        await page.role("region", title);
      }
      await page.focus(await page.role("button", "Move Errors by service"));
      await page.press(Key.ARROW_UP);
      await said(trip, /^Errors by service: column \d+, row \d+/);
      await page.pressShift(Key.ARROW_DOWN);
      await said(trip, /^Errors by service.* high/);
      await page.until("the focus", async () =>
        page.driver.executeScript(
          "return document.activeElement.getAttribute('aria-label') === 'Move Errors by service'",
        ),
      );
      await page.click("button", "Save");
      await page.role("button", "Edit");
      await page.driver.navigate().refresh();
      await page.role("img", /^count/, await page.role("region", "Entries an hour"));
      await page.text("payments", await page.role("region", "Errors by service"));
    },
  },
  {
    name: "board on paper",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/boards`);
      await page.click("link", "shop");
      await page.role("img", /count/);
      await page.role("cell", /GET|POST/, await page.role("region", "Slowest requests"));
      await page.role("button", "Print");
      await page.idle();
      await page.driver.executeScript(AS_ON_PAPER);
      await page.until("a page without controls", async () => !(await page.has("button", "Print")));
      await page.role("region", "Entries by level");
      assert.ok((await page.overflow()) <= 0, "the paper scrolls");
    },
  },
  {
    name: "board changed and deleted",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/boards`);
      await page.click("link", "Payments");
      await page.role("img", /^count/, await page.role("region", "Entries an hour"));
      await page.click("button", "Table of Entries an hour");
      await page.role("columnheader", "count", await page.role("region", "Entries an hour"));
      await page.click("button", "Edit");
      await page.fill(await page.label("Name"), "Money");
      await page.click("button", "Edit Entries an hour");
      const dialog = await page.role("dialog");
      await page.fill(await page.label("Query", dialog), "level:>= | count");
      await page.click("button", "Apply", dialog);
      await page.role("alert", undefined, dialog);
      await accessible(trip);
      await page.fill(await page.label("Query", dialog), "* | count");
      await (await page.label("Number", dialog)).click();
      await page.click("button", "Apply", dialog);
      await page.click("button", "Remove Errors by service");
      await page.click("button", "Save");
      await page.role("heading", "Money");
      await page.gone("region", "Errors by service");
      await accessible(trip);
      await page.click("button", "Edit");
      await page.click("button", "Delete board");
      await page.click("button", "Delete", await page.role("dialog", "Delete board"));
      await page.role("link", "shop");
      await page.gone("link", "Money");
    },
  },
];
