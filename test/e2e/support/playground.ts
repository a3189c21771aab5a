import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { call } from "../../support/api.ts";
import type { ConsoleUnderTest } from "./console.ts";

let addresses = 0;
/** A client IP that no test has used yet: budgets are counted by client IP. */
export function freshAddress(): string {
  return `198.51.100.${++addresses}`;
}

/** The playground in a new browser. */
export async function openPlayground(
  under: ConsoleUnderTest,
  options: BrowserContextOptions = {},
  address = freshAddress(),
): Promise<Page> {
  const context = await under.open({ ...options, extraHTTPHeaders: { "X-Forwarded-For": address } });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  await page.goto("/playground");
  await page.getByRole("heading", { name: "Sandbox", exact: true }).waitFor();
  return page;
}

export interface Access {
  projectId: string;
  apiKey: string;
}

export async function sandboxOf(url: string): Promise<Access> {
  return (await call<Access>(url, "/sandbox")).body.data;
}

/** A card of the page by its heading. */
export function card(page: Page, title: string): Locator {
  return page.locator("section").filter({ has: page.getByRole("heading", { name: title, exact: true }) });
}

export const answer = (page: Page): Locator => card(page, "Response");
export const feed = (page: Page): Locator => card(page, "Entries in the sandbox");

/** The first entry in the list with this text. */
export function row(page: Page, text: string): Locator {
  return feed(page).locator("[data-row]").filter({ hasText: text }).first();
}

export const ENTRIES = "Entries to send this hour";
export const READS = "Reads this hour";

/** The remaining budget that the page shows. */
export async function left(page: Page, label: typeof ENTRIES | typeof READS): Promise<number> {
  return Number(await page.getByRole("meter", { name: label }).getAttribute("value"));
}
