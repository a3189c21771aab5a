import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { call, type FoundLogs } from "../support/api.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { type OwnConsole, startConsole } from "./support/console.ts";
import { freshAddress, live, openPanel, row, sandboxOf } from "./support/playground.ts";

let under: OwnConsole;
let server: TestServer;

beforeAll(async () => {
  under = await startConsole();
  server = under.server;
});

afterAll(async () => {
  await under?.close();
  await server?.stop();
});

/** Resets the sandbox by a start with another pepper, from which its key is derived. */
async function reset(pepper: string): Promise<void> {
  await server.stop();
  const { port, dataDir } = server;
  const REFRESH_PEPPER = pepper.padEnd(32, "-");
  server = await startServer({ env: { PORT: String(port), DATA_DIR: dataDir, REFRESH_PEPPER } });
}

it("continues with the new key after a reset of the sandbox and reports it", async () => {
  const opened = async () => {
    const context = await under.open({ extraHTTPHeaders: { "X-Forwarded-For": freshAddress() } });
    return openPanel(await context.newPage());
  };
  const [page, idle] = [await opened(), await opened()];
  await Promise.all([live(page), live(idle)]);
  const showsKey = async (of: Page): Promise<void> => {
    const shown = of.getByRole("dialog", { name: "Key and limits" }).locator("code").first();
    await expect.poll(() => shown.textContent()).toBe((await sandboxOf(server.url)).apiKey);
  };
  await sendMessage(page, "before the reset");
  await row(page, "before the reset").waitFor();
  await page.getByRole("button", { name: "Key and limits" }).click();
  await reset("second");

  // Live: the end of the tail reveals the reset.
  await page.getByText("The sandbox was reset").waitFor();
  await showsKey(page);
  await live(page);
  await sendMessage(page, "after the reset");
  await row(page, "after the reset").waitFor();
  expect(await page.locator("[data-row]").filter({ hasText: "before the reset" }).count()).toBe(0);

  // Stopped: the refused request reveals the reset.
  await page.getByRole("button", { name: "Stop following" }).click();
  await reset("third");
  await sendMessage(page, "after another");
  await expect.poll(() => stored("after another")).toBe(1);

  // As an application: the server always uses the current key.
  await idle.getByText("The sandbox was reset").waitFor();
  await reconnect(idle);
  await idle.getByRole("button", { name: "Key and limits" }).click();
  await showsKey(idle);
  await live(idle);
  await idle.keyboard.press("Escape");
  await idle.getByRole("tab", { name: "Application" }).click();
  await idle.getByRole("button", { name: "Search for rope" }).click();
  await idle.getByRole("button", { name: "Send now" }).click();
  await row(idle, "GET /search?q=rope").waitFor();
  expect(under.faults()).toEqual([]);
});

/** Pages ask again at once, and not after up to 15 s, which tests of outages wait for. */
async function reconnect(...pages: Page[]): Promise<void> {
  await Promise.all(pages.map((page) => page.evaluate(() => dispatchEvent(new Event("online")))));
}

/** Number of entries with a message in the current sandbox. */
async function stored(search: string): Promise<number> {
  const { apiKey } = await sandboxOf(server.url);
  const found = await call<FoundLogs>(server.url, "/logger/query", { token: apiKey, body: { filters: { search } } });
  return found.body.data.logs.length;
}

async function sendMessage(page: Page, message: string): Promise<void> {
  await page.getByLabel("Message").fill(message);
  await page.getByRole("button", { name: "Send entry" }).click();
}
