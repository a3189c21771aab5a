/**
 * `npm run test:attack:doors`: bodies of every door, mutated, cut and compressed in all encodings, and bodies that inflate
 * to far more than they are, against a server whose isolates have 128 MiB of heap. Then reads back what is stored. Exits
 * with 1 if a response is 500, `/health` fails, the server ends, or the stored entries are not the acknowledged ones.
 *
 * Options: `--bodies N` (10,000), `--concurrent N` (8), `--seed N`.
 */
import { parseArgs } from "node:util";
import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { protobufOf } from "../../../bench/otlp-bodies.ts";
import { childrenRunning, peakMemoryMiB } from "../../../bench/process-stats.ts";
import { bytesField, message, numberField } from "../../../bench/protobuf-fields.ts";
import { snappyBlock, snappyOf } from "../../../bench/snappy.ts";
import { heapLimit, ISOLATE_HEAP_MIB } from "../../../scripts/lib/v8-flags.ts";
import { asUser, call, createTenant } from "../../support/api.ts";
import { mutated, randomFrom } from "../../support/doors/decode.ts";
import { startServer } from "../../support/server.ts";

const { values } = parseArgs({
  options: {
    bodies: { type: "string", default: "10000" },
    concurrent: { type: "string", default: "8" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const count = Number(values.bodies);
const seed = Number(values.seed);

/** Milliseconds for which `/health` may wait beside this load on a busy machine. */
const HEALTH_MS = 2_000;

interface Seed {
  path: string;
  type: string;
  body: Uint8Array;
}

// The server is a separate process group and would outlive a signal, so signals exit the process instead.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));

const server = await startServer({ env: { ...heapLimit(ISOLATE_HEAP_MIB), LOG_LEVEL: "error" } });
const tenant = await createTenant(server.url);
const limited = await call(server.url, `/workspaces/${tenant.account.workspaceId}/rate-limits`, {
  method: "PUT",
  token: tenant.account.accessToken,
  body: { default: { limit: 1_000_000 } },
});
if (limited.status !== 200) throw new Error(`The limit could not be set: ${limited.status}`);

const seeds = seedsOf(Date.now());
// Made before `/health` is watched, because they take this process seconds.
const explosive = Object.entries(bombs());
const random = randomFrom(seed);
const answers = new Map<string, number>();
const faults: string[] = [];
let health = { slowest: 0, failed: 0 };

console.log(`seed ${seed}, ${count} bodies of ${seeds.length} kinds`);
let isOver = false;
const watched = watchHealth();
for (const [name, bomb] of explosive) {
  const startedAt = Date.now();
  const answer = await send(bomb.seed, bomb.headers, bomb.seed.body);
  console.log(`${name} (${bomb.seed.body.length} bytes sent): ${answer}, ${Date.now() - startedAt} ms`);
}
let next = 0;
await Promise.all(
  Array.from({ length: Number(values.concurrent) }, async () => {
    while (next < count) {
      const sown = seeds[next++ % seeds.length];
      if (sown !== undefined) await sendMutation(sown);
    }
  }),
);
isOver = true;
await watched;
for (const [answer, times] of [...answers].sort()) console.log(`${times} x ${answer}`);
console.log(`/health at worst ${health.slowest} ms, failed ${health.failed}`);
if (health.failed > 0 || health.slowest > HEALTH_MS) faults.push("/health failed or waited");
await readBack();
const [runtime] = childrenRunning("workerd", server.pid);
if (runtime === undefined) faults.push("the server has ended");
else console.log(`peak resident ${peakMemoryMiB(runtime)?.toFixed(0)} MiB`);
for (const fault of faults) console.log(`FAULT: ${fault}`);
await server.stop();
process.exit(faults.length === 0 ? 0 : 1);

/** One body of each kind, valid, with two or three records. */
function seedsOf(now: number): Seed[] {
  const ns = `${now}123456`;
  const iso = new Date(now).toISOString();
  const seconds = now / 1000;
  const json = (value: unknown) => Buffer.from(JSON.stringify(value));
  const lines = (...items: unknown[]) => Buffer.from(`${items.map((item) => JSON.stringify(item)).join("\n")}\n`);
  const text = (name: string, value: string) =>
    message(bytesField(1, name), bytesField(2, message(bytesField(1, value))));
  const record = {
    time: BigInt(ns),
    severityNumber: 17,
    body: "body",
    attributes: [["k", { map: [["b", 9n]] }]],
    traceId: "7".repeat(32),
  } as const;
  const otlp = protobufOf([
    { attributes: [["service.name", "shop"]], scopes: [{ name: "s", records: [record, record] }] },
  ]);
  const stamp = message(numberField(1, Math.floor(seconds)), numberField(2, 123_456_789));
  const line = message(bytesField(1, stamp), bytesField(2, '{"msg":"line","level":30}'), bytesField(3, text("a", "b")));
  const push = message(
    bytesField(1, message(bytesField(1, '{app="shop",level="warn"}'), bytesField(2, line), bytesField(2, line))),
  );
  const attributes = [{ key: "a", value: { kvlistValue: { values: [{ key: "b", value: { intValue: "9" } }] } } }];
  const log = {
    timeUnixNano: ns,
    severityNumber: 9,
    body: { stringValue: "hi" },
    attributes,
    traceId: "0".repeat(31) + 1,
  };
  const sentry = { timestamp: seconds, level: "warn", body: "b", attributes: { k: { value: 5, type: "integer" } } };
  const syslog = `<165>1 ${iso} host app 7 ID [a@1 k="v \\" ]"] text`;
  const base64 = (value: string) => Buffer.from(value).toString("base64");
  return [
    { path: "/v1/logs", type: "application/x-protobuf", body: otlp },
    {
      path: "/v1/logs",
      type: "application/json",
      body: json({
        resourceLogs: [{ resource: { attributes }, scopeLogs: [{ scope: { name: "s" }, logRecords: [log, log] }] }],
      }),
    },
    { path: "/loki/api/v1/push", type: "application/x-protobuf", body: snappyBlock(push) },
    {
      path: "/loki/api/v1/push",
      type: "application/json",
      body: json({
        streams: [
          {
            stream: { app: "a" },
            values: [
              [ns, "line", { trace_id: "t" }],
              [ns, '{"level":30}'],
            ],
          },
        ],
      }),
    },
    {
      path: "/es/_bulk",
      type: "application/x-ndjson",
      body: lines(
        { index: { _index: "i" } },
        { "@timestamp": iso, message: "m", log: { level: "warn" } },
        { delete: {} },
      ),
    },
    {
      path: "/services/collector/event",
      type: "",
      body: lines({ time: seconds, event: { a: 1 }, fields: { b: 2 } }, { event: "x" }),
    },
    { path: "/services/collector/raw?host=h", type: "text/plain", body: Buffer.from("one line\nanother line\n") },
    {
      path: "/api/v2/logs",
      type: "application/json",
      body: json([{ message: "d", ddtags: "a:b,c", status: "error" }, { message: "e" }]),
    },
    {
      path: "/ingest",
      type: "application/json",
      body: json([{ msg: "p", level: 30, time: now, n: 12 }, { foo: [1, { b: null }] }]),
    },
    {
      path: "/ingest?message=m&time=t",
      type: "application/x-ndjson",
      body: lines({ m: "q", t: ns, level: "WARNING" }, { log: "z" }),
    },
    { path: "/ingest", type: "text/plain", body: Buffer.from("a line\nanother {line}\n") },
    {
      path: "/ingest/vercel",
      type: "application/json",
      body: json([{ id: "1", level: "warning", proxy: { path: "/" } }]),
    },
    {
      path: "/ingest/firehose",
      type: "application/json",
      body: json({ requestId: "r", timestamp: now, records: [{ data: base64('{"a":1}') }] }),
    },
    { path: "/ingest/syslog", type: "application/logplex-1", body: Buffer.from(`${syslog.length} ${syslog}7 <13>foo`) },
    {
      path: "/ingest/syslog",
      type: "text/plain",
      body: Buffer.from(`${syslog}\n<34>Oct 11 22:14:15 host su[3]: failed\n`),
    },
    {
      path: "/gelf",
      type: "application/json",
      body: json({ version: "1.1", host: "h", short_message: "g", level: 3, _a: 1, timestamp: seconds }),
    },
    {
      path: "/journal/upload",
      type: "application/vnd.fdo.journal",
      body: Buffer.from(`__REALTIME_TIMESTAMP=${now}123\nPRIORITY=4\nMESSAGE\n\u0005\0\0\0\0\0\0\0ab\ncd\nA=1\n\n`),
    },
    {
      path: "/api/1/envelope/",
      type: "",
      body: lines({}, { type: "log", item_count: 2 }, { version: 2, items: [sentry, sentry] }),
    },
  ];
}

/** Bodies that inflate to hundreds of times their size, and one that announces more than it has. */
function bombs(): Record<string, { seed: Seed; headers: Record<string, string> }> {
  const zeros = Buffer.alloc(256 * 1024 * 1024, "a");
  const of = (encoding: string, body: Uint8Array) => ({
    seed: { path: "/ingest", type: "application/x-ndjson", body },
    headers: { "Content-Encoding": encoding },
  });
  const loki = { path: "/loki/api/v1/push", type: "application/x-protobuf" };
  const nested = (depth: number) => {
    let value: Uint8Array = new Uint8Array();
    for (let at = 0; at < depth; at++) value = message(bytesField(5, message(bytesField(1, value))));
    return message(bytesField(1, message(bytesField(2, message(bytesField(2, message(bytesField(5, value))))))));
  };
  return {
    "gzip bomb": of("gzip", gzipSync(zeros)),
    "deflate bomb": of("deflate", deflateSync(zeros)),
    "zstd bomb": of("zstd", zstdCompressSync(zeros)),
    "snappy: announces 4 GiB": { seed: { ...loki, body: snappyOf(2 ** 32 - 1, [[0, 97]]) }, headers: {} },
    "snappy bomb": {
      seed: {
        ...loki,
        body: snappyOf(256 * 1024 * 1024, [[0, 97], ...Array.from({ length: 400_000 }, () => [254, 1, 0])]),
      },
      headers: {},
    },
    "OTLP value nested 2,000 deep": {
      seed: { path: "/v1/logs", type: "application/x-protobuf", body: nested(2_000) },
      headers: {},
    },
    "JSON nested 1,000,000 deep": {
      seed: { path: "/ingest", type: "application/json", body: Buffer.from(`{"a":${"[".repeat(1_000_000)}`) },
      headers: {},
    },
  };
}

async function sendMutation(sown: Seed): Promise<void> {
  const copies = random(20) === 0 ? 200 : 1;
  const body = mutated(
    copies === 1 ? sown.body : Buffer.concat(Array.from({ length: copies }, () => sown.body)),
    random,
  );
  const encoders = [gzipSync, deflateSync, zstdCompressSync];
  const at = random(10);
  const encode = encoders[at];
  if (encode === undefined) return note(sown, await send(sown, {}, body));
  const zipped = new Uint8Array(encode(body));
  const encoding = ["gzip", "deflate", "zstd"][at] ?? "";
  note(sown, await send(sown, { "Content-Encoding": encoding }, random(4) === 0 ? mutated(zipped, random) : zipped));
}

function note({ path }: Seed, answer: string): void {
  const key = `${path} ${answer}`;
  answers.set(key, (answers.get(key) ?? 0) + 1);
}

async function send(
  { path, type }: Seed,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): Promise<string> {
  try {
    const response = await fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { ...(type === "" ? {} : { "Content-Type": type }), ...headers, "X-Api-Key": tenant.key.secret },
      body: Buffer.from(body),
    });
    const answer = await response.text();
    if (response.status >= 500) {
      const sent = Buffer.from(body).toString("base64").slice(0, 2_000);
      faults.push(
        `${path}: ${response.status} ${answer.slice(0, 200)}; ${JSON.stringify(headers)}, in base64: ${sent}`,
      );
    }
    return String(response.status);
  } catch (error) {
    faults.push(`${path}: ${String(error)}`);
    return "no answer";
  }
}

async function watchHealth(): Promise<void> {
  while (!isOver) {
    const startedAt = Date.now();
    const isFine = await fetch(`${server.url}/health`, {
      headers: { "CF-Connecting-IP": `10.0.${random(256)}.${random(256)}` },
    }).then(
      ({ ok }) => ok,
      () => false,
    );
    health = { slowest: Math.max(health.slowest, Date.now() - startedAt), failed: health.failed + (isFine ? 0 : 1) };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The entries by a query must be as many as the project's last `seq`, each with its own. */
async function readBack(): Promise<void> {
  const project = await call<{ lastSeq: number }>(server.url, `/projects/${tenant.projectId}`, asUser(tenant.account));
  const { lastSeq } = project.body.data;
  const seen = new Set<number>();
  let cursor: string | null = null;
  do {
    const page: {
      status: number;
      body: { data: { logs: { seq: number }[]; pagination: { nextCursor: string | null } } };
    } = await call(server.url, "/logger/query", {
      token: tenant.key.secret,
      body: { pagination: { limit: 1000, ...(cursor === null ? {} : { cursor }) } },
    });
    if (page.status !== 200) {
      faults.push(`a query of the stored entries: ${page.status} ${JSON.stringify(page.body).slice(0, 200)}`);
      return;
    }
    for (const { seq } of page.body.data.logs) seen.add(seq);
    cursor = page.body.data.pagination.nextCursor;
  } while (cursor !== null);
  console.log(`${lastSeq} entries stored, ${seen.size} read back`);
  if (seen.size !== lastSeq) faults.push(`${lastSeq} entries stored, ${seen.size} read back`);
}
