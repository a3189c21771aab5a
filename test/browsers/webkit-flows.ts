import assert from "node:assert/strict";
import { By, Key } from "selenium-webdriver";
import { dayOfShop } from "../../scripts/newcomers/day.ts";
import { call } from "../support/api.ts";
import { nextMail } from "../support/outbox.ts";
import type { WebkitPage } from "./webkit-page.ts";

/** What flows leave for those after them. */
export interface Trip {
  url: string;
  page: WebkitPage;
  email: string;
  workspaceId: string;
  projectId: string;
  secret: string;
}

export interface Flow {
  name: string;
  run(trip: Trip): Promise<void>;
}

const ENTRIES = 3000;
const PASSWORD = "a pass phrase of some length";
const ROWS = "[data-row]";

const logs = ({ workspaceId, projectId }: Trip, more = "") => `/w/${workspaceId}/p/${projectId}?range=all${more}`;

async function send({ url, projectId, secret }: Trip, body: object): Promise<void> {
  const { status } = await call(url, `/logger/${projectId}/log`, { token: secret, body });
  assert.equal(status, 201);
}

async function ask(page: WebkitPage, query: string): Promise<void> {
  await page.fill(await page.role("combobox", "Search"), query);
  await page.press(Key.ESCAPE, Key.ENTER);
}

const counted = ({ page }: Trip, words: RegExp) =>
  page.until(`the status ${words}`, async () => (await page.texts("[role=status]")).some((text) => words.test(text)));

/** All main flows of the console, in the order in which a new user comes to them. */
export const FLOWS: readonly Flow[] = [
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
      await page.until("the row", async () => (await page.texts(ROWS)).some((row) => row.includes("hello")));
      const { entries } = dayOfShop(1, ENTRIES, Date.now() - 60_000);
      for (let at = 0; at < entries.length; at += 1000) await send(trip, entries.slice(at, at + 1000));
    },
  },
  {
    name: "search with completion",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip));
      await counted(trip, /entries|loaded/);
      await page.fill(await page.role("combobox", "Search"), "serv");
      await page.role("option", /^service/);
      await page.press(Key.ARROW_DOWN, Key.ENTER);
      await page.role("option", /^payments/);
      await page.press("paym");
      await page.until("one value", async () => (await page.texts("[role=option]")).length === 1);
      await page.press(Key.ARROW_DOWN, Key.ENTER);
      await page.press(Key.ESCAPE, Key.ENTER);
      await page.until("the query in the address", async () =>
        (await page.path()).searchParams.get("q")?.includes("service:payments"),
      );
      await page.until("only rows of payments", async () => {
        const rows = await page.texts(ROWS);
        return rows.length > 0 && rows.every((row) => row.includes("payments"));
      });
    },
  },
  {
    name: "chips",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip, "&q=service%3Apayments%20level%3A%3E%3Dwarn"));
      await page.click("button", /^Exclude service/);
      await page.until("the inverted test", async () =>
        (await page.path()).searchParams.get("q")?.includes("-service:payments"),
      );
      await page.click("button", /^Remove -?service/);
      await page.until(
        "the query without it",
        async () => (await page.path()).searchParams.get("q") === "level:>=warn",
      );
    },
  },
  {
    name: "open entry",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip, "&q=service%3Apayments"));
      await page.until("rows", async () => (await page.texts(ROWS)).length > 5);
      await page.press("j");
      await page.press(Key.ENTER);
      await page.role("region", /^Details of entry/);
      await page.role("button", "Show in context");
      assert.match((await page.path()).search, /log_/);
    },
  },
  {
    name: "columns",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip, "&q=service%3Apayments"));
      await page.until("rows", async () => (await page.texts(ROWS)).length > 5);
      await page.click("button", /^Columns/);
      await page.role("menu");
      await page.click("menuitemradio", "provider");
      await page.until("the column in the address", async () => /provider/.test((await page.path()).search));
    },
  },
  {
    name: "live tail",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip, "&live=1"));
      await counted(trip, /Live/);
      await send(trip, { level: "warn", message: "seen live in WebKit" });
      await page.until("the live row", async () => (await page.texts(ROWS)).some((row) => row.includes("seen live")));
    },
  },
  {
    name: "context",
    async run(trip) {
      const { page } = trip;
      await page.goto(logs(trip, "&q=%22timed%20out%22"));
      await page.until("rows", async () => (await page.texts(ROWS)).length > 0);
      await page.press("j");
      await page.press(Key.ENTER);
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
      await page.goto(logs(trip, "&q=%22timed%20out%22"));
      await page.until("rows", async () => (await page.texts(ROWS)).length > 0);
      await page.press("j");
      await page.press(Key.ENTER);
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
    name: "invitation",
    async run(trip) {
      const { page } = trip;
      await page.goto(`/w/${trip.workspaceId}/settings/members`);
      await page.fill(await page.label("E-mail address"), "mara@example.com");
      await page.choose(await page.role("combobox", "Role"), /^viewer/);
      await page.click("button", "Invite");
      await page.role("button", "Withdraw invitation of mara@example.com");
      const { links } = await nextMail(trip.url, "mara@example.com", "invite");
      await page.goto(links[0] ?? "");
      await page.role("heading", "You are invited to a workspace");
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
    name: "playground",
    async run({ page }) {
      await page.goto("/playground");
      await page.click("button", "Send entries");
      await page.fill(await page.label(/^Message/), "from WebKit");
      await page.click("button", "Send entry");
      await page.text("201 Created");
      await page.until("its row", async () => (await page.texts(ROWS)).some((row) => row.includes("from WebKit")));
    },
  },
  {
    name: "API reference",
    async run({ page }) {
      await page.goto("/docs");
      await page.until("the groups", async () =>
        (await page.texts(".opblock-tag")).some((tag) => /Operations/.test(tag)),
      );
      await (await page.driver.findElement(By.css(".opblock-tag[data-tag=Operations] button"))).click();
      await page.until("its operations", async () => (await page.texts("[data-path]")).includes("/health"));
    },
  },
  {
    name: "phone width",
    async run(trip) {
      const { page } = trip;
      await page.driver.manage().window().setRect({ width: 360, height: 740 });
      for (const path of [
        logs(trip),
        `/w/${trip.workspaceId}/boards`,
        `/w/${trip.workspaceId}/overview`,
        "/playground",
      ]) {
        await page.goto(path);
        await page.role("main");
        assert.ok((await page.overflow()) <= 0, `${path} scrolls sideways`);
      }
      await page.goto(logs(trip));
      await page.until("rows", async () => (await page.texts(ROWS)).length > 0);
    },
  },
];
