import type { Browser, Page } from "playwright-core";
import type { Tenant } from "../../test/support/api.ts";
import { type TracedTasks, traced } from "./trace.ts";
import { logsOf, signedIn } from "./world.ts";

/** Rows of one response: the API's maximum, so that loading all of them takes seconds. The page requests fewer. */
const PAGE = 1000;

export interface ScrollFigures extends TracedTasks {
  way: string;
  rows: number;
  frames: number;
  /** Maximum milliseconds between two frames. */
  longestGap: number;
}

/** Scroll speeds, in pixels a frame. */
const WAYS = [
  // A list of 100,000 rows is 3.2 million pixels high: from end to end in some 600 frames, with new rows in each.
  { name: "top to bottom, 5,000 px a frame", step: 5000, frames: Number.POSITIVE_INFINITY },
  { name: "as fast as a hand, 400 px a frame", step: 400, frames: 600 },
] as const;

/** Loads all rows into the explorer's list and scrolls through it with a trace. */
export async function benchScroll(
  browser: Browser,
  url: string,
  tenant: Tenant,
  count: number,
): Promise<ScrollFigures[]> {
  const context = await signedIn(browser, url, tenant);
  const page = await context.newPage();
  await page.route("**/logger/query", (route) => {
    const { pagination, ...asked } = route.request().postDataJSON();
    return route.continue({ postData: JSON.stringify({ ...asked, pagination: { ...pagination, limit: PAGE } }) });
  });
  await page.goto(logsOf(tenant));
  await page.locator("[data-row]").first().waitFor();
  await loadAll(page, count);
  const figures: ScrollFigures[] = [];
  for (const { name, step, frames } of WAYS) {
    const [seen, tasks] = await traced(browser, page, () =>
      page.evaluate(scrollThrough, { step, frames: Number.isFinite(frames) ? frames : Number.MAX_SAFE_INTEGER }),
    );
    figures.push({ way: name, rows: count, ...seen, ...tasks });
  }
  await context.close();
  return figures;
}

/** Scrolls to the end of the list until the page states the total number. */
async function loadAll(page: Page, count: number): Promise<void> {
  await page.evaluate(async (count) => {
    const list = document.querySelector("[data-list]");
    const deadline = performance.now() + 240_000;
    for (;;) {
      list?.scrollTo({ top: list.scrollHeight });
      await new Promise((resolve) => setTimeout(resolve, 20));
      const size = Number(document.querySelector("[data-index]")?.getAttribute("aria-setsize"));
      if (size === count) return;
      if (performance.now() > deadline) throw new Error(`the list has not come to ${count} rows`);
    }
  }, count);
}

/** Runs in the page: scrolls in every frame, and records the time between frames. */
async function scrollThrough(way: { step: number; frames: number }): Promise<{ frames: number; longestGap: number }> {
  const list = document.querySelector("[data-list]");
  if (list === null) throw new Error("there is no list");
  const nextFrame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
  list.scrollTop = 0;
  for (let frame = 0; frame < 10; frame++) await nextFrame();
  let before = await nextFrame();
  let frames = 0;
  let longestGap = 0;
  while (frames < way.frames && list.scrollTop + list.clientHeight < list.scrollHeight - 1) {
    list.scrollTop += way.step;
    const now = await nextFrame();
    longestGap = Math.max(longestGap, now - before);
    before = now;
    frames++;
  }
  return { frames, longestGap };
}
