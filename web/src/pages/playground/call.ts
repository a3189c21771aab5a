import { type LimitState, unreachable } from "../../api/failure.ts";
import { limitOf } from "../../api/request.ts";

/** A request, exactly as sent. */
export interface Call {
  method: "POST" | "GET";
  path: string;
  token: string;
  /** Absent for GET. */
  body?: string;
  contentType?: string;
  idempotencyKey?: string;
}

/** A response, exactly as received. */
export interface CallAnswer {
  status: number;
  tookMs: number;
  limit: LimitState | null;
  /** Seconds from `Retry-After`, or `null`. */
  retryAfter: number | null;
  /** The envelope, or the text if it is not JSON. */
  body: unknown;
}

/** @throws ApiFailure if the service does not respond; every response is a result, also a refusal */
export async function send(call: Call): Promise<CallAnswer> {
  const headers = new Headers({ Accept: "application/json", Authorization: `Bearer ${call.token}` });
  if (call.contentType !== undefined) headers.set("Content-Type", call.contentType);
  if (call.idempotencyKey !== undefined) headers.set("Idempotency-Key", call.idempotencyKey);
  const startedAt = performance.now();
  try {
    const response = await fetch(call.path, {
      method: call.method,
      headers,
      body: call.body ?? null,
      cache: "no-store",
      credentials: "omit",
    });
    const text = await response.text();
    const retryAfter = response.headers.get("Retry-After");
    return {
      status: response.status,
      tookMs: performance.now() - startedAt,
      limit: limitOf(response.headers),
      retryAfter: retryAfter === null ? null : Number(retryAfter),
      body: parsed(text),
    };
  } catch {
    throw unreachable();
  }
}

/** Reads a member of an untrusted value. */
export function member(value: unknown, ...path: string[]): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== "object" || found === null) return undefined;
    // SAFETY: any object may be read by name; its members are unknown.
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

export function errorCode(answer: CallAnswer): string | null {
  const code = member(answer.body, "error", "code");
  return typeof code === "string" ? code : null;
}

/** An entry that the service did not accept, by its index in the request. */
export interface Refused {
  index: number;
  code: string;
  message: string;
}

/** Lists the entries that a response names as rejected, from a receipt or from an error. */
export function refusedOf(answer: CallAnswer): Refused[] {
  const listed = member(answer.body, "data", "rejected") ?? member(answer.body, "error", "details");
  return Array.isArray(listed) ? listed.filter(isRefused) : [];
}

function isRefused(value: unknown): value is Refused {
  return typeof member(value, "index") === "number" && typeof member(value, "message") === "string";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
