import { type LimitState, unreachable } from "../../api/failure.ts";
import { limitOf } from "../../api/request.ts";

/** A call as it goes out, letter for letter. */
export interface Call {
  method: "POST" | "GET";
  path: string;
  token: string;
  /** Absent in a GET. */
  body?: string;
  contentType?: string;
  idempotencyKey?: string;
}

/** An answer as it came in. */
export interface CallAnswer {
  status: number;
  tookMs: number;
  limit: LimitState | null;
  /** Seconds, where the answer says after how many the same call would fit. */
  retryAfter: number | null;
  /** The envelope; the text itself where it is no JSON. */
  body: unknown;
}

/** @throws ApiFailure where nothing answers; every answer is a result, refusals too */
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

/** Reads a member of an envelope without believing anything about it. */
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

/** An entry that was refused, by its place in what was sent. */
export interface Refused {
  index: number;
  code: string;
  message: string;
}

/** The entries that an answer names as refused: those of a receipt, and those of a refusal. */
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
