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

/** What the service says about entries it did not take. */
interface Named {
  index?: unknown;
  path?: unknown;
}

interface Answer {
  data?: { rejected?: readonly Named[] } | null;
  error?: { code?: unknown; message?: unknown; details?: readonly Named[] } | null;
}

/** Sends deliveries to the service's ingest route and turns its answers into outcomes. */
export function httpDelivery({ apiUrl, projectId, apiKey, timeout, gzip }: HttpOptions): Deliver {
  const url = `${apiUrl.replace(/\/+$/, "")}/logger/${encodeURIComponent(projectId)}/log`;
  return async ({ body, id, count }) => {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(new Error(`No answer within ${timeout} ms.`)), timeout);
    try {
      const headers: Record<string, string> = { "Content-Type": "application/x-ndjson", "Idempotency-Key": id };
      if (apiKey !== undefined) headers.Authorization = `Bearer ${apiKey}`;
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
      const text = await response.text();
      return outcomeOf(response, parsed(text), count);
    } finally {
      clearTimeout(timer);
    }
  };
}

function outcomeOf({ status, headers }: Response, { data, error }: Answer, count: number): Outcome {
  if (status >= 200 && status < 300) {
    const rejected = indexes(data?.rejected, count);
    const refusal = rejected.length > 0 ? { error: new Error(`${rejected.length} of ${count} entries refused.`) } : {};
    return { kind: "delivered", rejected, gap: gapOf(headers), ...refusal };
  }
  const failure = Object.assign(new Error(`The service answered ${status}: ${error?.message ?? "no reason given"}`), {
    status,
    code: error?.code,
  });
  if (status === 429) return { kind: "pause", wait: waitOf(headers), error: failure };
  if (status === 413) return { kind: "split", error: failure };
  if (status === 409) return { kind: "retry", newId: true, error: failure };
  if (status === 408 || status === 425 || status >= 500) {
    return { kind: "retry", wait: headers.has("retry-after") ? waitOf(headers) : undefined, error: failure };
  }
  return { kind: "refused", rejected: status === 400 ? indexes(error?.details, count) : [], error: failure };
}

function parsed(text: string): Answer {
  try {
    const answer: unknown = JSON.parse(text);
    // SAFETY: every member is optional, and each is checked where it is used.
    return typeof answer === "object" && answer !== null ? (answer as Answer) : {};
  } catch {
    return {};
  }
}

/** Entries named by `index`, or by a path like `logs.3.message`. */
function indexes(named: unknown, count: number): number[] {
  if (!Array.isArray(named)) return [];
  const found = named.map(({ index, path }: Named) =>
    typeof index === "number" ? index : Number(/^(?:logs\b)?\W*(\d+)/.exec(String(path))?.[1] ?? Number.NaN),
  );
  return [...new Set(found)].filter((index) => index >= 0 && index < count);
}

/** Milliseconds to wait by `Retry-After` (seconds or a date), else by `X-RateLimit-Reset`. */
function waitOf(headers: Headers): number | undefined {
  // By the server's clock: this machine's may be off.
  const now = Date.parse(headers.get("date") ?? "") || Date.now();
  const after = headers.get("retry-after") ?? "";
  const ms = /^\s*\d+(\.\d+)?\s*$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now;
  if (ms >= 0) return ms;
  const reset = Number(headers.get("x-ratelimit-reset"));
  return reset > 0 ? Math.max(reset * 1000 - now, 0) : undefined;
}

/** Milliseconds between requests that keep within the limit, once half of it is used up. Limits count by the minute. */
function gapOf(headers: Headers): number {
  const limit = Number(headers.get("x-ratelimit-limit"));
  const left = headers.get("x-ratelimit-remaining");
  return limit > 0 && left !== null && Number(left) * 2 < limit ? 60_000 / limit : 0;
}
