import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../../src/ids.ts";
import { newApiKey } from "../../../src/keys/api-key.ts";
import { logId } from "../../../src/logs/entry-view.ts";
import { asUser, call, createTenant } from "../../support/api.ts";
import { startServer, type TestServer } from "../../support/server.ts";
import { type FuzzRequest, type Known, type Persona, requestTo } from "./arbitraries.ts";
import { malformed } from "./malformed.ts";
import { type Target, targets } from "./routes.ts";
import { fault } from "./verdict.ts";
import { sendBytes, Wire } from "./wire.ts";

/** `FUZZ_SEED` repeats a run; `FUZZ_REQUESTS` makes it longer. */
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 2000);
const SOCKETS = 24;

let server: TestServer;
let known: Known;
let main: Persona;
let all: Target[];

beforeAll(async () => {
  server = await startServer();
  const [lasting, victims] = [await personas(2), await personas(16)];
  main = lasting[0] ?? main;
  all = await targets(server.url);
  const badTokens = [
    newApiKey(newId("ws")).secret,
    newApiKey(main.workspaceId).secret,
    `${main.apiKey.slice(0, -1)}${main.apiKey.endsWith("x") ? "y" : "x"}`,
    `${main.accessToken}x`,
    "x",
  ];
  known = { lasting, victims, badTokens };
});
afterAll(() => server.stop());

/** Creates accounts with limits that the run does not reach. */
async function personas(count: number): Promise<Persona[]> {
  const made: Persona[] = [];
  for (let i = 0; i < count; i++) {
    const { account, projectId, key } = await createTenant(server.url);
    const { accessToken, workspaceId } = account;
    const path = `/workspaces/${workspaceId}/rate-limits`;
    const body = { default: { limit: 1_000_000, windowSeconds: 60 } };
    expect((await call(server.url, path, { ...asUser(account), method: "PUT", body })).status).toBe(200);
    const log = { token: key.secret, body: { message: "m" } };
    expect((await call(server.url, `/logger/${projectId}/log`, log)).status).toBe(201);
    const persona = { accessToken, apiKey: key.secret, workspaceId, projectId, keyId: key.id };
    made.push({ ...persona, logId: logId(projectId, 1) });
  }
  return made;
}

test(`${REQUESTS} requests of every kind keep the contract (seed ${SEED})`, async () => {
  const each = Math.ceil(REQUESTS / all.length);
  // With a common seed, similar operations would get the same requests.
  const requests = all.flatMap((target, index) =>
    fc.sample(requestTo(target, known), { seed: SEED + index, numRuns: target.creates ? 3 * each : each }),
  );
  const order = fc.sample(fc.infiniteStream(fc.nat()), { seed: SEED, numRuns: 1 })[0];
  const shuffled = requests
    .map((request) => ({ request, at: Number(order?.next().value) }))
    .sort((a, b) => a.at - b.at);
  const wire = new Wire(server.port, SOCKETS);
  const faults: string[] = [];
  const statuses = new Map<number, number>();
  let next = 0;
  const worker = async () => {
    for (let item = shuffled[next++]; item; item = shuffled[next++]) {
      const answer = await wire.send(item.request).catch((error: Error) => error);
      if (answer instanceof Error) {
        faults.push(`no answer (${answer.message}): ${shown(item.request)}`);
        continue;
      }
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      const wrong = fault(item.request, answer);
      if (wrong) faults.push(`${wrong}: ${shown(item.request)} -> ${answer.body.slice(0, 200)}`);
    }
  };
  await Promise.all(Array.from({ length: SOCKETS }, worker));
  wire.close();
  console.log(
    `seed ${SEED}: ${shuffled.length} requests over ${all.length} operations`,
    Object.fromEntries([...statuses].sort()),
  );
  expect(faults.slice(0, 10)).toEqual([]);
  expect(shuffled.length).toBeGreaterThanOrEqual(REQUESTS);
  // The requests passed the first checks.
  for (const status of [200, 201, 400, 401, 404, 405, 413, 415]) expect(statuses.get(status) ?? 0).toBeGreaterThan(10);
}, 300_000);

test(`malformed HTTP never gets a 500 and never stops the server (seed ${SEED})`, async () => {
  const cases = fc.sample(malformed(main), { seed: SEED, numRuns: 600 });
  const faults: string[] = [];
  let reached = 0;
  const worker = async () => {
    for (let bytes = cases.pop(); bytes; bytes = cases.pop()) {
      const text = await sendBytes(server.port, bytes);
      // Several responses if the bytes were several requests.
      for (const [, status, head] of text.matchAll(/^HTTP\/1\.[01] (\d{3}) (.*(?:\r\n[^\r\n]+)*)/gm)) {
        if (/x-request-id/i.test(head ?? "")) reached++;
        if (Number(status) >= 500 && status !== "501")
          faults.push(`${status}: ${bytes.toString("latin1").slice(0, 300)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  expect(faults.slice(0, 5)).toEqual([]);
  expect(reached).toBeGreaterThan(100);
}, 300_000);

test(`the server is healthy afterwards, and has logged no fault (seed ${SEED})`, async () => {
  expect((await call(server.url, "/health")).status).toBe(200);
  const lines = server.output().split("\n");
  // A word: the runtime names `orDefault` when it says that an alarm was moved before it began, which is no fault.
  const faults = lines.filter((line) => /\bfault|INTERNAL_ERROR|uncaught/i.test(line));
  // In full, because a matcher shortens long lines in its message.
  expect(faults.length, `seed ${SEED}:\n${faults.slice(0, 5).join("\n")}\n`).toBe(0);
  const fresh = await createTenant(server.url);
  const sent = await call(server.url, `/logger/${fresh.projectId}/log`, {
    token: fresh.key.secret,
    body: { message: "m" },
  });
  expect(sent.status).toBe(201);
});

function shown({ method, path, headers, body }: FuzzRequest): string {
  return JSON.stringify({ method, path: path.slice(0, 200), headers, body: body?.toString("latin1").slice(0, 300) });
}
