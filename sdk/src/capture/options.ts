import { check } from "../options.ts";
import { createRedactor, type Redactor } from "../redact.ts";

const EXCLUDED_PATHS = ["/health", "/ready", "/favicon.ico"];
const EXCLUDED_METHODS = ["OPTIONS"];
const REDACTED_HEADERS = ["authorization", "cookie", "x-api-key"];
const REDACTED_FIELDS = ["password", "token", "secret"];
/** Default bytes of a captured body. */
const MAX_BODY_SIZE = 32_768;
const TIMING_HEADER = "X-Response-Time";

/** What a server adapter captures of each request. The options are the same for all adapters. */
export interface CaptureOptions {
  /**
   * Whether an entry `http/request` is logged when a request begins.
   * @default true
   */
  requests?: boolean;
  /**
   * Whether an entry `http/response` is logged when a response has ended.
   * @default true
   */
  responses?: boolean;
  /**
   * Whether an entry `system/error` is logged when a handler throws.
   * @default true
   */
  errors?: boolean;
  /**
   * Paths without entries: whole paths or patterns.
   * @default ["/health", "/ready", "/favicon.ico"]
   */
  excludePaths?: readonly (string | RegExp)[];
  /**
   * Methods without entries.
   * @default ["OPTIONS"]
   */
  excludeMethods?: readonly string[];
  /**
   * Whether the request's entry has its headers.
   * @default true
   */
  headers?: boolean;
  /**
   * Headers whose values are masked, in addition to `authorization`, `cookie` and `x-api-key`.
   * @default []
   */
  redactHeaders?: readonly string[];
  /**
   * Members of bodies and query parameters that are masked, in addition to `password`, `token` and `secret`.
   * @default []
   */
  redactFields?: readonly string[];
  /**
   * Whether the request's entry has its query parameters.
   * @default true
   */
  query?: boolean;
  /**
   * Whether the entries have the bodies of requests and responses that are text (JSON, forms, `text/*`).
   * @default false
   */
  body?: boolean;
  /**
   * Bytes of a captured body, 0 to 131,072.
   * @default 32768
   */
  maxBodySize?: number;
  /**
   * Response header with the milliseconds until the response began; `false` sets no header.
   * @default "X-Response-Time"
   */
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

/** @throws TypeError for invalid options */
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
  // The body shares the 256 KiB of its entry with other members, and escapes make it longer.
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
      // Unlike `test`, `search` starts at index 0 also for a pattern with the flag g.
      patterns.some((pattern) => path.search(pattern) >= 0),
    headerRedactor: createRedactor([...REDACTED_HEADERS, ...(options.redactHeaders ?? [])]),
    fieldRedactor: createRedactor([...REDACTED_FIELDS, ...(options.redactFields ?? [])]),
  };
}
