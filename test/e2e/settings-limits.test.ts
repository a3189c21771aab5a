import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { explain } from "../../web/src/pages/settings/limits/explanation.ts";
import { type ApiRoute, pathOf, ROUTES } from "../../web/src/pages/settings/limits/routes.ts";
import { asUser, call, createTenant, type Tenant } from "../support/api.ts";
import { choose } from "./support/choose.ts";
import { type ConsoleUnderTest, startSharedConsole } from "./support/console.ts";
import { openSettings } from "./support/settings.ts";

let under: ConsoleUnderTest;
let url: string;

beforeAll(async () => {
  under = await startSharedConsole();
  url = under.server.url;
});

afterAll(() => under?.close());

describe("limits", () => {
  it("saves a rule of 3, which is enforced, shows its usage and lists its violations", async () => {
    const { account, projectId, key } = await createTenant(url);
    const page = await openSettings(under, account, "limits");
    await page.getByRole("button", { name: "Add rule" }).click();
    const rule = page.getByRole("group", { name: "Rule 1" });
    const save = page.getByRole("button", { name: "Save limits" });
    await rule.getByLabel("Requests").fill("three");
    await save.click();
    await rule.getByText("Enter a path.").waitFor();
    await rule.getByText("Enter a whole number").waitFor();
    await rule.getByLabel("Path").fill("/nowhere");
    // Unsaved changes survive another section and a reload.
    await page.getByText("Unsaved changes").waitFor();
    await page.getByRole("link", { name: "Usage" }).click();
    await page.getByRole("heading", { name: "Usage" }).waitFor();
    await page.getByRole("link", { name: "Limits" }).click();
    await page.reload();
    expect(await rule.getByLabel("Path").inputValue()).toBe("/nowhere");
    await rule.getByLabel("Requests").fill("3");
    await save.click();
    await rule.getByText("No route of /logger, /projects or /workspaces has this path.").waitFor();
    await rule.getByLabel("Path").fill("/logger/:projectId/log");
    await page.getByRole("button", { name: "Add rule" }).click();
    const twin = page.getByRole("group", { name: "Rule 2" });
    await twin.getByLabel("Path").fill("/logger/:id/log");
    await twin.getByLabel("Requests").fill("5");
    await save.click();
    await twin.getByText("Rule 1 has the same method and path").waitFor();
    await twin.getByRole("button", { name: "Remove rule 2" }).click();
    // The explanation uses the draft, and names the unsaved changes.
    await page.getByText("including the unsaved changes").waitFor();
    await page.getByText("Limited by the rule POST /logger/:projectId/log: 3 requests").waitFor();
    await save.click();
    await page.getByText("Limits saved.").waitFor();
    expect(await page.getByText("Unsaved changes").count()).toBe(0);

    const send = () => call(url, `/logger/${projectId}/log`, { token: key.secret, body: { message: "Hello" } });
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) statuses.push((await send()).status);
    expect(statuses).toEqual([201, 201, 201, 429, 429]);
    // The counters poll.
    const bar = page.getByRole("meter", { name: "test (key of test), POST /logger/:projectId/log" });
    await expect.poll(() => bar.getAttribute("aria-valuetext"), { timeout: 15_000 }).toBe("3 of 3");
    await page.getByText("3 of 3, limit reached").waitFor();

    await page.getByRole("link", { name: "Refused requests" }).click();
    const row = page.getByRole("row").filter({ hasText: "test (key of test)" });
    await expect
      .poll(
        async () => {
          await page.getByRole("button", { name: "Refresh" }).click();
          return row.count();
        },
        { timeout: 30_000, interval: 500 },
      )
      .toBe(1);
    await row.getByText("3 in 60 s").waitFor();

    await page.getByRole("link", { name: "Limits" }).click();
    await page.getByRole("button", { name: "Reset to preset" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Reset" }).click();
    await page.getByText("No rules. The default applies to all requests.").waitFor();
    expect((await send()).status).toBe(201);
    await page.context().close();
  });

  it("stops polling while the page is hidden, and polls immediately when it is visible again", async () => {
    const { account } = await createTenant(url);
    const page = await openSettings(under, account, "limits");
    await page.clock.install();
    await page.reload();
    await page.getByRole("heading", { name: "Current usage" }).waitFor();
    let asked = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/rate-limits")) asked++;
    });
    const seen = page.waitForRequest("**/rate-limits");
    await page.clock.runFor(4000);
    await seen;
    // A service that takes longer than the interval can answer all the same.
    const slow = Promise.withResolvers<void>();
    await page.route("**/rate-limits", async (route) => {
      await slow.promise;
      await route.continue();
    });
    const held = page.waitForRequest("**/rate-limits");
    await page.clock.runFor(4000);
    await held;
    const polled = asked;
    await page.clock.runFor(10_000);
    expect(asked).toBe(polled);
    const answered = page.waitForResponse("**/rate-limits");
    slow.resolve();
    await answered;
    await page.unroute("**/rate-limits");
    await turn(page, true);
    const before = asked;
    await page.clock.runFor(60_000);
    expect(asked).toBe(before);
    // Also what no poll has shown is not overwritten without a word.
    const path = `/workspaces/${account.workspaceId}/rate-limits`;
    const setByOther = (rest: number) =>
      call(url, path, { ...asUser(account), method: "PUT", body: { default: { limit: rest }, rules: [] } });
    await setByOther(66);
    const limit = async () =>
      (await call<{ default: { limit: number } }>(url, path, asUser(account))).body.data.default.limit;
    await page.getByText("Custom limit").click();
    const requests = page.getByRole("textbox", { name: "Requests" });
    await requests.fill("55");
    const save = page.getByRole("button", { name: "Save limits" });
    await save.click();
    const notice = page.getByText("Another member changed the limits. Saving overwrites those changes.");
    await notice.waitFor();
    expect([await limit(), await requests.inputValue()]).toEqual([66, "55"]);
    await save.click();
    await page.getByText("Limits saved.").waitFor();
    expect(await limit()).toBe(55);
    await requests.fill("44");
    await setByOther(66);
    const again = page.waitForRequest("**/rate-limits");
    await turn(page, false);
    await again;
    await notice.waitFor();
    await turn(page, true);
    // A change of which the page said so and that was taken back leaves nothing to say.
    await setByOther(55);
    await save.click();
    await expect.poll(limit).toBe(44);
    await setByOther(66);
    const reset = async (): Promise<void> => {
      await page.getByRole("button", { name: "Reset to preset" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Reset" }).click();
    };
    await reset();
    await notice.waitFor();
    expect(await limit()).toBe(66);
    await reset();
    await page.getByText("Limits reset.").waitFor();
    await page.context().close();
  });

  it("reports changes of another member and loads them", async () => {
    const { account } = await createTenant(url);
    const page = await openSettings(under, account, "limits");
    await page.getByText("No rules. The default applies to all requests.").waitFor();
    await call(url, `/workspaces/${account.workspaceId}/rate-limits`, {
      ...asUser(account),
      method: "PUT",
      body: { default: { limit: 77 }, rules: [] },
    });
    await page.getByRole("button", { name: "Load new limits" }).click({ timeout: 15_000 });
    const requests = page.getByRole("textbox", { name: "Requests" });
    expect(await requests.inputValue()).toBe("77");
    // What was asked for before a change and is answered after it, is older.
    const notices = await page.evaluateHandle(() => {
      const texts: string[] = [];
      new MutationObserver(() => {
        if (document.body.textContent.includes("Another member changed the limits.")) texts.push("shown");
      }).observe(document.body, { subtree: true, childList: true });
      return texts;
    });
    const saved = Promise.withResolvers<void>();
    const polled = Promise.withResolvers<void>();
    let isHeld = false;
    await page.route("**/rate-limits", async (route) => {
      if (route.request().method() !== "GET" || isHeld) return route.continue();
      isHeld = true;
      const response = await route.fetch();
      polled.resolve();
      await saved.promise;
      await route.fulfill({ response });
    });
    await polled.promise;
    await requests.fill("88");
    await page.getByRole("button", { name: "Save limits" }).click();
    await page.getByText("Limits saved.").waitFor();
    const next = page.waitForRequest("**/rate-limits");
    saved.resolve();
    await next;
    expect(await notices.jsonValue()).toEqual([]);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.context().close();
  });
});

describe("the cascade's explanation", () => {
  it("has exactly the routes of the OpenAPI document that need a credential: the others count by client IP", async () => {
    // SAFETY: the document's own tests check the document against the OpenAPI schema.
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { security?: unknown[] }>>;
    };
    const described = Object.entries(paths)
      .filter(([path]) => /^\/(logger|projects|workspaces)(\/|$)/.test(path))
      .flatMap(([path, methods]) =>
        Object.entries(methods)
          .filter(([, { security }]) => security !== undefined && security.length > 0)
          .map(([method]) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`),
      );
    expect(ROUTES.map(({ method, pattern }) => `${method} ${pattern}`).sort()).toEqual(described.sort());
  });

  it("agrees with the limit that applies to every route", async () => {
    const tenant = await createTenant(url);
    const { account, projectId } = tenant;
    const configuration = {
      default: { limit: 900, windowSeconds: 60 },
      rules: [
        { method: "POST", path: "/logger/:id/log", limit: 101, windowSeconds: 60 },
        { method: "*", path: `/logger/${projectId}/log`, limit: 102, windowSeconds: 60 },
        { method: "*", path: "/logger/query", limit: 103, windowSeconds: 60 },
        { method: "GET", path: `/projects/${projectId}`, limit: 104, windowSeconds: 60 },
        { method: "GET", path: "/projects/:anything", limit: 105, windowSeconds: 60 },
        { method: "*", path: "/projects/:id/keys", limit: 106, windowSeconds: 60 },
        { method: "POST", path: "/projects/:id/keys", limit: 107, windowSeconds: 60 },
        { method: "*", path: `/workspaces/${account.workspaceId}`, limit: 108, windowSeconds: 60 },
        { method: "PATCH", path: "/workspaces/:id", limit: 109, windowSeconds: 60 },
        { method: "*", path: "/workspaces/:id/rate-limits", limit: 110, windowSeconds: 60 },
        { method: "*", path: "/workspaces", limit: 111, windowSeconds: 60 },
      ],
    } as const;
    const path = `/workspaces/${account.workspaceId}/rate-limits`;
    const saved = await call(url, path, { ...asUser(account), method: "PUT", body: configuration });
    expect(saved.status).toBe(200);
    const page = await openSettings(under, account, "limits");
    for (const route of ROUTES) {
      const real = await limitOf(tenant, route);
      const [literal, pattern] = [realPath(tenant, route), route.pattern];
      const { applied } = explain(configuration, { method: route.method, pattern, path: literal });
      expect([route.method, pattern, applied.limit]).toEqual([route.method, pattern, real]);
      await chooseRequest(page, tenant, route);
      const verdict = page.getByRole("status").filter({ hasText: "Limited by" });
      // The route first: the previous one may have the same limit.
      await verdict.locator("code").first().getByText(`${route.method} ${literal}`, { exact: true }).waitFor();
      await verdict.getByText(`${real === 1000 ? "1,000" : real} requests in 60 s`).waitFor();
    }
    await page.context().close();
  });
});

/** Ids that do not exist: calls with them change nothing, but a limit applies. */
const UNKNOWN_IDS = {
  keyId: "key_000000000000",
  logId: "log_0",
  userId: "usr_000000000000",
  invitationId: "inv_000000000000",
};

function realPath({ account, projectId }: Tenant, { method, pattern }: ApiRoute): string {
  // An existing one would be deleted.
  const project = method === "DELETE" ? "proj_000000000000" : projectId;
  return pathOf(pattern, { ...UNKNOWN_IDS, workspaceId: account.workspaceId, projectId: project });
}

/** The limit in the response headers of a request to a route. */
async function limitOf(tenant: Tenant, route: ApiRoute): Promise<number> {
  const { account, key } = tenant;
  const path = realPath(tenant, route);
  const isForKeys = path.startsWith("/logger/") && route.method === "POST" && path.endsWith("/log");
  const answer = await call(url, path, {
    ...(isForKeys ? { token: key.secret } : asUser(account)),
    // The limits stay: requests that would change them have an invalid body or are not sent.
    method: route.method === "DELETE" && path.endsWith("/rate-limits") ? "GET" : route.method,
    ...(route.method === "GET" || route.method === "DELETE" ? {} : { body: { nothing: "that it takes" } }),
  });
  return Number(answer.headers.get("X-RateLimit-Limit"));
}

async function chooseRequest(page: Page, { projectId }: Tenant, route: ApiRoute): Promise<void> {
  await choose(page.getByLabel("Request", { exact: true }), `${route.method} ${route.pattern} (${route.what})`);
  const values = { ...UNKNOWN_IDS, projectId: route.method === "DELETE" ? "proj_000000000000" : projectId };
  const labels = {
    keyId: "Key id",
    logId: "Log id",
    userId: "User id",
    invitationId: "Invitation id",
    projectId: "Project id",
  };
  for (const [name, label] of Object.entries(labels)) {
    if (!route.pattern.includes(`:${name}`)) continue;
    // SAFETY: both objects have the same members.
    await page.getByLabel(label, { exact: true }).fill(values[name as keyof typeof labels]);
  }
}

/** Makes the page believe that it is visible or hidden, because a headless browser hides no page. */
function turn(page: Page, hidden: boolean): Promise<void> {
  return page.evaluate((isHidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, value: isHidden });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}
