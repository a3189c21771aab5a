/**
 * `npm run test:clients`: programs with the clients of other systems log to the service through a proxy that swallows a
 * fifth of the answers, resets connections and answers 429 and 503. Prints for each client what it sent, gave up, what is
 * stored and what the ledger says, and exits with 1 if a record is stored twice, or is missing without being given up.
 *
 * Options: `--only NAME,...` (parts of names), `--count N`, `--calm` (no faults). Packages stay in a directory of the
 * system's temporary directory for the next run. Not a part of the tests of a change: it needs the package registries.
 */
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs, promisify } from "node:util";
import { type Answer, call, createKey, createProject, type FoundLogs, register } from "../support/api.ts";
import { startServer } from "../support/server.ts";
import { CLIENTS, type ClientReport, type TestedClient } from "./clients.ts";
import { FAULTS, type ProxyCounts, startFaultyProxy } from "./faulty-proxy.ts";

const run = promisify(execFile);
const CACHE = path.join(tmpdir(), "taffrail-clients");
const PAGE = 1000;
const PACE_MS = 5;
/** Milliseconds until a client must have ended. */
const END_MS = 180_000;

interface Row {
  client: string;
  logged: number;
  counts: ProxyCounts;
  gaveUp: number | null;
  stored: number;
  missing: number;
  twice: number;
  ledger: string;
  problem: string | null;
}

const { values } = parseArgs({
  options: { only: { type: "string" }, count: { type: "string" }, calm: { type: "boolean" } },
});
const wanted = values.only?.split(",") ?? [""];
const clients = CLIENTS.filter(({ name }) => wanted.some((part) => name.toLowerCase().includes(part.toLowerCase())));
const scratch = mkdtempSync(path.join(tmpdir(), "taffrail-clients-run-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

const server = await startServer();
const account = await register(server.url);
const rows: Row[] = [];
for (const [index, client] of clients.entries()) {
  const missing = client.missing?.() ?? null;
  if (missing !== null) {
    console.log(`${client.name}: left out, ${missing}`);
    continue;
  }
  const installed = await install(client).catch((error: unknown) => {
    const [, reason = ""] = /([^\n]{1,200})\s*$/.exec(error instanceof Error ? error.message : String(error)) ?? [];
    console.log(`${client.name}: left out, its packages could not be installed: ${reason}`);
    return null;
  });
  if (installed === null) continue;
  const row = await tried(client, installed, index + 1);
  rows.push(row);
  console.log(`${row.client}: ${row.problem ?? "as it should be"}`);
}
await server.stop();
console.log(`\n${tableOf(rows)}`);
process.exit(rows.some(({ problem }) => problem !== null) ? 1 : 0);

async function tried(client: TestedClient, installed: string, seed: number): Promise<Row> {
  const projectId = await createProject(server.url, account, `${client.name} ${seed}`);
  const key = await createKey(server.url, account, projectId, ["logs:write"]);
  const { accessToken: token, workspaceId } = account;
  if (client.keySettings !== undefined) {
    const options = { method: "PATCH", token, workspaceId, body: client.keySettings };
    const { status, body } = await call(server.url, `/projects/${projectId}/keys/${key.id}`, options);
    if (status !== 200) throw new Error(`The key's settings were refused: ${JSON.stringify(body)}`);
  }
  const none = { swallowed: 0, reset: 0, limited: 0, unavailable: 0 };
  const proxy = await startFaultyProxy(server.url, values.calm ? none : { ...FAULTS, ...client.faults }, seed);
  const logged = Number(values.count ?? client.count ?? 1000);
  const name = `c${seed}`;
  const ended = await logWith(client, installed, {
    ...{ CLIENT_URL: proxy.url, CLIENT_KEY: key.secret, CLIENT_COUNT: String(logged), CLIENT_RUN: name },
    ...{ CLIENT_EXAMPLES: path.resolve(import.meta.dirname, "../../examples") },
    ...{ CLIENT_PACE_MS: String(PACE_MS), CLIENT_SCRATCH: mkdtempSync(path.join(scratch, "client-")) },
  });
  const messages = await storedMessages(projectId);
  const ledger = await ledgerOf(projectId);
  await proxy.close();
  const times = new Map<string, number>();
  for (const message of messages) times.set(message, (times.get(message) ?? 0) + 1);
  const expected = Array.from({ length: logged }, (_, number) => `${name}-${number}`);
  const missing = expected.filter((message) => !times.has(message)).length;
  const twice = [...times.values()].filter((count) => count > 1).length;
  const strange = [...times.keys()].filter((message) => !expected.includes(message));
  const { gaveUp } = ended.report;
  const problem =
    ended.fault ??
    (twice > 0 && !client.isDoubling ? `${twice} records are stored twice` : null) ??
    (gaveUp !== null && missing > gaveUp ? `${missing - gaveUp} records are missing` : null) ??
    (messages.length === 0 ? "nothing is stored" : null) ??
    (strange.length > 0 ? `other records are stored, such as ${strange[0]?.slice(0, 200)}` : null);
  return {
    client: client.name,
    logged,
    counts: proxy.counts,
    gaveUp,
    stored: messages.length,
    missing,
    twice,
    ledger,
    problem,
  };
}

/** Installs a client's packages, unless an earlier run did. @returns their directory */
async function install({ npm, pip, debian }: TestedClient): Promise<string> {
  const id = createHash("sha256").update(JSON.stringify({ npm, pip, debian })).digest("hex").slice(0, 16);
  const directory = path.join(CACHE, id);
  const mark = path.join(directory, "complete");
  if (!existsSync(mark)) {
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true });
    writeFileSync(path.join(directory, "package.json"), JSON.stringify({ private: true, dependencies: npm ?? {} }));
    if (npm !== undefined)
      await run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: directory });
    if (pip !== undefined)
      await run("python3", ["-m", "pip", "install", "-q", "--retries", "1", "--target", directory, ...pip]);
    if (debian !== undefined) {
      await run("apt-get", ["download", ...debian], { cwd: directory });
      for (const file of readdirSync(directory).filter((name) => name.endsWith(".deb"))) {
        await run("dpkg", ["-x", file, "root"], { cwd: directory });
      }
    }
    writeFileSync(mark, "");
  }
  for (const file of readdirSync(import.meta.dirname)) {
    if (file.endsWith(".mjs")) cpSync(path.join(import.meta.dirname, file), path.join(directory, file));
  }
  return directory;
}

interface Ended {
  report: ClientReport;
  /** Why the program did not end as it should. */
  fault: string | null;
}

async function logWith(
  { command, env }: TestedClient,
  installed: string,
  variables: Readonly<Record<string, string>>,
): Promise<Ended> {
  const paths = { programs: import.meta.dirname, installed, scratch: variables.CLIENT_SCRATCH ?? scratch };
  const [program = "", ...args] = command(paths);
  const child = spawn(program, args, {
    cwd: paths.scratch,
    env: { PATH: process.env.PATH, HOME: paths.scratch, PYTHONPATH: installed, ...variables, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors = (errors + text).slice(-2000)));
  const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
  const [code] = await once(child, "close");
  clearTimeout(timer);
  const last = output.trim().split("\n").at(-1) ?? "";
  try {
    // SAFETY: the programs of this directory print a report.
    return { report: JSON.parse(last) as ClientReport, fault: code === 0 ? null : `ended with ${code}: ${errors}` };
  } catch {
    return { report: { gaveUp: null }, fault: `ended with ${code}: ${errors || output.slice(-500)}` };
  }
}

async function storedMessages(projectId: string): Promise<string[]> {
  const { secret: token } = await createKey(server.url, account, projectId, ["logs:read"]);
  const messages: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const body = { pagination: { limit: PAGE, ...(cursor === null ? {} : { cursor }) } };
    const answer: Answer<FoundLogs> = await call(server.url, "/logger/query", { token, body });
    if (answer.status !== 200) throw new Error(`The query was refused: ${JSON.stringify(answer.body)}`);
    messages.push(...answer.body.data.logs.map(({ message }) => message));
    cursor = answer.body.data.pagination.nextCursor;
    if (cursor === null) return messages;
  }
}

/** Returns the entries of a project's ledger by reason: `merged 120, rejected 3`. */
async function ledgerOf(projectId: string): Promise<string> {
  const { accessToken: token, workspaceId } = account;
  const options = { method: "GET", token, workspaceId };
  type Ledger = { items: { reason: string; entries: number }[] };
  const { status, body }: Answer<Ledger> = await call(server.url, `/projects/${projectId}/ledger?limit=100`, options);
  if (status !== 200) throw new Error(`The ledger was refused: ${JSON.stringify(body)}`);
  const sums = new Map<string, number>();
  for (const { reason, entries } of body.data.items) sums.set(reason, (sums.get(reason) ?? 0) + entries);
  return [...sums].map(([reason, entries]) => `${reason} ${entries}`).join(", ");
}

function tableOf(rows: readonly Row[]): string {
  const heads = [
    "client",
    "logged",
    "requests",
    "swallowed",
    "reset",
    "429",
    "503",
    "gave up",
    "stored",
    "missing",
    "twice",
    "ledger",
  ];
  const lines = rows.map(({ client, logged, counts, gaveUp, stored, missing, twice, ledger }) => [
    client,
    ...[logged, counts.requests, counts.swallowed, counts.reset, counts.limited, counts.unavailable].map(String),
    gaveUp === null ? "?" : String(gaveUp),
    ...[stored, missing, twice].map(String),
    ledger,
  ]);
  const all = [heads, ...lines];
  const widths = heads.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0)));
  return all
    .map((line) =>
      line
        .map((cell, at) =>
          at === 0 || at === heads.length - 1 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
        )
        .join("  "),
    )
    .join("\n");
}
