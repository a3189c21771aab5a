/**
 * Runs `npm start` and the other commands in a clean clone with any Node from 20 on: installs what the lockfile names
 * and node_modules lacks, then runs the given script with the project's Node in the same process group. Plain
 * JavaScript without dependencies, because it runs before they are installed.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const NODE = path.join(ROOT, "node_modules", ".bin", "node");
/** Milliseconds between two checks whether the parent still runs. */
const ORPHAN_CHECK_MS = 1000;

const [script, ...args] = process.argv.slice(2);
if (!script) {
  console.error("usage: node scripts/bootstrap.mjs <script> [arguments]");
  process.exit(2);
}
/** A server that is asked to stop has succeeded, however early the signal arrives. */
const isServer = ["start.ts", "start-providers.ts"].includes(path.basename(script));

/** The signal that requested the stop, once received. */
let asked = null;
let child = null;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    asked = signal;
    // Ctrl-C already reaches the whole group; a second signal would make a test run skip its cleanup.
    if (signal === "SIGINT" && process.stdin.isTTY && !isServer) return;
    child?.kill(signal);
  });
}

// A killed npm cannot forward a signal: without this check, the child would continue and hold the port.
if (process.env.npm_lifecycle_event) {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid === parent || asked) return;
    asked = "SIGTERM";
    child?.kill("SIGTERM");
  }, ORPHAN_CHECK_MS).unref();
}

if (!installed()) {
  console.error("Installing dependencies (once, as in package-lock.json). This takes a minute or two ...");
  // Never `npm install`, which would silently install versions that package-lock.json does not name.
  const code = await npm("ci", "--no-audit", "--no-fund", "--loglevel=error");
  if (asked) process.exit(isServer ? 0 : 128 + constants.signals[asked]);
  if (code !== 0) {
    console.error(
      "The dependencies of package-lock.json could not be installed; see the error of npm above. Nothing else was installed. " +
        "If package.json and package-lock.json contradict each other, run `npm install` and review its changes.",
    );
    process.exit(1);
  }
}
process.exit(
  await run(NODE, [path.resolve(ROOT, script), ...args], { ...process.env, TAFFRAIL_PARENT: String(process.pid) }),
);

/**
 * Whether node_modules matches package-lock.json. Compares content, not dates, so that a touched lockfile does not
 * cause a reinstall below a running process.
 */
function installed() {
  const wanted = packagesOf(path.join(ROOT, "package-lock.json"));
  const present = packagesOf(path.join(ROOT, "node_modules", ".package-lock.json"));
  if (!wanted || !present) return false;
  return Object.entries(wanted).every(([name, { version, optional, link }]) => {
    if (name === "" || link || !name.includes("node_modules/")) return true;
    const found = present[name];
    // Optional packages are those of other platforms.
    return found ? found.version === version : optional === true;
  });
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages ?? null;
  } catch {
    return null;
  }
}

/** Writes npm's output to stderr, because stdout belongs to the script and may be piped. */
function npm(...args) {
  const cli = process.env.npm_execpath;
  const stdio = ["inherit", process.stderr, "inherit"];
  return cli ? run(process.execPath, [cli, ...args], process.env, stdio) : run("npm", args, process.env, stdio);
}

/** Runs a program to its end and returns its exit code, or 128 plus the number of the signal that ended it. */
function run(file, args, env, stdio = "inherit") {
  if (asked) return 128 + constants.signals[asked];
  return new Promise((resolve) => {
    child = spawn(file, args, { cwd: ROOT, env, stdio });
    child.on("error", (error) => {
      console.error(`${path.basename(file)} could not be started: ${error.message}`);
      resolve(1);
    });
    child.on("exit", (code, signal) => {
      child = null;
      // The stop came before the child could handle the signal; it has stopped all the same.
      if (isServer && asked && signal === asked) resolve(0);
      else resolve(signal ? 128 + constants.signals[signal] : (code ?? 1));
    });
  });
}
