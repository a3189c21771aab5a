import { readFile } from "node:fs/promises";
import type { BrowserContext, Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { asUser, call, createKey, createProject, createTenant, register, type Tenant } from "../support/api.ts";
import { counted, explorerPath, queryIn, rows, send } from "./explorer-query-support.ts";
import { choose } from "./support/choose.ts";
import { axeFaults, type ConsoleUnderTest, startConsole } from "./support/console.ts";
import { ask } from "./support/explorer.ts";

const MANY = 3500;

let console: ConsoleUnderTest;
let large: Tenant;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  console = await startConsole();
  large = await createTenant(console.server.url);
  const now = Date.now();
  // Some entries share a millisecond, so that the order within a millisecond is tested, too.
  const logs = Array.from({ length: MANY }, (_, index) => ({
    message: index === 0 ? "needle" : `${index} ${"hay ".repeat(350)}`,
    timestamp: now - 3_600_000 + Math.floor(index / 3),
  }));
  await send(console.server.url, large, logs);
});

afterAll(() => console?.close());

const VIEWPORT = { width: 1440, height: 900 };

beforeEach(async () => {
  page = await console.reuse({ as: large.account, viewport: VIEWPORT });
  context = page.context();
});

/** Parses the lines of a file to the seqs of their entries. */
function seqsOf(text: string): number[] {
  const lines = text.split("\n");
  expect(lines.pop()).toBe("");
  // SAFETY: any other value fails the comparison.
  return lines.map((line) => (JSON.parse(line) as { seq: number }).seq);
}

/** Older than all others, so that the first pages of other tests stay the same. */
const LATE = { message: "late", timestamp: Date.now() - 7_200_000 };

const NEWEST_FIRST = Array.from({ length: MANY }, (_, index) => MANY - index);

function isFurtherPage(route: Route): boolean {
  return queryIn(route.request()).pagination.cursor !== undefined;
}

describe("download", () => {
  const dialog = () => page.getByRole("dialog", { name: "Download as NDJSON" });

  // The tests change what a browser can do.
  beforeEach(async () => {
    context = await console.open({ as: large.account, viewport: VIEWPORT });
    page = await context.newPage();
  });
  afterEach(() => context.close());

  it("writes all matching entries in order if the browser has no file picker", async () => {
    await context.addInitScript(() => Reflect.deleteProperty(globalThis, "showSaveFilePicker"));
    await page.goto(explorerPath(large));
    await counted(page, "100 loaded").waitFor();
    await page.getByRole("button", { name: "Download" }).click();
    const downloading = page.waitForEvent("download");
    // An entry that arrives during the download is not part of the snapshot.
    let sent = 0;
    await context.route("**/logger/query", async (route) => {
      if (isFurtherPage(route) && sent++ === 0) await send(console.server.url, large, [LATE]);
      await route.continue();
    });
    await dialog().getByRole("button", { name: "Download" }).click();
    await dialog().getByText("Done: 3,500 entries.").waitFor();
    const file = await downloading;
    expect(file.suggestedFilename()).toMatch(/^taffrail-.*\.ndjson$/);
    expect(seqsOf(await readFile(await file.path(), "utf8"))).toEqual(NEWEST_FIRST);
  });

  it("writes to the chosen file, waits for the rate limit and continues", async () => {
    await context.addInitScript(() => {
      const picker = async () => (await navigator.storage.getDirectory()).getFileHandle("chosen", { create: true });
      Object.assign(globalThis, { showSaveFilePicker: picker });
    });
    await page.goto(explorerPath(large, "?order=asc"));
    await counted(page, "100 loaded").waitFor();
    let refusals = 0;
    await context.route("**/logger/query", async (route) => {
      if (isFurtherPage(route) && refusals++ === 0) await route.fulfill(refusal(429, "RATE_LIMITED", "1"));
      else await route.continue();
    });
    await page.getByRole("button", { name: "Download" }).click();
    await dialog().getByRole("button", { name: "Download" }).click();
    await dialog().getByText("Rate limit reached").waitFor();
    await dialog().getByText("Done: 3,501 entries.").waitFor();
    const text = await page.evaluate(async () => {
      const file = await (await navigator.storage.getDirectory()).getFileHandle("chosen");
      return (await file.getFile()).text();
    });
    // The late entry of the previous test is the oldest.
    expect(seqsOf(text)).toEqual([MANY + 1, ...NEWEST_FIRST.toReversed()]);
  });

  it("leaves no file when cancelled", async () => {
    await context.addInitScript(() => Reflect.deleteProperty(globalThis, "showSaveFilePicker"));
    let downloads = 0;
    page.on("download", () => downloads++);
    await page.goto(explorerPath(large));
    await counted(page, "100 loaded").waitFor();
    let held: Route | null = null;
    await context.route("**/logger/query", async (route) => {
      if (isFurtherPage(route)) held = route;
      else await route.continue();
    });
    await page.getByRole("button", { name: "Download" }).click();
    await dialog().getByRole("button", { name: "Download" }).click();
    await dialog().getByText("1,000 of about 3,501 entries").waitFor();
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await dialog().getByRole("button", { name: "Download" }).waitFor();
    expect(held).not.toBeNull();
    expect(downloads).toBe(0);
  });
});

describe("partial responses", () => {
  /**
   * Conditions on a hundred paths, which requests of the page get. All entries match all but the last: each condition costs work units, so that the
   * budget runs out.
   */
  const PATHS = 100;
  const COSTLY = Object.fromEntries(
    Array.from({ length: PATHS }, (_, index) => [
      `p${index}`,
      index === PATHS - 1 ? { exists: true, ne: 0 } : { exists: false, ne: 1 },
    ]),
  );
  /** Requests of small entries, whose conditions cost more than one response may, and the entries of each: the most. */
  const REQUESTS = 15;
  const ENTRIES = 20_000;

  let small: Tenant;

  beforeAll(async () => {
    const { url } = console.server;
    const projectId = await createProject(url, large.account, "small entries");
    small = { ...large, projectId, key: await createKey(url, large.account, projectId) };
    const now = Date.now();
    await send(url, small, [{ message: "needle", timestamp: now - 3_600_000, data: { [`p${PATHS - 1}`]: 1 } }]);
    const body = Array.from({ length: ENTRIES }, (_, index) =>
      JSON.stringify({ message: "hay", timestamp: now - index, data: { [`p${PATHS - 1}`]: 0 } }),
    ).join("\n");
    const headers = { "Content-Type": "application/x-ndjson" };
    for (let request = 0; request < REQUESTS; request++) {
      const answer = await call(url, `/logger/${projectId}/log`, { token: small.key.secret, body, headers });
      expect(answer.status).toBe(201);
    }
  });

  it("show the progress of a search, which continues on a click", async () => {
    await context.route("**/logger/{query,stats}", (route) => {
      const { filters, ...asked } = route.request().postDataJSON();
      return route.continue({ postData: JSON.stringify({ ...asked, filters: { ...filters, data: COSTLY } }) });
    });
    await page.goto(explorerPath(small));
    const partial = page.getByText(/Search incomplete: [\d,]+ entries scanned, 0 found\./);
    await partial.waitFor();
    await page.getByText("Incomplete count").waitFor();
    expect(await page.getByText("No matching entries").count()).toBe(0);
    for (let asked = 0; asked < 10 && (await rows(page).count()) === 0; asked++) {
      const answered = page.waitForResponse("**/logger/query");
      await page.getByRole("button", { name: "Continue" }).click();
      await answered;
      await page.getByRole("button", { name: "Searching …" }).waitFor({ state: "detached" });
    }
    await rows(page).first().getByText("needle").waitFor();
  });
});

describe("refusals", () => {
  it("show a countdown for the workspace's limit and recover after it", async () => {
    const limited = await createTenant(console.server.url);
    await send(console.server.url, limited, [{ message: "one" }]);
    const rule = { method: "POST", path: "/logger/query", limit: 3, windowSeconds: 10 };
    await setLimits(limited, { rules: [rule] });
    const own = await console.open({ as: limited.account, viewport: { width: 1440, height: 900 } });
    const other = await own.newPage();
    await other.goto(explorerPath(limited));
    for (let load = 1; load <= 3; load++) {
      await counted(other, /^1 entry$/).waitFor();
      const answered = other.waitForResponse("**/logger/query");
      await other.getByRole("button", { name: "Refresh" }).click();
      await answered;
    }
    await other.getByRole("alert").getByText("Too many requests").waitFor();
    await other.getByText("At most 3 requests in 10 s for this user (rule: POST /logger/query).").waitFor();
    expect(await axeFaults(other)).toEqual([]);
    // Without a click, once the limit admits the request.
    await other.getByText(/Trying again in \d+ s, at /).waitFor();
    await other.getByText("Too many requests").waitFor({ state: "detached" });
    await counted(other, /^1 entry$/).waitFor();
    await own.close();
  });

  it("leave the page usable with a limit of 3", async () => {
    const limited = await createTenant(console.server.url);
    await setLimits(limited, { default: { limit: 3, windowSeconds: 5 }, rules: [] });
    const own = await console.open({ as: limited.account });
    const other = await own.newPage();
    await other.goto(explorerPath(limited));
    const refresh = other.getByRole("button", { name: "Refresh" });
    for (let load = 0; load < 3 && (await other.getByRole("alert").count()) === 0; load++) {
      const answered = other.waitForResponse("**/logger/query");
      await refresh.click();
      await answered;
    }
    await other.getByRole("alert").getByText("Too many requests").waitFor();
    await other.getByRole("heading", { name: /No entries yet|No matching entries/ }).waitFor();
    await own.close();
  });

  it("are explained and can be retried", async () => {
    let isAway = false;
    // Long enough that there is no automatic retry before the click.
    const asked = refusal(503, "SERVICE_UNAVAILABLE", "30");
    await context.route("**/logger/query", (route) => (isAway ? route.abort() : route.fulfill(asked)));
    await page.goto(explorerPath(large));
    const alert = page.getByRole("alert");
    await alert.getByText("SERVICE_UNAVAILABLE").waitFor();
    isAway = true;
    await alert.getByRole("button", { name: "Try now" }).click();
    await alert.getByText("The service could not be reached").waitFor();
    await context.unroute("**/logger/query");
    await counted(page, "100 loaded").waitFor();
    expect(await alert.count()).toBe(0);
  });

  it("of the next page keep loaded entries, and a retry loads it", async () => {
    await context.route("**/logger/query", async (route) => {
      if (isFurtherPage(route)) await route.fulfill(refusal(503, "SERVICE_UNAVAILABLE", "1"));
      else await route.continue();
    });
    await page.goto(explorerPath(large));
    await rows(page).first().click();
    await page.keyboard.press("End");
    const alert = page.getByRole("alert");
    await alert.getByText("SERVICE_UNAVAILABLE").waitFor();
    expect(await rows(page).count()).toBeGreaterThan(0);
    await context.unroute("**/logger/query");
    await counted(page, "200 loaded").waitFor();
  });

  it("of a reload keep entries and histogram below a notice", async () => {
    await page.goto(explorerPath(large));
    await counted(page, "100 loaded").waitFor();
    const histogram = page.getByRole("slider", { name: "Entries over time" });
    await histogram.waitFor();
    await context.route("**/logger/*", (route) => route.abort());
    await page.getByRole("button", { name: "Refresh" }).click();
    const alert = page.getByRole("alert");
    await alert.getByText("The service could not be reached").waitFor();
    await counted(page, "100 loaded").waitFor();
    expect(await rows(page).count()).toBeGreaterThan(0);
    expect((await alert.boundingBox())?.y).toBeLessThan((await histogram.boundingBox())?.y ?? 0);
    // Those of another query would be wrong: its entries stay with a notice that they are of it.
    await ask(page, "level:>=fatal");
    const previous = page.getByText("Entries of the previous query. This query has no answer yet.");
    await previous.waitFor();
    await histogram.waitFor({ state: "detached" });
    expect(await counted(page, "100 loaded").count()).toBe(0);
    // Another project's entries do not stay.
    await choose(page.getByRole("combobox", { name: "Project" }), "All projects");
    await page.getByRole("list", { name: "Log entries" }).waitFor({ state: "detached" });
    await page.goBack();
    await previous.waitFor();
    await context.unroute("**/logger/*");
    await page.getByRole("button", { name: "Clear query" }).click();
    await counted(page, "100 loaded").waitFor();
    await expect.poll(() => alert.count()).toBe(0);
  });

  it("of an unknown workspace or project show that it was not found", async () => {
    await page.goto("/w/nope");
    await page.getByRole("heading", { name: "Workspace not found" }).waitFor();
    await page.goto(`/w/${large.account.workspaceId}/p/nope`);
    await page.getByRole("heading", { name: "Project not found" }).waitFor();
    expect(await page.getByRole("button", { name: "Refresh" }).count()).toBe(0);
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("link", { name: "All projects" }).click();
    await counted(page, "100 loaded").waitFor();
  });

  it("of a deleted project show that it was not found", async () => {
    const own = await createTenant(console.server.url);
    await send(console.server.url, own, [{ message: "one" }]);
    const other = await (await console.open({ as: own.account })).newPage();
    await other.goto(explorerPath(own));
    await counted(other, "1 entry").waitFor();
    await call(console.server.url, `/projects/${own.projectId}`, { method: "DELETE", ...asUser(own.account) });
    await other.getByRole("button", { name: "Refresh" }).click();
    await other.getByRole("heading", { name: "Project not found" }).waitFor();
    await other.context().close();
  });

  it("aborts superseded requests", async () => {
    await page.goto(explorerPath(large));
    await counted(page, "100 loaded").waitFor();
    let held: Route | null = null;
    await context.route("**/logger/query", async (route) => {
      if (queryIn(route.request()).q === "level:>=fatal") held = route;
      else await route.continue();
    });
    const dropped = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/logger/query"));
    await ask(page, "level:>=fatal");
    await counted(page, "Searching").waitFor();
    await page.getByRole("button", { name: "Clear query" }).click();
    await dropped;
    await counted(page, "100 loaded").waitFor();
    expect(held).not.toBeNull();
  });
});

describe("an empty workspace", () => {
  it("7: leads to the first project and notices its first entry", async () => {
    const account = await register(console.server.url);
    const own = await console.open({ as: account });
    const other = await own.newPage();
    let asked = 0;
    other.on("request", (request) => {
      if (new URL(request.url()).pathname.startsWith("/logger/")) asked++;
    });
    await other.goto(`/w/${account.workspaceId}`);
    const link = other.getByRole("link", { name: "Create project" });
    expect(await link.getAttribute("href")).toBe(`/w/${account.workspaceId}/settings/projects`);
    expect(asked).toBe(0);
    const other2 = await own.newPage();
    await other2.goto(`/w/${account.workspaceId}`);
    await other2.getByRole("link", { name: "Create project" }).waitFor();
    const projectId = await createProject(console.server.url, account, "first");
    await other.goto(`/w/${account.workspaceId}/p/${projectId}`);
    await other.getByRole("heading", { name: "No entries yet" }).waitFor();
    // The page of the workspace notices the first project, too.
    await other2.getByText(`/logger/${projectId}/log'`).waitFor();
    await other.getByText(`/logger/${projectId}/log'`).waitFor();
    expect(await axeFaults(other)).toEqual([]);
    const key = await call<{ secret: string }>(console.server.url, `/projects/${projectId}/keys`, {
      ...asUser(account),
      body: { name: "k", scopes: ["logs:write"] },
    });
    await call(console.server.url, `/logger/${projectId}/log`, {
      token: key.body.data.secret,
      body: { message: "the first" },
    });
    // 7: without a click.
    await rows(other).first().getByText("the first").waitFor();
    await rows(other2).first().getByText("the first").waitFor();
    await own.close();
  });

  it("offers next steps if nothing matches", async () => {
    await page.goto(explorerPath(large, "?session=nobody&range=15m"));
    await page.getByRole("heading", { name: "No matching entries" }).waitFor();
    await page.getByRole("button", { name: "Clear query" }).first().click();
    await page.waitForURL((url) => url.search === "?range=15m");
    await page.getByRole("button", { name: "Search all time" }).click();
    await counted(page, "100 loaded").waitFor();
    await page.goto(explorerPath(large, "?q=level:eror&range=all"));
    // Only the query box says what is wrong: nothing was requested, and trying again cannot help.
    const alert = page.getByRole("alert");
    await alert.getByText("Unknown level").waitFor();
    expect([await alert.count(), await page.getByRole("button", { name: "Try again" }).count()]).toEqual([1, 0]);
    expect(await axeFaults(page)).toEqual([]);
    await alert.getByRole("button", { name: "error" }).click();
    await page.waitForURL((url) => url.search === "?q=level%3Aerror&range=all");
    await page.goto(explorerPath(large, "?q=-other+no-such-word&range=all"));
    await page.getByRole("list", { name: "Suggestions" }).getByRole("link", { name: "no-such-word" }).click();
    await page.waitForURL((url) => url.search === "?q=-other&range=all");
  });

  it("contacts no other origin and violates no content security policy", () => {
    expect(console.faults()).toEqual([]);
  });
});

async function setLimits({ account }: Tenant, body: object): Promise<void> {
  const path = `/workspaces/${account.workspaceId}/rate-limits`;
  const answer = await call(console.server.url, path, { ...asUser(account), method: "PUT", body });
  expect(answer.status).toBe(200);
}

function refusal(status: number, code: string, retryAfter: string) {
  const body = { success: false, data: null, error: { code, message: `Refused with ${status}.` }, meta: {} };
  const headers = {
    "Retry-After": retryAfter,
    "X-RateLimit-Limit": "3",
    "X-RateLimit-Remaining": "0",
    "X-RateLimit-Reset": "0",
  };
  return { status, headers, contentType: "application/json", body: JSON.stringify(body) };
}
