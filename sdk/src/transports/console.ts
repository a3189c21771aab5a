import { runtime } from "#runtime";
import { LEVELS } from "../levels.ts";
import type { LogEntry } from "../types.ts";

/** Terminal colors by severity. */
const COLORS = [90, 36, 37, 32, 33, 31, 35];

/** Writes an entry as a line of JSON, or readable in development. Control characters are escaped in both. */
export function writeToConsole(json: string): void {
  if (!runtime.isPretty()) {
    console.log(runtime.visible(json));
    return;
  }
  // Platforms escape only the C0 characters in names and values of `data`, so the others are escaped before.
  const { timestamp, level, category, type, message, data }: LogEntry = JSON.parse(runtime.visible(json, "\\\\u"));
  const severity = LEVELS.indexOf(level);
  const label = category === "custom" && type === "log" ? "" : `${category}/${type} `;
  const line = `${timestamp.slice(11, 23)} \u001b[${COLORS[severity]}m${level.padEnd(5)}\u001b[0m ${runtime.visible(label + message)}`;
  console[severity < 4 ? "log" : severity > 4 ? "error" : "warn"](line, ...(data ? [data] : []));
}
