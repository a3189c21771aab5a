import { visible } from "../terminal.ts";
import { formatTime } from "./time.ts";

/** The members of a stored entry that are shown. */
export interface StoredEntry {
  seq: number;
  timestamp: string;
  level: string;
  category: string;
  type: string;
  message: string;
  session?: string;
  traceId?: string;
  service?: string;
  host?: string;
  data?: unknown;
}

/** Characters after which a value is truncated. `--json` prints complete values. */
const MAX_VALUE = 300;
const RESET = "\u001b[0m";
const DIM = "2";
const LEVEL_COLORS: Readonly<Record<string, string>> = {
  trace: "90",
  debug: "36",
  log: "37",
  info: "32",
  warn: "33",
  error: "31",
  fatal: "1;97;41",
};

const PLAIN = /^[^\s"=]+$/u;
const BARE_NAME = /^[^.[\]"=!<>\s]+$/u;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Escapes control characters and line breaks of a text. */
export function shown(text: string): string {
  return visible(text.replace(/[\n\r\t]/g, (character) => SHORT[character] ?? ""));
}

/** Formats a value as one line of JSON. Escapes control characters that JSON leaves as they are. */
export function jsonLine(value: unknown): string {
  return visible(JSON.stringify(value));
}

export function paint(text: string, color: string, colors: boolean): string {
  return colors ? `\u001b[${color}m${text}${RESET}` : text;
}

export function paintLevel(text: string, level: string, colors: boolean): string {
  return paint(text, LEVEL_COLORS[level] ?? DIM, colors);
}

/** Formats an entry as one line. Names of `data` are in the syntax of `--data`. */
export function prettyLine(entry: StoredEntry, colors: boolean): string {
  const fields = [
    ...members(entry.data, ""),
    ...(entry.traceId === undefined ? [] : [field("trace", entry.traceId)]),
    ...(entry.session === undefined ? [] : [field("session", entry.session)]),
    ...(entry.service === undefined ? [] : [field("service", entry.service)]),
    ...(entry.host === undefined ? [] : [field("host", entry.host)]),
  ];
  return [
    paint(formatTime(entry.timestamp), DIM, colors),
    paintLevel(entry.level.toUpperCase().padEnd(5), entry.level, colors),
    paint(shown(`${entry.category}/${entry.type}`), "34", colors),
    shown(entry.message),
    ...(fields.length > 0 ? [paint(shown(fields.join(" ")), DIM, colors)] : []),
  ].join(" ");
}

function members(data: unknown, path: string): string[] {
  if (typeof data !== "object" || data === null || Array.isArray(data) || Object.keys(data).length === 0) {
    return data === undefined ? [] : [field(path, data)];
  }
  return Object.entries(data).flatMap(([name, value]) => members(value, pathTo(path, name)));
}

function pathTo(path: string, name: string): string {
  if (!BARE_NAME.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}

function field(name: string, value: unknown): string {
  const text = typeof value === "string" && PLAIN.test(value) ? value : JSON.stringify(value);
  return `${name}=${text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text}`;
}
