import { check } from "../options.ts";
import { createRedactor, type Redactor } from "../redact.ts";

const EXCLUDED_PATHS = ["/health", "/ready", "/favicon.ico"];
const EXCLUDED_METHODS = ["OPTIONS"];
const REDACTED_HEADERS = ["authorization", "cookie", "x-api-key"];
const REDACTED_FIELDS = ["password", "token", "secret"];
/** Bytes of a body that are kept. */
const MAX_BODY_SIZE = 32_768;
const TIMING_HEADER = "X-Response-Time";

/** What a server adapter captures of each request. The same for all of them. */
export interface CaptureOptions {
  /** An entry `http/request` when a request begins, default true. */
  requests?: boolean;
  /** An entry `http/response` when a response has ended, default true. */
  responses?: boolean;
  /** An entry `system/error` for what a handler throws, default true. */
  errors?: boolean;
  /** Paths without entries, whole or as patterns. Default `/health`, `/ready`, `/favicon.ico`. */
  excludePaths?: readonly (string | RegExp)[];
  /** Methods without entries, default `OPTIONS`. */
  excludeMethods?: readonly string[];
  /** Request headers in the request's entry, default true. */
  headers?: boolean;
  /** Headers whose values are masked, besides `authorization`, `cookie` and `x-api-key`. */
  redactHeaders?: readonly string[];
  /** Members of bodies and query parameters that are masked, besides `password`, `token` and `secret`. */
  redactFields?: readonly string[];
  /** Query parameters in the request's entry, default true. */
  query?: boolean;
  /** Bodies of requests and responses that are text (JSON, forms, `text/*`), default false. */
  body?: boolean;
  /** Bytes of a body that are kept, 0 to 131,072, default 32,768. */
  maxBodySize?: number;
  /** Response header with the milliseconds until the response began, default `X-Response-Time`; `false` for none. */
  timingHeader?: string | false;
}

export interface CaptureSettings {
  requests: boolean;
  responses: boolean;
  errors: boolean;
  headers: boolean;
  query: boolean;
  body: boolean;
  maxBodySize: number;
  timingHeader: string | false;
  isExcluded(method: string, path: string): boolean;
  headerRedactor: Redactor;
  fieldRedactor: Redactor;
}

/** @throws TypeError for options that are wrong */
export function captureSettings(options: CaptureOptions): CaptureSettings {
  const {
    requests = true,
    responses = true,
    errors = true,
    headers = true,
    query = true,
    body = false,
    maxBodySize = MAX_BODY_SIZE,
    timingHeader = TIMING_HEADER,
    excludePaths = EXCLUDED_PATHS,
    excludeMethods = EXCLUDED_METHODS,
  } = options;
  // A body shares its entry's 256 KiB with the rest, and escapes make it longer.
  check(
    Number.isInteger(maxBodySize) && maxBodySize >= 0 && maxBodySize <= 131_072,
    `maxBodySize must be a whole number from 0 to 131072, not ${String(maxBodySize)}`,
  );
  check(
    timingHeader === false || /^[\w!#$%&'*+.^`|~-]+$/.test(timingHeader),
    "timingHeader must be a header's name or false",
  );
  const paths = new Set(excludePaths.filter((path) => typeof path === "string"));
  const patterns = excludePaths.filter((path) => path instanceof RegExp);
  const methods = new Set(excludeMethods.map((method) => method.toUpperCase()));
  return {
    requests,
    responses,
    errors,
    headers,
    query,
    body,
    maxBodySize,
    timingHeader,
    isExcluded: (method, path) =>
      methods.has(method) ||
      paths.has(path) ||
      // `search` starts at the beginning, also for a pattern with the flag g.
      patterns.some((pattern) => path.search(pattern) >= 0),
    headerRedactor: createRedactor([...REDACTED_HEADERS, ...(options.redactHeaders ?? [])]),
    fieldRedactor: createRedactor([...REDACTED_FIELDS, ...(options.redactFields ?? [])]),
  };
}
