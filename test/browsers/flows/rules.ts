import { nextMail } from "../../support/outbox.ts";
import { accessible, downloaded, type Flow } from "../trip.ts";

const rules = (window: string) =>
  `alerts: [{ name: From a file, query: "level:>=error | count by service", condition: { kind: threshold, value: 10 }, window: ${window}, destinations: [On call] }]`;

/** Rules as a file, and what becomes of alerts and destinations. */
export const RULE_FLOWS: readonly Flow[] = [
  {
    name: "rules as a file",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/alerts`);
      await page.click("link", "Rules as a file");
      const text = await page.role("textbox", "Rules");
      await page.fill(text, rules("5 minutes"));
      await page.click("button", "Compare");
      await page.role("button", /^Line 1, column/);
      await accessible(trip);
      await page.fill(text, rules("5m"));
      await page.click("button", "Compare");
      await page.text(/^1 to create/);
      await page.role("list", "Changes");
      await accessible(trip);
      await page.click("button", "Apply");
      await page.text(/^1 created/);
      await page.click("button", "Export");
      const exported = await downloaded(trip, /\.ya?ml$/);
      if (!exported.includes("name: From a file")) throw new Error(exported);
      await page.click("button", "Load current rules");
      await page.click("button", "Replace", await page.role("dialog"));
      await page.until("the current rules", async () => (await page.value(text)) === exported);
    },
  },
  {
    name: "alert deleted",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/alerts`);
      await page.click("link", "From a file");
      await page.role("list", "Versions, newest first");
      await page.role("img", /threshold 10$/);
      await accessible(trip);
      await page.click("button", "Delete");
      await page.click("button", "Delete", await page.role("dialog"));
      await page.role("link", "Errors of the shop");
      await page.gone("link", "From a file");
    },
  },
  {
    name: "destination changed",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/settings/destinations`);
      await page.click("button", "Edit On call");
      const dialog = await page.role("dialog");
      await page.fill(await page.label("URL", dialog), "http://10.0.0.1/");
      await page.click("button", "Save", dialog);
      await page.text(/must be an https URL/);
      await accessible(trip);
      await page.click("button", "Cancel", dialog);
      await page.click("button", "Rotate secret of On call");
      await page.choose(await page.label("Overlap"), "1 hour");
      await page.click("button", "Create new secret");
      await page.text(/^The secret is shown only once/);
      await accessible(trip);
      await page.click("button", "I have stored it");
      await page.text(/^Secret before valid until/);
    },
  },
  {
    name: "alerts by mail",
    async run(trip) {
      const { page } = trip;
      const address = `night-${trip.email}`;
      await page.goto(`/w/${trip.workspaceId}/settings/destinations`);
      await page.click("button", "Create destination");
      const dialog = await page.role("dialog");
      await page.choose(await page.label("Kind", dialog), "E-mail");
      await page.fill(await page.label("Name", dialog), "Night shift");
      await page.fill(await page.label("Address", dialog), address);
      await page.click("button", "Create", dialog);
      await page.text("Not confirmed");
      const { links } = await nextMail(trip.url, address, "confirm-address");
      await page.goto(links[0] ?? "");
      await page.click("button", "Show");
      await page.click("button", "Confirm");
      await page.text(/are mailed to/);
      await accessible(trip);
      await page.click("button", "Stop mails");
      await page.role("heading", "Mails stopped");
      await page.goto(`/w/${trip.workspaceId}/settings/destinations`);
      await page.click("button", "Delete Night shift");
      await page.click("button", "Delete", await page.role("dialog"));
      await page.gone("button", "Delete Night shift");
    },
  },
];
