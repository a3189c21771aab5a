import assert from "node:assert/strict";
import { type Flow, logs, ROWS, said, send, shown } from "../trip.ts";

/** Alerts and their notifications. */
export const ALERT_FLOWS: readonly Flow[] = [
  {
    name: "alerts",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/alerts/new?project=${trip.projectId}&q=level%3A%3E%3Derror`);
      await page.fill(await page.label("Value"), "1");
      await page.fill(await page.label("Name"), "Errors of the shop");
      await page.text(/^Would have fired|^Would not have fired/);
      await page.click("button", "Create");
      await page.role("heading", "Errors of the shop");
      await page.goto(`/w/${trip.workspaceId}/alerts`);
      await page.click("link", "Errors of the shop");
      await page.role("link", "Edit");
    },
  },
  {
    name: "destination",
    async run(trip) {
      const { page, receiver } = trip;
      await page.goto(`/w/${trip.workspaceId}/settings/destinations`);
      await page.click("button", "Create destination");
      await page.fill(await page.label("Name"), "On call");
      await page.fill(await page.label("URL"), receiver.url);
      await page.click("button", "Create", await page.role("dialog"));
      await page.text(/^The secret is shown only once/);
      await page.click("button", "I have stored it");
      await page.click("button", "Test On call");
      await page.text(/seen by the receiver/);
      assert.ok(receiver.bodies.some((body) => body.includes("alert.")));
      await page.click("button", "Pause On call");
      await page.text("Paused");
      await page.click("button", "Enable On call");
      await page.role("button", "Pause On call");
    },
  },
  {
    name: "alert fires",
    async run(trip) {
      const { page, receiver } = trip;
      await page.goto(logs(trip, "&q=level%3Afatal%20%7C%20count%20by%20service"));
      await page.click("link", "Create alert");
      await page.fill(await page.label("Value"), "2");
      await page.choose(await page.label("Window"), "1 minute");
      await page.text(/^Would (not )?have fired/);
      await page.fill(await page.label("Name"), "Fatal entries");
      // The only destination is chosen at first.
      assert.equal(await page.driver.executeScript("return arguments[0].checked", await page.label(/^On call/)), true);
      await page.fill(await page.label("Message"), "{{group.service}}: {{value}}");
      await page.click("button", "Create");
      await page.role("heading", "Fatal entries");
      await send(
        trip,
        [1, 2, 3].map((n) => ({ level: "fatal", message: `down ${n}`, service: "stock" })),
      );
      await said(trip, /^Firing/);
      await shown(trip, "table td", "Fired");
      await page.until("the notification", async () => receiver.bodies.some((body) => body.includes("stock: 3")));
      const history = await page.role("table");
      await page.click("link", /./, history);
      await shown(trip, ROWS, "down 3");
      assert.equal((await page.texts(ROWS)).length, 3);
    },
  },
  {
    name: "alert muted and changed",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/alerts`);
      await page.click("button", "Mute");
      await page.click("menuitem", "For 1 hour");
      await page.text(/^Muted until/);
      await page.click("button", /^Unmute /);
      await page.click("link", "Errors of the shop");
      await page.click("link", "Edit");
      await page.fill(await page.label("Value"), "5");
      await page.text(/^Would (not )?have fired/);
      await page.click("button", "Save");
      const versions = await page.role("list", "Versions, newest first");
      await page.until("the change", async () => /5/.test(await versions.getText()));
    },
  },
  {
    name: "notifications",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/settings/notifications`);
      await shown(trip, "table td", "Delivered");
      await page.choose(await page.label("State"), "Given up");
      await page.text("No notifications");
    },
  },
];
