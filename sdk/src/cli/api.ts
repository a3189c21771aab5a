import { Failure, reasonOf, withoutSecrets } from "./failure.ts";
import type { Io } from "./io.ts";
import { shown } from "./pretty.ts";
import { record } from "./record.ts";
import { type Attempt, retryFor } from "./retry.ts";

/** The service and the credential of its requests. */
export interface Service {
  /** Base URL without a trailing slash. */
  url: string;
  /** The bearer token: an API key, or for `audit` an access token. */
  key: string;
}

export interface Detail {
  path?: unknown;
  index?: unknown;
  code?: unknown;
  message?: unknown;
  /** Of a query's text: the UTF-16 offset of the fault, and what may be meant there. */
  position?: unknown;
  suggestion?: unknown;
}

/** An error response of the API. */
export interface Refusal {
  status: number;
  code: string;
  message: string;
  details: readonly Detail[];
  /** Milliseconds that the service asks to wait, or `null`. */
  wait: number | null;
}

export type Answer =
  | { kind: "ok"; data: unknown }
  | { kind: "refused"; refusal: Refusal }
  | { kind: "lost"; why: string };

/** A response whose body is not read yet. */
export type StreamAnswer = { kind: "ok"; body: AsyncIterable<Uint8Array> } | Exclude<Answer, { kind: "ok" }>;

/**
 * Sends a GET request for a body of any length.
 * @param signal aborts the request, also while the body is read
 */
export async function openStream(service: Service, path: string, signal: AbortSignal): Promise<StreamAnswer> {
  try {
    const headers = { Authorization: `Bearer ${service.key}` };
    const response = await fetch(`${service.url}${path}`, { headers, signal, redirect: "manual" });
    // A body in the envelope is a refusal, or no answer of this service.
    const isStream = response.status === 200 && !response.headers.get("Content-Type")?.startsWith("application/json");
    if (isStream && response.body !== null) return { kind: "ok", body: response.body };
    const refused = answerOf(response.status, (name) => response.headers.get(name), await response.text(), service);
    return refused.kind === "ok" ? { kind: "lost", why: `${service.url} sent no export.` } : refused;
  } catch (error) {
    return { kind: "lost", why: lostText(service, error) };
  }
}

/** Describes a connection that failed. */
export function lostText({ url, key }: Service, error: unknown): string {
  return `No answer from ${url} (${withoutSecrets(reasonOf(error), key)}).`;
}

export interface Post {
  /** By default POST with a body, and GET without. */
  method?: string;
  path: string;
  /** The request body; `null`: none. */
  body: string | Uint8Array<ArrayBuffer> | null;
  headers?: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Aborts the request. */
  signal?: AbortSignal;
}

/** Sends one request. A failed connection is an answer of the kind `lost`. */
export async function post(
  service: Service,
  { method, path, body, headers, timeoutMs, signal }: Post,
): Promise<Answer> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(`${service.url}${path}`, {
      method: method ?? (body === null ? "GET" : "POST"),
      headers: {
        Authorization: `Bearer ${service.key}`,
        ...(body === null ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      body,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      // A redirected POST could end at a page that answers 200.
      redirect: "manual",
    });
    return answerOf(response.status, (name) => response.headers.get(name), await response.text(), service);
  } catch (error) {
    return { kind: "lost", why: lostText(service, error) };
  }
}

/** Parses a response. @param header returns the value of a header by its name in lower case */
export function answerOf(
  status: number,
  header: (name: string) => string | null,
  body: string,
  { url }: Service,
): Answer {
  const envelope = parsed(body);
  if (status >= 200 && status < 300 && envelope?.success === true) return { kind: "ok", data: envelope.data };
  const error = record(envelope?.error);
  const foreign = `${url} answered ${status}, but is not a Taffrail service. Check --url.`;
  return {
    kind: "refused",
    refusal: {
      status,
      code: typeof error?.code === "string" ? error.code : "",
      message: typeof error?.message === "string" ? error.message : foreign,
      details: Array.isArray(error?.details) ? error.details.map((detail) => record(detail) ?? {}) : [],
      wait: waitOf(header("retry-after")),
    },
  };
}

/** Whether the same request may succeed later. */
export function isTemporary({ status }: Refusal): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/**
 * Formats a refusal for the user, with one line per detail.
 * @param query the text of the request's query, whose fault is marked; `null` if it has none
 */
export function formatRefusal({ status, code, message, details }: Refusal, query: string | null = null): string {
  const [first] = details;
  if (query !== null && first !== undefined && typeof first.position === "number") {
    const { position, suggestion } = first;
    // The suggestion has a line of its own.
    const what =
      typeof suggestion === "string" ? String(first.message).replace(/ Did you mean `.*`\?$/s, "") : first.message;
    return [`${what} (${status} ${code})`, ...markedPlace(query, position, suggestion)].join("\n");
  }
  // A single detail usually repeats the message.
  const others = details.filter((detail) => !message.includes(String(detail.message)));
  const named = others.map(({ path, message }) => `\n  ${path === undefined ? "" : `${path}: `}${message}`);
  return `${message} (${code === "" ? status : `${status} ${code}`})${named.join("")}`;
}

/** Maximum characters of a query's text on either side of a fault. */
const AROUND = 60;

/** Returns the line of a query with a fault, a caret under its place, and what may be meant. */
function markedPlace(query: string, position: number, suggestion: unknown): string[] {
  const start = Math.max(query.lastIndexOf("\n", position - 1) + 1, position - AROUND);
  const lineEnd = query.indexOf("\n", position);
  const end = Math.min(lineEnd < 0 ? query.length : lineEnd, position + AROUND);
  // Characters beyond 16 bits are one column, and escaped ones several.
  const indent = [...shown(query.slice(start, position))].length;
  return [
    `  ${shown(query.slice(start, end))}`,
    `  ${" ".repeat(indent)}^`,
    ...(typeof suggestion === "string" ? [`  Did you mean \`${shown(suggestion)}\`?`] : []),
  ];
}

/** Timeout of a read in milliseconds. A query scans up to 512 MiB. */
const READ_TIMEOUT_MS = 60_000;
/** Milliseconds for which a failed read is retried. */
export const READ_PATIENCE_MS = 120_000;

/**
 * Sends a POST request, with retries, and returns the data of the answer.
 * @param isKnown whether the service has answered before. If not, a failed connection is a wrong URL and is not
 * retried.
 * @throws Failure if the service refuses the request or cannot be reached
 */
export function readByPost(io: Io, service: Service, path: string, body: unknown, isKnown: boolean): Promise<unknown> {
  const { query, q } = record(body) ?? {};
  const text = query ?? q;
  return requestWithRetry(io, service, path, JSON.stringify(body), isKnown, typeof text === "string" ? text : null);
}

/** Like `readByPost`, but sends a GET request. */
export function readByGet(
  io: Io,
  service: Service,
  path: string,
  isKnown: boolean,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  return requestWithRetry(io, service, path, null, isKnown, null, headers);
}

function requestWithRetry(
  io: Io,
  service: Service,
  path: string,
  body: string | null,
  isKnown: boolean,
  query: string | null,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  let wasThere = isKnown;
  return retryFor(io, READ_PATIENCE_MS, async (): Promise<Attempt<unknown>> => {
    const answer = await post(service, {
      path,
      body,
      headers,
      timeoutMs: READ_TIMEOUT_MS,
      signal: io.stop,
    });
    if (answer.kind === "ok") return { kind: "done", value: answer.data };
    if (answer.kind === "refused") {
      const { refusal } = answer;
      if (!isTemporary(refusal)) throw new Failure(formatRefusal(refusal, query));
      wasThere = true;
      return { kind: "again", why: formatRefusal(refusal), wait: refusal.wait };
    }
    if (!wasThere) throw new Failure(answer.why);
    return { kind: "again", why: answer.why, wait: null };
  });
}

function waitOf(retryAfter: string | null): number | null {
  if (retryAfter === null) return null;
  const seconds = Number(retryAfter);
  const ms = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1000;
  return Number.isNaN(ms) ? null : Math.max(ms, 0);
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    return record(JSON.parse(text));
  } catch {
    return null;
  }
}
