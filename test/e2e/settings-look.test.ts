import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Account, call, createKey, createProject } from "../support/api.ts";
import { axeFaults, type ConsoleUnderTest, startConsole } from "./support/console.ts";
import { join, openSettings, settingsPath, sharedWorkspace, verifiedAccount } from "./support/settings.ts";

/** As long as a name may be, and with no place to break it. */
const LONG = "a-name-without-a-space-".repeat(5).slice(0, 100);
const WIDTHS = [360, 768, 1440];

let under: ConsoleUnderTest;
let owner: Account;
let guest: Account;
let workspaceId: string;
let page: Page;

beforeAll(async () => {
  under = await startConsole();
  const { url } = under.server;
  [owner, guest] = await Promise.all([verifiedAccount(url), verifiedAccount(url)]);
  workspaceId = await sharedWorkspace(url, owner, LONG);
  await join(url, { workspaceId, owner, guest, role: "viewer" });
  const here = { ...owner, workspaceId };
  const projectId = await createProject(url, here, LONG);
  const { secret } = await createKey(url, here, projectId);
  await createProject(url, here, "shop");
  const path = `/workspaces/${workspaceId}`;
  const body = { email: "somebody-with-a-long-address@a-domain-that-is-long.example.com", role: "member" };
  await call(url, `${path}/members`, { token: owner.accessToken, body });
  await call(url, `${path}/rate-limits`, {
    token: owner.accessToken,
    method: "PUT",
    body: { default: { limit: 900 }, rules: [{ method: "*", path: `/logger/${projectId}/log`, limit: 2 }] },
  });
  for (let i = 0; i < 4; i++)
    await call(url, `/logger/${projectId}/log`, { token: secret, body: { message: "Hello" } });
  page = await openSettings(under, owner, "general", workspaceId);
});

afterAll(() => under?.close());

/** What is wrong with the page as it stands: in both themes, one wide and one narrow, and at all widths. */
async function faults(): Promise<string[]> {
  const found: string[] = [];
  for (const [colorScheme, width] of [
    ["light", 1440],
    ["dark", 360],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    found.push(...(await axeFaults(page)).map((fault) => `${colorScheme}, ${width} px: ${fault}`));
  }
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (over > 0) found.push(`${over} px too wide at ${width}`);
  }
  return found;
}

/** What is there once a section has loaded. */
const LOADED: Record<string, (page: Page) => Promise<void>> = {
  general: (page) => page.getByText("What each role may do").waitFor(),
  projects: (page) => page.getByRole("button", { name: "Delete shop" }).waitFor(),
  keys: (page) => page.getByRole("button", { name: "Revoke test" }).waitFor(),
  members: (page) => page.getByRole("list", { name: "Pending invitations" }).waitFor(),
  limits: (page) => page.getByText("2 of 2, used up").waitFor(),
  violations: async (page) => {
    const refresh = page.getByRole("button", { name: "Refresh" });
    const look = async (): Promise<number> => {
      await refresh.click();
      return page.getByRole("row").count();
    };
    await expect.poll(look, { timeout: 30_000, interval: 500 }).toBe(2);
  },
  usage: (page) => page.getByText("No batch is stuck.").waitFor(),
  audit: (page) => page.getByRole("listitem").getByText("Workspace created").waitFor(),
  danger: (page) => page.getByRole("button", { name: "Delete the workspace" }).waitFor(),
};

it.each(Object.entries(LOADED))("%s has no fault that axe finds, and fits", async (section, loaded) => {
  await page.goto(settingsPath(workspaceId, section));
  await loaded(page);
  expect(await faults()).toEqual([]);
});

/** Every dialog: where it is, and the button that opens it. */
const DIALOGS: readonly (readonly [section: string, button: string])[] = [
  ["general", "Create a workspace"],
  ["general", "Leave this workspace"],
  ["projects", "Create a project"],
  ["projects", "Delete shop"],
  ["keys", "Create a key"],
  ["keys", "Rotate test"],
  ["keys", "Revoke test"],
  ["members", "Change role of"],
  ["members", "Withdraw"],
  ["limits", "Reset to the preset"],
  ["danger", "Delete the workspace"],
];

it.each(DIALOGS)("in %s the dialog of %s has no fault that axe finds, and fits", async (section, button) => {
  await page.goto(settingsPath(workspaceId, section));
  await page.getByRole("button", { name: button }).first().click();
  await page.getByRole("dialog").waitFor();
  expect(await faults()).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

it("the dialog that shows a secret has no fault that axe finds, and fits", async () => {
  await page.goto(settingsPath(workspaceId, "keys"));
  await page.getByRole("button", { name: "Create a key" }).click();
  await page.getByLabel("Name", { exact: true }).fill(LONG);
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.getByRole("button", { name: "I have stored it" }).waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByText("The key cannot be shown again.").waitFor();
  expect(await faults()).toEqual([]);
  await page.getByRole("button", { name: "I have stored it" }).click();
});

it("the start has no fault that axe finds, and fits, for members and for strangers", async () => {
  await page.goto("/");
  await page.getByRole("link", { name: "shop" }).waitFor();
  expect(await faults()).toEqual([]);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Without an account" }).waitFor();
  expect(await faults()).toEqual([]);
});

it("contacts nobody else and breaks no rule of its policy", () => {
  expect(under.faults()).toEqual([]);
});
