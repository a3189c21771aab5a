import { type Browser, chromium } from "playwright-core";
import { findChromium, installChromium } from "../../scripts/lib/chromium.ts";

/** Before any of the files that start one, which run side by side. */
export default function setup(): void {
  installChromium();
}

/** Without a Chromium the tests fail: what they show is shown nowhere else. */
export async function startChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) {
    throw new Error("There is no Chromium, and none could be installed: CHROMIUM=/path names one.");
  }
  // Where there is no graphics card, a process that plays one takes a fifth of the browser's time.
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });
}
