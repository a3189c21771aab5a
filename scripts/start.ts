/**
 * `npm start`: the whole service on this machine in the real runtime, with all data below DATA_DIR. Prepares what is
 * missing (bundle, secrets, D1 schema), serves until a stop signal, and then exits with 0.
 */
import path from "node:path";
import { buildAll } from "./lib/bundle.ts";
import { dataDirHolder, takeDataDir } from "./lib/data-dir.ts";
import { type Disk, DiskWatch } from "./lib/disk-watch.ts";
import { exitWith, StartFailure } from "./lib/failure.ts";
import { firstSteps } from "./lib/first-steps.ts";
import { ROOT } from "./lib/paths.ts";
import { addressOf, claimablePort, unnamedClientOf } from "./lib/port.ts";
import { type OpenSandbox, openSandbox, sandboxQuery } from "./lib/sandbox.ts";
import { keptSecrets } from "./lib/secrets.ts";
import type { Served } from "./lib/served.ts";
import {
  checkWorkerSettings,
  refuseOpenOutbox,
  type StartSettings,
  startSettings,
  workerOverrides,
} from "./lib/settings.ts";
import { aborted, stopSignals } from "./lib/stop.ts";

/** An event costs 40 us of CPU in the simulator, so the default is to log errors only. */
const DEFAULT_LOG_LEVEL = "warn";

const { stop, cut } = stopSignals();

try {
  const settings = startSettings(process.env);
  const disk = new DiskWatch(settings.DATA_DIR, settings.MIN_FREE_BYTES);
  await start(settings, disk).catch((error: unknown) => {
    // Other failures on a full disk follow from it.
    const fullness = error instanceof StartFailure ? null : disk.fullness;
    throw fullness === null ? error : new StartFailure(fullness);
  });
} catch (error) {
  if (!stop.aborted) exitWith(error);
}
process.exit(0);

/** @throws the abort reason if the stop comes during the preparations */
async function start({ HOST, PORT, INSPECTOR_PORT, DATA_DIR }: StartSettings, disk: DiskWatch): Promise<void> {
  const port = await claimablePort(HOST, PORT).catch((error: unknown) => {
    const holder = dataDirHolder(DATA_DIR);
    throw holder === null ? error : new StartFailure(holder);
  });
  const address = addressOf(HOST, port);
  const defaults = {
    LOG_LEVEL: DEFAULT_LOG_LEVEL,
    BASE_URL: address,
    DEFAULT_CLIENT_IP: unnamedClientOf(HOST),
    // Router and objects share a thread here, so a table is not faster for being split.
    SCAN_OBJECTS: "0",
  };
  const settings = { ...defaults, ...workerOverrides(process.env) };
  // Loads the simulator only here, so that starts which can be refused without it are refused quickly.
  const { effectiveBindings, migrateDatabase, serve } = await import("./lib/runtime.ts");
  stop.throwIfAborted();
  refuseOpenOutbox(HOST, effectiveBindings(settings));
  disk.makeRoom();
  const lock = takeDataDir(DATA_DIR);
  const overrides = { ...keptSecrets(DATA_DIR), ...settings };
  checkWorkerSettings(effectiveBindings(overrides));
  if (await buildAll(stop, () => console.log("Building the service (after each change, up to a minute) ..."))) {
    console.log("Built the service.");
  }
  stop.throwIfAborted();
  const migrations = await migrateDatabase(DATA_DIR);
  if (migrations.length > 0) console.log(`Migrated the database: ${migrations.join(", ")}.`);
  stop.throwIfAborted();
  const served = await serve({
    dataDir: DATA_DIR,
    host: HOST,
    port,
    overrides,
    inspectorPort: INSPECTOR_PORT,
    onLine: writeLine,
  });
  try {
    if (!stop.aborted) {
      watch(disk, served);
      await proveHealthy(address);
      const outbox = (effectiveBindings(overrides).MAILER || "outbox") === "outbox";
      announce(address, DATA_DIR, outbox, await openSandbox(address));
      await aborted(stop);
      console.log("Stopping: requests in flight get 10 s. A second signal stops immediately.");
      disk.stop();
      await served.stop(cut);
    }
  } finally {
    disk.stop();
    await served.dispose();
    lock.release();
  }
}

/** Reports the state of the disk to the worker, and changes of it to the operator. */
function watch(disk: DiskWatch, served: Served): void {
  let last: Disk = "ok";
  disk.start((now) => {
    served.tell({ do: "disk", disk: now });
    if (now === last) return;
    last = now;
    console.log(
      now === "low"
        ? "The disk is nearly full (MIN_FREE_BYTES): entries are refused with 503, everything else works."
        : "The disk has space again: entries are accepted.",
    );
  });
}

function writeLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function proveHealthy(address: string): Promise<void> {
  const answer = await fetch(`${address}/health`);
  const text = await answer.text();
  if (!answer.ok) throw new StartFailure(`The service started but is not healthy (${answer.status}): ${text}`);
}

function announce(address: string, dataDir: string, outbox: boolean, sandbox: OpenSandbox): void {
  const data = path.relative(ROOT, dataDir);
  console.log(`
Taffrail is running.

  Address         ${address}
  Console         ${address}/
  Playground      ${address}/playground
  API reference   ${address}/docs${outbox ? `\n  Mails           ${address}/dev/outbox` : ""}
  Sandbox key     ${sandbox.apiKey}
                  until ${sandbox.resetsAt}; then GET ${address}/sandbox has another one
  Data            ${data.startsWith("..") ? dataDir : data}
  Stop            Ctrl-C

Look around in the sandbox, which needs no account:

${sandboxQuery(address, sandbox)}

Try it: paste this into another terminal. It makes an account, a project and a key, sends one entry and finds it.

${firstSteps(address)}
`);
}
