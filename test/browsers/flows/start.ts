import { Key } from "selenium-webdriver";
import { dayOfShop } from "../../../scripts/newcomers/day.ts";
import { nextMail } from "../../support/outbox.ts";
import { type Flow, PASSWORD, ROWS, send, shown } from "../trip.ts";

const ENTRIES = 3000;

/** From nothing to a project with a day of entries. */
export const START_FLOWS: readonly Flow[] = [
  {
    name: "sign-up",
    async run(trip) {
      const { page } = trip;
      await page.goto("/auth/sign-up");
      await page.fill(await page.label("E-mail address"), trip.email);
      await page.fill(await page.label("Password"), PASSWORD);
      await page.click("button", "Create account");
      await page.text(/confirm/i);
      const { links } = await nextMail(trip.url, trip.email, "verify-email");
      await page.goto(links[0] ?? "");
      await page.click("button", /confirm/i);
      await page.text(/confirmed/i);
    },
  },
  {
    name: "first entry",
    async run(trip) {
      const { page } = trip;
      await page.goto("/");
      await page.click("link", "Send the first entry");
      await page.fill(await page.label("Name of the project"), "shop");
      await page.press(Key.ENTER);
      await page.role("heading", "Send the first entry of shop");
      await page.click("tab", "curl");
      let [secret, projectId] = ["", ""];
      await page.until("the key and the project", async () => {
        const snippet = (await page.texts("[role=tabpanel] pre")).join("\n");
        secret = /sk_\w+/.exec(snippet)?.[0] ?? "";
        projectId = /proj_\w+/.exec(snippet)?.[0] ?? "";
        return secret !== "" && projectId !== "";
      });
      const workspaceId = /\/w\/(\w+)/.exec((await page.path()).pathname)?.[1] ?? "";
      Object.assign(trip, { secret, workspaceId, projectId });
      await send(trip, { message: "hello" });
      await page.text("The first entry is here");
      await page.click("link", "Open the entry");
      await shown(trip, ROWS, "hello");
      const { entries } = dayOfShop(1, ENTRIES, Date.now() - 60_000);
      for (let at = 0; at < entries.length; at += 1000) await send(trip, entries.slice(at, at + 1000));
    },
  },
];
