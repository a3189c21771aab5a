import { runtime } from "#runtime";
import { GZIP_FROM } from "../limits.ts";
import type { Deliver, Outcome } from "./delivery.ts";

export interface HttpOptions {
  apiUrl: string;
  projectId: string;
  apiKey: string | undefined;
  /** Milliseconds until a request without a whole answer has failed. */
  timeout: number;
  gzip: boolean;
}

/** What becomes of statuses besides 2xx and 5xx, which may pass; others refuse. */
const KINDS: Readonly<Record<number, Outcome["kind"]>> = {
  408: "retry",
  409: "retry",
  413: "split",
  425: "retry",
  429: "pause",
};

/** What to look at first. */
const CHECK = "Check ";
const URL_NAME = "apiUrl (TAFFRAIL_URL)";
const KEY_NAME = "apiKey (TAFFRAIL_API_KEY)";
const HINTS: Readonly<Record<number, string>> = {
  401: KEY_NAME,
  403: KEY_NAME,
  404: `projectId (TAFFRAIL_PROJECT) and ${URL_NAME}`,
};

/** What the service answers, as far as it is used; anything may be missing. */
interface Answer {
  data?: { rejected?: unknown };
  error?: { code?: unknown; message?: unknown; details?: unknown };
}

/** Sends deliveries to the service's ingest route and turns its answers into outcomes. */
export function httpDelivery({ apiUrl, projectId, apiKey, timeout, gzip }: HttpOptions): Deliver {
  const url = `${apiUrl.replace(/\/+$/, "")}/logger/${encodeURIComponent(projectId)}/log`;
  return async ({ body, id, count }) => {
    // Before the time runs: on Node this loads what `fetch` needs, and a busy machine takes a second for that.
    const headers = new Headers({ "Content-Type": "application/x-ndjson", "Idempotency-Key": id });
    if (apiKey) headers.set("Authorization", `Bearer ${apiKey}`);
    let sent = body;
    if (gzip && runtime.gzip && body.length >= GZIP_FROM) {
      sent = await runtime.gzip(body);
      headers.set("Content-Encoding", "gzip");
    }
    const request = fetch(url, {
      method: "POST",
      headers,
      // SAFETY: bodies are never backed by shared memory.
      body: sent as Uint8Array<ArrayBuffer>,
      signal: AbortSignal.timeout(timeout),
      // A redirected POST may come back as a page that says 200.
      redirect: "manual",
    });
    try {
      const response = await request;
      return outcomeOf(response, parsed(await response.text()), count);
    } catch (cause) {
      // SAFETY: what is missing is not told. On Node the reason is the cause.
      const { cause: reason = cause } = cause as { cause?: unknown };
      const { message, code } = Object(reason);
      const failure = `No answer from ${new URL(url).origin} (${message || code}). ${CHECK}${URL_NAME}.`;
      return { kind: "retry", isAway: true, error: Object.assign(new Error(failure, { cause }), { status: 0 }) };
    }
  };
}

function outcomeOf({ status, ok, headers }: Response, { data, error }: Answer, count: number): Outcome {
  const rejected = indexes(ok ? data?.rejected : status === 400 && error?.details, count);
  const isForeign = status < 400 && !data;
  const told = data ? `${rejected.length} entries refused` : (error?.message ?? "no reason given");
  const hint = isForeign ? URL_NAME : HINTS[status];
  const failure = Object.assign(
    new Error(`The service answered ${status}: ${told}${hint ? `. ${CHECK}${hint}.` : ""}`),
    {
      status,
      code: error?.code,
    },
  );
  // Anybody may say 200: a page to log in at, an application that has one for every path.
  if (ok && data)
    return { kind: "delivered", rejected, gap: gapOf(headers), error: rejected.length > 0 ? failure : undefined };
  const kind = KINDS[status] ?? (ok || status >= 500 ? "retry" : "refused");
  return {
    kind,
    isAway: isForeign,
    rejected,
    wait: waitOf(headers, status === 429),
    newId: status === 409,
    error: failure,
  };
}

function parsed(text: string): Answer {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Entries named by `index`, or by a path like `logs.3.message`. */
function indexes(named: unknown, count: number): number[] {
  const found = (Array.isArray(named) ? named : []).map((one: { index?: unknown; path?: unknown } | null) =>
    Number(one?.index ?? /^(?:logs\b)?\W*(\d+)/.exec(`${one?.path}`)?.[1] ?? -1),
  );
  return [...new Set(found)].filter((index) => index >= 0 && index < count);
}

/**
 * Milliseconds to wait by `Retry-After` (seconds or a date), else by `X-RateLimit-Reset` where that is the reason;
 * 0 if neither says.
 */
function waitOf(headers: Headers, isLimited: boolean): number {
  // By the server's clock: this machine's may be off.
  const now = Date.parse(headers.get("date") ?? "") || Date.now();
  const after = headers.get("retry-after") ?? "";
  const reset = isLimited ? Number(headers.get("x-ratelimit-reset")) * 1000 - now : 0;
  const ms = Number(after) * 1000 || Date.parse(after) - now;
  return Math.max(ms >= 0 ? ms : reset, 0);
}

/** Milliseconds between requests that keep within the limit, once half of it is used up. Limits count by the minute. */
function gapOf(headers: Headers): number {
  const limit = Number(headers.get("x-ratelimit-limit"));
  return Number(headers.get("x-ratelimit-remaining") ?? limit) * 2 < limit ? 60_000 / limit : 0;
}
