import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { buildAssets } from "../../scripts/lib/bundle.ts";
import { ROOT } from "../../scripts/lib/paths.ts";
import { wrangler } from "../../scripts/lib/wrangler.ts";
import { freePort, temporaryDir } from "../support/server.ts";
import type { AlertOrder } from "./alerts/protocol.ts";
import { CALM, type Counts, type Look, type Order, type Plan } from "./protocol.ts";

/** Printed by `serve.ts` once it serves. */
export const READY = "The harness's server is ready.";

/** Settings of the server: batches leave the object early and a few at a time, whatever a round sets. */
const SETTINGS = { AUTH_LIMIT: "1000000", LOG_LEVEL: "error", RECENT_MAX_AGE_SECONDS: "1", RECENT_MAX_BYTES: "20000" };

const MAIN = path.join("test", "faults", "worker", "worker.ts");

/**
 * Bundles the service variant that can be made to fail, or another one.
 * @param root of the sources
 * @returns its path
 */
export async function bundleVariant(main = MAIN, root = ROOT): Promise<string> {
  await buildAssets();
  const outdir = temporaryDir();
  const config = path.join(root, "wrangler.toml");
  const result = await wrangler(["deploy", path.join(root, main), "--config", config, "--dry-run", "--outdir", outdir]);
  const bundle = path.join(outdir, `${path.basename(main, ".ts")}.js`);
  if (result.code !== 0 || !existsSync(bundle)) {
    throw new Error(`The variant could not be bundled.\n${result.stdout}${result.stderr}`);
  }
  return bundle;
}

/** The server was killed before it answered an order. */
export class ServerKilled extends Error {}

/** The service variant as a separate process group, on one port and one directory through all restarts. */
export class FaultServer {
  readonly url: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #bundles: readonly string[];
  #child: ChildProcess | null = null;
  #exit: Promise<unknown> = Promise.resolve();
  #plan: Plan = CALM;
  /** Caused faults before the last kill, by name. */
  readonly #counts: Counts = {};
  /** Number of events, by name and outcome. */
  readonly lines: Counts = {};
  /** Events that indicate a bug, whatever faults were caused. */
  readonly bugs: string[] = [];
  /** The last output. */
  readonly output: string[] = [];
  #isServing = false;
  #kills = 0;

  static async start(port?: number): Promise<FaultServer> {
    return FaultServer.startVersions([await bundleVariant()], SETTINGS, { port });
  }

  /** Starts one of several versions of the worker, bundled. `restart` starts any of them. @param version its index */
  static async startVersions(
    bundles: readonly string[],
    settings: Readonly<Record<string, string>>,
    { port, version = 0 }: { port?: number | undefined; version?: number } = {},
  ): Promise<FaultServer> {
    const server = new FaultServer(bundles, settings, port ?? (await freePort()));
    await server.#start({ ...server.#bundleOf(version), IS_NEW: "1" });
    return server;
  }

  private constructor(bundles: readonly string[], settings: Readonly<Record<string, string>>, port: number) {
    this.url = `http://127.0.0.1:${port}`;
    this.#bundles = bundles;
    this.#env = { ...settings, PORT: String(port), DATA_DIR: temporaryDir() };
    // Ends what is left of a run that ends early.
    process.on("exit", () => this.#kill("SIGKILL"));
  }

  /** Starts the server on the existing data. Applies the plan before `restart` returns. @param version its index */
  restart(version = 0): Promise<void> {
    return this.#start(this.#bundleOf(version));
  }

  #bundleOf(version: number): Readonly<Record<string, string>> {
    const BUNDLE = this.#bundles[version];
    if (BUNDLE === undefined) throw new RangeError(`There is no version ${version}.`);
    return { BUNDLE };
  }

  async #start(env: Readonly<Record<string, string>>): Promise<void> {
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, [path.join(import.meta.dirname, "serve.ts")], {
      cwd: ROOT,
      detached: true,
      env: { PATH, HOME, ...this.#env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    this.#exit = once(child, "exit");
    const ready = new Promise<void>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        createInterface(stream).on("line", (line) => {
          if (line === READY) resolve();
          else this.#read(line);
        });
      }
      this.#exit.then(() => reject(new Error(`The server has ended.\n${this.output.join("\n")}`)));
    });
    await ready;
    await this.order({ do: "plan", plan: this.#plan });
    this.#isServing = true;
  }

  get isServing(): boolean {
    return this.#isServing;
  }

  /** Ends the whole group at once, like a power failure. */
  async kill9(): Promise<void> {
    await this.#keepCounts();
    this.#isServing = false;
    this.#kills++;
    this.#kill("SIGKILL");
    await this.#exit;
  }

  async stop(): Promise<void> {
    this.#isServing = false;
    this.#kill("SIGTERM");
    await this.#exit;
  }

  /** Sets the faults from now on, also for a server that is starting. @throws ServerKilled */
  async plan(plan: Plan): Promise<void> {
    this.#plan = plan;
    await this.order({ do: "plan", plan });
  }

  look(workspaceId: string): Promise<Look> {
    return this.order<Look>({ do: "look", workspaceId });
  }

  /** @throws ServerKilled */
  async order<Result>(order: Order | AlertOrder): Promise<Result> {
    const kills = this.#kills;
    const response = await fetch(`${this.url}/chaos`, { method: "POST", body: JSON.stringify(order) }).catch(
      (error) => {
        throw this.#kills > kills || !this.#isServing ? new ServerKilled() : error;
      },
    );
    if (!response.ok) throw new Error(`${JSON.stringify(order)} was answered with ${await response.text()}`);
    // SAFETY: `Order` documents the response of each order.
    return (await response.json()) as Result;
  }

  /** Number of caused faults so far, by name. */
  async counts(): Promise<Counts> {
    const now = await this.order<Counts>({ do: "counts" });
    return added(now, this.#counts);
  }

  async #keepCounts(): Promise<void> {
    Object.assign(this.#counts, await this.counts());
  }

  #kill(signal: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = this.#child ?? {};
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    process.kill(signal === "SIGKILL" ? -pid : pid, signal);
  }

  #read(line: string): void {
    this.output.push(line);
    if (this.output.length > 200) this.output.shift();
    const fields = lineOf(line);
    const { event, outcome, status } = fields;
    if (typeof event !== "string") return;
    const name = `${event} ${outcome}`;
    this.lines[name] = (this.lines[name] ?? 0) + 1;
    if (outcome === "unreadable" || outcome === "set-aside" || outcome === "skipped" || status === 500)
      this.bugs.push(line);
  }
}

function lineOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

export function added(...all: Counts[]): Counts {
  const sum: Counts = {};
  for (const counts of all) for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}
