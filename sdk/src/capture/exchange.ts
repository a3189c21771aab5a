import { activeSpan, traceIds } from "../trace.ts";
import type { LogData, Logger, LogLevel } from "../types.ts";
import { type BodyTap, createBodyTap, isText } from "./body.ts";
import { maskedPairs } from "./masked.ts";
import { type CaptureOptions, type CaptureSettings, captureSettings } from "./options.ts";

/** A request in the form that every adapter provides. */
export interface Incoming {
  method: string;
  /** Path and query, with or without an origin. */
  url: string;
  header(name: string): string | null | undefined;
  headers(): Iterable<readonly [string, string]>;
}

export interface ResponseEnd {
  status: number;
  /** Whether the client disconnected, or the body failed, before the end. */
  aborted?: boolean;
  /** Bytes of the body that were sent, if the adapter can count them. */
  bytes?: number | undefined;
  tap?: BodyTap | undefined;
}

/** One request and its response. No method throws, except that `run` rethrows errors of `work`. */
export interface Exchange {
  /** A logger whose entries carry the request's trace. */
  readonly logger: Logger;
  /** Name of the response header to set when the response begins; `false` for none. */
  readonly timingHeader: string | false;
  /** Value of the timing header: milliseconds since the request began. */
  timing(): string;
  /** Runs the handler. Entries that any logger logs in it carry the request's trace. */
  run<T>(work: () => T): T;
  /** Receives the request's body while it is read; `undefined` if the body is not captured. */
  readonly requestTap: BodyTap | undefined;
  /** Called when the request's body has been read. */
  requestRead(): void;
  /** Creates a tap for the response's body; `undefined` if the body is not captured. */
  responseTap(contentType: string | null | undefined, encoding: string | null | undefined): BodyTap | undefined;
  /** Logs an error of the handler. Each error is logged once. */
  failed(error: unknown): void;
  /** Logs the end of the response. Later calls have no effect. */
  ended(ending: ResponseEnd): void;
}

/** Starts an exchange for each request. */
export type Capture = (incoming: Incoming) => Exchange;

/** @throws TypeError for invalid options */
export function createCapture(logger: Logger, options: CaptureOptions = {}): Capture {
  const settings = captureSettings(options);
  return (incoming) => begin(logger, settings, incoming);
}

function begin(root: Logger, settings: CaptureSettings, incoming: Incoming): Exchange {
  const { maxBodySize, fieldRedactor } = settings;
  const startedAt = performance.now();
  const method = incoming.method.toUpperCase();
  const { path, search } = splitUrl(incoming.url);
  const { traceId, spanId } = activeSpan() ??
    traceIds(incoming.header("traceparent")) ?? { traceId: randomHex(16), spanId: randomHex(8) };
  const trace = { traceId, spanId };
  const logger = root.child(trace);
  const isCaptured = !settings.isExcluded(method, path);
  const name = `${method} ${path}`;
  const errors: unknown[] = [];
  const hasBody = isCaptured && settings.body && method !== "GET" && method !== "HEAD";
  const type = incoming.header("content-type");
  const requestTap =
    hasBody && isText(type, incoming.header("content-encoding")) ? createBodyTap(type, maxBodySize) : undefined;
  let isRequestLogged = !isCaptured || !settings.requests;
  let isOver = false;

  function elapsed(): number {
    return Math.round((performance.now() - startedAt) * 100) / 100;
  }

  function logRequest(): void {
    if (isRequestLogged) return;
    isRequestLogged = true;
    const data: Record<string, unknown> = { method, path };
    if (settings.query && search !== "") data.query = maskedPairs(new URLSearchParams(search), fieldRedactor);
    if (settings.headers) data.headers = maskedPairs(incoming.headers(), settings.headerRedactor);
    log("info", "request", name, { ...data, ...requestTap?.shown(fieldRedactor) });
  }

  function log(level: LogLevel, type: "request" | "response", message: string, data: LogData): void {
    logger.category("http", type)[level](message, data);
  }

  // An entry with a body is logged when the body has been read, or when the response ends.
  if (!requestTap) logRequest();

  return {
    logger,
    timingHeader: settings.timingHeader,
    timing: () => `${elapsed()}ms`,
    run: (work) => root.withContext(trace, work),
    requestTap,
    requestRead: logRequest,
    responseTap(contentType, encoding) {
      const isWanted = isCaptured && settings.body && settings.responses && isText(contentType, encoding);
      return isWanted ? createBodyTap(contentType, maxBodySize) : undefined;
    },
    failed(error) {
      if (!isCaptured || !settings.errors || errors.includes(error)) return;
      errors.push(error);
      const status = statusOf(error);
      const level = status !== undefined && status < 500 ? "warn" : "error";
      const text = error instanceof Error ? error.message : String(error);
      logger.category("system", "error")[level](`${name} failed: ${text}`, { method, path, error });
    },
    ended({ status, aborted = false, bytes, tap }) {
      if (isOver) return;
      isOver = true;
      logRequest();
      if (!isCaptured || !settings.responses) return;
      const level = status >= 500 ? "error" : status >= 400 ? "warn" : "info";
      log(level, "response", `${name} ${status}${aborted ? " aborted" : ""}`, {
        method,
        path,
        status,
        durationMs: elapsed(),
        ...(bytes === undefined ? {} : { bytes }),
        ...(aborted ? { aborted } : {}),
        ...tap?.shown(fieldRedactor),
      });
    },
  };
}

function splitUrl(url: string): { path: string; search: string } {
  const [, path = "/", search = ""] = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/?#]*)?([^?#]*)(?:\?([^#]*))?/i.exec(url) ?? [];
  return { path: path || "/", search };
}

/** Returns the HTTP status that a framework put on its error, 400 to 599. */
export function statusOf(error: unknown): number | undefined {
  try {
    // SAFETY: both members have unknown types; only numbers are used.
    const { status, statusCode } = error as { status?: unknown; statusCode?: unknown };
    return [status, statusCode].find((one): one is number => typeof one === "number" && one >= 400 && one < 600);
  } catch {
    return undefined;
  }
}

function randomHex(bytes: number): string {
  let hex = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(bytes))) hex += byte.toString(16).padStart(2, "0");
  return hex;
}
