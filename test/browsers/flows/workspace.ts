import assert from "node:assert/strict";
import { Key } from "selenium-webdriver";
import { downloaded, type Flow, ROWS, send, shown } from "../trip.ts";

/** A workspace: overview, usage, export and settings. */
export const WORKSPACE_FLOWS: readonly Flow[] = [
  {
    name: "overview",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/overview`);
      for (const part of [
        "Entries a day",
        "Last changes",
        "Storage and cost",
        "Limits",
        "Unused keys",
        "Notifications",
      ]) {
        await page.role("region", part);
      }
      await page.text(/^shop/, await page.role("region", "Entries a day"));
    },
  },
  {
    name: "overview leads on",
    async run(trip) {
      const { page } = trip;
      const open = async (part: string, link: string | RegExp): Promise<void> => {
        await page.goto(`/w/${trip.workspaceId}/overview`);
        await page.click("link", link, await page.role("region", part));
      };
      await open("Errors of the last 24 hours", /^\d+ errors?$/);
      await page.until("rows", async () => (await page.texts(ROWS)).length > 0);
      await page.address("the errors", ({ searchParams }) => searchParams.get("q") === "level:>=error");
      await open("Releases", /^(?!Compare$)/);
      await page.address("a comparison", ({ pathname }) => pathname.endsWith("/compare"));
      await page.role("region", "Levels");
      await open("New patterns", "All patterns");
      await page.role("heading", "Patterns");
      await open("Last changes", "Audit");
      await page.role("heading", "Audit");
    },
  },
  {
    name: "usage",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/overview`);
      await page.click("link", "Usage and export");
      await page.role("columnheader", "shop");
      await page.click("button", "Export CSV");
      const [head, ...days] = (await downloaded(trip, /^usage-.*\.csv$/)).trimEnd().split("\r\n");
      assert.equal(head, "day,project_id,project,entries,trace,debug,log,info,warn,error,fatal");
      assert.ok(days.reduce((sum, day) => sum + Number(day.split(",")[3]), 0) >= 3000);
    },
  },
  {
    name: "export",
    async run(trip) {
      const { page, projectId } = trip;
      await page.goto(`/w/${trip.workspaceId}/settings/export`);
      await page.click("button", "Export");
      await page.text(/openssl/);
      const lines = (await downloaded(trip, new RegExp(`^${projectId}\\.ndjson$`))).trimEnd().split("\n");
      assert.equal(JSON.parse(lines.at(-1) ?? "").manifest.count, lines.length - 1);
      await page.choose(await page.label("Format"), /^Parquet/);
      await page.click("button", "Export");
      assert.ok((await downloaded(trip, /\.parquet$/)).startsWith("PAR1"));
    },
  },
  {
    name: "audit",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/settings/audit`);
      const items = () => page.texts("[aria-label='Audit, newest first'] > li");
      await page.until("the items", async () => (await items()).length > 1);
      await page.choose(await page.role("combobox", "Action"), "API keys");
      await page.until("keys alone", async () => {
        const found = await items();
        return found.length > 0 && found.every((item) => /key_/.test(item));
      });
      await page.choose(await page.role("combobox", "Action"), "Any action");
      await page.fill(await page.label("Target ID"), "nonsense");
      await page.press(Key.ENTER);
      await shown(trip, "[role=alert]", "12 letters or digits");
    },
  },
  {
    name: "ledger",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/settings/missing`);
      await page.role("heading", "Missing entries");
    },
  },
  {
    name: "retention",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/settings/general`);
      await page.fill(await page.label("Keep entries (days)"), "400");
      await page.click("button", "Save");
      await page.until("the refusal", async () =>
        (await page.texts("[role=alert]")).some((text) => text.includes("365")),
      );
      await page.fill(await page.label("Keep entries (days)"), "90");
      await page.click("button", "Save");
      await page.text("Settings saved.");
      await page.fill(await page.label("Keep entries (days)"), "7");
      await page.click("button", "Save");
      await page.role("heading", "Shorten retention?");
      await page.click("button", "Shorten to 7 days");
      await page.gone("heading", "Shorten retention?");
      await page.driver.navigate().refresh();
      const days = await page.label("Keep entries (days)");
      await page.until("7 days", async () => (await page.value(days)) === "7");
    },
  },
  {
    name: "API key",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/settings/keys?project=${trip.projectId}`);
      await page.click("button", "Create key");
      await page.fill(await page.label("Name"), "backend");
      await page.click("button", "Create", await page.role("dialog"));
      const [secret = ""] = await page.until("the secret", async () => page.texts("dialog[open] pre"));
      await page.click("button", "Copy key");
      await page.text("Copied");
      await page.click("button", "I have stored it");
      await send({ ...trip, secret }, { message: "by the new key" });
      await page.click("button", "Rotate backend");
      await page.choose(await page.label("Overlap"), "1 hour");
      await page.click("button", "Create new key");
      await page.click("button", "I have stored it");
      await page.text("ends soon");
    },
  },
  {
    name: "limits",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/settings/limits`);
      await page.click("button", "Add rule");
      const rule = await page.role("group", "Rule 1");
      await page.fill(await page.label("Path", rule), "/logger/:projectId/log");
      await page.fill(await page.label("Requests", rule), "50");
      await page.click("button", "Save limits");
      await page.text("Limits saved.");
      await page.click("button", "Reset to preset");
      await page.click("button", "Reset", await page.role("dialog"));
      await page.text(/^No rules/);
    },
  },
];
