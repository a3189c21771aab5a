import assert from "node:assert/strict";
import { SETTINGS_PAGES } from "../../../web/src/model/settings-pages.ts";
import { accessible, type Flow, logs, openFirst, ROWS, shown, signIn, signOut } from "../trip.ts";

const SECTIONS = SETTINGS_PAGES.map(({ slug }) => slug);

/** Pages without a workspace, and all pages on a phone. */
export const PUBLIC_FLOWS: readonly Flow[] = [
  {
    name: "playground",
    async run(trip) {
      const { page } = trip;
      await page.goto("/playground");
      await page.click("button", "Send entries");
      await page.fill(await page.label(/^Message/), "from a browser");
      await page.click("button", "Send entry");
      await page.text("201 Created");
      await shown(trip, ROWS, "from a browser");
    },
  },
  {
    name: "playground by JSON and as an application",
    async run(trip) {
      const { page } = trip;
      await page.goto("/playground");
      await page.click("button", "Send entries");
      await page.click("tab", "JSON");
      const box = await page.label("Entries as JSON");
      await page.fill(box, '[{"message": "x"},');
      await shown(trip, "[role=alert]", "Invalid JSON.");
      await accessible(trip);
      await page.fill(box, '[{"message": "the good one"}, {"level": "urgent", "message": "the bad one"}]');
      await page.click("button", "Send 2 entries");
      await page.text("INVALID_LEVEL");
      await shown(trip, ROWS, "the good one");
      await accessible(trip);
      await page.click("tab", "Application");
      await page.click("button", "Fail payment");
      await page.click("button", "Send now");
      await shown(trip, ROWS, "Payment gateway timed out");
      await page.click("tab", "On the server");
      await accessible(trip);
      await page.click("button", "Key and limits");
      await page.role("dialog", "Key and limits");
    },
  },
  {
    name: "unknown paths",
    async run(trip) {
      const { page } = trip;
      for (const path of ["/no/such/path", "/w/a/b/c/d", "/w/%E0%A4%A"]) {
        await page.goto(path);
        await page.role("heading", "Page not found");
        await accessible(trip);
      }
      await page.goto("/w/ws_000000000000/settings/keys");
      await page.role("heading", "Workspace not found");
      await accessible(trip);
      await page.goto(`/w/${trip.workspaceId}/boards/brd_000000000000`);
      await page.role("heading", "Board not found");
    },
  },
  {
    name: "outbox",
    async run({ page }) {
      await page.goto("/dev/outbox");
      await page.role("feed", "Mails");
      await page.click("link", /\/auth\//);
      await page.address("the link of a mail", ({ pathname }) => pathname.startsWith("/auth/"));
      await page.role("heading");
    },
  },
  {
    name: "all components",
    async run({ page }) {
      await page.goto("/dev/ui");
      await page.role("heading", "Components");
      assert.deepEqual(await page.violations({ isBusy: true }), []);
      // What is inspected at the end is not busy for ever.
      await page.goto("/");
      await page.role("heading");
    },
  },
  {
    name: "API reference",
    async run(trip) {
      const { page } = trip;
      await page.goto("/docs");
      await shown(trip, ".opblock-tag", "Operations");
      await page.driver.executeScript("document.querySelector('.opblock-tag[data-tag=Operations] button').click()");
      await page.until("its operations", async () => (await page.texts("[data-path]")).includes("/health"));
      await page.click("button", "Authorize");
      const dialog = await page.role("dialog", "Credentials");
      await page.fill(await page.role("textbox", undefined, dialog), trip.secret);
      await page.click("button", /^(Authorize|Apply)/, dialog);
      await page.role("button", /^(Logout|Remove)/, dialog);
      await page.click("button", "Close", dialog);
    },
  },
  {
    name: "home of a visitor",
    async run(trip) {
      const { page } = trip;
      await signOut(trip);
      await page.goto("/");
      await page.role("img", /^Entries of the sandbox by level/);
      await page.click("button", "What fails most", await page.role("region", "A query"));
      await page.role("cell", "payment");
      await page.click("link", "Open in the playground");
      await page.address("the playground", ({ pathname }) => pathname === "/playground");
      await page.text(/^[\d,]+ entries found in [\d,]+ ms, shown in [\d,]+ rows/);
      await page.role("cell", "payment");
      await signIn(trip, trip.email);
    },
  },
  {
    name: "phone width",
    async run(trip) {
      const { page } = trip;
      const workspace = `/w/${trip.workspaceId}`;
      await page.goto("/auth/account");
      await page.onPhone(async () => {
        const faults: string[] = [];
        for (const path of [
          logs(trip),
          `${workspace}/boards`,
          `${workspace}/alerts`,
          `${workspace}/alerts/new?project=${trip.projectId}`,
          `${workspace}/alerts/file`,
          `${workspace}/start`,
          `${workspace}/patterns`,
          `${workspace}/compare`,
          `${workspace}/overview`,
          ...SECTIONS.map((section) => `${workspace}/settings/${section}`),
          "/",
          "/auth/account",
          "/auth/review",
          "/playground",
          "/dev/outbox",
          "/no/such/path",
          "/docs",
        ]) {
          await page.goto(path);
          await page.until("a heading", () => page.texts("h1"));
          await trip.picture(`phone-${path.replace(workspace, "").split("?")[0]}`);
          for (const fault of await page.violations()) faults.push(`${path}: ${fault}`);
          if ((await page.overflow()) > 0) faults.push(`${path} scrolls sideways`);
        }
        assert.deepEqual(faults, []);
        await openFirst(trip, "service:payments");
      });
    },
  },
];
