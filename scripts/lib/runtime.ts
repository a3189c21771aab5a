import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import {
  convertV4MiniflareOptions,
  Log,
  LogLevel,
  Miniflare,
  type V4SharedOptions,
  type V4WorkerOptionsShape,
} from "miniflare";
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from "wrangler";
import { childRunning } from "./child-processes.ts";
import { MIGRATIONS_TABLE, type MigrationTarget, migrate } from "./migrations.ts";
import { BUNDLE, MIGRATIONS_DIRS, runDirOf, stateDir, WRANGLER_CONFIG } from "./paths.ts";
import { Served } from "./served.ts";

/** The worker's name: objects are stored under it, so it is the one of wrangler.toml. */
const WORKER_NAME = "taffrail";

/** A worker to serve: its wrangler configuration, and its bundle as one file. */
export interface WorkerSource {
  config: string;
  bundle: string;
}

const SERVICE: WorkerSource = { config: WRANGLER_CONFIG, bundle: BUNDLE };

export interface ServeOptions {
  /** The service itself unless said otherwise. */
  worker?: WorkerSource;
  dataDir: string;
  host: string;
  port: number;
  /** Settings over those of `[vars]`. */
  overrides: Readonly<Record<string, string>>;
  /** Whether the worker exports `control`, as the service itself does. */
  hasControl?: boolean;
  /** Port of 127.0.0.1 for the runtime's inspector, which lets its clients run code in every isolate. */
  inspectorPort?: number | undefined;
  /** Gets each line the worker writes. */
  onLine: (line: string) => void;
}

/** A worker of a wrangler configuration, as the runtime wants it. */
function workerOptions(config = WRANGLER_CONFIG): V4WorkerOptionsShape {
  // The rules are about files that are bundled already.
  const { modulesRules: _bundled, ...options } = unstable_getMiniflareWorkerOptions(config).workerOptions;
  // Only what wrangler.toml says: a .dev.vars or .env that lies around is no setting of this server.
  return { ...options, bindings: unstable_readConfig({ config: WRANGLER_CONFIG }).vars };
}

/** What the worker will be given by name: `[vars]` of wrangler.toml under the overrides. */
export function effectiveBindings(overrides: Readonly<Record<string, string>>): Record<string, unknown> {
  return { ...workerOptions().bindings, ...overrides };
}

/**
 * Applies missing migrations of both D1 databases before anything listens, so that no request meets an old schema.
 * @returns the names of those applied
 */
export async function migrateDatabase(dataDir: string): Promise<string[]> {
  const { d1Databases, compatibilityDate } = workerOptions();
  const runtime = new Miniflare(
    convertV4MiniflareOptions({
      ...sharedOptions(dataDir),
      workers: [
        {
          name: "migrate",
          ...(compatibilityDate ? { compatibilityDate } : {}),
          ...(d1Databases ? { d1Databases } : {}),
          modules: [{ type: "ESModule", path: "migrate.js", contents: "export default {}" }],
        },
      ],
    }),
  );
  ownSignals(runtime);
  try {
    const applied: string[] = [];
    for (const [binding, directory] of Object.entries(MIGRATIONS_DIRS)) {
      applied.push(...(await migrate(await migrationTarget(runtime, binding), directory)));
    }
    return applied;
  } finally {
    await runtime.dispose();
  }
}

async function migrationTarget(runtime: Miniflare, binding: string): Promise<MigrationTarget> {
  const database = await runtime.getD1Database(binding);
  await database.prepare(MIGRATIONS_TABLE).run();
  return {
    async applied() {
      const { results } = await database.prepare("SELECT name FROM d1_migrations").all<{ name: string }>();
      return results.map((row) => row.name);
    },
    async apply(name, statements) {
      const record = database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name);
      await database.batch([...statements.map((statement) => database.prepare(statement)), record]);
    },
  };
}

/**
 * Serves the worker on its own socket, the only one that is not a file below `dataDir`; the promise is fulfilled once it
 * listens. Its static files are a copy of its own: a build that runs meanwhile takes none of them away.
 */
export async function serve(options: ServeOptions): Promise<Served> {
  const { worker: source = SERVICE, dataDir, host, port, overrides, inspectorPort, onLine } = options;
  const { hasControl = source === SERVICE } = options;
  const runDir = runDirOf(dataDir);
  mkdirSync(runDir, { recursive: true });
  chmodSync(runDir, 0o700);
  const worker = withOwnAssets(workerOptions(source.config), path.join(dataDir, "assets"));
  const runtime = new Miniflare(
    convertV4MiniflareOptions({
      ...sharedOptions(dataDir),
      unsafeRuntimeEnv: {
        TAFFRAIL_RUN_DIR: runDir,
        TAFFRAIL_CONTROL: hasControl ? CONTROL_SOCKET : "",
        TAFFRAIL_INSPECTOR: inspectorPort === undefined ? "" : `127.0.0.1:${inspectorPort}`,
      },
      handleStructuredLogs: ({ message }) => onLine(message),
      workers: [
        {
          ...worker,
          name: WORKER_NAME,
          bindings: { ...worker.bindings, ...overrides },
          modules: [{ type: "ESModule", path: "worker.js", contents: readFileSync(source.bundle, "utf8") }],
          // Straight to the worker: through the entry worker of the simulator it serves 3,700 requests/s instead of
          // 9,300, and that one answers /cdn-cgi/* by itself.
          unsafeDirectSockets: [
            { host, port, entrypoint: "direct" },
            // workerd.sh binds it to a file instead.
            ...(hasControl ? [{ host: "127.0.0.1", port: 0, entrypoint: "control" }] : []),
          ],
        },
      ],
    }),
  );
  ownSignals(runtime);
  try {
    await runtime.ready;
  } catch (error) {
    await runtime.dispose().catch(() => {});
    throw error;
  }
  return new Served(runtime, () => childRunning(WORKERD_SCRIPT), hasControl ? runDir : null);
}

function withOwnAssets(worker: V4WorkerOptionsShape, copy: string): V4WorkerOptionsShape {
  if (!worker.assets) return worker;
  rmSync(copy, { recursive: true, force: true });
  cpSync(worker.assets.directory, copy, { recursive: true });
  return { ...worker, assets: { ...worker.assets, directory: copy } };
}

/** What the simulator calls the socket of the first worker's entrypoint `control`. */
const CONTROL_SOCKET = "direct:0:control";

/** Started in the runtime's place. */
const WORKERD_SCRIPT = path.join(import.meta.dirname, "workerd.sh");

/** Nothing outside is ever contacted. */
function sharedOptions(dataDir: string): V4SharedOptions {
  const require = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  process.env.TAFFRAIL_WORKERD = require("workerd").default;
  process.env.MINIFLARE_WORKERD_PATH = WORKERD_SCRIPT;
  return {
    resourcePersistencePath: stateDir(dataDir),
    host: "127.0.0.1",
    port: 0,
    cf: {},
    logRequests: false,
    log: new Log(LogLevel.WARN),
    telemetry: { enabled: false },
  };
}

/** Every runtime adds handlers that exit at once on a signal; the scripts have their own and end it in order. */
function ownSignals(_made: Miniflare): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    for (const listener of process.listeners(signal)) {
      if (listener.name.startsWith("onSignal")) process.removeListener(signal, listener);
    }
  }
}
