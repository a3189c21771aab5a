import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, globSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Builder, Capabilities } from "selenium-webdriver";
import { freePort } from "../../support/server.ts";
import type { StartedBrowser } from "./start.ts";

const DRIVER = "/usr/bin/WebKitWebDriver";
/** Debian's small browser of WebKitGTK. */
const BROWSER = "/usr/lib/*/webkit2gtk-4.1/MiniBrowser";
const DISPLAY = ":97";
const PACKAGES = "On Debian: apt-get install webkit2gtk-driver xvfb";
const START_MS = 15_000;

/** Starts WebKitGTK in a window of a display without a screen. */
export async function startWebkit(home: string, downloads: string): Promise<StartedBrowser> {
  const [browser] = globSync(BROWSER);
  if (browser === undefined || !existsSync(DRIVER)) throw new Error(`WebKitGTK is missing. ${PACKAGES}`);
  const children: ChildProcess[] = [];
  const run = (file: string, args: string[], env: NodeJS.ProcessEnv = process.env): void => {
    const child = spawn(file, args, { env, stdio: "ignore" });
    child.on("error", (error) => console.error(`${error.message}. ${PACKAGES}`));
    children.push(child);
  };
  const stop = (): void => {
    for (const child of children.reverse()) child.kill();
  };
  const port = await freePort();
  // GTK reads the directory of downloads from this file.
  writeFileSync(path.join(home, "user-dirs.dirs"), `XDG_DOWNLOAD_DIR="${downloads}"\n`);
  mkdirSync(downloads);
  run("Xvfb", [DISPLAY, "-screen", "0", "2600x1700x24"]);
  run(DRIVER, [`--port=${port}`], {
    ...process.env,
    DISPLAY,
    LANG: "en_GB.UTF-8",
    TZ: "Europe/Berlin",
    XDG_CONFIG_HOME: home,
  });
  const options = { binary: browser, args: ["--automation"] };
  const wanted = new Capabilities({ browserName: "MiniBrowser", "webkitgtk:browserOptions": options });
  const deadline = Date.now() + START_MS;
  for (;;) {
    try {
      const driver = await new Builder().usingServer(`http://127.0.0.1:${port}`).withCapabilities(wanted).build();
      const close = async (): Promise<void> => {
        await driver.quit();
        stop();
      };
      return { driver, close };
    } catch (error) {
      if (Date.now() > deadline) {
        stop();
        throw error;
      }
      await sleep(200);
    }
  }
}
