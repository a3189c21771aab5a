import assert from "node:assert/strict";
import { type Flow, logs, openFirst, ROWS, shown, signIn, signOut } from "../trip.ts";

const SECTIONS = ["general", "projects", "keys", "members", "limits", "audit", "export", "destinations", "usage"];

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
      await page.text(/ rows of \d+ entries/);
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
          `${workspace}/patterns`,
          `${workspace}/overview`,
          ...SECTIONS.map((section) => `${workspace}/settings/${section}`),
          "/auth/account",
          "/playground",
          "/docs",
        ]) {
          await page.goto(path);
          await page.until("a heading", () => page.texts("h1"));
          await trip.picture(`phone-${path.replace(workspace, "").split("?")[0]}`);
          for (const fault of await page.faults()) faults.push(`${path}: ${fault}`);
          if ((await page.overflow()) > 0) faults.push(`${path} scrolls sideways`);
        }
        assert.deepEqual(faults, []);
        await openFirst(trip, "service:payments");
      });
    },
  },
];
