import { entryLines } from "./entries.ts";
import { type ProxyOptions, type ProxySettings, proxySettings } from "./options.ts";

export type { RateLimit } from "./limit.ts";
export type { ProxyOptions } from "./options.ts";

/** Statuses of the service that a browser can make something of. */
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
/** Characters of an idempotency key, so that the prefix fits into the service's 128. */
const KEY = /^[\x21-\x7e]{1,100}$/;
/** Keeps browsers' keys apart from those of servers, whatever a client chooses. */
const KEY_PREFIX = "browser-";
/** Seconds until a browser may ask again. */
const RETRY_SECONDS = 5;

/** A development server that passes requests on changes the host they name; its page's console shows this. */
const REFUSAL =
  "This origin may not send logs. If a development server (Vite) passes them on, name its origin: createProxy({ origins }).";

/** Takes entries of browsers and passes them on with the server's key. */
export type ProxyHandler = (request: Request) => Promise<Response>;

/**
 * The handler of the route that `taffrail/browser` sends to, for any server that speaks the web's `Request` and
 * `Response`. Answers `OPTIONS` and `POST`. It never rejects.
 * @throws TypeError for options that are wrong
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

/** A store of counts that is down must not take the logs with it. */
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
  // Whatever is wrong with the key or the project is nothing a browser should hear of.
  return reply.status >= 500
    ? failure(503, "The logs could not be passed on.", { "Retry-After": after ?? String(RETRY_SECONDS) })
    : failure(502, "The service refused the logs.");
}

/** A beacon has no headers of its own, so the key may stand in the address. */
function keyOf(request: Request): string | undefined {
  const key = request.headers.get("idempotency-key") ?? new URL(request.url).searchParams.get("id") ?? "";
  return KEY.test(key) ? key : undefined;
}

/** The body as text, `undefined` if it is too long. Stops reading there. */
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

/** In the service's envelope, so that one reader does for both. */
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
