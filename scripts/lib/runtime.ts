import { chmodSync, copyFileSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { Miniflare, V4SharedOptions, V4WorkerOptionsShape } from "miniflare";
import { childRunning } from "./child-processes.ts";
import { hasMigrations, MIGRATIONS_TABLE, type MigrationTarget, migrate } from "./migrations.ts";
import { BUNDLE, migrationsDirOf, runDirOf, stateDir, WRANGLER_CONFIG } from "./paths.ts";
import { Served } from "./served.ts";
import { answerOf } from "./wrangler-answers.ts";

const require = createRequire(import.meta.url);
// `import` would read its 5 MB several times, to find out what kind of module it is: at each start, 80 ms of CPU.
// SAFETY: the package has these types.
const simulator = require("miniflare") as typeof import("miniflare");
const { convertV4MiniflareOptions, Log, LogLevel } = simulator;

/** The worker's name in wrangler.toml, under which objects are stored. */
const WORKER_NAME = "taffrail";

/** A worker to serve: its wrangler configuration, and its bundle as one file. */
export interface WorkerSource {
  config: string;
  bundle: string;
}

const SERVICE: WorkerSource = { config: WRANGLER_CONFIG, bundle: BUNDLE };

export interface ServeOptions {
  /** The worker; by default the service itself. */
  worker?: WorkerSource;
  dataDir: string;
  host: string;
  port: number;
  /** Settings that override those of `[vars]`. */
  overrides: Readonly<Record<string, string>>;
  /** Whether the worker exports `control`, as the service does. */
  hasControl?: boolean;
  /** Port of 127.0.0.1 for the runtime's inspector, which lets its clients run code in every isolate. */
  inspectorPort?: number | undefined;
  /** Receives each line that the worker writes. */
  onLine: (line: string) => void;
}

/** A worker's options for the runtime, from its wrangler configuration. */
function workerOptions(config = WRANGLER_CONFIG): V4WorkerOptionsShape {
  const options = answerOf([config, readFileSync(config, "utf8")], ({ unstable_getMiniflareWorkerOptions }) => {
    // The rules apply to files that are bundled already, and the variables may come from other files.
    const {
      modulesRules: _rules,
      bindings: _bindings,
      ...others
    } = unstable_getMiniflareWorkerOptions(config).workerOptions;
    return others;
  });
  // Only wrangler.toml: .dev.vars and .env are not settings of this server.
  const bindings = answerOf(
    [readFileSync(WRANGLER_CONFIG, "utf8")],
    ({ unstable_readConfig }) => unstable_readConfig({ config: WRANGLER_CONFIG }).vars,
  );
  return { ...options, bindings };
}

/** The worker's variables: `[vars]` of wrangler.toml, with overrides. */
export function effectiveBindings(overrides: Readonly<Record<string, string>>): Record<string, unknown> {
  return { ...workerOptions().bindings, ...overrides };
}

/**
 * Applies missing migrations of all D1 databases before anything listens, so that no request meets an old schema.
 * @returns the names of the applied migrations
 */
export async function migrateDatabase(dataDir: string): Promise<string[]> {
  const { d1Databases, compatibilityDate } = workerOptions();
  const isCurrent = Object.entries(d1Databases ?? {}).every(([binding, database]) =>
    hasMigrations(
      stateDir(dataDir),
      typeof database === "string" ? database : String(database.id),
      migrationsDirOf(binding),
    ),
  );
  if (isCurrent) return [];
  const runtime = new simulator.Miniflare(
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
    for (const binding of Object.keys(d1Databases ?? {})) {
      applied.push(...(await migrate(await migrationTarget(runtime, binding), migrationsDirOf(binding))));
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
 * Serves the worker on its own socket, the only one that is not a file below `dataDir`, and resolves once it listens.
 * Links or copies its static files, so that a concurrent build cannot remove them.
 */
export async function serve(options: ServeOptions): Promise<Served> {
  const { worker: source = SERVICE, dataDir, host, port, overrides, inspectorPort, onLine } = options;
  const { hasControl = source === SERVICE } = options;
  const runDir = runDirOf(dataDir);
  mkdirSync(runDir, { recursive: true });
  chmodSync(runDir, 0o700);
  const worker = withOwnAssets(workerOptions(source.config), path.join(dataDir, "assets"));
  const runtime = new simulator.Miniflare(
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
          serviceBindings: { ...worker.serviceBindings, OUTBOUND: outboundNetwork(overrides.OUTBOUND_NETWORK) },
          modules: [{ type: "ESModule", path: "worker.js", contents: readFileSync(source.bundle, "utf8") }],
          // Directly to the worker: the entry worker of the simulator serves 3,700 requests/s instead of 9,300, and
          // answers /cdn-cgi/* itself.
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

/**
 * The network of requests to addresses that users have chosen. The runtime compares the address of each connection, after
 * it has resolved the name. The worker's global `fetch` also reaches private addresses: identity providers may have some.
 */
export function outboundNetwork(setting: string | undefined) {
  const allow = setting === "loopback" ? ["public", "local"] : ["public"];
  return { network: { allow, tlsOptions: { trustBrowserCas: true } } };
}

function withOwnAssets(worker: V4WorkerOptionsShape, copy: string): V4WorkerOptionsShape {
  if (!worker.assets) return worker;
  rmSync(copy, { recursive: true, force: true });
  linkTree(worker.assets.directory, copy);
  return { ...worker, assets: { ...worker.assets, directory: copy } };
}

/** A copy of a directory whose files are replaced, but never written to: of links where the system allows them. */
function linkTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) {
      linkTree(source, target);
      continue;
    }
    try {
      linkSync(source, target);
    } catch {
      copyFileSync(source, target);
    }
  }
}

/** The simulator's name for the socket of the first worker's entrypoint `control`. */
const CONTROL_SOCKET = "direct:0:control";

/** Started in place of the runtime. */
const WORKERD_SCRIPT = path.join(import.meta.dirname, "workerd.sh");

/** No external host is ever contacted. */
function sharedOptions(dataDir: string): V4SharedOptions {
  process.env.TAFFRAIL_WORKERD = createRequire(require.resolve("miniflare"))("workerd").default;
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

/** Every runtime adds handlers that exit immediately on a signal. The scripts have handlers for an orderly end. */
function ownSignals(_made: Miniflare): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    for (const listener of process.listeners(signal)) {
      if (listener.name.startsWith("onSignal")) process.removeListener(signal, listener);
    }
  }
}
