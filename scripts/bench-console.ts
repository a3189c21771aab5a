/**
 * `npm run bench:console`: measures the console's speed in a real Chromium on a real server on this machine. Opens the
 * explorer repeatedly, and scrolls through 100,000 entries with a trace. Prints figures; exits with 1 if one misses its
 * target. `-- --rows 20000 --runs 3` for less.
 */
import { parseArgs } from "node:util";
import { startChromium } from "../test/support/chromium.ts";
import { startServer } from "../test/support/server.ts";
import { benchFirstView, type FirstViewFigures } from "./bench-console/first-view.ts";
import { benchScroll, type ScrollFigures } from "./bench-console/scroll.ts";
import { seeded } from "./bench-console/world.ts";
import { buildAll } from "./lib/bundle.ts";
import { installChromium } from "./lib/chromium.ts";
import { exitWith } from "./lib/failure.ts";

/** Maximum milliseconds of a task of the page while the list is scrolled. */
const FRAME_TARGET_MS = 50;
/** Maximum milliseconds until the explorer is usable with an empty cache. */
const INTERACTIVE_TARGET_MS = 1000;

const { values } = parseArgs({
  options: { rows: { type: "string", default: "100000" }, runs: { type: "string", default: "7" } },
});
process.exitCode = (await bench(Number(values.rows), Number(values.runs)).catch(exitWith)) ? 0 : 1;

async function bench(rows: number, runs: number): Promise<boolean> {
  await buildAll();
  installChromium();
  const [server, browser] = await Promise.all([startServer(), startChromium()]);
  try {
    console.log(`Storing ${rows.toLocaleString("en")} entries ...`);
    const tenant = await seeded(server.url, rows);
    const views = await benchFirstView(browser, server.url, tenant, runs);
    for (const view of views) console.log(viewText(view));
    console.log(`Loading ${rows.toLocaleString("en")} rows into the list ...`);
    const scrolls = await benchScroll(browser, server.url, tenant, rows);
    for (const scroll of scrolls) console.log(scrollText(scroll));
    const cold = views.find(({ cache }) => cache === "empty");
    const isQuick = cold !== undefined && median(cold.interactive) <= INTERACTIVE_TARGET_MS;
    const isSmooth = scrolls.every(({ longest }) => longest <= FRAME_TARGET_MS);
    console.log(`Interactive within ${INTERACTIVE_TARGET_MS} ms: ${isQuick ? "yes" : "no"}.`);
    console.log(`No task over ${FRAME_TARGET_MS} ms while scrolling: ${isSmooth ? "yes" : "no"}.`);
    return isQuick && isSmooth;
  } finally {
    await browser.close();
    await server.stop();
  }
}

function viewText({ cache, rows, interactive, key }: FirstViewFigures): string {
  const of = (times: readonly number[]): string => `${median(times).toFixed(0)} ms (worst ${times.at(-1)?.toFixed(0)})`;
  return `Explorer, cache ${cache}: rows after ${of(rows)}, interactive after ${of(interactive)}, a key shows after ${of(key)}`;
}

function scrollText({ way, rows, frames, longest, longestCpu, longestGap }: ScrollFigures): string {
  const fixed = (time: number): string => `${time.toFixed(1)} ms`;
  return (
    `Scrolling ${rows.toLocaleString("en")} rows, ${way}, ${frames} frames: longest task ${fixed(longest)} ` +
    `(${fixed(longestCpu)} of processor), longest time between two frames ${fixed(longestGap)}`
  );
}

/** For sorted times. */
function median(times: readonly number[]): number {
  return times[Math.floor(times.length / 2)] ?? Number.NaN;
}
