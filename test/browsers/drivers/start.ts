import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { WebDriver } from "selenium-webdriver";
import { startFirefox } from "./firefox.ts";
import { startWebkit } from "./webkit.ts";

export interface StartedBrowser {
  driver: WebDriver;
  close(): Promise<void>;
}

const STARTS = { firefox: startFirefox, webkit: startWebkit };

export type BrowserName = keyof typeof STARTS;
export const BROWSER_NAMES = Object.keys(STARTS);
export const isBrowserName = (name: string): name is BrowserName => Object.hasOwn(STARTS, name);

/** A browser with a new profile. */
export interface BrowserUnderTest extends StartedBrowser {
  /** The directory in which it stores downloads. */
  downloads: string;
}

export async function startBrowser(name: BrowserName): Promise<BrowserUnderTest> {
  const home = mkdtempSync(path.join(tmpdir(), `taffrail-${name}-`));
  const downloads = path.join(home, "downloads");
  const started = await STARTS[name](home, downloads);
  const close = async (): Promise<void> => {
    await started.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  return { ...started, downloads, close };
}
