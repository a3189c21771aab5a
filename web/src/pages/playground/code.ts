import { ENTRY_MEMBERS, OWN_MEMBERS } from "../../../../src/logs/entry.ts";
import { quoted } from "../../lib/shell.ts";
import type { Call } from "./call.ts";
import { type Outgoing, typesOf } from "./draft.ts";

/** Members with a place of their own in a call of the client library. */
const MEMBERS: ReadonlySet<string> = new Set(ENTRY_MEMBERS.filter((name) => !OWN_MEMBERS.some((own) => own === name)));
/** Members of an entry that a child logger adds to all its entries. */
const IDS = ["session", "traceId", "spanId"] as const;

/** The entry that a button of the shop logs. */
export interface ShopAction {
  label: string;
  level: "info" | "warn" | "error";
  category: string;
  type: string;
  message: string;
  data: Record<string, unknown>;
}

/** Formats a call as a shell command. User input is single-quoted, so that the shell does not expand it. */
export function curlCommand(origin: string, { path, token, body, contentType, idempotencyKey }: Call): string {
  // curl sends a POST if there is a body.
  const parts = [`curl -sS ${quoted(origin + path)}`];
  parts.push(`-H ${quoted(`Authorization: Bearer ${token}`)}`);
  if (contentType !== undefined) parts.push(`-H ${quoted(`Content-Type: ${contentType}`)}`);
  if (idempotencyKey !== undefined) parts.push(`-H ${quoted(`Idempotency-Key: ${idempotencyKey}`)}`);
  // Not `--data`, which takes a text that begins with @ as a file name.
  if (body !== undefined) parts.push(`--data-raw ${quoted(body)}`);
  return parts.join(" \\\n  ");
}

interface Target {
  origin: string;
  projectId: string;
  apiKey: string;
}

/** Code for Node that sends the same entries with the client library. */
export function clientCode({ origin, projectId, apiKey }: Target, { entries, shape }: Outgoing): string {
  const options = [`apiUrl: ${text(origin)}`, `projectId: ${text(projectId)}`, `apiKey: ${text(apiKey)}`];
  if (entries.some(isBelowInfo)) options.push(`level: "trace"`);
  const own = ownCategories(entries);
  return [
    `import { createLogger } from "taffrail/node";`,
    ...(own.length === 0 ? [] : ["", ...declaration(own)]),
    "",
    "const logger = createLogger({",
    ...options.map((option) => `  ${option},`),
    "});",
    "",
    ...(shape === "entry" && entries.length === 1 ? [oneCall(entries[0])] : loop(entries)),
    "",
    "console.log(await logger.flush());",
  ].join("\n");
}

/** Code for a page of an application. */
export function pageCode(url: string, action: ShopAction | null): string {
  return [
    `import { createLogger } from "taffrail/browser";`,
    "",
    "// The server has the API key.",
    `const logger = createLogger({ url: ${text(url)} });`,
    ...(action ? ["", callOf(action)] : []),
  ].join("\n");
}

/** Code for the application's server. */
export function proxyCode({ origin, projectId, apiKey }: Target, url: string): string {
  return [
    `import { createProxy } from "taffrail/proxy";`,
    `import { Hono } from "hono";`,
    "",
    "const proxy = createProxy({",
    `  apiUrl: ${text(origin)},`,
    `  projectId: ${text(projectId)},`,
    `  apiKey: ${text(apiKey)},`,
    "});",
    "",
    "const app = new Hono();",
    `app.all(${text(url)}, (c) => proxy(c.req.raw));`,
    "export default app;",
  ].join("\n");
}

function oneCall(entry: unknown): string {
  const { level, category, type, message, data } = named(entry);
  const fields = { ...rest(entry), ...(typeof data === "object" ? data : {}) };
  return callOf({
    ids: Object.fromEntries(IDS.flatMap((name) => (name in named(entry) ? [[name, named(entry)[name]]] : []))),
    level: String(level ?? "info"),
    category: String(category ?? "custom"),
    type: type === undefined ? undefined : String(type),
    message: String(message),
    data: fields,
  });
}

interface LoggedCall {
  level: string;
  category: string;
  type: string | undefined;
  message: string;
  data: Record<string, unknown>;
  ids?: Record<string, unknown>;
}

function callOf({ level, category, type, message, data, ids = {} }: LoggedCall): string {
  const child = Object.keys(ids).length === 0 ? "" : `.child(${literal(ids)})`;
  const isPlain = category === "custom" && (type === undefined || type === "log");
  const scope = isPlain ? "" : `.category(${[category, ...(type === undefined ? [] : [type])].map(text).join(", ")})`;
  const called = `logger${child}${scope}.${level}(${text(message)}`;
  if (Object.keys(data).length === 0) return `${called});`;
  const short = `${called}, ${literal(data)});`;
  return short.length <= CALL ? short : `${called}, ${literal(data, "", 0)});`;
}

function loop(entries: readonly unknown[]): string[] {
  return [
    "// The library sets the timestamp of each call.",
    `const entries: any[] = ${literal(entries)};`,
    "for (const { session, traceId, spanId, timestamp, ...entry } of entries) {",
    '  const { level = "info", category = "custom", type, message, data, ...others } = entry;',
    "  const one = logger.child({ session, traceId, spanId }).category(category, type);",
    '  one[level as "info"](message, { ...others, ...data });',
    "}",
  ];
}

/** Other members are logged with the data; the library recognises those with a place of their own in an entry. */
function rest(entry: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(named(entry)).filter(([name]) => !MEMBERS.has(name)));
}

function isBelowInfo(entry: unknown): boolean {
  return ["trace", "debug", "log"].some((level) => level === named(entry).level);
}

/** Categories that TypeScript needs a declaration for. */
function ownCategories(entries: readonly unknown[]): string[] {
  const names = entries.map((entry) => named(entry).category).filter((name) => typeof name === "string");
  return [...new Set(names)].filter((name) => name !== "custom" && typesOf(name) === null);
}

function declaration(names: readonly string[]): string[] {
  return [
    `declare module "taffrail" {`,
    "  interface TaffrailCategories {",
    ...names.map((name) => `    ${text(name)}: string;`),
    "  }",
    "}",
  ];
}

function named(entry: unknown): Record<string, unknown> {
  // SAFETY: any object may be read by name; its members are unknown.
  return typeof entry === "object" && entry !== null ? (entry as Record<string, unknown>) : {};
}

/** Characters of a line up to which a value is written on one line. */
const LINE = 60;
/** Like `LINE`, for a whole call. */
const CALL = 80;

/** Formats a value as source code: names without quotes if possible, long values over several lines. */
function literal(value: unknown, indent = "", line = LINE): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((item) => literal(item, inner))
    : Object.entries(value).map(([name, item]) => `${memberName(name)}: ${literal(item, inner)}`);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (parts.length === 0) return open + close;
  const short = isList ? `[${parts.join(", ")}]` : `{ ${parts.join(", ")} }`;
  if (short.length <= line && !short.includes("\n")) return short;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join("")}${indent}${close}`;
}

/** Formats a member's name. `__proto__` needs brackets, because it would set the prototype otherwise. */
function memberName(name: string): string {
  if (name === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function text(value: string): string {
  return JSON.stringify(value);
}
