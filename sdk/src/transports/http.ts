import { runtime } from "#runtime";
import { GZIP_FROM } from "../limits.ts";
import type { Answer } from "./answers.ts";
import type { Deliver } from "./delivery.ts";

export interface HttpOptions {
  apiUrl: string;
  projectId: string;
  apiKey: string | undefined;
  /** Milliseconds after which a request without a complete answer has failed. */
  timeout: number;
  gzip: boolean;
}

/** Returns a function that sends deliveries to the service's ingest route and converts answers to outcomes. */
export function httpDelivery({ apiUrl, projectId, apiKey, timeout, gzip }: HttpOptions): Deliver {
  const url = `${apiUrl.replace(/\/+$/, "")}/logger/${encodeURIComponent(projectId)}/log`;
  return async ({ body, id, count, stream }) => {
    // Before the timeout starts, because on Node this loads the modules of `fetch`, which takes a second on a busy
    // machine.
    const headers = new Headers({ "Content-Type": "application/x-ndjson", "Idempotency-Key": id });
    if (apiKey) headers.set("Authorization", `Bearer ${apiKey}`);
    const numbers = stream?.header(id);
    if (numbers) headers.set("Taffrail-Stream", numbers);
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
      // A redirected POST may end at a page that answers 200.
      redirect: "manual",
    });
    try {
      const response = await request;
      const answer = parsed(await response.text());
      const gap = gapOf(response.headers);
      if (response.ok && answer.data && !Object(answer.data.rejected).length) return { kind: "delivered", gap };
      const { outcomeOf } = await runtime.answers();
      return outcomeOf(response, answer, count, gap, apiKey);
    } catch (cause) {
      // SAFETY: missing members are left out of the message. On Node the reason is the cause.
      const { cause: reason = cause } = cause as { cause?: unknown };
      const { message, code } = Object(reason);
      const failure = `No answer from ${new URL(url).origin} (${message || code}). Check apiUrl (TAFFRAIL_URL). Entries are retried, then dropped; taffrail/node spools them.`;
      return { kind: "retry", isAway: true, error: Object.assign(new Error(failure, { cause }), { status: 0 }) };
    }
  };
}

function parsed(text: string): Answer {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/**
 * Returns the milliseconds between requests that keep within the limit per minute, if half of it is used; otherwise 0.
 */
function gapOf(headers: Headers): number {
  const limit = Number(headers.get("x-ratelimit-limit"));
  return Number(headers.get("x-ratelimit-remaining") ?? limit) * 2 < limit ? 60_000 / limit : 0;
}
