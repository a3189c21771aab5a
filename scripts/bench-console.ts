/**
 * `npm run bench:console`: measures the console's speed in a real Chromium on a real server on this machine. Opens the
 * explorer repeatedly, also over a slow connection, scrolls through 100,000 entries with a trace, and follows 2,000 entries/s
 * while a query is typed. Prints figures; exits with 1 if one misses its target. `-- --rows 20000 --runs 3` for less.
 */
import { parseArgs } from "node:util";
import { startChromium } from "../test/support/chromium.ts";
import { startServer } from "../test/support/server.ts";
import { FIRST_ROW_SCRIPT_BYTES, scriptsBeforeFirstRow } from "./bench-console/first-row.ts";
import { benchFirstView, type FirstViewFigures } from "./bench-console/first-view.ts";
import { benchLive, type LiveFigures } from "./bench-console/live.ts";
import { benchScroll, type ScrollFigures } from "./bench-console/scroll.ts";
import { logsOf, seeded, signedIn } from "./bench-console/world.ts";
import { buildAll } from "./lib/bundle.ts";
import { installChromium } from "./lib/chromium.ts";
import { exitWith } from "./lib/failure.ts";

/** Maximum milliseconds of a task of the page while the list is scrolled, or entries arrive. */
const FRAME_TARGET_MS = 50;
/** Maximum milliseconds until the first rows are painted, by how the explorer is opened; the median counts. */
const ROWS_TARGET_MS: Partial<Record<FirstViewFigures["way"], number>> = {
  "empty cache": 300,
  "empty cache, 400 kbit/s with 400 ms": 3500,
};
/** Maximum milliseconds from a key press in the query to the frame that shows it. */
const KEY_TARGET_MS = 100;

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
    const context = await signedIn(browser, server.url, tenant);
    const bytes = await scriptsBeforeFirstRow(await context.newPage(), logsOf(tenant));
    await context.close();
    console.log(`Scripts before the first row: ${bytes.toLocaleString("en")} bytes (gzip)`);
    const views = await benchFirstView(browser, server.url, tenant, runs);
    for (const view of views) console.log(viewText(view));
    const live = await benchLive(browser, server.url);
    console.log(liveText(live));
    console.log(`Loading ${rows.toLocaleString("en")} rows into the list ...`);
    const scrolls = await benchScroll(browser, server.url, tenant, rows);
    for (const scroll of scrolls) console.log(scrollText(scroll));
    const verdicts: [target: string, isReached: boolean][] = [
      [`Scripts before the first row at most ${FIRST_ROW_SCRIPT_BYTES} bytes`, bytes <= FIRST_ROW_SCRIPT_BYTES],
      ...views.flatMap(({ way, rows }): [string, boolean][] => {
        const target = ROWS_TARGET_MS[way];
        return target === undefined ? [] : [[`First rows within ${target} ms, ${way}`, median(rows) <= target]];
      }),
      ["Live: nothing lost", live.shown === live.sent],
      [`Live: no task over ${FRAME_TARGET_MS} ms`, live.longest <= FRAME_TARGET_MS],
      [`Live: each typed key shows within ${KEY_TARGET_MS} ms`, (live.keys.at(-1) ?? 0) <= KEY_TARGET_MS],
      [
        `No task over ${FRAME_TARGET_MS} ms while scrolling`,
        scrolls.every(({ longest }) => longest <= FRAME_TARGET_MS),
      ],
    ];
    for (const [target, isReached] of verdicts) console.log(`${target}: ${isReached ? "yes" : "no"}.`);
    return verdicts.every(([, isReached]) => isReached);
  } finally {
    await browser.close();
    await server.stop();
  }
}

function viewText({ way, rows, interactive, key }: FirstViewFigures): string {
  const of = (times: readonly number[]): string => `${median(times).toFixed(0)} ms (worst ${times.at(-1)?.toFixed(0)})`;
  return `Explorer, ${way}: rows after ${of(rows)}, interactive after ${of(interactive)}, a key shows after ${of(key)}`;
}

function liveText({ sent, shown, frames, onTime, longest, longestCpu, longestGap, keys }: LiveFigures): string {
  return (
    `Live at 2,000 entries/s: ${shown} of ${sent} shown, ${frames} frames, ${(onTime * 100).toFixed(1)} % on time, ` +
    `longest task ${longest.toFixed(1)} ms (${longestCpu.toFixed(1)} ms of processor), longest time between two frames ${longestGap.toFixed(1)} ms, ` +
    `a key shows after ${median(keys).toFixed(0)} ms (worst ${keys.at(-1)?.toFixed(0)})`
  );
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
