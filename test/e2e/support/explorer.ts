import type { Locator, Page } from "playwright-core";
import { call, type Tenant } from "../../support/api.ts";

/** Entries of one request. */
const BATCH = 500;

interface Sent {
  firstSeq: number;
  lastSeq: number;
}

/** Stores `count` entries, each made from its number. */
export async function send(
  url: string,
  { projectId, key }: Tenant,
  count: number,
  make: (index: number) => object,
): Promise<Sent> {
  const sent: Sent = { firstSeq: 0, lastSeq: 0 };
  for (let at = 0; at < count; at += BATCH) {
    const body = Array.from({ length: Math.min(BATCH, count - at) }, (_, index) => make(at + index));
    const answer = await call<Sent>(url, `/logger/${projectId}/log`, { token: key.secret, body });
    if (answer.status !== 201) throw new Error(`entries were refused: ${JSON.stringify(answer.body)}`);
    if (at === 0) sent.firstSeq = answer.body.data.firstSeq;
    sent.lastSeq = answer.body.data.lastSeq;
  }
  return sent;
}

/** The address of all entries of a project. */
export function logsOf({ account, projectId }: Tenant, more = ""): string {
  return `/w/${account.workspaceId}/p/${projectId}?range=all${more}`;
}

/** The rows that are in the page. */
export function rows(page: Page | Locator): Locator {
  return page.locator("[data-row]");
}

export function row(page: Page | Locator, text: string): Locator {
  return rows(page).filter({ hasText: text });
}

/** The messages of all rows, by scrolling through the list from the top; fewer steps in a high window. */
export async function allMessages(page: Page): Promise<string[]> {
  await page.setViewportSize({ width: 1280, height: 2400 });
  return page.evaluate(async () => {
    const scroller = document.querySelector("[data-list]");
    if (scroller === null) return [];
    const found = new Map<number, string>();
    const frame = (): Promise<unknown> => new Promise((resolve) => requestAnimationFrame(resolve));
    scroller.scrollTop = 0;
    for (;;) {
      await frame();
      await frame();
      for (const item of scroller.querySelectorAll("[data-index]")) {
        found.set(Number(item.getAttribute("data-index")), item.querySelector("[data-message]")?.textContent ?? "");
      }
      // The list has its size only once all pages are loaded.
      const isWhole = scroller.querySelector("[aria-setsize='-1']") === null;
      if (isWhole && scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 1) break;
      scroller.scrollTop += scroller.clientHeight;
    }
    return [...found].sort(([a], [b]) => a - b).map(([, message]) => message);
  });
}

/** A value in the list of fields; the field must be open. */
export function fieldValue(page: Page, field: string, value: string, count?: number): Locator {
  const name = new RegExp(`^${value}\\s*${count ?? "\\d+"}$`);
  return page.getByRole("list", { name: `Values of ${field}` }).getByRole("button", { name });
}

/** Opens a field in the list of fields, unless it is open. */
export async function openField(page: Page, field: string): Promise<void> {
  const button = page
    .getByRole("complementary", { name: "Fields" })
    .locator("button[aria-expanded]")
    .filter({
      has: page.getByText(field, { exact: true }),
    });
  await button.waitFor();
  if ((await button.getAttribute("aria-expanded")) === "false") await button.click();
}

/** Types a query and asks it. */
export async function ask(page: Page, query: string): Promise<void> {
  const box = page.getByRole("textbox", { name: "Search", exact: true });
  await box.fill(query);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Enter");
}
