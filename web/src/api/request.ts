import { takeEarly } from "./early-calls.ts";
import { callOf, exchange } from "./exchange.ts";
import { ApiFailure, type FailureDetail, type LimitState, UNEXPECTED, unreachable } from "./failure.ts";
import { noteServiceTime } from "./service-clock.ts";

export interface RequestOptions {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Sent as JSON. */
  body?: unknown;
  /** An access token or an API key. */
  token?: string;
  workspaceId?: string;
  idempotencyKey?: string;
  /** Name of the search that a read of the sandbox belongs to: its requests count once. */
  searchId?: string;
  /** Whether the read belongs to the search before it, whatever it asks: the fields of what was found, for example. */
  followsSearch?: true;
  signal?: AbortSignal;
  /** The request goes on if its page is left. The browser allows 64 KiB of such bodies at a time. */
  keepalive?: true;
}

export interface Answer<T> {
  data: T;
  status: number;
  limit: LimitState | null;
  headers: Headers;
}

interface Envelope {
  success: boolean;
  data: unknown;
  error: { code: string; message: string; details?: FailureDetail[] } | null;
  meta?: { timestamp: string };
}

/**
 * Calls the API and unwraps the envelope.
 * @throws ApiFailure if the call is refused or the service does not respond; the signal's reason if it is aborted
 */
export async function request<T>(path: string, options: RequestOptions = {}): Promise<Answer<T>> {
  let response: Response;
  let text: string;
  try {
    const call = callOf(path, options);
    ({ response, text } = await (takeEarly(call) ?? exchange(call, options)));
    options.signal?.throwIfAborted();
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw unreachable();
  }
  const limit = limitOf(response.headers);
  const envelope = envelopeOf(text);
  if (envelope?.meta !== undefined) noteServiceTime(envelope.meta.timestamp);
  if (envelope?.success) {
    // SAFETY: the caller names the shape that the API documents for this path.
    return { data: envelope.data as T, status: response.status, limit, headers: response.headers };
  }
  const message = envelope?.error?.message ?? `The service answered with status ${response.status} and no explanation.`;
  throw new ApiFailure(message, {
    code: envelope?.error?.code ?? UNEXPECTED,
    status: response.status,
    details: envelope?.error?.details ?? [],
    limit,
    retryAfter: numberOf(response.headers.get("Retry-After")),
    requestId: response.headers.get("X-Request-Id"),
  });
}

/** Parses the limit headers of a response; `null` if one is missing. */
export function limitOf(headers: Headers): LimitState | null {
  const limit = numberOf(headers.get("X-RateLimit-Limit"));
  const remaining = numberOf(headers.get("X-RateLimit-Remaining"));
  const resetAt = numberOf(headers.get("X-RateLimit-Reset"));
  return limit === null || remaining === null || resetAt === null ? null : { limit, remaining, resetAt };
}

function numberOf(text: string | null): number | null {
  if (text === null || !/^\d+$/.test(text)) return null;
  return Number(text);
}

function envelopeOf(text: string): Envelope | null {
  try {
    const value: unknown = JSON.parse(text);
    // SAFETY: every response of the API is an envelope; any other value fails the test of `success`.
    return typeof value === "object" && value !== null && "success" in value ? (value as Envelope) : null;
  } catch {
    return null;
  }
}
