import type { Browser, Page } from "playwright-core";

/** What the page's main thread did between two marks. */
export interface TracedTasks {
  /** Milliseconds of the longest task by the clock, which other work on the machine lengthens ... */
  longest: number;
  /** ... and of the processor's time, which it does not. */
  longestCpu: number;
  tasks: number;
}

/** A line of Chromium's trace; times in microseconds. */
interface TraceEvent {
  name: string;
  ph: string;
  ts: number;
  dur?: number;
  tdur?: number;
  pid: number;
  tid: number;
}

const CATEGORIES = ["blink.user_timing", "disabled-by-default-devtools.timeline", "devtools.timeline"];
const MARKS = { start: "bench-start", end: "bench-end" } as const;

/** Runs something in the page under a trace. */
export async function traced<T>(browser: Browser, page: Page, run: () => Promise<T>): Promise<[T, TracedTasks]> {
  // The garbage of what was done before is not part of it.
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("HeapProfiler.collectGarbage");
  await browser.startTracing(page, { categories: CATEGORIES });
  await mark(page, MARKS.start);
  const result = await run();
  await mark(page, MARKS.end);
  // SAFETY: the format of a trace, see the Trace Event Format document; what is no such event has none of the names below.
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString("utf8")) as { traceEvents: TraceEvent[] };
  return [result, tasksBetweenMarks(traceEvents)];
}

function mark(page: Page, name: string): Promise<void> {
  return page.evaluate((name) => {
    performance.mark(name);
  }, name);
}

function tasksBetweenMarks(events: readonly TraceEvent[]): TracedTasks {
  const start = events.find(({ name }) => name === MARKS.start);
  const end = events.find(({ name }) => name === MARKS.end);
  if (!start || !end) throw new Error("The trace has no marks.");
  // The marks were made on the page's main thread, so it is the one they name.
  const tasks = events.filter(
    ({ name, ph, pid, tid, ts }) =>
      name === "RunTask" && ph === "X" && pid === start.pid && tid === start.tid && ts >= start.ts && ts <= end.ts,
  );
  if (tasks.length === 0) throw new Error("The trace has no tasks of the page.");
  const most = (times: readonly number[]): number => times.reduce((a, b) => Math.max(a, b), 0) / 1000;
  return {
    longest: most(tasks.map(({ dur = 0 }) => dur)),
    longestCpu: most(tasks.map(({ tdur = 0 }) => tdur)),
    tasks: tasks.length,
  };
}
