import { runtime } from "#runtime";
import type { LogEntry, LogLevel } from "../types.ts";

const COLORS: Readonly<Record<LogLevel, number>> = {
  trace: 90,
  debug: 36,
  log: 37,
  info: 32,
  warn: 33,
  error: 31,
  fatal: 35,
};

/** One line of JSON an entry, or one line for people in development. */
export function writeToConsole(json: string, level: LogLevel): void {
  if (!runtime.isPretty()) {
    console.log(json);
    return;
  }
  const { timestamp, category, type, message, data }: LogEntry = JSON.parse(json);
  const method = level === "warn" ? "warn" : level === "error" || level === "fatal" ? "error" : "log";
  const place = category === "custom" && type === "log" ? "" : ` ${category}/${type}`;
  const line = `${timestamp.slice(11, 23)} \u001b[${COLORS[level]}m${level.padEnd(5)}\u001b[0m${place} ${message}`;
  if (data === undefined) console[method](line);
  else console[method](line, data);
}
