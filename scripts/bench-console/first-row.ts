import { readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { ASSETS_DIR } from "../lib/paths.ts";

/** Largest size of all scripts that a page requests before the first row is in it, in bytes of gzip. */
export const FIRST_ROW_SCRIPT_BYTES = 60_000;

/**
 * Opens the explorer with an empty cache.
 * @returns size of the scripts that were requested before the first row, in bytes of gzip
 */
export async function scriptsBeforeFirstRow(page: Page, address: string): Promise<number> {
  await page.addInitScript(noteFirstRow);
  await page.goto(address);
  await page.locator("[data-row]").first().waitFor();
  const files = await page.evaluate(() => {
    const at = Number(Reflect.get(globalThis, "firstRowAt"));
    const before = performance.getEntriesByType("resource").filter(({ startTime }) => startTime < at);
    return before.map(({ name }) => new URL(name).pathname).filter((file) => file.endsWith(".js"));
  });
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(path.join(ASSETS_DIR, file))).length, 0);
}

/** Runs in the page before its own scripts. */
function noteFirstRow(): void {
  const observer = new MutationObserver(() => {
    if (document.querySelector("[data-row]") === null) return;
    Reflect.set(globalThis, "firstRowAt", performance.now());
    observer.disconnect();
  });
  observer.observe(document, { childList: true, subtree: true });
}
