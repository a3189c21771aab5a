import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { StartFailure } from "../scripts/lib/failure.ts";
import { ROOT, WRANGLER_CONFIG } from "../scripts/lib/paths.ts";
import { claimablePort } from "../scripts/lib/port.ts";
import { migrateDatabase, serve, type WorkerSource } from "../scripts/lib/runtime.ts";
import { newSecrets } from "../scripts/lib/secrets.ts";
import { wrangler } from "../scripts/lib/wrangler.ts";
import { childrenRunning } from "./process-stats.ts";

const WORKERS = path.join(import.meta.dirname, "workers");

export interface BenchServer {
  url: string;
  /** Process id of the runtime; 0 if unknown. */
  pid: number;
  /** Directory of its state. */
  dataDir: string;
  /** @param keep whether the state stays on disk */
  stop(keep?: "keep"): Promise<void>;
}

/** Bundles of the bench's workers and the state of all servers, in one directory that is deleted with this process. */
export class Workshop {
  readonly #dir = mkdtempSync(path.join(tmpdir(), "taffrail-bench-"));

  constructor() {
    process.on("exit", () => rmSync(this.#dir, { recursive: true, force: true, maxRetries: 10 }));
  }

  /**
   * The service as `npm start` serves it; `worker` replaces its code with the same bindings.
   * @param dataDir directory of its state; by default a new one
   */
  async startService(
    worker?: WorkerSource,
    settings: Readonly<Record<string, string>> = {},
    dataDir = this.newDataDir(),
  ): Promise<BenchServer> {
    await migrateDatabase(dataDir);
    return this.#start(dataDir, worker, {
      ...newSecrets(),
      LOG_LEVEL: "warn",
      AUTH_LIMIT: "1000000",
      SCAN_OBJECTS: "0",
      ...settings,
    });
  }

  /** A worker of the bench with its own configuration. */
  async startWorker(worker: WorkerSource): Promise<BenchServer> {
    return this.#start(this.newDataDir(), worker, {});
  }

  /** Bundles `workers/<name>.ts` like a deployment, for `workers/<name>.toml` or the service's own bindings. */
  async bundle(name: string, bindings: "own" | "service"): Promise<WorkerSource> {
    const outdir = path.join(this.#dir, `bundle-${name}`);
    const config = bindings === "own" ? path.join(WORKERS, `${name}.toml`) : WRANGLER_CONFIG;
    const main = bindings === "own" ? [] : [path.relative(ROOT, path.join(WORKERS, `${name}.ts`))];
    const result = await wrangler(["deploy", ...main, "--config", config, "--dry-run", "--outdir", outdir]);
    if (result.code !== 0) throw new StartFailure(`${name} could not be bundled.\n${result.stdout}${result.stderr}`);
    return { config, bundle: path.join(outdir, `${name}.js`) };
  }

  /** A new directory, which is deleted with this process. */
  newDataDir(): string {
    return mkdtempSync(path.join(this.#dir, "data-"));
  }

  async #start(
    dataDir: string,
    worker: WorkerSource | undefined,
    overrides: Readonly<Record<string, string>>,
  ): Promise<BenchServer> {
    const host = "127.0.0.1";
    const port = await claimablePort(host, 0);
    const before = new Set(childrenRunning("workerd"));
    const source = worker === undefined ? {} : { worker };
    const runtime = await serve({ ...source, dataDir, host, port, overrides, onLine: (line) => console.error(line) });
    const [pid = 0] = childrenRunning("workerd").filter((child) => !before.has(child));
    return {
      url: `http://${host}:${port}`,
      pid,
      dataDir,
      async stop(keep) {
        await runtime.dispose();
        if (keep === undefined) rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
      },
    };
  }
}
