import { existsSync } from "node:fs";

/** Paths by system: Debian, Ubuntu and Mozilla's packages, macOS. */
const PLACES = ["/usr/bin/firefox-esr", "/usr/bin/firefox", "/Applications/Firefox.app/Contents/MacOS/firefox"];

/** Path of a released Firefox; the variable FIREFOX names another one. */
export function firefoxPath(): string {
  const file = process.env.FIREFOX ?? PLACES.find((place) => existsSync(place));
  if (file === undefined) throw new Error("Firefox is missing. On Debian: apt-get install firefox-esr");
  return file;
}
