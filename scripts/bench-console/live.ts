import { setTimeout as delay } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { call, createTenant, type Tenant } from "../../test/support/api.ts";
import { type TracedTasks, traced } from "./trace.ts";
import { logsOf, signedIn } from "./world.ts";

/** Entries of a request, and requests a second: 2,000 entries/s. */
const BATCH = 200;
const REQUESTS_PER_SECOND = 10;
const SECONDS = 10;
/** Typed into the query meanwhile. */
const QUERY = "level:>=warn service:api status:>=500 ";

export interface LiveFigures extends TracedTasks {
  sent: number;
  /** Entries in the list at the end. */
  shown: number;
  frames: number;
  /** Share of the frames that came within 20 ms of the one before: of 60 frames a second. */
  onTime: number;
  longestGap: number;
  /** Milliseconds from a key press to the frame that shows its effect, sorted. */
  keys: number[];
}

/** Follows a project that gets 2,000 entries a second, while a query is typed. */
export async function benchLive(browser: Browser, url: string): Promise<LiveFigures> {
  const tenant = await createTenant(url);
  await sendBatch(url, tenant, 1, 0);
  const context = await signedIn(browser, url, tenant);
  const page = await context.newPage();
  await page.goto(`${logsOf(tenant)}&live=1`);
  await page
    .getByRole("status")
    .filter({ hasText: /^Live$/ })
    .waitFor();
  const box = page.getByRole("textbox", { name: "Search", exact: true });
  const [figures, tasks] = await traced(browser, page, async () => {
    await page.evaluate(watchFrames);
    await box.focus();
    const typing = (async () => {
      for (const key of QUERY) {
        await page.keyboard.type(key);
        await delay((SECONDS * 1000) / QUERY.length / 2);
      }
    })();
    const start = performance.now();
    for (let request = 0; request < SECONDS * REQUESTS_PER_SECOND; request++) {
      await delay(Math.max(0, start + (request * 1000) / REQUESTS_PER_SECOND - performance.now()));
      await sendBatch(url, tenant, BATCH, 1 + request * BATCH);
    }
    await typing;
    return page.evaluate(() => Reflect.get(globalThis, "benchFrames")());
  });
  const sent = 1 + SECONDS * REQUESTS_PER_SECOND * BATCH;
  const size = () => page.evaluate(() => Number(document.querySelector("[data-index]")?.getAttribute("aria-setsize")));
  const deadline = performance.now() + 10_000;
  while ((await size()) < sent && performance.now() < deadline) await delay(100);
  const shown = await size();
  await context.close();
  return { ...figures, ...tasks, sent, shown };
}

async function sendBatch(url: string, { projectId, key }: Tenant, count: number, from: number): Promise<void> {
  const body = Array.from({ length: count }, (_, index) => ({
    level: (from + index) % 7 === 0 ? "error" : "info",
    message: `GET /v1/charges/${from + index} answered after ${index % 900} ms`,
    data: { status: 200, durationMs: index % 900, user: { id: `u_${index % 50}` } },
  }));
  const { status } = await call(url, `/logger/${projectId}/log`, { token: key.secret, body });
  if (status !== 201) throw new Error(`an entry was answered with ${status}`);
}

/** Runs in the page: records the time between frames, and from each key to the frame after it. */
function watchFrames(): void {
  const gaps: number[] = [];
  const keys: number[] = [];
  let before = performance.now();
  const frame = (now: number): void => {
    gaps.push(now - before);
    before = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  addEventListener(
    "keydown",
    ({ timeStamp }) => {
      requestAnimationFrame(() => {
        // A message is handled after the frame was painted.
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => keys.push(performance.now() - timeStamp);
        port2.postMessage(null);
      });
    },
    true,
  );
  Reflect.set(globalThis, "benchFrames", () => ({
    frames: gaps.length,
    onTime: gaps.filter((gap) => gap <= 20).length / gaps.length,
    longestGap: Math.max(...gaps),
    keys: keys.sort((a, b) => a - b),
  }));
}
