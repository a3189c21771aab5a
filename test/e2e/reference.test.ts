import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { choose } from "./support/choose.ts";
import { axeFaults, type ConsoleUnderTest, startSharedConsole } from "./support/console.ts";

let console: ConsoleUnderTest;
/** One page for all tests, which continue where the one before them ended. */
let page: Page;

beforeAll(async () => {
  console = await startSharedConsole();
  page = await openReference();
  for (const tag of ["Accounts", "Logs", "Limits", "Operations"]) {
    await page.locator(".opblock-tag", { hasText: tag }).getByRole("button").click();
  }
});

afterAll(() => console?.close());

async function openReference(hash = ""): Promise<Page> {
  const context = await console.open();
  const opened = await context.newPage();
  await opened.goto(`/docs${hash}`);
  await opened.locator(".opblock-tag").first().waitFor();
  return opened;
}

/** The first operation of a path. */
function operationOf(path: string): Locator {
  return page
    .locator(".opblock")
    .filter({ has: page.locator(`[data-path="${path}"]`) })
    .first();
}

/** Opens the first operation of a path. */
async function openOperation(path: string): Promise<Locator> {
  const operation = operationOf(path);
  await operation.locator("button.opblock-summary-control").click();
  await operation.locator(".responses-table").first().waitFor();
  return operation;
}

/** Opens the form of an open operation. */
async function openForm(operation: Locator): Promise<void> {
  await operation.getByRole("button", { name: "Try it" }).click();
}

/** Pixels between the header, which stays while the page scrolls, and a part of the page. */
async function topBelowHeader(opened: Page, part: Locator): Promise<number> {
  const header = await opened.locator("header").first().boundingBox();
  const box = await part.boundingBox();
  return Math.round((box?.y ?? 0) - (header?.y ?? 0) - (header?.height ?? 0));
}

/** Parts of the page that are checked by themselves, because a check of the whole page takes seconds. */
const OPEN_OPERATIONS = ".opblock.is-open";
const DIALOG = "[role=dialog]";

describe("the API reference", () => {
  it("has no axe violations as it opens", async () => {
    expect(await axeFaults(page)).toEqual([]);
  });

  it("has no axe violations in open operations and in a response", async () => {
    // With a body of several media types, with parameters only, and with nested members. Opening one takes seconds.
    const paths = ["/logger/{projectId}/log", "/logger/{projectId}/tail", "/workspaces/{workspaceId}/rate-limits"];
    for (const path of paths) await openOperation(path);
    const operation = await openOperation("/health");
    await openForm(operationOf("/logger/{projectId}/tail"));
    await openForm(operation);
    await operation.getByRole("button", { name: "Execute" }).click();
    await operation.locator(".live-responses-table").waitFor();
    expect(await page.locator(OPEN_OPERATIONS).count()).toBe(4);
    expect(await axeFaults(page, OPEN_OPERATIONS)).toEqual([]);
  });

  it("has no axe violations in the dialog of credentials, before and after they are given", async () => {
    await page.locator("button.authorize").first().click();
    const dialog = page.getByRole("dialog", { name: "Credentials" });
    await dialog.waitFor();
    const schemes = await dialog.locator("h4 code").allInnerTexts();
    expect(schemes, "no OAuth 2, for which this page is no client").toEqual(["accessToken", "apiKey", "operatorToken"]);
    expect(await axeFaults(page, DIALOG)).toEqual([]);
    await dialog.locator("input").first().fill("something");
    await dialog.getByRole("button", { name: "Authorize" }).first().click();
    await dialog.getByRole("button", { name: "Logout" }).waitFor();
    // The button changes its colour within 300 ms, with too little contrast meanwhile.
    await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => null))));
    expect(await axeFaults(page, DIALOG)).toEqual([]);
    await dialog.getByRole("button", { name: "Close" }).last().click();
    await dialog.waitFor({ state: "hidden" });
  });

  it("14: Execute sends the example of the document, of either media type", async () => {
    const operation = await openOperation("/auth/magic-link");
    await openForm(operation);
    await operation.getByRole("button", { name: "Execute" }).click();
    const answer = operation.locator(".live-responses-table");
    await answer.getByText("200", { exact: true }).first().waitFor();
    const ingest = operationOf("/logger/{projectId}/log");
    await openForm(ingest);
    expect(await ingest.locator('tr[data-param-name="projectId"] input').inputValue()).toMatch(/^proj_\w{12}$/);
    await ingest.locator(".body-param__text").waitFor();
    expect(JSON.parse(await ingest.locator(".body-param__text").inputValue())).toHaveLength(2);
    await choose(ingest.getByRole("combobox", { name: "Request content type" }), "application/x-ndjson");
    await ingest.getByRole("combobox", { name: "Request content type" }).getByText("application/x-ndjson").waitFor();
    const lines = (await ingest.locator(".body-param__text").inputValue()).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).message)).toHaveLength(2);
  });

  it("shows the code of each error in its example", async () => {
    const text = await operationOf("/logger/{projectId}/log").textContent();
    for (const code of ["PAYLOAD_TOO_LARGE", "IDEMPOTENCY_CONFLICT", "INSUFFICIENT_SCOPE"]) {
      expect(text).toContain(`"code": "${code}"`);
    }
  });

  it("puts the opened operation into the address", async () => {
    await openOperation("/auth/login");
    const { hash } = new URL(page.url());
    expect(hash).toContain("auth.login");
    const again = await openReference(hash);
    await again.locator(OPEN_OPERATIONS).filter({ hasText: "/auth/login" }).waitFor();
    await again.context().close();
  });

  it("has selects of the console, and plain text where there is one choice", async () => {
    const minLevel = operationOf("/logger/{projectId}/tail").getByRole("combobox", { name: "minLevel" });
    await minLevel.click();
    const list = page.getByRole("listbox");
    await list.waitFor();
    // Not at another control of the console with the same id.
    await expect.poll(async () => (await list.boundingBox())?.x).toBe((await minLevel.boundingBox())?.x);
    await page.keyboard.press("Escape");
    await list.waitFor({ state: "hidden" });
    await choose(minLevel, "warn");
    await minLevel.getByText("warn").waitFor();
    expect(await page.locator(".servers").innerText()).toBe(console.server.url);
    expect(await page.locator("select").count()).toBe(0);
  });

  it("keeps the operation in the address when its form is opened and closed", async () => {
    const operation = await openOperation("/auth/refresh");
    const { hash } = new URL(page.url());
    const length = await page.evaluate(() => history.length);
    await openForm(operation);
    await operation.getByRole("button", { name: "Close form" }).click();
    expect([new URL(page.url()).hash, await page.evaluate(() => history.length)]).toEqual([hash, length]);
  });

  it("is a page of the console, which a link leaves without a load", async () => {
    await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
    await page.getByRole("link", { name: "Taffrail" }).click();
    await page.getByRole("heading", { name: "Structured logs", level: 1 }).waitFor();
    await page.locator("main:focus").waitFor();
    expect(await page.evaluate(() => "isSamePage" in globalThis)).toBe(true);
    await page.getByRole("link", { name: "API", exact: true }).click();
    await page.locator("main:focus .opblock-tag").first().waitFor();
    expect(await page.title()).toContain("API reference");
  });

  describe("its contents", () => {
    it("have a filter that / focuses, open an operation below the header and mark it", async () => {
      const opened = await (await console.open()).newPage();
      const arrived = Promise.withResolvers<void>();
      await opened.route("**/docs/swagger-ui-bundle.js", async (route) => {
        await arrived.promise;
        await route.continue();
      });
      await opened.goto("/docs");
      const contents = opened.getByRole("navigation", { name: "Contents" });
      // The filter takes the keys before the reference is there.
      await contents.getByRole("searchbox", { name: "Filter operations" }).waitFor();
      await opened.keyboard.press("/");
      await opened.keyboard.type("post logger/query");
      arrived.resolve();
      await contents.getByRole("status").getByText("1 operation", { exact: true }).waitFor({ state: "attached" });
      await contents.getByRole("link", { name: /Query log entries/ }).focus();
      await opened.keyboard.press("Enter");
      const operation = opened.locator(OPEN_OPERATIONS).filter({ hasText: "/logger/query" });
      await operation.locator("button.opblock-summary-control:focus").waitFor();
      await operation.locator(".responses-table").waitFor();
      await contents.locator("[aria-current=location]", { hasText: "Query log entries" }).waitFor();
      expect(new URL(opened.url()).hash).toBe("#/Logs/workspace.query");
      expect(await topBelowHeader(opened, operation)).toBe(12);

      await opened.keyboard.press("/");
      await opened.keyboard.press("Escape");
      await contents.getByRole("link", { name: /^Members/ }).click();
      await contents.locator("[aria-current=location]", { hasText: "Members" }).waitFor();
      await opened.locator(".opblock", { hasText: "/members" }).first().waitFor();
      await opened.goBack();
      await contents.locator("[aria-current=location]", { hasText: "Query log entries" }).waitFor();
      expect(await axeFaults(opened, "nav[aria-label=Contents]")).toEqual([]);
      await opened.context().close();
    });

    it("mark the group or operation that is scrolled to", async () => {
      const opened = await openReference("#/Loki");
      const current = opened.getByRole("navigation", { name: "Contents" }).locator("[aria-current=location]");
      await current.getByText("Loki", { exact: true }).waitFor();
      // The form of a mouse's wheel, which ends the scroll to what the address names.
      await opened.mouse.move(800, 400);
      await opened.mouse.wheel(0, -100_000);
      await current.waitFor({ state: "hidden" });
      await opened.locator(".opblock-tag[data-tag=Sandbox]").evaluate((group) => group.scrollIntoView());
      await current.getByText("Sandbox", { exact: true }).waitFor();
      await opened.context().close();
    });

    it("open by a button in a narrow window, whose page is not wider than it", async () => {
      const context = await console.open({ viewport: { width: 360, height: 740 }, colorScheme: "dark" });
      const opened = await context.newPage();
      await opened.goto("/docs");
      const contents = opened.getByRole("navigation", { name: "Contents" });
      await contents.getByRole("button", { name: "Contents" }).click();
      expect(await axeFaults(opened, "nav[aria-label=Contents]")).toEqual([]);
      await contents.getByRole("link", { name: /^Search/ }).click();
      await contents.getByRole("link", { name: /Parse a query/ }).click();
      const operation = opened.locator(OPEN_OPERATIONS);
      await operation.locator(".responses-table").waitFor();
      await contents.getByRole("link").first().waitFor({ state: "hidden" });
      await contents.getByRole("button", { name: /Parse a query/ }).waitFor();
      expect(await opened.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
      expect(await opened.getByRole("link", { name: "Taffrail" }).isVisible()).toBe(true);
      expect(await axeFaults(opened, OPEN_OPERATIONS)).toEqual([]);
      await context.close();
    });
  });

  it("contacts no other origin and violates no content security policy", () => {
    expect(console.faults()).toEqual([]);
  });
});
