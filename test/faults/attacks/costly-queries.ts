/**
 * `npm run test:attack:queries`: queries that cost much more than they seem to, from a visitor of the sandbox and from
 * an account, and many ordinary ones at once. Prints the duration of each, the response times of `/health` and of
 * another tenant's writes in the meantime, and the memory. Exits with 1 if a query or `/health` exceeds the bounds
 * below, on an otherwise idle machine.
 */
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { bodyOf } from "../../../bench/entries.ts";
import { childrenRunning, cpuMicros, residentMemoryMiB } from "../../../bench/process-stats.ts";
import { call, createTenant, type Tenant } from "../../support/api.ts";
import { startServer } from "../../support/server.ts";

const { values } = parseArgs({
  options: {
    entries: { type: "string", default: "300000" },
    queries: { type: "string", default: "32" },
    items: { type: "string", default: "18000,9000" },
  },
});

/**
 * Milliseconds that a hostile query may take: 2 s of counted work, on a machine half as fast as the work unit assumes.
 */
const QUERY_MS = 4000;
/** Milliseconds for which no other request is answered: 50, plus the waiting time of others. */
const HEALTH_MS = 500;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));

const server = await startServer({ env: { LOG_LEVEL: "error", RECENT_MAX_BYTES: "67108864" } });
let failures = 0;
let address = 0;

for (const items of values.items.split(",").filter(Boolean).map(Number)) {
  await attackSandbox(items);
  await attackByAccount(items);
}
await manyQueries(await createTenant(server.url), Number(values.entries), Number(values.queries));
await server.stop();
process.exit(failures === 0 ? 0 : 1);

/** 20 entries, each a list of the given number of small objects. */
function listBody(items: number): Buffer {
  const entry = `{"message":"m","data":{"a":[${'{"a":"ab"},'.repeat(items).slice(0, -1)}]}}`;
  return gzipSync(`[${new Array(20).fill(entry).join(",")}]`, { level: 9 });
}

/** Tests that no member passes, each with a thousand values. */
function inTests(paths: number, items: number): Record<string, unknown> {
  const names = Array.from({ length: paths }, (_, index) => `a.${items - 1 - index}.a`);
  return Object.fromEntries(
    names.map((name, path) => [name, { in: Array.from({ length: 1000 }, (_, at) => `${path}${at}`) }]),
  );
}

async function attackSandbox(items: number): Promise<void> {
  const { body } = await call<{ projectId: string; apiKey: string }>(server.url, "/sandbox");
  const { projectId, apiKey } = body.data;
  const from = nextAddress();
  for (let post = 0; post < 5; post++) await send(projectId, apiKey, listBody(items), from);
  await hostile(`sandbox, 100 entries of ${items} objects, 4 paths`, apiKey, inTests(4, items), from);
}

async function attackByAccount(items: number): Promise<void> {
  const { projectId, key } = await createTenant(server.url);
  await send(projectId, key.secret, listBody(items), nextAddress());
  await hostile(`account, 20 entries of ${items} objects, 10 paths`, key.secret, inTests(10, items), nextAddress());
}

async function hostile(title: string, key: string, data: object, from: string): Promise<void> {
  const over = probe();
  const startedAt = performance.now();
  const answer = await post("/logger/query", key, JSON.stringify({ filters: { data } }), from);
  const tookMs = performance.now() - startedAt;
  const { slowest } = await over();
  const complete = /"complete":(true|false)/.exec(answer.text)?.[1];
  if (answer.status !== 200 || tookMs > QUERY_MS || slowest > HEALTH_MS) failures++;
  console.log(
    `${title}: ${answer.status}, complete ${complete}, ${tookMs.toFixed(0)} ms; /health at worst ${slowest.toFixed(0)} ms`,
  );
}

/** Sends ordinary queries at once over many entries, while another tenant writes. */
async function manyQueries(tenant: Tenant, entries: number, queries: number): Promise<void> {
  const [pid = 0] = childrenRunning("workerd", server.pid);
  const { projectId, key } = tenant;
  for (let at = 0; at < entries; at += 1000) await send(projectId, key.secret, bodyOf(1000, at), nextAddress());
  const neighbour = await createTenant(server.url);
  await new Promise((resolve) => setTimeout(resolve, 5000));
  const idle = residentMemoryMiB(pid) ?? 0;
  let peak = idle;
  const looking = setInterval(() => {
    peak = Math.max(peak, residentMemoryMiB(pid) ?? 0);
  }, 20);
  const over = probe();
  let isOver = false;
  const writes = (async () => {
    let slowest = 0;
    while (!isOver) {
      const startedAt = performance.now();
      await send(neighbour.projectId, neighbour.key.secret, bodyOf(50, 0), nextAddress());
      slowest = Math.max(slowest, performance.now() - startedAt);
    }
    return slowest;
  })();
  const startedAt = performance.now();
  const cpuBefore = cpuMicros(pid) ?? 0;
  const answers = await Promise.all(
    Array.from({ length: queries }, (_, index) => {
      const filters = { search: ["orders/777", "completed", "in 123 ms", "zzzz"][index % 4] };
      const pagination = { limit: 1000, includeTotal: true };
      return post("/logger/query", key.secret, JSON.stringify({ filters, pagination }), nextAddress());
    }),
  );
  const tookMs = performance.now() - startedAt;
  const cpuMs = ((cpuMicros(pid) ?? 0) - cpuBefore) / 1000;
  isOver = true;
  const slowestWrite = await writes;
  const { slowest } = await over();
  clearInterval(looking);
  const refused = answers.filter(({ status }) => status !== 200).length;
  const partial = answers.filter(({ text }) => text.includes('"complete":false')).length;
  if (refused > 0) failures++;
  console.log(
    [
      `${queries} ordinary queries at once over ${entries} entries: ${tookMs.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms of CPU`,
      `${refused} refused, ${partial} partial`,
      `resident ${idle.toFixed(0)} MiB idle, ${(peak - idle).toFixed(0)} MiB more at worst`,
      `a neighbour's write at worst ${slowestWrite.toFixed(0)} ms, /health ${slowest.toFixed(0)} ms`,
    ].join("; "),
  );
}

async function send(projectId: string, key: string, body: Buffer, from: string): Promise<void> {
  const isGzip = body[0] === 0x1f;
  const answer = await fetch(`${server.url}/logger/${projectId}/log`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${key}`,
      "Content-Type": "application/json",
      "CF-Connecting-IP": from,
      ...(isGzip ? { "Content-Encoding": "gzip" } : {}),
    },
    body: new Uint8Array(body),
  });
  const text = await answer.text();
  if (answer.status !== 201) console.log(`  (a post: ${answer.status} ${text.slice(0, 160)})`);
}

async function post(path: string, key: string, body: string, from: string): Promise<{ status: number; text: string }> {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json", "CF-Connecting-IP": from };
  const answer = await fetch(server.url + path, { method: "POST", headers, body });
  return { status: answer.status, text: await answer.text() };
}

/** Polls `/health`. @returns a function that stops and returns the slowest response in milliseconds */
function probe(): () => Promise<{ slowest: number }> {
  let isOver = false;
  let slowest = 0;
  const asking = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      await (await fetch(`${server.url}/health`, { headers: { "CF-Connecting-IP": nextAddress() } })).text();
      slowest = Math.max(slowest, performance.now() - startedAt);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  return async () => {
    isOver = true;
    await asking;
    return { slowest };
  };
}

/** Each request has a different client IP, because limits by client IP are not under test. */
function nextAddress(): string {
  address++;
  return `10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`;
}
