import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll } from "vitest";
import { pack } from "../../scripts/lib/pack.ts";
import type { LogEntry } from "../../src/types.ts";
import { type Sink, sleep, startSink } from "../support/sink.ts";

const EXAMPLES = path.resolve(import.meta.dirname, "../../examples");
/** Installed frameworks stay from run to run. Not below `node_modules`, where Node runs no TypeScript. */
const CACHE = path.resolve(import.meta.dirname, "../../../dist/examples");
/** Milliseconds until a started server must answer, and until a stopped one must have ended. */
const START_MS = 60_000;
const STOP_MS = 15_000;

const run = promisify(execFile);

/** An example in its own directory, with the pinned versions of its frameworks and the library's tarball. */
export interface Application {
  dir: string;
  sink: Sink;
  /** Writes a file of the application. */
  write(file: string, text: string): void;
  /** Runs a program of its `node_modules`, and gives what it wrote. @throws what it wrote, where it fails */
  bin(program: string, args: string[], env?: Record<string, string>): Promise<string>;
  /** Starts a server and waits until it answers. @param args returns Node's arguments for a port */
  serve(args: (port: string) => string[], env?: (port: string) => Record<string, string>): Promise<Served>;
  /** Forgets the entries that are stored so far. */
  forget(): void;
  /** Waits until entries with these messages are stored. Batches are sent after 5 s. */
  stored(...messages: string[]): Promise<LogEntry[]>;
}

export interface Served {
  url: string;
  port: string;
  /** The output of the process. */
  output(): string;
  /** Asks the process to end, so that it flushes. */
  stop(): Promise<void>;
}

const served: Served[] = [];
const sinks: Sink[] = [];
// Registered while the file is collected: within a test, vitest ignores it, and the servers would outlive the run.
afterAll(async () => {
  for (const one of served) await one.stop();
  for (const sink of sinks) await sink.close();
});

export async function install(name: string): Promise<Application> {
  const dir = path.join(CACHE, name);
  const modules = path.join(dir, "node_modules");
  mkdirSync(dir, { recursive: true });
  for (const build of [".next", ".nuxt", ".output", "dist"])
    rmSync(path.join(dir, build), { recursive: true, force: true });
  cpSync(path.join(EXAMPLES, name), dir, {
    recursive: true,
    filter: (file) => !file.includes("node_modules") && !/\/\.(?:next|nuxt|output)/.test(file),
  });
  const pins = createHash("sha256")
    .update(readFileSync(path.join(dir, "package.json")))
    .digest("hex");
  const mark = path.join(dir, ".installed");
  if (!existsSync(mark) || !existsSync(modules) || readFileSync(mark, "utf8") !== pins) {
    await run("npm", ["install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"], {
      cwd: dir,
      env: environment(),
    });
    writeFileSync(mark, pins);
  }
  rmSync(path.join(modules, "taffrail"), { recursive: true, force: true });
  cpSync(path.join(pack().consumer, "node_modules/taffrail"), path.join(modules, "taffrail"), { recursive: true });

  const sink = await startSink();
  sinks.push(sink);
  let forgotten = 0;
  const stored = (): LogEntry[] => sink.stored().slice(forgotten);
  const settings = {
    TAFFRAIL_URL: sink.url,
    TAFFRAIL_PROJECT: "proj_example",
    TAFFRAIL_API_KEY: "sk_example_0123456789",
    NUXT_TAFFRAIL_API_URL: sink.url,
    NUXT_TAFFRAIL_PROJECT_ID: "proj_example",
    NUXT_TAFFRAIL_API_KEY: "sk_example_0123456789",
  };
  return {
    dir,
    sink,
    write(file, text) {
      mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
      writeFileSync(path.join(dir, file), text);
    },
    async bin(program, args, env = {}) {
      const options = { cwd: dir, env: environment(env), maxBuffer: 2 ** 26 };
      try {
        const { stdout, stderr } = await run(process.execPath, [binOf(modules, program), ...args], options);
        return stdout + stderr;
      } catch (error) {
        const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
        throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
      }
    },
    async serve(args, env = () => ({})) {
      const one = await start(dir, args, (port) => ({ ...settings, ...env(port) }));
      served.push(one);
      return one;
    },
    forget() {
      forgotten = sink.stored().length;
    },
    async stored(...messages) {
      const absentOf = (): string[] =>
        messages.filter((message) => !stored().some((entry) => entry.message === message));
      for (let waited = 0; absentOf().length > 0 && waited < 20_000; waited += 50) await sleep(50);
      const absent = absentOf();
      if (absent.length > 0) {
        const all = stored().map(({ message }) => message);
        throw new Error(`Not stored: ${absent.join("; ")}. Stored:\n${all.join("\n")}`);
      }
      return stored();
    },
  };
}

/** The environment of this process, without the variables that vitest sets for its workers. */
function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { NODE_ENV: _mode, NODE_OPTIONS: _options, VITEST: _vitest, ...rest } = process.env;
  for (const name of Object.keys(rest)) if (/^(?:VITEST_|TAFFRAIL_)/.test(name)) delete rest[name];
  const path = `${process.execPath.replace(/\/[^/]+$/, "")}:${process.env.PATH}`;
  return { ...rest, PATH: path, NEXT_TELEMETRY_DISABLED: "1", NUXT_TELEMETRY_DISABLED: "1", ...more };
}

function binOf(modules: string, program: string): string {
  const manifest: { bin: string | Record<string, string> } = JSON.parse(
    readFileSync(path.join(modules, program, "package.json"), "utf8"),
  );
  const { bin } = manifest;
  const file = typeof bin === "string" ? bin : (bin[program] ?? Object.values(bin)[0] ?? "");
  return path.join(modules, program, file);
}

async function freePort(): Promise<string> {
  const server = createServer().listen(0);
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("No port.");
  return String(address.port);
}

async function start(
  dir: string,
  args: (port: string) => string[],
  env: (port: string) => Record<string, string>,
): Promise<Served> {
  const port = await freePort();
  const child = spawn(process.execPath, args(port), { cwd: dir, env: environment({ PORT: port, ...env(port) }) });
  const ended = once(child, "exit");
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  // By name, because some servers listen on only one address family.
  const url = `http://localhost:${port}`;
  for (let waited = 0; ; waited += 100) {
    try {
      await fetch(`${url}/favicon.ico`);
      break;
    } catch (error) {
      if (child.exitCode !== null || waited > START_MS) {
        child.kill("SIGKILL");
        throw new Error(`No server in ${dir}:\n${output}`, { cause: error });
      }
      await sleep(100);
    }
  }
  return {
    url,
    port,
    output: () => output,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await ended;
      clearTimeout(late);
    },
  };
}
