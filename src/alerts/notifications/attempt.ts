import type { Outbound } from "../../platform/outbound.ts";
import type { Answer, Attempt } from "./destination.ts";

/** A request to a receiver: a POST of JSON. */
export interface OutgoingRequest {
  url: string;
  /** Headers beside the usual ones, with names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: string;
}

export const ATTEMPT_LIMITS = {
  /** Milliseconds of one attempt, from the connection to the last byte that is read. */
  timeMs: 10_000,
  /** Bytes of a response that are read. */
  bodyBytes: 4096,
  /** Characters of them that are stored and shown. */
  shown: 1000,
  /** Maximum of `Retry-After`, in milliseconds. */
  retryAfterMs: 24 * 60 * 60 * 1000,
} as const;

/** Sends a request once. Redirects are not followed. Throws nothing. */
export async function attempt(
  outbound: Outbound,
  { url, headers, body }: OutgoingRequest,
  now: () => number,
  timeMs: number = ATTEMPT_LIMITS.timeMs,
): Promise<Attempt> {
  const startedAt = now();
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), timeMs);
  const answered = (answer: Pick<Answer, "status" | "text" | "error">): Answer => ({
    ...answer,
    ms: Math.max(0, now() - startedAt),
  });
  try {
    const response = await outbound(url, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": "Taffrail/1 (notifications)", ...headers },
      body,
      redirect: "manual",
      signal: end.signal,
    });
    const text = await firstBytes(response, end.signal);
    const { status } = response;
    const outcome = outcomeOf(status);
    const error = outcome === "delivered" ? null : errorOf(status);
    const retryAfter = outcome === "failed" ? retryAfterOf(response.headers.get("retry-after"), now()) : null;
    return { outcome, answer: answered({ status, text, error }), retryAfter };
  } catch {
    // Messages of these errors are the runtime's, and differ between versions.
    const error = end.signal.aborted
      ? `No response within ${timeMs / 1000} seconds.`
      : "No connection: the host is unknown, its address is not public, or it refuses the connection.";
    return { outcome: "failed", answer: answered({ status: null, text: "", error }), retryAfter: null };
  } finally {
    clearTimeout(timer);
  }
}

function outcomeOf(status: number): "delivered" | "failed" | "gone" {
  if (status >= 200 && status < 300) return "delivered";
  return status === 410 ? "gone" : "failed";
}

function errorOf(status: number): string {
  if (status === 410) return "410: the receiver wants no further deliveries.";
  if (status >= 300 && status < 400) return `${status}: redirects are not followed.`;
  return `The receiver answered ${status}.`;
}

/** Reads the start of a body, until the signal aborts. A body that stops or fails does not change the outcome. */
async function firstBytes({ body }: Response, signal: AbortSignal): Promise<string> {
  if (body === null) return "";
  const reader = body.getReader();
  const aborted = new Promise<null>((resolve) => signal.addEventListener("abort", () => resolve(null), { once: true }));
  const decoder = new TextDecoder();
  let text = "";
  let read = 0;
  try {
    while (read < ATTEMPT_LIMITS.bodyBytes && !signal.aborted) {
      const part = await Promise.race([reader.read(), aborted]);
      if (part === null || part.done) break;
      const bytes = part.value.subarray(0, ATTEMPT_LIMITS.bodyBytes - read);
      read += bytes.length;
      text += decoder.decode(bytes, { stream: true });
    }
  } catch {
    // The receiver closed the connection.
  }
  // Not awaited: a receiver that never ends its body must not hold the attempt.
  reader.cancel().catch(() => undefined);
  return printable(text);
}

/** Without control characters, which a page or a terminal would obey. */
function printable(text: string): string {
  return text
    .replace(/[^\P{Cc}\n\t]/gu, " ")
    .slice(0, ATTEMPT_LIMITS.shown)
    .toWellFormed();
}

/** Milliseconds of a `Retry-After`: seconds or a date; `null` for anything else. */
export function retryAfterOf(text: string | null, now: number): number | null {
  if (text === null) return null;
  const isDate = /^[A-Z][a-z]{2}, .+ GMT$/.test(text.trim());
  const ms = /^\d{1,9}$/.test(text.trim()) ? Number(text) * 1000 : isDate ? Date.parse(text) - now : Number.NaN;
  return ms > 0 ? Math.min(ms, ATTEMPT_LIMITS.retryAfterMs) : null;
}
