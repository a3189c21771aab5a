import type { Browser } from "playwright-core";
import type { Tenant } from "../../test/support/api.ts";
import { logsOf, signedIn } from "./world.ts";

/** How the explorer is opened. */
const WAYS = ["empty cache", "warm cache", "empty cache, 400 kbit/s with 400 ms"] as const;
const SLOW = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };

export interface FirstViewFigures {
  way: (typeof WAYS)[number];
  /** Milliseconds from the start of the navigation, one for each run, sorted. */
  rows: number[];
  interactive: number[];
  /** Milliseconds from a key press to the frame that shows its effect. */
  key: number[];
}

interface Seen {
  rows: number;
  interactive: number;
  key: number;
}

/** Opens the explorer repeatedly: with an empty cache, with cached files, and over a slow connection. */
export async function benchFirstView(
  browser: Browser,
  url: string,
  tenant: Tenant,
  runs: number,
): Promise<FirstViewFigures[]> {
  const figures: FirstViewFigures[] = [];
  for (const way of WAYS) {
    const seen: Seen[] = [];
    let context = await signedIn(browser, url, tenant);
    if (way === "warm cache") await openOnce();
    for (let run = 0; run < runs; run++) {
      if (way !== "warm cache") {
        await context.close();
        context = await signedIn(browser, url, tenant);
      }
      seen.push(await openOnce());
    }
    await context.close();
    const sorted = (times: number[]): number[] => times.sort((a, b) => a - b);
    figures.push({
      way,
      rows: sorted(seen.map(({ rows }) => rows)),
      interactive: sorted(seen.map(({ interactive }) => interactive)),
      key: sorted(seen.map(({ key }) => key)),
    });

    async function openOnce(): Promise<Seen> {
      const page = await context.newPage();
      await page.addInitScript(watchForRows);
      if (way === "empty cache, 400 kbit/s with 400 ms") {
        const devtools = await context.newCDPSession(page);
        await devtools.send("Network.enable");
        await devtools.send("Network.emulateNetworkConditions", SLOW);
      }
      await page.goto(logsOf(tenant), { waitUntil: "commit" });
      const shown = await page.waitForFunction(() => Reflect.get(globalThis, "benchShown")?.());
      const first = await shown.jsonValue();
      await page.locator("[data-row]").first().focus();
      await page.keyboard.press("ArrowDown");
      const pressed = await page.waitForFunction(() => Reflect.get(globalThis, "benchKey"));
      const key = await pressed.jsonValue();
      await page.close();
      return { ...first, key };
    }
  }
  return figures;
}

/**
 * Runs in the page before its own scripts. Rows are visible in the first frame painted with one. The page is
 * interactive when the main thread is free after that: at the end of the last long task (over 50 ms) that was running
 * or followed within 100 ms.
 */
function watchForRows(): void {
  let rows = 0;
  let busyUntil = 0;
  let looked = 0;
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      if (rows === 0 || startTime < rows + 100) busyUntil = Math.max(busyUntil, startTime + duration);
    }
  }).observe({ type: "longtask", buffered: true });
  const look = (): void => {
    if (document.querySelector("[data-row]") === null) {
      requestAnimationFrame(look);
      return;
    }
    // A message is handled after the frame was painted.
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      rows = performance.now();
      setTimeout(() => {
        looked = performance.now();
      }, 150);
    };
    requestAnimationFrame(() => port2.postMessage(null));
  };
  requestAnimationFrame(look);
  Reflect.set(globalThis, "benchShown", () => (looked === 0 ? null : { rows, interactive: Math.max(rows, busyUntil) }));
  addEventListener(
    "keydown",
    ({ timeStamp }) => {
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => Reflect.set(globalThis, "benchKey", performance.now() - timeStamp);
        port2.postMessage(null);
      });
    },
    true,
  );
}
