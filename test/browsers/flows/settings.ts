import assert from "node:assert/strict";
import { Key } from "selenium-webdriver";
import { accessible, type Flow, said, shown } from "../trip.ts";

/** Settings beside those that most users change first. */
export const SETTINGS_FLOWS: readonly Flow[] = [
  {
    name: "project",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/settings/projects`);
      await page.click("button", "Create project");
      const creating = await page.role("dialog", "Create project");
      await page.fill(await page.label("Name", creating), "second");
      await page.click("button", "Create", creating);
      await page.role("link", "Create an API key");
      await page.click("button", "Rename second");
      const renaming = await page.role("dialog", "Rename second");
      await page.fill(await page.label("Name", renaming), "third");
      await page.click("button", "Rename", renaming);
      await page.click("button", "Delete third");
      const deleting = await page.role("dialog", "Delete third?");
      await accessible(trip);
      await page.fill(await page.label("Type the name to confirm", deleting), "third");
      await page.click("button", "Delete project", deleting);
      await page.text("Deleted third.");
      await page.gone("button", "Delete third");
    },
  },
  {
    name: "key settings, deleted and ended",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/settings/keys?project=${trip.projectId}`);
      await page.click("button", "Settings of backend");
      const dialog = await page.role("dialog", "Settings of backend");
      await page.fill(await page.label("Time", dialog), "when, at.time");
      await accessible(trip);
      await page.click("button", "Save", dialog);
      await page.gone("dialog", "Settings of backend");
      await page.click("button", "Delete backend");
      await page.click("button", "Delete key", await page.role("dialog"));
      await page.click("button", /^Show \d deleted key/);
      const ended = await page.role("list", "Deleted or expired keys");
      await page.text("deleted", ended);
      await page.text(/^Deleted by/, ended);
      await page.click("link", "Audit of backend", ended);
      await page.address(
        "the audit of the key",
        ({ pathname, search }) => /audit$/.test(pathname) && /key_/.test(search),
      );
      await shown(trip, "[aria-label='Audit, newest first'] > li", "API key deleted");
    },
  },
  {
    name: "audit searched",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/settings/audit`);
      const items = () => page.texts("[aria-label='Audit, newest first'] > li");
      await page.until("the items", async () => (await items()).length > 1);
      await page.fill(await page.label("Search"), "On call");
      await page.press(Key.ENTER);
      await page.until("what was found", async () => {
        const found = await items();
        return found.length > 0 && found.every((item) => item.includes("On call"));
      });
    },
  },
  {
    name: "which limit applies",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/settings/limits`);
      await page.choose(await page.role("combobox", "Request"), /^POST \/logger\/query/);
      await said(trip, /POST \/logger\/query/);
      await page.text("applies");
    },
  },
  {
    name: "violations",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/settings/violations`);
      await page.role("heading", "No refused requests");
    },
  },
  {
    name: "workspace created and deleted",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/settings/general`);
      await page.click("button", "Create workspace");
      const creating = await page.role("dialog", "Create workspace");
      await page.fill(await page.label("Name", creating), "Ours");
      await page.fill(await page.label("Slug (optional)", creating), "Not a slug");
      await page.click("button", "Create", creating);
      await shown(trip, "[role=alert]", "must be lowercase");
      await accessible(trip);
      await page.fill(await page.label("Slug (optional)", creating), Key.BACK_SPACE);
      await page.click("button", "Create", creating);
      await page.role("heading", "No projects yet");
      await accessible(trip);
      await page.click("link", "Danger zone");
      await page.click("button", "Delete workspace");
      const deleting = await page.role("dialog", "Delete Ours?");
      await page.fill(await page.label("Type the name to confirm", deleting), "Ours");
      await page.click("button", "Delete workspace", deleting);
      await page.role("heading", "Your workspaces");
      assert.equal(await page.has("heading", "Ours"), false);
    },
  },
  {
    name: "workspace renamed",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/settings/general`);
      await page.fill(await page.label("Name"), "Chandlery");
      await page.click("button", "Save");
      await page.text("Settings saved.");
      await page.click("button", /^Workspace Chandlery/);
      await page.role("menu");
    },
  },
];
