/** The failing-sink table: each client in each scenario, in a separate process, against one sink process. */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Look, Order } from "./failing-sink.ts";
import { ENDS, SCENARIOS, type ScenarioName } from "./scenarios.ts";

const HERE = import.meta.dirname;
/** Milliseconds without a request after which no more are expected: longer than any client's next retry here. */
const QUIET_MS = 12_000;
/** Milliseconds without a request after everything was stored, in which a repetition may still arrive. */
const SETTLED_MS = 2500;
/** Maximum milliseconds of a client that retries endlessly, after it has logged and flushed. */
const CELL_MS = 40_000;
/** Maximum milliseconds of a process that was asked to end. */
const END_MS = 20_000;

/** A client's report, printed by `shippers.mjs`. */
export interface Shipper {
  name: string;
  how: string | null;
  none?: string;
}

export interface CellResult {
  stored: number;
  doubled: number;
  possible: number;
  requests: number;
  /** Bytes, from before the first entry to after the last. */
  heap?: number;
  rss?: number;
  /** Milliseconds; -1: not within 20 s; `null`: the client has no flush. */
  flushMs?: number | null;
  /** Why the process ended unexpectedly. */
  died?: string;
}

export type SinkResults = Record<string, Partial<Record<ScenarioName, CellResult>>>;

interface Cell {
  client: string;
  scenario: ScenarioName;
}

export async function measureSinks(shippers: readonly Shipper[]): Promise<SinkResults> {
  const sink = await startSink();
  const results: SinkResults = {};
  const names = shippers.filter(({ none }) => none === undefined).map(({ name }) => name);
  const cellsOf = (scenarios: readonly ScenarioName[]): Cell[] =>
    scenarios.flatMap((scenario) => names.map((client) => ({ client, scenario })));
  const others = scenarioNames().filter((name) => name !== "slow" && name !== "silent");
  const work: [Cell[], number][] = [
    // Cells that depend on speed run alone; the rest waits most of the time.
    [cellsOf(["slow"]), 1],
    [cellsOf(["silent"]), 5],
    [cellsOf(others), 8],
  ];
  try {
    for (const [cells, atOnce] of work) {
      const workers = Array.from({ length: atOnce }, async () => {
        for (let cell = cells.shift(); cell; cell = cells.shift()) {
          const result = await measure(sink, cell);
          const row = results[cell.client] ?? {};
          row[cell.scenario] = result;
          results[cell.client] = row;
          console.error(`${cell.client}, ${SCENARIOS[cell.scenario].title}: ${shown(cell.scenario, result)}`);
        }
      });
      await Promise.all(workers);
    }
  } finally {
    sink.child.kill();
  }
  return results;
}

export function sinkTable(shippers: readonly Shipper[], results: SinkResults): string {
  const columns = shippers.filter(({ none }) => none === undefined).map(({ name }) => name);
  const head = ["of 500 entries, unless it says otherwise", ...columns];
  const rows = scenarioNames().map((scenario) => [
    SCENARIOS[scenario].title,
    ...columns.map((client) => {
      const result = results[client]?.[scenario];
      return result ? shown(scenario, result) : "-";
    }),
  ]);
  const table = [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
  const ways = shippers.map(({ name, how, none }) => `- ${name}: ${how ?? `n/a, ${none}`}`).join("\n");
  return `Stored by the sink; +n: stored n times more than once. "no answer": growth of heap and of the whole process in
MB for 60 MB logged, and after how long flush() came back. Code that is loaded meanwhile is
in it: 1 to 6 MB of heap also with a sink that answers. Ends: of 10 entries, with one more start of the program.

${table}

How each ships, with its defaults otherwise:
${ways}`;
}

function shown(scenario: ScenarioName, { stored, doubled, possible, heap, rss, flushMs, died }: CellResult): string {
  const end = died === undefined ? "" : `, died: ${died}`;
  if (scenario === "silent") {
    const flush = flushMs === null ? "no flush" : flushMs === -1 ? "flush hangs" : `flush ${seconds(flushMs)}`;
    return `+${megabytes(heap)} / +${megabytes(rss)} MB, ${flush}${end}`;
  }
  const of = possible === 500 ? "" : ` of ${possible.toLocaleString("en")}`;
  return `${stored.toLocaleString("en")}${doubled > 0 ? ` +${doubled}` : ""}${of}${end}`;
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? "?" : `${(ms / 1000).toFixed(1)} s`;
}

function megabytes(bytes: number | undefined): string {
  return bytes === undefined ? "?" : (Math.max(bytes, 0) / 1e6).toFixed(0);
}

function scenarioNames(): ScenarioName[] {
  // SAFETY: the keys of the literal are the names.
  return Object.keys(SCENARIOS) as ScenarioName[];
}

function isEnd(name: ScenarioName): boolean {
  return ENDS.some((end) => end === name);
}

async function measure(sink: Sink, { client, scenario }: Cell): Promise<CellResult> {
  const { possible } = SCENARIOS[scenario];
  const port = await sink.open(scenario);
  // Files that a client keeps belong to this cell only.
  const dir = mkdtempSync(path.join(tmpdir(), "taffrail-cell-"));
  const start = (...more: string[]) => startCell([client, scenario, `http://127.0.0.1:${port}`, ...more], dir);
  try {
    const cell = start();
    let died: string | undefined;
    await cell.isDone;
    if (isEnd(scenario)) {
      if (scenario === "signal") cell.child.kill("SIGTERM");
      await cell.ended(END_MS);
      await start("again").ended(END_MS);
    } else {
      const deadline = Date.now() + CELL_MS;
      while (scenario !== "silent" && Date.now() < deadline && cell.child.exitCode === null) {
        const { stored, quiet } = await sink.look(port);
        if ((quiet ?? 0) > (stored >= possible ? SETTLED_MS : QUIET_MS)) break;
        await sleep(250);
      }
      if (cell.child.exitCode !== null) died = cell.fault();
      await cell.ended(0);
    }
    const { stored, doubled, requests } = await sink.close(port);
    return { stored, doubled, possible, requests, ...cell.said, ...(died === undefined ? {} : { died }) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

type Said = Pick<CellResult, "heap" | "rss" | "flushMs">;

interface Child {
  child: ChildProcess;
  /** The output so far. */
  said: Said;
  /** Resolves when it has logged and flushed, or has ended. */
  isDone: Promise<unknown>;
  /** Waits for its end, and kills it after `ms`. */
  ended(ms: number): Promise<void>;
  /** The last error output. */
  fault(): string;
}

function startCell(args: readonly string[], dir: string): Child {
  const child = spawn(process.execPath, ["--expose-gc", path.join(HERE, "cell.mjs"), ...args], {
    env: { ...process.env, TMPDIR: dir, NODE_ENV: "production" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exit = once(child, "close");
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  void exit.then(() => process.off("exit", kill));
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-4000);
  });
  const said: Said = {};
  const flushed = new Promise<void>((resolve) => {
    // Clients write to the same stream.
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (!/^\{"(heap|flushMs)":/.test(line)) return;
      Object.assign(said, JSON.parse(line));
      if (said.flushMs !== undefined) resolve();
    });
  });
  return {
    child,
    said,
    isDone: Promise.race([flushed, exit]),
    async ended(ms) {
      const timer = setTimeout(() => child.kill("SIGKILL"), ms);
      await exit;
      clearTimeout(timer);
    },
    fault: () => /^\w*Error.*$/m.exec(errors)?.[0].slice(0, 100) ?? `exit ${child.exitCode}`,
  };
}

interface Sink {
  child: ChildProcess;
  open(scenario: ScenarioName): Promise<number>;
  look(port: number): Promise<Look>;
  close(port: number): Promise<Look>;
}

async function startSink(): Promise<Sink> {
  const child = fork(path.join(HERE, "failing-sink.ts"));
  const waiting = new Map<number, (message: { port: number; look: Look }) => void>();
  let ids = 0;
  child.on("message", (message: { id: number; port: number; look: Look }) => {
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  await once(child, "spawn");
  const ask = (make: (id: number) => Order) =>
    new Promise<{ port: number; look: Look }>((resolve) => {
      const id = ids++;
      waiting.set(id, resolve);
      child.send(make(id));
    });
  return {
    child,
    open: async (scenario) => (await ask((id) => ({ id, order: "open", scenario }))).port,
    look: async (port) => (await ask((id) => ({ id, order: "look", port }))).look,
    close: async (port) => (await ask((id) => ({ id, order: "close", port }))).look,
  };
}
