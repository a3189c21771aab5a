import {
  AuthorizationResponseError,
  OperationProcessingError,
  ResponseBodyError,
  UnsupportedOperationError,
  WWWAuthenticateChallengeError,
} from "oauth4webapi";
import { z } from "zod";
import { nameSchema } from "../../http/fields.ts";
import { isSecure } from "../../platform/loopback.ts";
import { emailSchema } from "../email.ts";
import type { ProviderFailure, ProviderResult } from "./provider.ts";

/** Longest subject that is taken: OpenID Connect Core section 2 allows 255 characters. */
export const SUBJECT_MAX_LENGTH = 255;

/** A provider's address as stored here; null for what is none. */
export function providerEmail(text: string | null | undefined): string | null {
  return emailSchema.safeParse(text).data ?? null;
}

/** A provider's name of a person, if it is one that could have been given here. */
export function providerName(text: string | null | undefined): string | null {
  return nameSchema.safeParse(text).data || null;
}

/** Bytes of a provider's answer that are read at most; the largest honest one, a key set, is a few KB. */
const ANSWER_MAX_BYTES = 1024 * 1024;

/** GitHub refuses requests without one. */
const USER_AGENT = "taffrail";

/** Something about a provider's answer that makes it useless; the message is ours. */
export class ProviderFault extends Error {
  override name = "ProviderFault";
}

export interface ProviderRequest {
  method: string;
  headers: Record<string, string>;
  body?: URLSearchParams | string | null | undefined;
}

export type ProviderFetch = (url: string, request: ProviderRequest) => Promise<Response>;

/** The calls of one exchange with a provider, which all end with its signal. */
export function providerFetch(signal: AbortSignal): ProviderFetch {
  return (url, request) => fetchWhole(url, request, signal);
}

/**
 * One call: bounded in time and size, never redirected, and over a safe connection alone, as endpoints also come from a
 * discovery document. The answer is whole when this returns, so nothing that reads it can hang.
 */
async function fetchWhole(
  url: string,
  { method, headers, body }: ProviderRequest,
  signal: AbortSignal,
): Promise<Response> {
  if (!isSecure(new URL(url))) throw new ProviderFault("insecure endpoint");
  const response = await fetch(url, {
    method,
    headers: { ...headers, "User-Agent": USER_AGENT },
    body: body?.toString() ?? null,
    redirect: "manual",
    signal,
  });
  const bytes = await readAll(response);
  const { status, headers: received } = response;
  return new Response(bytes.byteLength > 0 ? bytes : null, { status, headers: received });
}

async function readAll(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > ANSWER_MAX_BYTES) throw new ProviderFault("answer too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** An error code as the standards spell them. Anything else a provider calls its error is prose, and stays there. */
const ERROR_CODE = /^[a-z][a-z_]{0,39}$/;

/** Milliseconds that a provider gets for one exchange, however many calls that takes: somebody sits before a blank page. */
const EXCHANGE_TIMEOUT_MS = 10_000;

/**
 * Runs the steps of one exchange with a provider, whose calls must end with the signal. Whatever goes wrong in there is the provider's failure: a lost
 * connection, a time-out, an answer that is none, a token that does not check out.
 */
export async function withProvider<T>(steps: (signal: AbortSignal) => Promise<T>): Promise<ProviderResult<T>> {
  try {
    return { ok: true, value: await steps(AbortSignal.timeout(EXCHANGE_TIMEOUT_MS)) };
  } catch (error) {
    return failureOf(error);
  }
}

function failureOf(error: unknown): ProviderFailure {
  if (error instanceof AuthorizationResponseError) {
    const denied = error.error === "access_denied";
    const code = denied ? "OAUTH_ACCESS_DENIED" : "OAUTH_PROVIDER_ERROR";
    return { ok: false, code, reason: `authorization: ${spelled(error.error)}` };
  }
  return { ok: false, code: "OAUTH_PROVIDER_ERROR", reason: reasonOf(error) };
}

function reasonOf(error: unknown): string {
  if (error instanceof ResponseBodyError) return `token: ${spelled(error.error)}`;
  if (error instanceof ProviderFault) return error.message;
  if (error instanceof OperationProcessingError) return [error.code, claimOf(error)].join(" ").trim();
  if (error instanceof WWWAuthenticateChallengeError) return `challenge: ${error.status}`;
  if (error instanceof z.ZodError || error instanceof SyntaxError || error instanceof UnsupportedOperationError) {
    return "answer not understood";
  }
  // The runtime's own: TimeoutError, or a TypeError or Error where the connection was refused or lost.
  return error instanceof Error ? `connection: ${error.name}` : "connection";
}

/** Which claim of an ID token is wrong: its name, not its value. */
function claimOf({ cause }: Error): string {
  const named = typeof cause === "object" && cause !== null && "claim" in cause ? cause.claim : "";
  return typeof named === "string" ? named : "";
}

function spelled(code: string): string {
  return ERROR_CODE.test(code) ? code : "other";
}
