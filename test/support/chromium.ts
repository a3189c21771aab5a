import { type Browser, chromium } from "playwright-core";
import { findChromium, installChromium } from "../../scripts/lib/chromium.ts";

/** Runs before all test files that start a browser, because those run in parallel. */
export default function setup(): void {
  installChromium();
}

/**
 * Features that Playwright turns off (its `chromiumSwitches.ts`), without those of Windows and Edge. Chromium obeys only
 * the last switch of a name, so the switch below repeats them.
 */
const OFF_FOR_PLAYWRIGHT = [
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "LensOverlay",
  "MediaRouter",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "OptimizationHints",
  "NetworkTimeServiceQuerying",
  "AimEnabled",
  "PreconnectToSearch",
];
const OFF_FOR_SPEED = [
  // The suggestions of the address bar, which a Chromium with windows prepares in two separate pages for each context:
  // half of the processor time of a test.
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  // A process per site: each new page starts one for its blank page and one for its address.
  "IsolateOrigins",
  "site-per-process",
];

const ARGS = [
  "--no-sandbox",
  "--disable-site-isolation-trials",
  "--disable-dev-shm-usage",
  // Without a graphics card, a process that emulates one takes a fifth of the browser's time.
  "--disable-gpu",
  `--disable-features=${[...OFF_FOR_PLAYWRIGHT, ...OFF_FOR_SPEED].join(",")}`,
];

/** Tests fail without Chromium, because no other test covers what they do. */
export async function startChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) {
    throw new Error("Chromium is missing and could not be installed. Set CHROMIUM to its path.");
  }
  return chromium.launch({ executablePath, args: ARGS });
}
