/**
 * `npm run soak -- --minutes 10 --rate 5000`: ingest at a steady rate beside slow queries, histograms, contexts and
 * tails, as `npm start` serves them. For a third of the time ingest runs alone, to compare its p99. Exits with 1 if a
 * response was wrong, or a tail or a query missed an entry.
 */
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freePort, startServer } from "../../test/support/server.ts";
import { IsolateHeap } from "../isolate-heap.ts";
import { LoadGenerator } from "../load/generator.ts";
import type { PaceResult } from "../load/protocol.ts";
import { childrenRunning, type MemoryUse, memoryUse } from "../process-stats.ts";
import { median, percentile } from "../stats.ts";
import { newTenant } from "../tenant.ts";
import { Readers } from "./readers.ts";

const number = { type: "string" } as const;
const { values } = parseArgs({
  options: { minutes: number, rate: number, batch: number, window: number, recent: number },
});
const minutes = Number(values.minutes ?? 10);
/** Entries a second, and in each request. */
const rate = Number(values.rate ?? 5000);
const batch = Number(values.batch ?? 50);
/** Milliseconds of a window with or without readers. */
const windowMs = Number(values.window ?? 20) * 1000;
/** RECENT_MAX_BYTES: below the default, so that the flush runs all the time. */
const recent = values.recent === undefined ? {} : { RECENT_MAX_BYTES: values.recent };
if (!(minutes > 0 && rate > 0 && batch >= 1 && windowMs >= 1000)) {
  console.error("npm run soak -- [--minutes 10] [--rate 5000] [--batch 50] [--window 20] [--recent bytes]");
  process.exit(2);
}

/** The first of three windows has no readers. */
const PERIOD = 3;
const SAMPLE_MS = 5000;
const CONNECTIONS = 32;

// The server is a separate process group and would outlive a signal, so signals exit the process instead.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));

interface Window {
  isRead: boolean;
  result: PaceResult;
}

const inspectorPort = await freePort();
const server = await startServer({
  env: {
    INSPECTOR_PORT: String(inspectorPort),
    LOG_LEVEL: "error",
    ...recent,
  },
});
const isolate = await IsolateHeap.connect(inspectorPort, "taffrail");
const [runtime = 0] = childrenRunning("workerd", server.pid);
const tenant = await newTenant(server.url, 1);
const [project] = tenant.projects;
if (!project) throw new Error("The tenant has a project.");
const generator = new LoadGenerator();
const readers = new Readers(server.url, project);
readers.openTails();

const memory: (MemoryUse & { at: number })[] = [];
const windows: Window[] = [];
const startedAt = performance.now();
let isOver = false;
const sampling = (async () => {
  while (!isOver) {
    const use = memoryUse(runtime);
    if (use) memory.push({ at: (performance.now() - startedAt) / 1000, ...use });
    await wait(SAMPLE_MS);
  }
})();

for (let at = 0; at * windowMs < minutes * 60_000; at++) {
  const isRead = at % PERIOD !== 0;
  if (isRead) readers.start();
  const result = await generator.pace({
    origin: server.url,
    path: `/logger/${project.id}/log`,
    headers: { "content-type": "application/json", authorization: `Bearer ${project.key}` },
    batch,
    perSecond: rate / batch,
    connections: CONNECTIONS,
    measureMs: windowMs,
  });
  if (isRead) await readers.stop();
  windows.push({ isRead, result });
  const { p50Ms, p99Ms, seconds, failed } = result;
  const achieved = Math.round(((result.acks.length + failed) * batch) / seconds);
  const { rss = 0, anonymous = 0 } = memory.at(-1) ?? {};
  const { heap, committed, buffers } = await isolate.use();
  console.log(
    `${String(at + 1).padStart(3)} ${isRead ? "readers" : "alone  "} ${achieved} entries/s, p50 ${p50Ms.toFixed(1)} ms, ` +
      `p99 ${p99Ms.toFixed(1)} ms, ${failed} failed, resident ${rss.toFixed(0)} MiB (anonymous ${anonymous.toFixed(0)}), ` +
      `isolate ${heap.toFixed(0)} (committed ${committed.toFixed(0)}) + ${buffers.toFixed(0)} MiB`,
  );
}
isOver = true;
await sampling;
const lastSeq = windows.flatMap(({ result }) => result.acks).reduce((last, [seq]) => Math.max(last, seq), 0);
const faults = [...(await readers.finish(lastSeq)), ...ingestFaults()];
generator.stop();
const live = await isolate.live();
const rest = memoryUse(runtime);
isolate.close();
await server.stop();
report();
process.exit(faults.length > 0 ? 1 : 0);

function ingestFaults(): string[] {
  const failed = windows.filter(({ result }) => result.failed > 0);
  return failed.map(({ result }) => `${result.failed} ingest requests failed: ${result.firstFailure}`);
}

function report(): void {
  const p99 = (isRead: boolean) =>
    median(windows.filter((window) => window.isRead === isRead).map(({ result }) => result.p99Ms));
  console.log(
    `\nIngest p99, median of the windows: ${p99(false).toFixed(1)} ms alone, ${p99(true).toFixed(1)} ms with readers`,
  );
  for (const [name, { latencies, answers }] of readers.figures) {
    const [p50, most] = [percentile(latencies, 0.5), percentile(latencies, 1)];
    console.log(
      `${name}: ${latencies.length}, p50 ${p50.toFixed(0)} ms, longest ${most.toFixed(0)} ms, answers ${JSON.stringify(answers)}`,
    );
  }
  const part = (from: number, to: number) => {
    const some = memory.slice(Math.floor(memory.length * from), Math.max(1, Math.floor(memory.length * to)));
    return `${median(some.map(({ rss }) => rss)).toFixed(0)} (anonymous ${median(some.map(({ anonymous }) => anonymous)).toFixed(0)})`;
  };
  console.log(
    `Resident MiB by quarter of the time: ${[0, 1, 2, 3].map((at) => part(at / 4, (at + 1) / 4)).join(", ")}`,
  );
  console.log(
    `Without garbage: isolate ${live.heap.toFixed(0)} + ${live.buffers.toFixed(0)} MiB, resident ${rest?.rss.toFixed(0)} MiB`,
  );
  for (const fault of faults) console.log(`FAULT: ${fault}`);
  if (faults.length === 0) console.log(`${lastSeq} entries, no fault.`);
}
