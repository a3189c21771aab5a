/**
 * `npm run test:attack:memory`: many concurrent bodies that are small on the wire and large in memory, with forged and
 * valid keys, and ordinary large ones, against a server whose isolates have 128 MiB of heap. Exits with 1 if the server
 * ends or `/health` fails.
 */
import { request } from "node:http";
import { parseArgs } from "node:util";
import { childrenRunning, peakMemoryMiB, residentMemoryMiB } from "../../../bench/process-stats.ts";
import { heapLimit, ISOLATE_HEAP_MIB } from "../../../scripts/lib/v8-flags.ts";
import { newApiKey } from "../../../src/keys/api-key.ts";
import { createTenant } from "../../support/api.ts";
import { startServer } from "../../support/server.ts";
import { COSTLY_BODIES, type CostlyBody, costlyBody, ordinaryBody } from "./costly-bodies.ts";

const number = { type: "string" } as const;
const { values } = parseArgs({
  options: {
    heap: { ...number, default: String(ISOLATE_HEAP_MIB) },
    concurrent: { ...number, default: "16" },
    requests: { ...number, default: "32" },
  },
});
const concurrent = Number(values.concurrent);
const requests = Number(values.requests);

// The server is a separate process group and would outlive a signal, so signals exit the process instead.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));

const server = await startServer({ env: { ...heapLimit(Number(values.heap)), LOG_LEVEL: "error" } });
let pid = runtimePid();
const tenant = await createTenant(server.url);
const genuine = { key: tenant.key.secret, projectId: tenant.projectId };
let failures = 0;
let address = 0;

console.log(`heap ${values.heap} MiB; resident at rest ${residentMemoryMiB(pid)?.toFixed(0)} MiB`);

const worst = costlyBody("objects in one list");
const forged = { key: newApiKey(tenant.account.workspaceId).secret, projectId: tenant.projectId };
await round("one forged key, one after the other", 2, 1, () => [worst, forged]);
await round("forged keys of a workspace that exists", requests, concurrent, () => [
  worst,
  { ...forged, key: newApiKey(tenant.account.workspaceId).secret },
]);
await round("forged keys of workspaces that do not exist", requests, concurrent, (index) => [
  worst,
  { ...forged, key: newApiKey(`ws_${String(index).padStart(12, "0")}`).secret },
]);
for (const name of COSTLY_BODIES) {
  const body = costlyBody(name);
  await round(`genuine key, ${name} (${body.sent.length} bytes sent)`, requests, concurrent, () => [body, genuine]);
}
const ordinary = ordinaryBody();
await round(`32 ordinary bodies of ${ordinary.sent.length} bytes`, 32, 32, () => [ordinary, genuine]);
const bodies = COSTLY_BODIES.map(costlyBody);
await round("32 ordinary bodies and every costly one", 64, 64, (index) => [
  index % 2 === 0 ? ordinary : (bodies[(index >> 1) % bodies.length] ?? worst),
  genuine,
]);
console.log(`peak resident ${peakMemoryMiB(pid)?.toFixed(0)} MiB`);
await server.stop();
process.exit(failures === 0 ? 0 : 1);

interface Sender {
  key: string;
  projectId: string;
}

/** Sends requests, some at a time, and prints their results. */
async function round(
  title: string,
  count: number,
  atOnce: number,
  of: (index: number) => [CostlyBody, Sender],
): Promise<void> {
  const answers = new Map<string, number>();
  const startedAt = Date.now();
  let next = 0;
  let over = false;
  const standstill = probe(() => over);
  await Promise.all(
    Array.from({ length: Math.min(atOnce, count) }, async () => {
      while (next < count) {
        const answer = await send(...of(next++));
        answers.set(answer, (answers.get(answer) ?? 0) + 1);
      }
    }),
  );
  over = true;
  const { slowest, failed } = await standstill;
  const resident = residentMemoryMiB(pid);
  const isAlive = resident !== null;
  if (!isAlive || failed > 0) failures++;
  const figures = [
    [...answers].map(([answer, times]) => `${times} x ${answer}`).join(", "),
    `${((Date.now() - startedAt) / 1000).toFixed(1)} s`,
    `/health at worst ${slowest} ms`,
    isAlive ? `resident ${resident.toFixed(0)} MiB` : "THE SERVER HAS ENDED",
  ];
  console.log(`${title}: ${figures.join("; ")}`);
  if (isAlive) return;
  console.log(server.output().match(/V8 fatal error.*/)?.[0] ?? "");
  // The next round must not depend on this one.
  await server.restart();
  pid = runtimePid();
}

function runtimePid(): number {
  const [runtime] = childrenRunning("workerd", server.pid);
  if (runtime === undefined) throw new Error("The server has no runtime.");
  return runtime;
}

/** The slowest response of `/health` while other work runs. */
async function probe(isOver: () => boolean): Promise<{ slowest: number; failed: number }> {
  let slowest = 0;
  let failed = 0;
  while (!isOver()) {
    const startedAt = Date.now();
    const headers = { "CF-Connecting-IP": nextAddress() };
    const ok = await fetch(`${server.url}/health`, { headers }).then(
      (answer) => answer.ok,
      () => false,
    );
    if (!ok) failed++;
    slowest = Math.max(slowest, Date.now() - startedAt);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { slowest, failed };
}

/** Each request has a different client IP, because limits by client IP are not under test. */
function nextAddress(): string {
  address++;
  return `10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`;
}

/** @returns status and code of the response, or the connection's error */
function send(body: CostlyBody, { key, projectId }: Sender): Promise<string> {
  return new Promise((resolve) => {
    const sent = request(`${server.url}/logger/${projectId}/log`, {
      method: "POST",
      headers: {
        ...body.headers,
        "Content-Length": body.sent.length,
        Authorization: `Bearer ${key}`,
        "CF-Connecting-IP": nextAddress(),
      },
      timeout: 120_000,
    });
    sent.on("timeout", () => sent.destroy(new Error("no answer for 120 s")));
    sent.on("error", (error) => resolve("code" in error ? String(error.code) : error.message));
    sent.on("response", async (answer) => {
      let text = "";
      answer.on("error", () => {});
      for await (const chunk of answer) text += chunk;
      resolve(`${answer.statusCode} ${/"code":"([A-Z_]+)"/.exec(text)?.[1] ?? ""}`.trim());
    });
    sent.end(body.sent);
  });
}
