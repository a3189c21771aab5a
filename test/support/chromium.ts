import { type Browser, chromium } from "playwright-core";
import { findChromium, installChromium } from "../../scripts/lib/chromium.ts";

/** Runs before all test files that start a browser, because those run in parallel. */
export default function setup(): void {
  installChromium();
}

/** Tests fail without Chromium, because no other test covers what they do. */
export async function startChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) {
    throw new Error("There is no Chromium, and none could be installed: CHROMIUM=/path names one.");
  }
  // Without a graphics card, a process that emulates one takes a fifth of the browser's time.
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });
}
