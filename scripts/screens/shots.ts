import type { Page } from "playwright-core";
import type { Account } from "../../test/support/api.ts";
import type { World } from "./world.ts";

/** A picture to take, at every width and in both themes. */
export interface Shot {
  /** The beginning of the file's name. */
  name: string;
  title: string;
  path: (world: World) => string;
  /** The signed-in user; signed out if absent. */
  as?: (world: World) => Account;
  /** Steps on the page before the picture. */
  act?: (page: Page, world: World) => Promise<void>;
  /** Only the window, for a list that scrolls or a dialog above the page. */
  window?: true;
}

const ada = (world: World) => world.ada;
const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name }).first().click();
const logs =
  (more = "") =>
  (world: World) =>
    `/w/${world.workspaceId}/p/${world.projectId}${more}`;
const settings = (section: string) => (world: World) => `/w/${world.workspaceId}/settings/${section}`;

/** To add a page, add a line. */
export const SHOTS: readonly Shot[] = [
  { name: "home", title: "Start, signed out", path: () => "/" },
  { name: "home-signed-in", title: "Start, with workspaces", path: () => "/", as: ada },
  { name: "home-newcomer", title: "Start of a new account", path: () => "/", as: (world) => world.newcomer },
  { name: "login", title: "Sign in", path: () => "/login" },
  { name: "sign-up", title: "Sign up", path: () => "/auth/sign-up" },
  { name: "forgot", title: "Forgotten password", path: () => "/auth/forgot" },
  { name: "verify", title: "Confirm the address", path: ({ tokens }) => `/auth/verify#token=${tokens.verify}` },
  { name: "magic", title: "Sign in by mail", path: ({ tokens }) => `/auth/magic#token=${tokens.magic}` },
  { name: "reset", title: "New password", path: ({ tokens }) => `/auth/reset#token=${tokens.reset}` },
  { name: "callback-refused", title: "A provider's refusal", path: () => "/auth/callback?error=OAUTH_ACCESS_DENIED" },
  { name: "invitation", title: "An invitation", path: ({ tokens }) => `/auth/invitation#token=${tokens.invitation}` },
  {
    name: "first-entry",
    title: "The first entry",
    path: ({ workspaceId, emptyProjectId }) => `/w/${workspaceId}/start?project=${emptyProjectId}`,
    as: ada,
  },
  { name: "overview", title: "Overview", path: ({ workspaceId }) => `/w/${workspaceId}/overview`, as: ada },
  { name: "account", title: "Account", path: () => "/auth/account", as: ada },
  ...[
    { name: "playground", title: "Playground" },
    { name: "playground-sent", title: "Playground: sent and arrived", act: sendOne },
    { name: "playground-refused", title: "Playground: one entry refused", act: sendBad },
    { name: "playground-app", title: "Playground: as an application", act: useShop },
    { name: "playground-used-up", title: "Playground: no entries left", act: useUp },
  ].map((shot) => ({ ...shot, path: () => "/playground", window: true as const })),
  { name: "explorer", title: "Logs", path: logs(), as: ada, window: true },
  {
    name: "explorer-workspace",
    title: "Logs of a workspace",
    path: (world) => `/w/${world.workspaceId}`,
    as: ada,
    window: true,
  },
  { name: "explorer-entry", title: "Logs: an entry open", path: logs(), as: ada, act: openEntry, window: true },
  {
    name: "explorer-long",
    title: "Logs: long words",
    path: logs("?search=unbroken"),
    as: ada,
    act: openEntry,
    window: true,
  },
  { name: "explorer-context", title: "Logs: around an entry", path: logs(), as: ada, act: openContext, window: true },
  {
    name: "explorer-filters",
    title: "Logs: filters",
    path: logs("?minLevel=warn&category=http"),
    as: ada,
    window: true,
  },
  { name: "explorer-live", title: "Logs: live", path: logs("?live=1"), as: ada, act: arrive, window: true },
  { name: "explorer-nothing", title: "Logs: nothing found", path: logs("?search=no+such+text"), as: ada },
  {
    name: "explorer-empty",
    title: "Logs: an empty project",
    path: (world) => `/w/${world.workspaceId}/p/${world.emptyProjectId}`,
    as: ada,
  },
  {
    name: "explorer-limited",
    title: "Logs: too many requests",
    path: (world) => `/w/${world.limitedId}/p/${world.limitedProjectId}`,
    as: ada,
  },
  { name: "boards", title: "Boards", path: ({ workspaceId }) => `/w/${workspaceId}/boards`, as: ada },
  { name: "board", title: "A board", path: ({ workspaceId }) => `/w/${workspaceId}/boards`, as: ada, act: openBoard },
  {
    name: "board-edit",
    title: "A board that is arranged",
    path: ({ workspaceId }) => `/w/${workspaceId}/boards`,
    as: ada,
    act: async (page) => {
      await openBoard(page);
      await button(page, "Edit");
    },
  },
  {
    name: "explorer-chart",
    title: "Logs: a chart",
    path: logs(`?q=${encodeURIComponent("* | stats count() by level, bin(30m)")}`),
    as: ada,
    window: true,
  },
  { name: "patterns", title: "Patterns", path: logs("/patterns"), as: ada },
  { name: "compare", title: "Two spans compared", path: logs("/compare?range=1h"), as: ada },
  { name: "trace", title: "A trace", path: ({ workspaceId }) => `/w/${workspaceId}/trace/trace-900`, as: ada },
  { name: "settings", title: "Settings", path: settings("general"), as: ada },
  { name: "settings-projects", title: "Projects", path: settings("projects"), as: ada },
  { name: "settings-keys", title: "API keys", path: settings("keys"), as: ada },
  {
    name: "settings-new-key",
    title: "API keys: a new one",
    path: settings("keys"),
    as: ada,
    act: newKey,
    window: true,
  },
  { name: "settings-members", title: "Members", path: settings("members"), as: ada },
  { name: "settings-viewer", title: "Members, to a viewer", path: settings("members"), as: (world) => world.viewer },
  { name: "settings-limits", title: "Limits", path: settings("limits"), as: ada },
  { name: "settings-violations", title: "Refused requests", path: settings("violations"), as: ada },
  { name: "settings-usage", title: "Usage", path: settings("usage"), as: ada },
  { name: "settings-export", title: "Export", path: settings("export"), as: ada },
  { name: "settings-audit", title: "Audit", path: settings("audit"), as: ada, window: true },
  { name: "settings-danger", title: "Danger zone", path: settings("danger"), as: ada },
  {
    name: "settings-delete",
    title: "Danger zone: asked",
    path: settings("danger"),
    as: ada,
    act: askDelete,
    window: true,
  },
  { name: "components", title: "All components", path: () => "/dev/ui" },
  { name: "not-found", title: "Page not found", path: () => "/w/a/b/c/d", as: ada },
];

async function openBoard(page: Page): Promise<void> {
  await page.getByRole("link", { name: "shop" }).click();
  await page
    .getByRole("img", { name: /^count/ })
    .first()
    .waitFor();
}

async function sendOne(page: Page): Promise<void> {
  await button(page, "Send entries");
  await button(page, "Send entry");
  await page.locator("[data-row]").first().waitFor();
}

async function sendBad(page: Page): Promise<void> {
  await button(page, "Send entries");
  await page.getByRole("tab", { name: "JSON" }).click();
  await button(page, "One good, one bad");
  await button(page, "Send 2 entries");
  await page.locator("[data-row]").first().waitFor();
}

async function useShop(page: Page): Promise<void> {
  await button(page, "Send entries");
  await page.getByRole("tab", { name: "Application" }).click();
  for (const name of ["Search for rope", "Sign in", "Fail payment", "Send now"]) {
    await page.getByRole("button", { name, exact: true }).click();
  }
  await page.locator("[data-row]").nth(2).waitFor();
}

async function useUp(page: Page): Promise<void> {
  await button(page, "Send entries");
  const entries = Array.from({ length: 100 }, (_, i) => ({ message: `Entry ${i + 1}` }));
  await page.getByRole("tab", { name: "JSON" }).click();
  await page.getByLabel("Entries as JSON").fill(JSON.stringify(entries));
  await button(page, "Send 100 entries");
  await page.getByText("No entries left.", { exact: true }).waitFor();
  await page.getByRole("tab", { name: "Form" }).click();
}

async function openEntry(page: Page): Promise<void> {
  const row = page.locator("[data-row]").first();
  await row.click();
  await page
    .getByRole("region", { name: /^Details of entry/ })
    .first()
    .waitFor();
}

async function openContext(page: Page): Promise<void> {
  await openEntry(page);
  await button(page, "Show in context");
  await page.getByRole("dialog").waitFor();
}

async function arrive(page: Page, { url, projectId, key }: World): Promise<void> {
  await page.getByText("Live", { exact: true }).first().waitFor();
  const headers = { Authorization: `Bearer ${key.secret}`, "Content-Type": "application/json" };
  const order = 10_000 + (Date.now() % 90_000);
  const body = [
    { level: "info", category: "http", type: "request", message: "POST /checkout" },
    { level: "debug", category: "database", type: "query", message: `Read order ${order}` },
    { level: "warn", category: "queue", type: "retry", message: `Payment of order ${order} tried again` },
    { level: "error", category: "billing", type: "payment", message: `Payment of order ${order} refused` },
  ];
  await fetch(`${url}/logger/${projectId}/log`, { method: "POST", headers, body: JSON.stringify(body) });
  await page.getByText(`Payment of order ${order} refused`).waitFor();
}

async function newKey(page: Page): Promise<void> {
  await button(page, "Create key");
}

async function askDelete(page: Page): Promise<void> {
  await button(page, "Delete workspace");
}
