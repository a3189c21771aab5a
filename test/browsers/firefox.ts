import { existsSync } from "node:fs";
import path from "node:path";
import { type Browser, firefox } from "playwright-core";

/** Paths by system: Debian, Ubuntu and Mozilla's packages, macOS. */
const PLACES = ["/usr/bin/firefox-esr", "/usr/bin/firefox", "/Applications/Firefox.app/Contents/MacOS/firefox"];

/** Starts a released Firefox by WebDriver BiDi; Playwright's own build is not in any package registry. */
export async function startFirefox(): Promise<Browser> {
  const file = process.env.FIREFOX ?? PLACES.find((place) => existsSync(place));
  if (file === undefined) throw new Error("Firefox is missing. On Debian: apt-get install firefox-esr");
  return firefox.launch({
    channel: "moz-firefox",
    executablePath: path.join(import.meta.dirname, "firefox-bidi.mjs"),
    env: { ...process.env, FIREFOX: file },
  });
}
