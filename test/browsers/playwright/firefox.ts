import path from "node:path";
import { type Browser, firefox } from "playwright-core";
import { firefoxPath } from "../firefox-path.ts";

/** Starts a released Firefox by WebDriver BiDi; Playwright's own build is not in any package registry. */
export async function startFirefox(): Promise<Browser> {
  return firefox.launch({
    channel: "moz-firefox",
    executablePath: path.join(import.meta.dirname, "firefox-bidi.mjs"),
    env: { ...process.env, FIREFOX: firefoxPath() },
  });
}
