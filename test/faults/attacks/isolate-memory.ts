/**
 * `npm run test:memory`: the whole service with 128 MiB of heap an isolate, as on Cloudflare. Plays the main job, then
 * each load that a production isolate may meet: large bodies, costly bodies, both tiers, live tails, concurrent
 * queries, as many groups of alerts as a workspace may have. Prints for each load the peak memory of the service's isolate (V8's heap and ArrayBuffers, garbage included,
 * by the runtime's inspector), and the rise of the runtime's resident memory over an idle server's. The simulators of
 * D1 and R2, SQLite and the allocator are in the same process. Checks that every acknowledged entry is stored. Exits
 * with 1 if the runtime ends, the isolate holds more than 96 MiB, a response is a 5xx other than 503 with
 * `Retry-After`, or a count is wrong.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { IsolateHeap } from "../../../bench/isolate-heap.ts";
import { type LoadMemory, PEAK_MIB } from "../../../bench/parts/memory.ts";
import { childrenRunning, peakMemoryMiB, residentMemoryMiB } from "../../../bench/process-stats.ts";
import { heapLimit, ISOLATE_HEAP_MIB } from "../../../scripts/lib/v8-flags.ts";
import { asUser, call, createTenant, type Tenant } from "../../support/api.ts";
import { freePort, startServer } from "../../support/server.ts";
import { crowdAlerts, deleteAlerts } from "./alert-groups.ts";
import {
  COSTLY_LINES,
  type CostlyBody,
  costlyBody,
  costlyLines,
  ordinaryBody,
  ordinaryLines,
} from "./costly-bodies.ts";

/** The inspector interrupts the isolate: with a sample every 5 ms, requests would wait for seconds. */
const SAMPLE_MS = 50;
const ENTRIES_A_BATCH = 1000;
const WORST_BODIES = [
  "objects in one list",
  "20 entries of 19,000 objects",
  "entries of 600 names",
  "lists nested in lists",
];

const number = { type: "string" } as const;
const { values } = parseArgs({
  options: {
    heap: { ...number, default: String(ISOLATE_HEAP_MIB) },
    entries: { ...number, default: "300000" },
    tails: { ...number, default: "100" },
    /** Only loads whose titles contain this text. */
    only: { ...number, default: "" },
    /** File for the figures, as JSON: a list of `LoadMemory`. */
    out: number,
  },
});
const total = Math.ceil(Number(values.entries) / ENTRIES_A_BATCH) * ENTRIES_A_BATCH;

// The server is a separate process group and would outlive a signal, so signals exit the process instead.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));

const inspectorPort = await freePort();
const server = await startServer({
  env: {
    INSPECTOR_PORT: String(inspectorPort),
    ...heapLimit(Number(values.heap)),
    LOG_LEVEL: "error",
    RECENT_MAX_BYTES: String(4 * 1024 * 1024),
  },
});
const isolate = await IsolateHeap.connect(inspectorPort, "taffrail");
const [pid = 0] = childrenRunning("workerd", server.pid);
let failures = 0;
const measured: LoadMemory[] = [];

interface Figures {
  answers: Map<string, number>;
  slowestWriteMs: number;
}

const tenant = await createTenant(server.url);
const neighbour = await createTenant(server.url);
await raiseLimit(tenant);
await raiseLimit(neighbour);
let neighbourWrites = 0;
await write(neighbour);
await settle();
const idle = residentMemoryMiB(pid) ?? 0;
console.log(`heap ${values.heap} MiB; an idle server has ${idle.toFixed(0)} MiB resident`);

await load("main job (npm run demo)", async () => {
  const run = spawnSync("node", [path.resolve("scripts/bootstrap.mjs"), "scripts/demo.ts", server.url], {
    encoding: "utf8",
  });
  if (run.status !== 0) fail(`the demo failed: ${run.stderr}`);
});

let sent = 0;
const ordinary = ordinaryBody();
await load(`32 bodies of ${megabytes(ordinary)} at once`, async (figures) => {
  await Promise.all(Array.from({ length: 32 }, () => deliver(ordinary, tenant, figures)));
});
await load("4 costly bodies at once, with a genuine key", async (figures) => {
  await Promise.all(WORST_BODIES.map((name) => attempt(costlyBody(name), tenant, figures)));
});

const lines = ordinaryLines();
await load(`16 bodies of lines of ${megabytes(lines)} at once`, async (figures) => {
  await Promise.all(Array.from({ length: 16 }, () => deliver(lines, tenant, figures)));
});
await load(`${COSTLY_LINES.length} costly bodies of lines at once, twice each`, async (figures) => {
  const bodies = COSTLY_LINES.map(costlyLines);
  await Promise.all([...bodies, ...bodies].map((body) => deliver(body, tenant, figures)));
});

await load(`${total} entries by 4 senders, flushed meanwhile`, async (figures) => {
  let next = 0;
  const sender = async () => {
    while (next < total) {
      const first = next;
      next += ENTRIES_A_BATCH;
      await deliver(entriesFrom(first), tenant, figures);
    }
  };
  await Promise.all([sender(), sender(), sender(), sender()]);
});

const sockets = new Set<WebSocket>();
let received = 0;
await load(`${values.tails} tails from the first entry on, then 20,000 entries live`, async (figures) => {
  const lastSeq = sent;
  const open = Array.from({ length: Number(values.tails) }, () => follow(lastSeq));
  await Promise.all(open);
  const before = received;
  for (let batch = 0; batch < 20; batch++) await deliver(entriesFrom(total + batch * ENTRIES_A_BATCH), tenant, figures);
  const wanted = before + 20 * ENTRIES_A_BATCH * Number(values.tails);
  const until = Date.now() + 120_000;
  while (received < wanted && Date.now() < until) await pause(50);
  if (received !== wanted) fail(`tails received ${received - before} of ${wanted - before} entries`);
});

await load("2 worst queries at once, with the tails open", async (figures) => {
  await Promise.all([worstQuery(), worstQuery()].map((query) => ask("/logger/query", query, figures)));
});
await load("32 ordinary queries at once, with the tails open", async (figures) => {
  await Promise.all(
    Array.from({ length: 32 }, (_, index) => {
      const { path: route, body } = ordinaryQuery(index);
      return ask(route, body, figures);
    }),
  );
});
for (const socket of sockets) socket.close();

await load("everything at once", async (figures) => {
  await Promise.all([
    ...Array.from({ length: 16 }, () => deliver(ordinary, tenant, figures)),
    ...WORST_BODIES.map((name) => attempt(costlyBody(name), tenant, figures)),
    ask("/logger/query", worstQuery(), figures),
    ...Array.from({ length: 16 }, (_, index) => {
      const { path: route, body } = ordinaryQuery(index);
      return ask(route, body, figures);
    }),
  ]);
});

// A workspace of its own: its entries are not counted here.
const crowd = await createTenant(server.url);
await raiseLimit(crowd);
let turn = 0;
await load("50,000 live groups of alerts with the longest keys, beside searches", async (figures) => {
  const { groups, notCounted, seconds } = await crowdAlerts(server.url, crowd, async () => {
    if (turn++ % 10 !== 0) return;
    const { path: route, body } = ordinaryQuery(turn);
    await ask(route, body, figures);
  });
  console.log(`${groups} groups are live, ${notCounted} entries not counted; caught up after ${seconds.toFixed(0)} s`);
});
await load("deleting these alerts while 20,000 groups fire", async () => {
  await deleteAlerts(server.url, crowd);
  await pause(15_000);
});

await count(tenant, sent);
await count(neighbour, neighbourWrites);
await server.stop();
if (values.out !== undefined) writeFileSync(values.out, JSON.stringify(measured));
console.log(failures === 0 ? "All within bounds." : `${failures} failures.`);
process.exit(failures === 0 ? 0 : 1);

/** Runs one load beside a tenant that writes an entry every 100 ms, and prints its memory. */
async function load(title: string, run: (figures: Figures) => Promise<void>): Promise<void> {
  if (!title.includes(values.only)) return;
  await settle();
  const figures: Figures = { answers: new Map(), slowestWriteMs: 0 };
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      await write(neighbour);
      figures.slowestWriteMs = Math.max(figures.slowestWriteMs, performance.now() - startedAt);
      await pause(100);
    }
  })();
  isolate.start(SAMPLE_MS);
  const startedAt = performance.now();
  await run(figures).catch((error: unknown) => fail(String(error)));
  const seconds = (performance.now() - startedAt) / 1000;
  isOver = true;
  await writing.catch((error: unknown) => fail(String(error)));
  const peak = peakMemoryMiB(pid);
  if (peak === null) {
    console.log(`${title}: THE RUNTIME HAS ENDED ${server.output().match(/V8 fatal error.*/)?.[0] ?? ""}`);
    process.exit(1);
  }
  const { heap, buffers } = await isolate.stop();
  const live = await isolate.live();
  const isOverBound = heap + buffers > PEAK_MIB;
  if (isOverBound) failures++;
  measured.push({
    load: title,
    heapMiB: heap,
    buffersMiB: buffers,
    liveMiB: live.heap + live.buffers,
    processMiB: peak - idle,
    seconds,
    slowestWriteMs: figures.slowestWriteMs,
  });
  const answers = [...figures.answers].map(([answer, times]) => `${times} x ${answer}`).join(", ");
  console.log(
    `${title}: ${mebibytes(heap + buffers)} MiB${isOverBound ? " (TOO MUCH)" : ""} = heap ${mebibytes(heap)} + buffers ${mebibytes(buffers)}; ` +
      `live afterwards ${mebibytes(live.heap + live.buffers)}; process ${mebibytes(peak - idle)} above idle; ${seconds.toFixed(1)} s; ` +
      `neighbour's slowest write ${figures.slowestWriteMs.toFixed(0)} ms${answers === "" ? "" : `; ${answers}`}`,
  );
}

function fail(message: string): void {
  failures++;
  console.log(`FAILED: ${message}`);
}

/** Garbage of the previous load must not count for the next one. */
async function settle(): Promise<void> {
  for (let round = 0; round < 10; round++) {
    await call(server.url, "/openapi.json");
    await pause(200);
  }
}

async function raiseLimit({ account }: Tenant): Promise<void> {
  const answer = await call(server.url, `/workspaces/${account.workspaceId}/rate-limits`, {
    ...asUser(account),
    method: "PUT",
    body: { default: { limit: 1_000_000 }, rules: [] },
  });
  if (answer.status !== 200) throw new Error(`The limit was not raised: ${answer.status}`);
}

async function write({ projectId, key }: Tenant): Promise<void> {
  const answer = await call(server.url, `/logger/${projectId}/log`, {
    token: key.secret,
    body: { message: "neighbour" },
  });
  if (answer.status === 201) neighbourWrites++;
  else if (answer.status !== 503) fail(`the neighbour's write was answered with ${answer.status}`);
}

interface Receipt {
  accepted: number;
}

/** Makes one attempt and counts what was stored. @returns whether to repeat it */
async function attempt(body: CostlyBody, { projectId, key }: Tenant, figures: Figures): Promise<boolean> {
  const answer = await call<Receipt>(server.url, `/logger/${projectId}/log`, {
    token: key.secret,
    headers: body.headers,
    body: new Uint8Array(body.sent),
  });
  note(figures, "ingest", answer.status, answer.headers);
  if (answer.status === 201) sent += answer.body.data.accepted;
  return answer.status === 503;
}

/** Sends a batch until it is stored, like a client. */
async function deliver(body: CostlyBody, to: Tenant, figures: Figures): Promise<void> {
  for (let tries = 0; await attempt(body, to, figures); tries++) {
    if (tries === 100) throw new Error("A body was refused 100 times.");
    await pause(1000);
  }
}

async function ask(route: string, body: unknown, figures: Figures): Promise<void> {
  for (let tries = 0; tries < 60; tries++) {
    const answer = await call(server.url, route, { token: tenant.key.secret, body });
    note(figures, "query", answer.status, answer.headers);
    if (answer.status !== 503) return;
    await pause(1000);
  }
  fail("a query was refused 60 times");
}

function note({ answers }: Figures, kind: string, status: number, headers: Headers): void {
  const answer = `${kind} ${status}`;
  answers.set(answer, (answers.get(answer) ?? 0) + 1);
  if (status >= 500 && (status !== 503 || headers.get("Retry-After") === null))
    fail(`${kind} was answered with ${status}`);
}

/** Opens a tail from a `seq` on that acknowledges like a client. Resolves when the tail has caught up. */
function follow(since: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { projectId, key } = tenant;
  const address = `${server.url.replace("http", "ws")}/logger/${projectId}/tail?since=${since}`;
  // SAFETY: Node's WebSocket accepts headers; the type that it shares with browsers lacks them.
  const options = { headers: { Authorization: `Bearer ${key.secret}` } } as unknown as string[];
  const socket = new WebSocket(address, options);
  sockets.add(socket);
  let unacked = 0;
  socket.onmessage = ({ data }) => {
    const frame: { type: string; entries?: { seq: number }[] } = JSON.parse(String(data));
    if (frame.type === "caught-up") resolve();
    const entries = frame.entries ?? [];
    received += entries.length;
    unacked += entries.length;
    if (unacked < 500) return;
    unacked = 0;
    socket.send(JSON.stringify({ type: "ack", seq: entries.at(-1)?.seq }));
  };
  socket.onclose = ({ code, reason }) => reject(new Error(`A tail was closed: ${code} ${reason}`));
  socket.onerror = () => reject(new Error("A tail could not be opened."));
  return promise;
}

function entriesFrom(first: number): CostlyBody {
  const now = Date.now();
  const entries = Array.from({ length: ENTRIES_A_BATCH }, (_, index) => {
    const n = first + index;
    return {
      timestamp: new Date(now - 3_600_000 + n * 10).toISOString(),
      level: ["debug", "info", "info", "info", "warn", "error"][n % 6],
      category: "http",
      type: "request",
      message: `GET /api/v1/orders/${n} took ${n % 1500} ms`,
      traceId: `trace-${n >> 3}`,
      data: {
        status: n % 50 === 0 ? 500 : 200,
        durationMs: n % 1500,
        user: { id: `u${n % 997}` },
        route: `/r/${n % 40}`,
      },
    };
  });
  const json = Buffer.from(JSON.stringify(entries));
  return { name: "entries", json, sent: json, headers: { "Content-Type": "application/json" } };
}

/** Requests of a dashboard: a rare and a frequent substring, a page of 1,000, a total, members, a histogram. */
function ordinaryQuery(index: number): { path: string; body: unknown } {
  const bodies = [
    { path: "/logger/query", body: { filters: { search: `orders/${index * 997} took` } } },
    { path: "/logger/query", body: { filters: { search: "orders" }, pagination: { limit: 1000 } } },
    { path: "/logger/query", body: { filters: { minLevel: "warn" }, pagination: { limit: 1000, includeTotal: true } } },
    { path: "/logger/query", body: { filters: { data: { status: 500 } }, pagination: { includeTotal: true } } },
    { path: "/logger/query", body: { filters: { search: "at f31" }, order: "asc", pagination: { limit: 1000 } } },
    { path: "/logger/stats", body: { filters: { search: "took 7" }, interval: "1m", groupBy: "level" } },
    { path: "/logger/stats", body: { filters: { data: { durationMs: { gte: 1000 } } }, interval: "1h" } },
    { path: "/logger/query", body: { filters: { traceId: `trace-${index * 31}` } } },
  ] as const;
  // SAFETY: the index is below the length.
  return bodies[index % bodies.length] as { path: string; body: unknown };
}

/**
 * Compares every value of the costliest body's lists with as many values as a query may name, and searches a substring
 * that nearly matches.
 */
function worstQuery(): unknown {
  const values = Array.from({ length: 1000 }, (_, index) => `value-${index}`);
  const search = `${"a".repeat(30)}b`;
  return { filters: { search, data: { "a.a": { in: values } } }, pagination: { limit: 1000, includeTotal: true } };
}

async function count({ projectId, key }: Tenant, wanted: number): Promise<void> {
  const answer = await call<{ total: number; complete: boolean }>(server.url, "/logger/stats", {
    token: key.secret,
    body: { interval: "1d" },
  });
  const { total: found, complete } = answer.body.data;
  if (found !== wanted || !complete) fail(`${projectId} holds ${found} entries of ${wanted}`);
  else console.log(`${projectId}: ${found} entries acknowledged, ${found} stored`);
}

function mebibytes(size: number): string {
  return size.toFixed(0);
}

function megabytes({ sent: bytes }: CostlyBody): string {
  return `${(bytes.length / 1e6).toFixed(1)} MB`;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
