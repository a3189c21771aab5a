import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anotherProject, createTenant, type Tenant } from "../support/api.ts";
import { type ConsoleUnderTest, startSharedConsole } from "./support/console.ts";
import { logsOf, row, rows, send } from "./support/explorer.ts";

let console: ConsoleUnderTest;
/** Tenant of the account whose projects the tests show. */
let first: Tenant;

beforeAll(async () => {
  console = await startSharedConsole();
  first = await createTenant(console.server.url);
});

afterAll(() => console?.close());

/** A list longer than the window. */
async function opened(more = ""): Promise<{ tenant: Tenant; page: Page }> {
  const tenant = await anotherProject(console.server.url, first);
  await send(console.server.url, tenant, 60, (index) => ({ message: `old ${index}.` }));
  const page = await console.reuse({ as: tenant.account, viewport: { width: 1280, height: 800 } });
  await page.goto(logsOf(tenant, more));
  await row(page, "old 59.").waitFor();
  return { tenant, page };
}

function sendOne(tenant: Tenant, message: string): Promise<unknown> {
  return send(console.server.url, tenant, 1, () => ({ message }));
}

/** Waits until the first row is visible. */
async function isOnTop(page: Page, message: string): Promise<void> {
  await page.locator("[data-index='0']").filter({ hasText: message }).waitFor({ timeout: 15_000 });
  await page.waitForTimeout(300);
  expect(await page.locator("[data-list]").evaluate((list) => list.scrollTop)).toBe(0);
}

describe("a list at its top", () => {
  it("stays there on a refresh, so that new entries are visible", async () => {
    const { tenant, page } = await opened();
    await sendOne(tenant, "new by button");
    await page.getByRole("button", { name: "Refresh" }).click();
    await isOnTop(page, "new by button");
    await sendOne(tenant, "new by key");
    await page.keyboard.press("r");
    await isOnTop(page, "new by key");
  });

  it("stays there after an outage", async () => {
    const { tenant, page } = await opened();
    await page.route("**/logger/query", (route) => route.abort());
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByRole("alert").waitFor();
    await sendOne(tenant, "new behind the outage");
    await page.unroute("**/logger/query");
    await isOnTop(page, "new behind the outage");
  });

  it("elsewhere keeps the visible rows in place and counts new entries above them", async () => {
    const { tenant, page } = await opened();
    await row(page, "old 59.").click();
    const details = page.getByRole("region", { name: "Details of entry 60" });
    await details.waitFor();
    // The list moves while the histogram above it is drawn.
    const place = (): Promise<number> =>
      details.evaluate(
        (element) =>
          element.getBoundingClientRect().top -
          (element.closest("[data-list]")?.getBoundingClientRect().top ?? Number.NaN),
      );
    const before = await place();
    await sendOne(tenant, "new above");
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByRole("button", { name: "1 new" }).waitFor();
    expect(await place()).toBeCloseTo(before, 0);
    await page.getByRole("button", { name: "1 new" }).click();
    await row(page, "new above").waitFor();
  });
});

describe("the search box", () => {
  it("repeats the same search with the button and with Enter", async () => {
    const { tenant, page } = await opened("&q=old");
    const box = page.getByRole("textbox", { name: "Search", exact: true });
    await sendOne(tenant, "old, but sent later");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await row(page, "old, but sent later").waitFor();
    await sendOne(tenant, "old, but the last");
    await box.press("Enter");
    await row(page, "old, but the last").waitFor();
    await box.fill("");
    await expect.poll(() => new URL(page.url()).searchParams.has("q")).toBe(false);
    await rows(page).first().waitFor();
    await sendOne(tenant, "anything");
    await box.press("Enter");
    await row(page, "anything").waitFor();
  });

  it.each([1024, 1280, 1440])("shows its whole placeholder at %i pixels", async (width) => {
    const { page } = await opened();
    await page.setViewportSize({ width, height: 800 });
    const room = await page.getByRole("textbox", { name: "Search", exact: true }).evaluate((box) => {
      if (!(box instanceof HTMLTextAreaElement)) throw new Error("It is no field.");
      const style = getComputedStyle(box);
      const canvas = document.createElement("canvas").getContext("2d");
      if (canvas === null) throw new Error("There is no canvas.");
      canvas.font = style.font;
      const inner = box.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
      return inner - canvas.measureText(box.placeholder).width;
    });
    expect(room).toBeGreaterThanOrEqual(0);
  });
});

it("violates no content security policy", () => {
  expect(console.faults()).toEqual([]);
});
