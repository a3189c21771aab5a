import { entryLines } from "./entries.ts";
import { type ProxyOptions, type ProxySettings, proxySettings } from "./options.ts";

export type { RateLimit } from "./limit.ts";
export type { ProxyOptions } from "./options.ts";

/** Statuses of the service that are passed on to the browser, which handles them. */
const PASSED_ON = new Set([200, 201, 400, 409, 413, 429]);
const CODES = {
  400: "VALIDATION_ERROR",
  403: "FORBIDDEN",
  405: "METHOD_NOT_ALLOWED",
  413: "PAYLOAD_TOO_LARGE",
  429: "RATE_LIMITED",
  502: "UPSTREAM_REFUSED",
  503: "SERVICE_UNAVAILABLE",
} as const;
/** A valid idempotency key of a browser. With the prefix it must fit into the service's 128 characters. */
const KEY = /^[\x21-\x7e]{1,100}$/;
/** Keeps the idempotency keys of browsers separate from those of servers. */
const KEY_PREFIX = "browser-";
/** Value of `Retry-After` in seconds. */
const RETRY_SECONDS = 5;

/** Shown on the page's console. The usual cause is a development server that forwards requests with another host. */
const REFUSAL =
  "This origin may not send logs. If a development server (Vite) passes them on, name its origin: createProxy({ origins }).";

/** Receives entries of browsers and forwards them with the server's key. */
export type ProxyHandler = (request: Request) => Promise<Response>;

/**
 * Creates the handler of the route to which `taffrail/browser` sends, for any server with web-standard `Request` and
 * `Response`. The handler answers `OPTIONS` and `POST`, and its promise never rejects.
 * @throws TypeError for invalid options
 * @example
 * import { Hono } from "hono";
 * import { createProxy } from "taffrail/proxy";
 *
 * const proxy = createProxy({
 *   apiUrl: process.env.TAFFRAIL_URL,
 *   projectId: process.env.TAFFRAIL_PROJECT,
 *   apiKey: process.env.TAFFRAIL_API_KEY,
 *   origins: ["https://shop.example"],
 * });
 * const app = new Hono();
 * app.all("/logs", (c) => proxy(c.req.raw));
 */
export function createProxy(options: ProxyOptions): ProxyHandler {
  const settings = proxySettings(options);
  return async (request) => {
    const origin = request.headers.get("origin");
    const isAllowed = origin !== null && allows(settings, origin, request);
    const response = isAllowed
      ? await answer(settings, request)
      : failure(403, origin === null ? "An Origin header is required." : REFUSAL);
    response.headers.set("Vary", "Origin");
    if (isAllowed) {
      response.headers.set("Access-Control-Allow-Origin", origin);
      response.headers.set("Access-Control-Expose-Headers", "Retry-After");
    }
    return response;
  };
}

function allows(settings: ProxySettings, origin: string, request: Request): boolean {
  try {
    return settings.isAllowed(origin, request);
  } catch (error) {
    settings.onError(asError(error));
    return false;
  }
}

async function answer(settings: ProxySettings, request: Request): Promise<Response> {
  if (request.method === "OPTIONS") return preflight();
  if (request.method !== "POST") return failure(405, "Only POST is answered here.", { Allow: "POST, OPTIONS" });
  try {
    if (!(await mayPass(settings, request)))
      return failure(429, "Too many requests", { "Retry-After": String(RETRY_SECONDS) });
    const body = await bodyOf(request, settings.maxBytes);
    if (body === undefined) return failure(413, `A body may have ${settings.maxBytes} bytes.`);
    const lines = entryLines(body, { ...settings, userAgent: request.headers.get("user-agent") });
    if (lines === undefined) return failure(400, `A body has 1 to ${settings.maxEntries} entries.`);
    return await passOn(settings, lines, keyOf(request));
  } catch (error) {
    settings.onError(asError(error));
    return failure(503, "The logs could not be passed on.", { "Retry-After": String(RETRY_SECONDS) });
  }
}

/** Returns `true` if the rate limit fails, so that an outage of its store does not lose logs. */
async function mayPass(settings: ProxySettings, request: Request): Promise<boolean> {
  try {
    return await settings.rateLimit(settings.addressOf(request), request);
  } catch (error) {
    settings.onError(asError(error));
    return true;
  }
}

async function passOn(settings: ProxySettings, lines: string, key: string | undefined): Promise<Response> {
  if (settings.missing) throw new Error(settings.missing);
  const headers = new Headers({ "Content-Type": "application/x-ndjson", Authorization: `Bearer ${settings.apiKey}` });
  if (key !== undefined) headers.set("Idempotency-Key", KEY_PREFIX + key);
  const reply = await settings.fetch(settings.url, {
    method: "POST",
    headers,
    body: lines,
    redirect: "manual",
    signal: AbortSignal.timeout(settings.timeout),
  });
  const text = await reply.text();
  const after = reply.headers.get("retry-after");
  const retry: Record<string, string> = after === null ? {} : { "Retry-After": after };
  if (PASSED_ON.has(reply.status)) {
    return new Response(text, { status: reply.status, headers: { "Content-Type": "application/json", ...retry } });
  }
  settings.onError(new Error(`The service answered ${reply.status}: ${text.slice(0, 500)}`));
  // Errors of the key or the project are not exposed to browsers.
  return reply.status >= 500
    ? failure(503, "The logs could not be passed on.", { "Retry-After": after ?? String(RETRY_SECONDS) })
    : failure(502, "The service refused the logs.");
}

/** Reads the idempotency key from the header or the query, because a beacon cannot set headers. */
function keyOf(request: Request): string | undefined {
  const key = request.headers.get("idempotency-key") ?? new URL(request.url).searchParams.get("id") ?? "";
  return KEY.test(key) ? key : undefined;
}

/** Reads the body as text; `undefined` if it has more than `max` bytes. Stops reading at the limit. */
async function bodyOf(request: Request, max: number): Promise<string | undefined> {
  if (Number(request.headers.get("content-length")) > max) return undefined;
  const reader = request.body?.getReader();
  if (!reader) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes += part.value.length;
    if (bytes > max) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(part.value, { stream: true });
  }
  return text + decoder.decode();
}

function preflight(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "Access-Control-Allow-Methods": "POST",
      "Access-Control-Allow-Headers": "Content-Type, Idempotency-Key",
      "Access-Control-Max-Age": "86400",
    },
  });
}

/** Creates an error response in the service's envelope, so that clients parse both in the same way. */
function failure(status: keyof typeof CODES, message: string, headers: Record<string, string> = {}): Response {
  const body = {
    success: false,
    data: null,
    error: { code: CODES[status], message },
    meta: { timestamp: new Date().toISOString() },
  };
  return Response.json(body, { status, headers });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
