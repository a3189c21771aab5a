/**
 * `npm run test:loki -- --loki PATH --logcli PATH --canary PATH`: programs of Loki against a new server, each if its path is given.
 *
 * - `--loki`: sends the same entries to a Loki that it starts, and compares the answers to 200 random queries (`--queries`, `--seed`).
 * - `--logcli`: runs every command that reads, and prints what it says.
 * - `--canary`: runs for `--minutes` (10), then prints its counters; missing, duplicate and unexpected entries or a wrong order fail.
 *
 * Not a part of the tests of a change: nothing here installs these programs.
 */
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual, parseArgs, promisify } from "node:util";
import { Random } from "../faults/random.ts";
import { createTenant } from "../support/api.ts";
import { startServer } from "../support/server.ts";
import { logQuery, metricQuery, streamsOf } from "./loki-queries.ts";

const run = promisify(execFile);
const { values: options } = parseArgs({
  options: {
    loki: { type: "string" },
    logcli: { type: "string" },
    canary: { type: "string" },
    queries: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    minutes: { type: "string", default: "10" },
  },
});

const ENTRIES = 2000;
const STEP_MS = 2000;
/** Labels that only one of the servers has. */
const OWN_LABELS = ["project", "category", "type", "service_name"];

interface Target {
  url: string;
  headers: Record<string, string>;
}

const server = await startServer();
const tenant = await createTenant(server.url);
const token = tenant.key.secret;
const taffrail: Target = { url: server.url, headers: { Authorization: `Bearer ${token}` } };
const begin = Math.floor((Date.now() - ENTRIES * STEP_MS - 120_000) / 60_000) * 60_000;
const end = begin + ENTRIES * STEP_MS;
let failures = 0;
try {
  await push(taffrail);
  if (options.loki !== undefined) await compare(options.loki);
  if (options.logcli !== undefined) await useLogcli(options.logcli);
  if (options.canary !== undefined) await useCanary(options.canary);
} finally {
  await server.stop();
}
console.log(failures === 0 ? "All passed." : `${failures} failed.`);
process.exitCode = failures === 0 ? 0 : 1;

async function push({ url, headers }: Target): Promise<void> {
  const streams = streamsOf(new Random(Number(options.seed)), ENTRIES, begin, STEP_MS);
  const response = await fetch(`${url}/loki/api/v1/push`, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify({ streams }),
  });
  if (!response.ok) throw new Error(`push: ${response.status} ${await response.text()}`);
}

async function compare(program: string): Promise<void> {
  const [http, grpc] = [await freePort(), await freePort()];
  const dir = mkdtempSync(path.join(tmpdir(), "taffrail-loki-"));
  const config = path.join(dir, "loki.json");
  writeFileSync(config, JSON.stringify(lokiConfig(dir, http, grpc)));
  const child = spawn(program, ["-config.file", config], { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-20_000);
  });
  const loki: Target = { url: `http://127.0.0.1:${http}`, headers: {} };
  try {
    await waitFor(
      async () => (await fetch(`${loki.url}/ready`)).ok,
      () => log,
    );
    await push(loki);
    const random = new Random(Number(options.seed)).fork("queries");
    let equal = 0;
    for (let at = 0; at < Number(options.queries); at++) {
      if (await isEqual(random, loki)) equal++;
      else failures++;
    }
    console.log(`${equal} of ${options.queries} queries have equal answers`);
  } finally {
    child.kill("SIGTERM");
    rmSync(dir, { recursive: true, force: true, maxRetries: 20 });
  }
}

async function isEqual(random: Random, loki: Target): Promise<boolean> {
  const isLogs = random.oneIn(2);
  const isInstant = !isLogs && random.oneIn(3);
  const from = begin + random.int(0, 1800) * 1000;
  const times = { start: `${from}000000`, end: `${from + random.int(600, 3600) * 1000}000000` };
  const logs = {
    ...times,
    limit: String(random.pick([10, 100, 5000])),
    direction: random.pick(["forward", "backward"]),
  };
  const range = { ...times, step: random.pick(["15", "60s", "5m", "37"]) };
  const query = isLogs ? logQuery(random) : metricQuery(random);
  const params = { query, ...(isLogs ? logs : isInstant ? { time: times.end } : range) };
  const route = isInstant ? "query" : "query_range";
  const [own, other] = [await answerOf(taffrail, route, params), await answerOf(loki, route, params)];
  // Of series with equal values any may be among the first.
  const isChosen = /(top|bottom)k/.test(query);
  if (isDeepStrictEqual(isChosen ? valuesOf(own) : own, isChosen ? valuesOf(other) : other)) return true;
  console.log(`DIFFERS ${route} ${JSON.stringify(params)}`);
  for (const [name, answer] of [
    ["taffrail", own],
    ["loki", other],
  ] as const) {
    const rest = (name === "taffrail" ? own : other).filter(
      (each) => !(name === "taffrail" ? other : own).some((one) => isDeepStrictEqual(one, each)),
    );
    console.log(`  ${name}: ${answer.length} parts, of which differ: ${JSON.stringify(rest).slice(0, 600)}`);
  }
  return false;
}

interface QueryAnswer {
  data: {
    resultType: string;
    result: {
      stream?: Record<string, string>;
      metric?: Record<string, string>;
      values?: [string | number, string][];
      value?: [number, string];
    }[];
  };
}

/** Returns parts that are the same for equal answers: entries in their order, or points of series in the order of their labels. */
async function answerOf({ url, headers }: Target, route: string, params: Record<string, string>): Promise<unknown[]> {
  const response = await fetch(`${url}/loki/api/v1/${route}?${new URLSearchParams(params)}`, { headers });
  const text = await response.text();
  if (!response.ok) return [`${response.status} ${text.trim()}`];
  // SAFETY: both servers answer so.
  const { data } = JSON.parse(text) as QueryAnswer;
  const parts = data.result.flatMap(({ stream, metric, values, value }) => {
    const labels = Object.entries(stream ?? metric ?? {}).filter(([name]) => !OWN_LABELS.includes(name));
    const names = JSON.stringify(labels.sort(([a], [b]) => (a < b ? -1 : 1)));
    return (values ?? (value ? [value] : [])).map(([time, point]) =>
      stream ? { time: String(time), point, names } : { time: String(time), point: rounded(point), names },
    );
  });
  const keyOf = ({ time, names }: { time: string; names: string }) => `${time.padStart(24, "0")} ${names}`;
  return [data.resultType, ...parts.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))];
}

function valuesOf(parts: readonly unknown[]): string[] {
  return parts.map((part) => JSON.stringify(part).replace(/,"names":.*$/, "")).sort();
}

/** Sums of fractions depend on the order in which they are added. */
function rounded(point: string): string {
  return Number(Number(point).toPrecision(10)).toString();
}

async function useLogcli(program: string): Promise<void> {
  const times = ["--from", new Date(begin).toISOString(), "--to", new Date(end).toISOString()];
  const selector = '{job="compare"}';
  const commands: [args: string[], expected: RegExp, lines?: number][] = [
    [["query", selector, ...times, "--limit", "0", "--batch", "1000", "-o", "raw"], /./, ENTRIES],
    [["query", selector, ...times, "--limit", "0", "--batch", "700", "--forward", "-o", "jsonl"], /"line"/, ENTRIES],
    [["query", `${selector} |= "order" | logfmt | status >= 500`, ...times, "--limit", "20"], /status=/, 20],
    [["query", `sum by (level) (count_over_time(${selector}[5m]))`, ...times, "--step", "5m"], /"level": ?"error"/],
    [
      [
        "query",
        selector,
        ...times,
        "--limit",
        "0",
        "-o",
        "raw",
        "--parallel-duration",
        "15m",
        "--parallel-max-workers",
        "4",
        "--merge-parts",
        "--part-path-prefix",
        path.join(mkdtempSync(path.join(tmpdir(), "taffrail-parts-")), "p"),
      ],
      /./,
      ENTRIES,
    ],
    [
      ["instant-query", `sum(count_over_time(${selector}[3h]))`, "--now", new Date(end).toISOString()],
      new RegExp(String(ENTRIES)),
    ],
    [["labels", ...times], /^service$/m],
    [["labels", "level", ...times], /^warn$/m],
    [["series", selector, ...times, "--analyze-labels"], /Total Streams/],
    [["stats", selector, ...times], new RegExp(`entries: ${ENTRIES}`, "i")],
    [["volume", selector, ...times], /"job": ?"compare"/],
    [["volume_range", selector, ...times, "--step", "30m", "--targetLabels", "level"], /level/],
    [["detected-fields", `${selector} | json`, ...times], /status/],
    [["detected-fields", `${selector} | json`, "status", ...times], /503/],
  ];
  const env = { ...process.env, LOKI_ADDR: taffrail.url, LOKI_USERNAME: "key", LOKI_PASSWORD: token };
  for (const [args, expected, lines] of commands) {
    const { stdout, failure } = await output(program, ["--quiet", ...args], env);
    const count = stdout.split("\n").filter((line) => line !== "").length;
    const isRight = failure === "" && expected.test(stdout) && (lines === undefined || lines === count);
    if (!isRight) failures++;
    const what = args.filter((arg) => !times.includes(arg)).join(" ");
    console.log(`${isRight ? "passed" : "FAILED"}  logcli ${what}: ${count} lines`);
    if (!isRight) console.log(`${stdout.slice(0, 1500)}${failure.replaceAll(token, "sk_...").slice(0, 1500)}`);
  }
  await tailWithLogcli(program, env);
}

/** Follows entries that are sent meanwhile: each of them once, in order. */
async function tailWithLogcli(program: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(program, ["--quiet", "query", '{job="tailed"}', "--tail", "--limit", "1000", "-o", "raw"], {
    env,
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  await sleep(2000);
  const lines = Array.from({ length: 40 }, (_, at) => `tailed ${at}`);
  for (const line of lines) {
    const streams = [{ stream: { job: "tailed" }, values: [[`${Date.now()}000000`, line]] }];
    const headers = { ...taffrail.headers, "Content-Type": "application/json" };
    await fetch(`${taffrail.url}/loki/api/v1/push`, { method: "POST", headers, body: JSON.stringify({ streams }) });
  }
  await waitFor(
    async () => text.includes("tailed 39\n"),
    () => text,
  );
  child.kill("SIGTERM");
  const isRight = isDeepStrictEqual(text.trim().split("\n"), lines);
  if (!isRight) failures++;
  console.log(`${isRight ? "passed" : "FAILED"}  logcli query --tail${isRight ? "" : `: ${text}`}`);
}

async function output(program: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  try {
    const { stdout } = await run(program, args, { env, maxBuffer: 64 * 1024 * 1024 });
    return { stdout, failure: "" };
  } catch (error) {
    // SAFETY: `execFile` adds the output to its error.
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    return { stdout, failure: stderr || String(error) };
  }
}

/** Counters that stay 0 if each entry is found once, by the tail and by queries, and in order. */
const FAULTS = [
  "missing_entries",
  "websocket_missing_entries",
  "spot_check_missing_entries",
  "unexpected_entries",
  "duplicate_entries",
  "out_of_order_entries",
];

async function useCanary(program: string): Promise<void> {
  const port = await freePort();
  const args = [
    ...["-addr", `127.0.0.1:${server.port}`, "-user", "key", "-pass", token, "-push=true", "-port", String(port)],
    ...["-interval", "200ms", "-wait", "10s", "-max-wait", "60s", "-pruneinterval", "10s"],
    ...["-spot-check-interval", "20s", "-spot-check-query-rate", "30s", "-metric-test-interval", "60s"],
  ];
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-5000);
    });
  await sleep(Number(options.minutes) * 60_000);
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  child.kill("SIGTERM");
  const counters = [...metrics.matchAll(/^loki_canary_(\w+?)(?:_total)? (\S+)$/gm)].map(([, name = "", value]) => [
    name,
    Number(value),
  ]);
  const byName = new Map(counters.map(([name, value]) => [String(name), Number(value)]));
  const isRight = (byName.get("entries") ?? 0) > 100 && FAULTS.every((name) => byName.get(name) === 0);
  if (!isRight) failures++;
  const shown = ["entries", "spot_check_entries", ...FAULTS, "metric_test_expected", "metric_test_actual"];
  console.log(
    `${isRight ? "passed" : "FAILED"}  canary: ${shown.map((name) => `${name} ${byName.get(name)}`).join(", ")}`,
  );
  if (!isRight) console.log(log.replaceAll(token, "sk_..."));
}

async function waitFor(isReady: () => Promise<boolean>, log: () => string): Promise<void> {
  for (let tries = 0; tries < 240; tries++) {
    if (await isReady().catch(() => false)) return;
    await sleep(500);
  }
  throw new Error(`It is not ready: ${log()}`);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => probe.once("listening", resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** A single process that reports nothing to anyone, and listens on this machine alone. */
function lokiConfig(dir: string, http: number, grpc: number) {
  const listen = { http_listen_address: "127.0.0.1", grpc_listen_address: "127.0.0.1" };
  const directories = { chunks_directory: `${dir}/chunks`, rules_directory: `${dir}/rules` };
  return {
    auth_enabled: false,
    server: { ...listen, http_listen_port: http, grpc_listen_port: grpc, log_level: "warn" },
    common: {
      instance_addr: "127.0.0.1",
      path_prefix: dir,
      replication_factor: 1,
      storage: { filesystem: directories },
      ring: { kvstore: { store: "inmemory" }, instance_addr: "127.0.0.1" },
    },
    schema_config: {
      configs: [
        {
          from: "2020-10-24",
          store: "tsdb",
          object_store: "filesystem",
          schema: "v13",
          index: { prefix: "index_", period: "24h" },
        },
      ],
    },
    limits_config: {
      reject_old_samples: false,
      discover_service_name: [],
      volume_enabled: true,
      max_query_series: 100_000,
    },
    query_range: { cache_results: false },
    analytics: { reporting_enabled: false },
  };
}
