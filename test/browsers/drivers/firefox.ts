import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { firefoxPath } from "../firefox-path.ts";
import { connectToMarionette } from "./marionette.ts";
import type { StartedBrowser } from "./start.ts";

const START_MS = 60_000;

/**
 * Starts Firefox without a screen.
 * @param home an empty directory for its profile
 */
export async function startFirefox(home: string, downloads: string): Promise<StartedBrowser> {
  const profile = path.join(home, "profile");
  mkdirSync(profile);
  writeFileSync(path.join(profile, "user.js"), preferences(downloads));
  const args = ["--headless", "--marionette", "--no-remote", "--profile", profile];
  const env = { ...process.env, LANG: "en_GB.UTF-8", TZ: "Europe/Berlin" };
  const child = spawn(firefoxPath(), args, { env, stdio: "ignore" });
  const exit = once(child, "exit");
  try {
    const driver = await connectToMarionette(await portOf(profile));
    const close = async (): Promise<void> => {
      // Firefox may close the connection before it responds.
      await driver.quit().catch(() => child.kill());
      await exit;
    };
    return { driver, close };
  } catch (error) {
    child.kill();
    throw error;
  }
}

function preferences(downloads: string): string {
  const values = {
    // Firefox takes a free port and writes it into its profile.
    "marionette.port": 0,
    "browser.download.folderList": 2,
    "browser.download.dir": downloads,
    "intl.accept_languages": "en-GB, en",
  };
  return Object.entries(values)
    .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`)
    .join("");
}

async function portOf(profile: string): Promise<number> {
  const file = path.join(profile, "MarionetteActivePort");
  const deadline = Date.now() + START_MS;
  for (;;) {
    const port = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
    if (port > 0) return port;
    if (Date.now() > deadline) throw new Error("Firefox did not start.");
    await sleep(100);
  }
}
