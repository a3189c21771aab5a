import { runtime } from "#runtime";
import { LEVELS } from "../levels.ts";
import type { LogEntry } from "../types.ts";

/** Colors of the terminal by severity. */
const COLORS = [90, 36, 37, 32, 33, 31, 35];

/** One line of JSON an entry, or one line for people in development. Neither has a character that a terminal obeys. */
export function writeToConsole(json: string): void {
  if (!runtime.isPretty()) {
    console.log(runtime.visible(json));
    return;
  }
  // Names and values of `data`: what platforms print of them has C0 escaped, and not the others.
  const { timestamp, level, category, type, message, data }: LogEntry = JSON.parse(runtime.visible(json, "\\\\u"));
  const severity = LEVELS.indexOf(level);
  const place = category === "custom" && type === "log" ? "" : `${category}/${type} `;
  const line = `${timestamp.slice(11, 23)} \u001b[${COLORS[severity]}m${level.padEnd(5)}\u001b[0m ${runtime.visible(place + message)}`;
  console[severity < 4 ? "log" : severity > 4 ? "error" : "warn"](line, ...(data ? [data] : []));
}
