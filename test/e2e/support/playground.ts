import type { Locator, Page, Request } from "playwright-core";
import { call } from "../../support/api.ts";
import type { ConsoleUnderTest, ReuseOptions } from "./console.ts";

let addresses = 0;
/** A client IP that no test has used yet: budgets are counted by client IP. */
export function freshAddress(): string {
  return `198.51.100.${++addresses}`;
}

/**
 * The playground for a visitor, with the panel to send from, in the page that tests reuse.
 * @param onRequest called with each request of the page
 */
export async function openPlayground(
  under: ConsoleUnderTest,
  options: ReuseOptions = {},
  address = freshAddress(),
  onRequest: (request: Request) => void = () => {},
): Promise<Page> {
  const page = await under.reuse({
    ...options,
    extraHTTPHeaders: { "X-Forwarded-For": address },
    permissions: ["clipboard-read", "clipboard-write"],
  });
  page.on("request", onRequest);
  return openPanel(page);
}

/** Opens the playground in a page, with the panel to send from. */
export async function openPanel(page: Page): Promise<Page> {
  await page.goto("/playground");
  await page.getByRole("button", { name: "Send entries" }).click();
  await card(page, "Response").waitFor();
  return page;
}

export interface Access {
  projectId: string;
  apiKey: string;
}

export async function sandboxOf(url: string): Promise<Access> {
  return (await call<Access>(url, "/sandbox")).body.data;
}

/** A card of the panel by its heading. */
export function card(page: Page, title: string): Locator {
  return page.locator("section").filter({ has: page.getByRole("heading", { name: title, exact: true }) });
}

/** The panel, beside the explorer or over it. */
export const panel = (page: Page): Locator => page.locator("aside, dialog").and(page.getByLabel("Send entries"));
export const answer = (page: Page): Locator => card(page, "Response");

/** The first entry in the explorer with this text. */
export function row(page: Page, text: string): Locator {
  return page.locator("[data-row]").filter({ hasText: text }).first();
}

/** Waits until the explorer follows, from which on it misses no entry. */
export async function live(page: Page): Promise<void> {
  await page
    .getByRole("status")
    .filter({ hasText: /^Live$/ })
    .waitFor();
}

export const ENTRIES = "entries";
export const READS = "searches";

/** The remaining budget that the page shows. */
export async function left(page: Page, what: typeof ENTRIES | typeof READS): Promise<number> {
  const text = await page.getByText(new RegExp(`^\\d+ of \\d+ ${what} left$`)).textContent();
  return Number.parseInt(text ?? "", 10);
}
