import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asUser, call, createTenant, type Tenant } from "../support/api.ts";
import { send, variedEntries } from "./explorer-query-support.ts";
import { type OwnConsole, startConsole } from "./support/console.ts";

/** Every page of the console that reads entries comes back from every outage without a click, with what was typed. */

let under: OwnConsole;
let tenant: Tenant;
let boardId: string;
let context: BrowserContext;

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
  context = await under.open({ as: tenant.account, viewport: { width: 1280, height: 800 } });
});

afterAll(() => under?.close());

interface Watched {
  path: string;
  /** Waits until the page shows entries. */
  ready: (page: Page) => Promise<unknown>;
  /** A field into which the test types. */
  field: ((page: Page) => Promise<ReturnType<Page["locator"]>>) | null;
}

const search = async (page: Page) => page.getByRole("combobox", { name: "Search", exact: true });

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
    },
  };
}

/** Opens all pages at the same time. */
async function opened(before: (page: Page) => Promise<void> = async () => undefined) {
  return Promise.all(
    Object.values(pages()).map(async (watched) => {
      const page = await context.newPage();
      await before(page);
      await page.goto(`/w/${tenant.account.workspaceId}${watched.path}`);
      return { page, watched };
    }),
  );
}

const TYPED = "level:error half a th";
const MINUTE = 60_000;
/** Longest wait between two attempts. */
const LONGEST_WAIT_MS = 15_000;

describe("19: recovers by itself from every outage", () => {
  it("of the server, for a second, 30 s or 10 minutes, and keeps what was typed", async () => {
    const all = await opened((page) => page.clock.install());
    const typed = await Promise.all(
      all.map(async ({ page, watched }) => {
        await watched.ready(page);
        const field = (await watched.field?.(page)) ?? null;
        await field?.fill(TYPED);
        return { page, watched, field };
      }),
    );
    for (const away of [1000, 10 * MINUTE]) {
      await under.server.kill9();
      await Promise.all(
        typed.map(async ({ page, field, watched }) => {
          // A board that is edited has no button for it.
          if (watched.path.startsWith("/boards")) await page.clock.fastForward(0);
          else await page.getByRole("button", { name: "Refresh" }).click();
          if (!watched.path.startsWith("/boards")) await page.getByText("Trying again.").first().waitFor();
          for (const ms of away === 1000 ? [away] : [30_000, away - 30_000]) await page.clock.fastForward(ms);
          expect(await field?.inputValue()).toBe(field === null ? undefined : TYPED);
        }),
      );
      await under.server.restart();
      await Promise.all(
        typed.map(async ({ page, watched, field }) => {
          await page.clock.fastForward(LONGEST_WAIT_MS);
          await page.getByText("Trying again.").first().waitFor({ state: "detached" });
          await watched.ready(page);
          expect(await field?.inputValue()).toBe(field === null ? undefined : TYPED);
        }),
      );
    }
    await Promise.all(typed.map(({ page }) => page.close()));
  });

  it.each([
    ["a limit", 429, "RATE_LIMITED", "Too many requests"],
    ["D1", 503, "SERVICE_UNAVAILABLE", "Trying again."],
  ])("of %s: what the service refuses with %i is asked again", async (_, status, code, notice) => {
    const all = await opened(async (page) => {
      let refused = 0;
      await page.route(/\/logger\//, (route) => {
        if (refused++ > 0) return route.continue();
        const error = { code, message: "Refused.", details: [] };
        const headers = { "Retry-After": "1" };
        return route.fulfill({ status, headers, json: { success: false, data: null, error, meta: {} } });
      });
    });
    await Promise.all(
      all.map(async ({ page, watched }) => {
        const said = page.getByRole("alert").filter({ hasText: notice });
        await said.first().waitFor();
        await watched.ready(page);
        await said.first().waitFor({ state: "detached" });
        await page.close();
      }),
    );
  });
});
