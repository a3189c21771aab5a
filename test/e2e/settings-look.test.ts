import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Account, call, createKey, createProject } from "../support/api.ts";
import { axeFaults, beyondTab, type ConsoleUnderTest, startSharedConsole, tooWide } from "./support/console.ts";
import { join, openSettings, settingsPath, sharedWorkspace, verifiedAccount } from "./support/settings.ts";

/** A name of the maximum length, without a break opportunity. */
const LONG = "a-name-without-a-space-".repeat(5).slice(0, 100);

let under: ConsoleUnderTest;
let owner: Account;
let guest: Account;
let workspaceId: string;
let page: Page;

beforeAll(async () => {
  under = await startSharedConsole();
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
    body: {
      default: { limit: 900 },
      // Reached until the last of the sections is looked at.
      rules: [{ method: "*", path: `/logger/${projectId}/log`, limit: 2, windowSeconds: 3600 }],
    },
  });
  await call(url, `${path}/destinations`, {
    token: owner.accessToken,
    body: { kind: "webhook", name: LONG, url: `https://hooks.example.com/${LONG}`, canary: true },
  });
  for (let i = 0; i < 4; i++)
    await call(url, `/logger/${projectId}/log`, { token: secret, body: { message: "Hello" } });
  page = await openSettings(under, owner, "general", workspaceId);
});

afterAll(() => under?.close());

/** Faults of the current page in both themes, in a wide and a narrow window, at all widths, and by keyboard alone. */
async function faults(): Promise<string[]> {
  const found: string[] = [];
  for (const [colorScheme, width] of [
    ["dark", 360],
    ["light", 1440],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    found.push(...(await axeFaults(page)).map((fault) => `${colorScheme}, ${width} px: ${fault}`));
  }
  return [...found, ...(await tooWide(page)), ...(await beyondTab(page))];
}

/** Elements that appear once a section has loaded. */
const LOADED: Record<string, (page: Page) => Promise<void>> = {
  general: (page) => page.getByRole("link", { name: "Roles" }).waitFor(),
  projects: (page) => page.getByRole("button", { name: "Delete shop" }).waitFor(),
  keys: (page) => page.getByRole("button", { name: "Delete test" }).waitFor(),
  members: (page) => page.getByRole("list", { name: "Pending invitations" }).waitFor(),
  agents: (page) => page.getByText("No agent has access").waitFor(),
  limits: (page) => page.getByText("2 of 2, limit reached").waitFor(),
  violations: async (page) => {
    const refresh = page.getByRole("button", { name: "Refresh" });
    const look = async (): Promise<number> => {
      await refresh.click();
      // A row has the refusals of one minute, and the two may be of two.
      const refused = await page.locator("tbody tr td:nth-of-type(2)").allTextContents();
      return refused.reduce((sum, count) => sum + Number(count), 0);
    };
    await expect.poll(look, { timeout: 30_000, interval: 500 }).toBe(2);
  },
  missing: (page) => page.getByRole("cell", { name: "Beyond the rate limit" }).waitFor(),
  destinations: (page) => page.getByRole("button", { name: "Pause" }).waitFor(),
  notifications: (page) => page.getByText(`Canary of ${LONG}`).waitFor(),
  usage: async (page) => {
    await page.getByText("A search finds them at any time.").waitFor();
    await page.getByRole("button", { name: "By level" }).waitFor();
  },
  export: (page) => page.getByRole("button", { name: "Export", exact: true }).waitFor(),
  audit: (page) => page.getByRole("listitem").getByText("Workspace created").waitFor(),
  danger: (page) => page.getByRole("button", { name: "Delete workspace" }).waitFor(),
};

it.each(Object.entries(LOADED))("%s has no axe violations and fits", async (section, loaded) => {
  await page.goto(settingsPath(workspaceId, section));
  await loaded(page);
  expect(await faults()).toEqual([]);
});

/** Every dialog: its section and the button that opens it. */
const DIALOGS: readonly (readonly [section: string, button: string])[] = [
  ["general", "Create workspace"],
  ["general", "Leave workspace"],
  ["projects", "Create project"],
  ["projects", "Delete shop"],
  ["keys", "Create key"],
  ["keys", "Rotate test"],
  ["keys", "Delete test"],
  ["members", "Change role of"],
  ["members", "Withdraw"],
  ["keys", "Settings of"],
  ["limits", "Reset to preset"],
  ["destinations", "Create destination"],
  ["destinations", "Edit"],
  ["destinations", "Delete"],
  ["danger", "Delete workspace"],
];

it.each(DIALOGS)("in %s the dialog of %s has no axe violations and fits", async (section, button) => {
  await page.goto(settingsPath(workspaceId, section));
  await page.getByRole("button", { name: button }).first().click();
  await page.getByRole("dialog").waitFor();
  expect(await faults()).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

it("the dialog that shows a secret has no axe violations and fits", async () => {
  await page.goto(settingsPath(workspaceId, "keys"));
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByLabel("Name", { exact: true }).fill(LONG);
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("button", { name: "I have stored it" }).waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByText("The key cannot be shown again.").waitFor();
  expect(await faults()).toEqual([]);
  await page.getByRole("button", { name: "I have stored it" }).click();
});

it("the home page has no axe violations and fits, for members and for visitors", async () => {
  await page.goto("/");
  await page.getByRole("link", { name: "shop", exact: true }).waitFor();
  expect(await faults()).toEqual([]);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Structured logs" }).waitFor();
  expect(await faults()).toEqual([]);
});

it("contacts no other origin and violates no content security policy", () => {
  expect(under.faults()).toEqual([]);
});
