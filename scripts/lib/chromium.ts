import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { chromium } from "playwright-core";

/**
 * Paths by system: Debian (first the one without windows, which uses the least memory), Ubuntu, Google's packages,
 * macOS.
 */
const PLACES = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];
const PLAYWRIGHT = path.resolve(import.meta.dirname, "../../node_modules/playwright-core/cli.js");
/** Maximum milliseconds of a download of some 200 MB. */
const INSTALL_MS = 600_000;

/** The Chromium of `CHROMIUM`, of the system, or of Playwright; `undefined` if there is none. */
export function findChromium(): string | undefined {
  const named = process.env.CHROMIUM;
  if (named) return existsSync(named) ? named : undefined;
  return [...PLACES, chromium.executablePath()].find((file) => existsSync(file));
}

/**
 * Installs a Chromium if there is none, once for all runs: Debian's package if permitted, otherwise Playwright's build
 * in its cache in the home directory.
 */
export function installChromium(): string | undefined {
  const found = findChromium();
  if (found !== undefined || process.env.CHROMIUM) return found;
  console.error("Installing Chromium (once; set CHROMIUM=/path to use an existing one) ...");
  const isRoot = process.getuid?.() === 0;
  if (isRoot && isDebian()) {
    run("apt-get", ["update", "-qq"]);
    run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium-headless-shell"]);
  }
  if (findChromium() === undefined) {
    run(process.execPath, [PLAYWRIGHT, "install", ...(isRoot ? ["--with-deps"] : []), "chromium"]);
  }
  return findChromium();
}

/** Ubuntu's package of the same name is a snap, which does not run in containers. */
function isDebian(): boolean {
  try {
    return /^ID=debian$/m.test(readFileSync("/etc/os-release", "utf8"));
  } catch {
    return false;
  }
}

/** The program prints its own errors, and afterwards there is no Chromium. */
function run(file: string, args: readonly string[]): void {
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    execFileSync(file, args, { env, stdio: ["ignore", 2, 2], timeout: INSTALL_MS });
  } catch {}
}
