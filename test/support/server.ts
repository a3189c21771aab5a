import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

const ROOT = path.resolve(import.meta.dirname, "../..");
/** Printed by `npm start` once it serves. */
const READY = "Taffrail is running.";

/** Smaller than the default's 256 MiB with a ballast of 64 MiB, which each of hundreds of servers would write. */
const MIN_FREE_BYTES = String(4 * 1024 * 1024);

export interface ServerOptions {
  /**
   * Settings over those of the tests: a free port, a new DATA_DIR, a small ballast, an AUTH_LIMIT that tests do not
   * reach.
   */
  env?: Readonly<Record<string, string>>;
}

/** A service as `npm start` runs it, in a separate process group. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
  /** Process id of the start script, and of its process group. */
  readonly pid: number;
  /** The output of the current run to stdout and stderr. */
  output(): string;
  /** Asks the server to stop, and returns its exit code. */
  stop(): Promise<number | null>;
  /** Ends the whole group at once, like a power failure. */
  kill9(): Promise<void>;
  /** Starts the server again on the same port and data, after a stop if it runs. */
  restart(): Promise<void>;
}

/** Variables of the test run that a server inherits; no setting of the shell reaches it. */
const PASSED_ON = Object.fromEntries(
  ["PATH", "HOME", "NODE_COMPILE_CACHE"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);

interface Run {
  child: ChildProcess;
  pid: number;
  output: () => string;
  exit: Promise<number | null>;
}

/** Starts a server and waits until it serves. Deletes its data at the end of this process. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const dataDir = options.env?.DATA_DIR ?? migratedDir();
  const port = Number(options.env?.PORT ?? (await freePort()));
  const env = { AUTH_LIMIT: "1000000", MIN_FREE_BYTES, ...options.env, DATA_DIR: dataDir, PORT: String(port) };
  let run = await startAndWait(env);
  const ended = async (signal: NodeJS.Signals): Promise<number | null> => {
    signalGroup(run, signal);
    return run.exit;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    dataDir,
    get pid() {
      return run.pid;
    },
    output: () => run.output(),
    stop: () => ended("SIGTERM"),
    async kill9() {
      await ended("SIGKILL");
    },
    async restart() {
      await ended("SIGTERM");
      run = await startAndWait(env);
    },
  };
}

/** Runs the start script to its end, for starts that are refused. */
export async function failedStart(
  env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; output: string }> {
  const run = launch(env);
  const code = await run.exit;
  return { code, output: run.output() };
}

/** Starts the script without waiting. */
export function launch(env: Readonly<Record<string, string>>): Run {
  const child = spawn(process.execPath, [path.join(ROOT, "scripts/start.ts")], {
    cwd: ROOT,
    // A separate group, so that the whole of it can be killed at once.
    detached: true,
    env: { ...PASSED_ON, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  if (child.pid === undefined) throw new Error("The start script could not be started.");
  const run = { child, pid: child.pid, output: () => output, exit: exitOf(child) };
  living.add(run);
  run.exit.finally(() => living.delete(run));
  return run;
}

async function startAndWait(env: Readonly<Record<string, string>>): Promise<Run> {
  const run = launch(env);
  let over = false;
  run.exit.finally(() => {
    over = true;
  });
  while (!run.output().includes(READY)) {
    if (over) throw new Error(`The server did not start.\n${run.output()}`);
    await Promise.race([run.child.stdout ? once(run.child.stdout, "data") : run.exit, run.exit]);
  }
  return run;
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  const [code] = await once(child, "exit");
  return typeof code === "number" ? code : null;
}

function signalGroup(run: Run, signal: NodeJS.Signals): void {
  if (!living.has(run)) return;
  // A stop signals only the script, as a service manager does; a kill signals the whole group.
  process.kill(signal === "SIGKILL" ? -run.pid : run.pid, signal);
}

/** Ends servers that still run when a test file ends early. */
const living = new Set<Run>();
const directories: string[] = [];
process.on("exit", () => {
  for (const run of living) process.kill(-run.pid, "SIGKILL");
  for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
});

/** A data directory whose databases have their schema, which `npm test` makes once for all servers. */
function migratedDir(): string {
  const directory = temporaryDir();
  const { MIGRATED_DATA } = process.env;
  if (MIGRATED_DATA !== undefined) cpSync(MIGRATED_DATA, directory, { recursive: true });
  return directory;
}

export function temporaryDir(): string {
  const directory = mkdtempSync(path.join(tmpdir(), "taffrail-test-"));
  directories.push(directory);
  return directory;
}

/** Below the ephemeral ports of the system, so that no other process gets one in the meantime. */
const FIRST_PORT = 20_000;
/** Each worker of the test runner has a separate range of ports. */
const PORTS_A_WORKER = 1_000;
const firstPort = FIRST_PORT + (Number(process.env.VITEST_POOL_ID ?? 0) % 10) * PORTS_A_WORKER;
let givenPorts = Math.floor(Math.random() * PORTS_A_WORKER);

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS_A_WORKER; tries++) {
    const port = firstPort + (givenPorts++ % PORTS_A_WORKER);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
  throw new Error("No port is free.");
}
