import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { chromium } from "playwright-core";

/** Where systems keep one: Debian (the one without windows first, which takes least), Ubuntu, Google's own packages, macOS. */
const PLACES = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];
const PLAYWRIGHT = path.resolve(import.meta.dirname, "../../node_modules/playwright-core/cli.js");
/** Milliseconds for a download of some 200 MB. */
const INSTALL_MS = 600_000;

/** The Chromium that `CHROMIUM` names, the system's own, or Playwright's; `undefined` if there is none. */
export function findChromium(): string | undefined {
  const named = process.env.CHROMIUM;
  if (named) return existsSync(named) ? named : undefined;
  return [...PLACES, chromium.executablePath()].find((file) => existsSync(file));
}

/**
 * Has one installed where there is none, once for all runs: Debian's package where that may be done, elsewhere the one
 * that Playwright brings to its cache in the home directory.
 */
export function installChromium(): string | undefined {
  const found = findChromium();
  if (found !== undefined || process.env.CHROMIUM) return found;
  console.error("Installing Chromium (once; CHROMIUM=/path names one that is there) ...");
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

/** Ubuntu's package of the same name is a snap, which no container runs. */
function isDebian(): boolean {
  try {
    return /^ID=debian$/m.test(readFileSync("/etc/os-release", "utf8"));
  } catch {
    return false;
  }
}

/** What goes wrong is told by the program itself, and shows in that there is no Chromium afterwards. */
function run(file: string, args: readonly string[]): void {
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    execFileSync(file, args, { env, stdio: ["ignore", 2, 2], timeout: INSTALL_MS });
  } catch {}
}
