import { ERROR_STATUS } from "../../../src/http/errors.ts";
import type { FuzzRequest } from "./arbitraries.ts";

/** A response as it arrived over the wire. */
export interface FuzzAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Paths of documents, which have no envelope. */
const DOCUMENTS = /^\/(docs|openapi\.json)([/?]|$)/;
/** Paths of exports, which have no envelope. */
const EXPORTS = /^\/logger\/[^/?]+\/export(\?|$)/;
/** Groups whose responses always have the limit headers. Elsewhere only JSON responses have them. */
const LIMITED = /^\/(auth|logger|projects|workspaces|sandbox)([/?]|$)/;
/** Paths without pages: a missing resource is an error in JSON for browsers, too. */
const API = /^\/(auth|dev|invitations|logger|operator|projects|sandbox|workspaces)([/?]|$)/;
/** Paths of other clients' protocols, whose responses have the shapes of these. */
const DOORS =
  /^\/(_bulk|_cat|api\/(v[12]|[^/?]+\/(envelope|store))|es|gelf|ingest|journal|llms\.txt|loki|mcp|oauth\/(authorize|register|revoke|token)|otlp|ready|services|upload|v1|\.well-known\/oauth-[a-z-]+)([/?%;]|$)/;
const CODES = new Map<string, number>(Object.entries(ERROR_STATUS));

/** Returns what is wrong with a response, or `null` if it complies with the contract. */
export function fault(
  request: Pick<FuzzRequest, "method" | "path" | "headers">,
  { status, headers, body }: FuzzAnswer,
): string | null {
  if (status >= 500) return `status ${status}`;
  if (headers["x-request-id"] === undefined) return "no X-Request-Id";
  if (DOORS.test(request.path)) return doorFault(status, headers, body);
  if (request.method === "OPTIONS" && status === 204) return body === "" ? null : "a 204 with a body";
  const isJson = headers["content-type"] === "application/json";
  if ((LIMITED.test(request.path) || isJson) && request.method !== "OPTIONS") {
    const missing = ["limit", "remaining", "reset"].filter(
      (name) => !/^\d+$/.test(String(headers[`x-ratelimit-${name}`])),
    );
    if (missing.length > 0) return `no X-RateLimit-${missing.join(", ")}`;
  }
  if (status === 429 && !/^[1-9]\d*$/.test(String(headers["retry-after"]))) return "a 429 without Retry-After";
  if (status === 401 && !String(headers["www-authenticate"]).startsWith("Bearer "))
    return "a 401 without WWW-Authenticate";
  if (status === 405 && !headers.allow) return "a 405 without Allow";
  if (status >= 300 && status < 400) return headers.location || status === 304 ? null : "a redirect to nowhere";
  if (request.method === "HEAD") return body === "" ? null : "a HEAD with a body";
  if (status === 200 && (DOCUMENTS.test(request.path) || String(headers["content-type"]).startsWith("text/html")))
    return null;
  if (status === 200 && EXPORTS.test(request.path)) return exportFault(headers, body);
  if (status === 404 && isPageForBrowser(request, headers)) return null;
  return envelopeFault(status, headers, body);
}

/** Text that only a message with the cause of an error has. */
const CAUSE = /\bat .*\.(ts|js):\d+|SQLITE|TypeError|RangeError/;

function doorFault(status: number, headers: FuzzAnswer["headers"], body: string): string | null {
  if (status === 429 && !/^[1-9]\d*$/.test(String(headers["retry-after"]))) return "a 429 without Retry-After";
  return CAUSE.test(body) ? "a message with a cause" : null;
}

/** An export ends with its manifest, or with the end of a Parquet file. */
function exportFault(headers: FuzzAnswer["headers"], body: string): string | null {
  const type = headers["content-type"];
  if (type === "application/vnd.apache.parquet") return body.endsWith("PAR1") ? null : "a Parquet file without an end";
  if (type !== "application/x-ndjson") return `content type ${type}`;
  return /^\{"manifest":\{.*\}\}\n$/m.test(body) ? null : "an export without a manifest";
}

/** Whether a 404 is the console's page for a browser. */
function isPageForBrowser(
  { method, path, headers: { Accept = "" } }: Pick<FuzzRequest, "method" | "path" | "headers">,
  headers: FuzzAnswer["headers"],
): boolean {
  const isAsked = method === "GET" && /(^|,)\s*text\/html\s*(;|,|$)/i.test(Accept) && !API.test(path);
  return isAsked && headers["content-type"] === "text/html; charset=utf-8" && /\bAccept\b/.test(String(headers.vary));
}

function envelopeFault(status: number, headers: FuzzAnswer["headers"], body: string): string | null {
  if (headers["content-type"] !== "application/json") return `content type ${headers["content-type"]}`;
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return "a body that is not JSON";
  }
  // SAFETY: each member is checked below before it is used.
  const { success, data, error, meta, ...others } = parsed as Record<string, unknown>;
  if (Object.keys(others).length > 0) return `members ${Object.keys(others)}`;
  // SAFETY: as above.
  const { timestamp, requestId } = (meta ?? {}) as Record<string, unknown>;
  if (Number.isNaN(Date.parse(String(timestamp)))) return "no meta.timestamp";
  if (requestId !== headers["x-request-id"]) return "meta.requestId is not X-Request-Id";
  if (status < 300) {
    if (status !== 200 && status !== 201) return `status ${status}`;
    return success === true && error === null && typeof data === "object" ? null : "an invalid success";
  }
  if (success !== false || data !== null || typeof error !== "object" || error === null) return "an invalid failure";
  // SAFETY: as above.
  const { code, message, details, ...more } = error as Record<string, unknown>;
  if (CODES.get(String(code)) !== status) return `code ${code} with status ${status}`;
  if (typeof message !== "string" || message === "") return "no error.message";
  if (details !== undefined && (!Array.isArray(details) || details.length === 0)) return "invalid details";
  if (Object.keys(more).length > 0) return `error members ${Object.keys(more)}`;
  return CAUSE.test(message) ? "a message with a cause" : null;
}
