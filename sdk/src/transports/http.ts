import { runtime } from "#runtime";
import type { Deliver, Outcome } from "./queue.ts";

/** Bytes from which compression saves more than it costs. */
const GZIP_FROM = 1024;

export interface HttpOptions {
  apiUrl: string;
  projectId: string;
  apiKey: string | undefined;
  /** Milliseconds until a request without a whole answer has failed. */
  timeout: number;
  gzip: boolean;
}

/** What the service answers, as far as it is used; anything may be missing. */
interface Answer {
  data?: { rejected?: unknown };
  error?: { code?: unknown; message?: unknown; details?: unknown };
}

/** Sends deliveries to the service's ingest route and turns its answers into outcomes. */
export function httpDelivery({ apiUrl, projectId, apiKey, timeout, gzip }: HttpOptions): Deliver {
  const url = `${apiUrl.replace(/\/+$/, "")}/logger/${encodeURIComponent(projectId)}/log`;
  return async ({ body, id, count }) => {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(new Error(`No answer within ${timeout} ms.`)), timeout);
    try {
      const headers: Record<string, string> = { "Content-Type": "application/x-ndjson", "Idempotency-Key": id };
      if (apiKey) headers.Authorization = `Bearer ${apiKey}`;
      let sent = body;
      if (gzip && runtime.gzip && body.length >= GZIP_FROM) {
        sent = await runtime.gzip(body);
        headers["Content-Encoding"] = "gzip";
      }
      const response = await fetch(url, {
        method: "POST",
        headers,
        // SAFETY: bodies are never backed by shared memory.
        body: sent as Uint8Array<ArrayBuffer>,
        signal: abort.signal,
        // A redirected POST may come back as a page that says 200.
        redirect: "manual",
      });
      return outcomeOf(response, parsed(await response.text()), count);
    } finally {
      clearTimeout(timer);
    }
  };
}

function outcomeOf({ status, headers }: Response, { data, error }: Answer, count: number): Outcome {
  const failure = (what: unknown) =>
    Object.assign(new Error(`The service answered ${status}: ${what}`), { status, code: error?.code });
  if (status >= 200 && status < 300) {
    const rejected = indexes(data?.rejected, count);
    const refusal = rejected.length > 0 ? { error: failure(`${rejected.length} entries refused`) } : {};
    return { kind: "delivered", rejected, gap: gapOf(headers), ...refusal };
  }
  const told = { error: failure(error?.message ?? "no reason given") };
  if (status === 413) return { kind: "split", ...told };
  if (status === 429) return { kind: "pause", wait: waitOf(headers), ...told };
  if (status === 408 || status === 409 || status === 425 || status >= 500) {
    return { kind: "retry", wait: headers.has("retry-after") ? waitOf(headers) : 0, newId: status === 409, ...told };
  }
  return { kind: "refused", rejected: status === 400 ? indexes(error?.details, count) : [], ...told };
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

/** Milliseconds to wait by `Retry-After` (seconds or a date), else by `X-RateLimit-Reset`; 0 if neither says. */
function waitOf(headers: Headers): number {
  // By the server's clock: this machine's may be off.
  const now = Date.parse(headers.get("date") ?? "") || Date.now();
  const after = headers.get("retry-after");
  const ms = Number(after) * 1000 || Date.parse(after ?? "") - now;
  return Math.max(ms >= 0 ? ms : Number(headers.get("x-ratelimit-reset")) * 1000 - now, 0) || 0;
}

/** Milliseconds between requests that keep within the limit, once half of it is used up. Limits count by the minute. */
function gapOf(headers: Headers): number {
  const limit = Number(headers.get("x-ratelimit-limit"));
  return Number(headers.get("x-ratelimit-remaining") ?? limit) * 2 < limit ? 60_000 / limit : 0;
}
