import type { Browser, Page } from "playwright-core";

/** Activity of the page's main thread between two marks. */
export interface TracedTasks {
  /** Milliseconds of the longest task by the clock, which other processes on the machine lengthen. */
  longest: number;
  /** Milliseconds of the longest task by CPU time, which they do not. */
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

/** Runs something in the page with a trace. */
export async function traced<T>(browser: Browser, page: Page, run: () => Promise<T>): Promise<[T, TracedTasks]> {
  // Collects earlier garbage, which is not part of the measurement.
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("HeapProfiler.collectGarbage");
  await browser.startTracing(page, { categories: CATEGORIES });
  await mark(page, MARKS.start);
  const result = await run();
  await mark(page, MARKS.end);
  // SAFETY: the format of a trace, see the Trace Event Format document; other events lack the names below.
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
  // The marks were made on the page's main thread, so they identify it.
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
