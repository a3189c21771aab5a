import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, asUser, call, createTenant, type Tenant } from "../support/api.ts";
import { send, variedEntries } from "./explorer-query-support.ts";
import { axeFaults, type OwnConsole, startConsole } from "./support/console.ts";

/** Every page of the console that reads entries comes back from every outage without a click, with what was typed. */

type Session = Pick<Account, "accessToken" | "refreshToken">;

let under: OwnConsole;
let tenant: Tenant;
let boardId: string;

beforeAll(async () => {
  under = await startConsole();
  const { url } = under.server;
  tenant = await createTenant(url);
  await send(url, tenant, variedEntries(Date.now()));
  const { workspaceId } = tenant.account;
  const boards = await call<{ items: { id: string }[] }>(
    url,
    `/workspaces/${workspaceId}/boards`,
    asUser(tenant.account),
  );
  boardId = boards.body.data.items[0]?.id ?? "";
});

afterAll(() => under?.close());

/**
 * A context with a session of its own: of many pages at once, one may refresh it before the first one lends its access token,
 * and the service ends a session whose refresh token comes a second time.
 */
async function signedIn(): Promise<BrowserContext> {
  const { email, password } = tenant.account;
  const { body } = await call<Session>(under.server.url, "/auth/login", { body: { email, password } });
  return under.open({ as: { ...tenant.account, ...body.data }, viewport: { width: 1280, height: 800 } });
}

interface Watched {
  path: string;
  /** Waits until the page shows entries. */
  ready: (page: Page) => Promise<unknown>;
  /** A field into which the test types. */
  field: ((page: Page) => Promise<Locator>) | null;
  /** Whether opening the field begins to edit. */
  isEdited?: true;
}

const search = async (page: Page) => page.getByRole("textbox", { name: "Search", exact: true });

function pages(): Record<string, Watched> {
  const project = `/p/${tenant.projectId}`;
  return {
    logs: { path: project, ready: (page) => page.locator("[data-row]").first().waitFor(), field: search },
    patterns: {
      path: `${project}/patterns`,
      ready: (page) => page.getByText("2 patterns of 56 entries").waitFor(),
      field: search,
    },
    compare: {
      path: `${project}/compare`,
      ready: (page) => page.getByRole("region", { name: "Levels" }).getByRole("row").nth(7).waitFor(),
      field: search,
    },
    trace: {
      path: "/trace/trace-1",
      ready: (page) => page.getByRole("treeitem").nth(10).waitFor(),
      field: null,
    },
    board: {
      path: `/boards/${boardId}`,
      ready: (page) => page.getByRole("region", { name: "Entries by level" }).getByRole("img").waitFor(),
      field: async (page) => {
        await page.getByRole("button", { name: "Edit", exact: true }).click();
        return page.getByLabel("Name");
      },
      isEdited: true,
    },
  };
}

/** Opens all pages at the same time. */
async function opened(context: BrowserContext) {
  return Promise.all(
    Object.values(pages()).map(async (watched) => {
      const page = await context.newPage();
      await page.goto(`/w/${tenant.account.workspaceId}${watched.path}`);
      return { page, watched };
    }),
  );
}

const NOTICE = "Trying again.";
const TYPED = "level:error half a th";
const MINUTE = 60_000;
/** Longest wait between two attempts. */
const LONGEST_WAIT_MS = 15_000;

describe("19: recovers by itself from every outage", () => {
  it("of the server, after a second, 30 s and 10 minutes, and keeps what was typed", async () => {
    const context = await signedIn();
    await context.clock.install();
    const all = await Promise.all(
      (await opened(context)).map(async ({ page, watched }) => {
        await watched.ready(page);
        const field = (await watched.field?.(page)) ?? null;
        await field?.fill(TYPED);
        return { page, watched, field };
      }),
    );
    const isKept = async () => {
      for (const { field } of all) expect(await field?.inputValue()).toBe(field === null ? undefined : TYPED);
    };
    await under.server.kill9();
    // A board that is edited is not refreshed.
    const refreshed = all.filter(({ watched }) => !watched.isEdited);
    await Promise.all(
      refreshed.map(async ({ page }) => {
        await page.getByRole("button", { name: "Refresh" }).click();
        await page.getByText(NOTICE).first().waitFor();
      }),
    );
    for (const away of [1000, 30_000, 10 * MINUTE]) {
      await context.clock.fastForward(away);
      await isKept();
    }
    await under.server.restart();
    await context.clock.fastForward(LONGEST_WAIT_MS);
    await Promise.all(
      all.map(async ({ page, watched }) => {
        await page.getByText(NOTICE).first().waitFor({ state: "detached" });
        await watched.ready(page);
      }),
    );
    await isKept();
    await context.close();
  });

  it.each([
    ["a limit", 429, "RATE_LIMITED", "Too many requests"],
    ["D1", 503, "SERVICE_UNAVAILABLE", "Refused. Trying again."],
    ["the sign-in page of a network", 200, null, "status 200 and no explanation. Trying again."],
  ])("of %s: what the service refuses with %i is asked again", async (_, status, code, notice) => {
    const context = await signedIn();
    let isAway = true;
    await context.route(/\/logger\//, (route) => {
      if (!isAway) return route.continue();
      if (code === null) return route.fulfill({ status, contentType: "text/html", body: "<h1>Sign in</h1>" });
      const error = { code, message: "Refused.", details: [] };
      const json = { success: false, data: null, error, meta: {} };
      return route.fulfill({ status, headers: { "Retry-After": "1" }, json });
    });
    const all = await opened(context);
    const said = (page: Page) => page.getByRole("alert").filter({ hasText: notice }).first();
    await Promise.all(all.map(({ page }) => said(page).waitFor()));
    isAway = false;
    await Promise.all(
      all.map(async ({ page, watched }) => {
        await watched.ready(page);
        await said(page).waitFor({ state: "detached" });
      }),
    );
    await context.close();
  });

  it("a page that cannot show a response says so, and leaves the others usable", async () => {
    const context = await signedIn();
    const page = await context.newPage();
    const { board, logs } = pages();
    if (board === undefined || logs === undefined) throw new Error("There is no such page.");
    const json = { success: true, data: {}, error: null, meta: {} };
    await page.route(`**/boards/${boardId}`, (route) =>
      route.request().resourceType() === "fetch" ? route.fulfill({ json }) : route.continue(),
    );
    await page.goto(`/w/${tenant.account.workspaceId}${board.path}`);
    const failed = page.getByRole("heading", { name: "This page failed" });
    await failed.waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("link", { name: "Boards" }).click();
    await page.getByRole("button", { name: "New board" }).waitFor();
    await page.goBack();
    await failed.waitFor();
    await page.unrouteAll();
    await page.getByRole("button", { name: "Reload" }).click();
    await board.ready(page);
    // Going back leaves a query that fails, on the same page.
    await page.route("**/logger/search", (route) => route.fulfill({ json }));
    await page.goto(`/w/${tenant.account.workspaceId}${logs.path}?q=level:error`);
    await logs.ready(page);
    await (await search(page)).fill("* | stats count() by level");
    await page.keyboard.press("Enter");
    await failed.waitFor();
    await page.goBack();
    await logs.ready(page);
    await context.close();
  });
});
