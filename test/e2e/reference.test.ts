import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { axeFaults, type ConsoleUnderTest, startSharedConsole } from "./support/console.ts";

let console: ConsoleUnderTest;

beforeAll(async () => {
  console = await startSharedConsole();
});

afterAll(() => console?.close());

async function openReference(hash = ""): Promise<Page> {
  const context = await console.open();
  const page = await context.newPage();
  await page.goto(`/docs${hash}`);
  await page.locator(".opblock").first().waitFor();
  return page;
}

/** Opens the first operation of a path. */
async function openOperation(page: Page, path: string): Promise<Locator> {
  const operation = page
    .locator(".opblock")
    .filter({ has: page.locator(`[data-path="${path}"]`) })
    .first();
  await operation.locator("button.opblock-summary-control").click();
  await operation.locator(".responses-table").first().waitFor();
  return operation;
}

const STATES: { name: string; show: (page: Page) => Promise<unknown> }[] = [
  { name: "as it opens", show: async () => {} },
  {
    name: "with operations open",
    show: async (page) => {
      const paths = ["/auth/register", "/workspaces/{workspaceId}/members", "/logger/{projectId}/log"];
      for (const path of [...paths, "/logger/{projectId}/tail", "/workspaces/{workspaceId}/rate-limits"]) {
        await openOperation(page, path);
      }
    },
  },
  {
    name: "with an answer",
    show: async (page) => {
      const operation = await openOperation(page, "/health");
      await operation.getByRole("button", { name: "Execute" }).click();
      await operation.locator(".live-responses-table").waitFor();
    },
  },
  {
    name: "with the dialog of credentials, before and after they are given",
    show: async (page) => {
      await page.locator("button.authorize").first().click();
      const dialog = page.getByRole("dialog", { name: "Credentials" });
      await dialog.waitFor();
      expect(await axeFaults(page)).toEqual([]);
      await dialog.locator("input").first().fill("something");
      await dialog.getByRole("button", { name: "Authorize" }).first().click();
      await dialog.getByRole("button", { name: "Logout" }).waitFor();
    },
  },
];

describe("the API reference", () => {
  it.each(STATES)("has no axe violations, $name", async ({ show }) => {
    const page = await openReference();
    await show(page);
    expect(await axeFaults(page)).toEqual([]);
    await page.context().close();
  });

  it("14: Execute sends the example of the document, of either media type", async () => {
    const page = await openReference();
    const operation = await openOperation(page, "/auth/magic-link");
    await operation.getByRole("button", { name: "Execute" }).click();
    const answer = operation.locator(".live-responses-table");
    await answer.getByText("200", { exact: true }).first().waitFor();
    const ingest = await openOperation(page, "/logger/{projectId}/log");
    expect(await ingest.locator('tr[data-param-name="projectId"] input').inputValue()).toMatch(/^proj_\w{12}$/);
    await ingest.locator(".body-param__text").waitFor();
    expect(JSON.parse(await ingest.locator(".body-param__text").inputValue())).toHaveLength(2);
    await ingest.getByRole("combobox", { name: "Request content type" }).selectOption("application/x-ndjson");
    const lines = (await ingest.locator(".body-param__text").inputValue()).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).message)).toHaveLength(2);
    await page.context().close();
  });

  it("links back to the console", async () => {
    const page = await openReference();
    await page.getByRole("link", { name: "Taffrail console" }).click();
    await page.getByRole("heading", { name: "Taffrail", level: 1 }).waitFor();
    await page.context().close();
  });

  it("puts the opened operation into the address", async () => {
    const page = await openReference();
    await openOperation(page, "/auth/login");
    const { hash } = new URL(page.url());
    expect(hash).toContain("auth.login");
    await page.context().close();
    const again = await openReference(hash);
    await again.locator(".opblock.is-open").filter({ hasText: "/auth/login" }).waitFor();
    await again.context().close();
  });

  it("contacts no other origin and violates no content security policy", () => {
    expect(console.faults()).toEqual([]);
  });
});
