/**
 * `npm run demo [address]`: plays the main job against a running server and compares every response with what was sent.
 * Without an address it uses BASE_URL, or else the address of `npm start`. Exits with 1 on any difference.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { z } from "zod";
import { DemoClient } from "./lib/demo-client.ts";
import { type DemoEntry, demoEntries } from "./lib/demo-entries.ts";
import { exitWith, StartFailure } from "./lib/failure.ts";

const ENTRIES = 500;
const BATCH = 50;

const signedUp = z.object({
  user: z.object({ id: z.string(), email: z.string() }),
  accessToken: z.string(),
  personalWorkspace: z.object({ id: z.string(), slug: z.string() }),
});
const made = z.object({ id: z.string() });
const madeKey = z.object({ id: z.string(), secret: z.string(), prefix: z.string() });
const receipt = z.object({ accepted: z.number(), firstSeq: z.number(), lastSeq: z.number(), duplicate: z.boolean() });
const page = z.object({
  logs: z.array(z.object({ seq: z.number(), level: z.string(), message: z.string() })),
  pagination: z.object({ total: z.number().optional(), hasMore: z.boolean() }),
});

const address = (process.argv[2] ?? process.env.BASE_URL ?? `http://127.0.0.1:${process.env.PORT ?? 8787}`).replace(
  /\/$/,
  "",
);
await demo(new DemoClient(address)).catch(exitWith);

async function demo(api: DemoClient): Promise<void> {
  const email = `demo-${randomUUID()}@example.com`;
  const password = randomBytes(16).toString("base64url");
  const account = await api.expect(201, signedUp, "/auth/register", { body: { email, password, name: "Demo" } });
  const workspaceId = account.personalWorkspace.id;
  step("register", `${account.user.id} with workspace ${workspaceId} (${account.personalWorkspace.slug})`);
  const user = { token: account.accessToken, workspaceId };

  const project = await api.expect(201, made, "/projects", { ...user, body: { name: "Web shop" } });
  step("project", project.id);

  const keys = `/projects/${project.id}/keys`;
  const scopes = ["logs:write", "logs:read"];
  const key = await api.expect(201, madeKey, keys, { ...user, body: { name: "demo", scopes } });
  step("key", `${key.prefix}... with ${scopes.join(" and ")}; its secret is shown once`);

  const entries = demoEntries(ENTRIES, Date.now());
  await send(api, `/logger/${project.id}/log`, key.secret, entries);
  await find(api, key.secret, entries);

  await api.expect(200, z.unknown(), `${keys}/${key.id}`, { ...user, method: "DELETE" });
  step("revoke", key.id);
  for (const [path, body] of [
    [`/logger/${project.id}/log`, { message: "too late" }],
    ["/logger/query", {}],
  ] as const) {
    const refused = await api.call(path, { token: key.secret, body });
    same(`${path} with the revoked key`, `${refused.status} ${refused.code}`, "401 API_KEY_REVOKED");
  }
  step("refused", "401 API_KEY_REVOKED, for sending and for reading, from the next request on");
  console.log("\nAll checks passed.");
}

async function send(api: DemoClient, path: string, token: string, entries: readonly DemoEntry[]): Promise<void> {
  const startedAt = performance.now();
  let sent = 0;
  for (; sent < entries.length; sent += BATCH) {
    const body = entries.slice(sent, sent + BATCH);
    const got = await api.expect(201, receipt, path, { token, idempotencyKey: randomUUID(), body });
    same("a batch's receipt", got, {
      accepted: body.length,
      firstSeq: sent + 1,
      lastSeq: sent + body.length,
      duplicate: false,
    });
  }
  const tookMs = Math.round(performance.now() - startedAt);
  step("send", `${sent} entries in ${sent / BATCH} batches, seq 1 to ${sent} without a gap, in ${tookMs} ms`);

  const repeat = { token, idempotencyKey: randomUUID(), body: [{ message: "sent twice, stored once" }] };
  await api.expect(201, receipt, path, repeat);
  const again = await api.expect(201, receipt, path, repeat);
  same("a repeated batch", again, { accepted: 1, firstSeq: sent + 1, lastSeq: sent + 1, duplicate: true });
  step("retry", `the same Idempotency-Key again: stored once, as seq ${again.firstSeq}`);
}

/** Queries, each with a predicate for the sent entries that it must find. */
async function find(api: DemoClient, token: string, entries: readonly DemoEntry[]): Promise<void> {
  const queries: readonly [string, object, (entry: DemoEntry) => boolean][] = [
    ["level", { level: "error" }, (entry) => entry.level === "error"],
    ["minimum level", { minLevel: "warn" }, (entry) => ["warn", "error", "fatal"].includes(entry.level)],
    ["category", { category: ["cache", "queue"] }, (entry) => ["cache", "queue"].includes(entry.category)],
    ["text", { search: "PAYMENT gateway" }, (entry) => entry.message.includes("payment gateway")],
    ["data field", { data: { "order.total": { gt: 40 } } }, (entry) => orderTotal(entry) > 40],
    [
      "text and data field",
      { search: "orders", data: { rows: 3 } },
      (entry) => mentionsOrders(entry) && entry.data.rows === 3,
    ],
  ];
  for (const [name, filters, expected] of queries) {
    const body = { filters, pagination: { limit: 1000, includeTotal: true } };
    const { logs, pagination } = await api.expect(200, page, "/logger/query", { token, body });
    const wanted = entries
      .filter(expected)
      .map((entry) => entry.message)
      .reverse();
    same(
      `query by ${name}`,
      logs.map((log) => log.message),
      wanted,
    );
    same(`total of the query by ${name}`, pagination.total, wanted.length);
    if (wanted.length === 0) throw new StartFailure(`The query by ${name} must find entries.`);
    step("query", `by ${name} ${JSON.stringify(filters)}: ${logs.length} entries, exactly those that were sent`);
  }
}

function orderTotal(entry: DemoEntry): number {
  const { order } = entry.data;
  return typeof order === "object" && order !== null && "total" in order ? Number(order.total) : 0;
}

function mentionsOrders(entry: DemoEntry): boolean {
  return [entry.message, ...Object.values(entry.data)].some(
    (text) => typeof text === "string" && text.includes("orders"),
  );
}

function same(what: string, got: unknown, wanted: unknown): void {
  if (JSON.stringify(got) === JSON.stringify(wanted)) return;
  throw new StartFailure(`${what}: got ${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}.`);
}

function step(name: string, text: string): void {
  console.log(`${name.padEnd(10)}${text}`);
}
