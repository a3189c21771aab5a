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

/** Maximum length of a subject: OpenID Connect Core section 2 allows 255 characters. */
export const SUBJECT_MAX_LENGTH = 255;

/** Normalizes a provider's address; `null` if it is not a valid address. */
export function providerEmail(text: string | null | undefined): string | null {
  return emailSchema.safeParse(text).data ?? null;
}

/** Returns a provider's name of a person if this service would accept it as a name. */
export function providerName(text: string | null | undefined): string | null {
  return nameSchema.safeParse(text).data || null;
}

/** Maximum bytes of a provider's answer; the largest genuine one, a key set, is a few KB. */
const ANSWER_MAX_BYTES = 1024 * 1024;

/** GitHub refuses requests without a `User-Agent`. */
const USER_AGENT = "taffrail";

/** A fault in a provider's answer that makes the answer unusable. The message is written by this service. */
export class ProviderFault extends Error {
  override name = "ProviderFault";
}

export interface ProviderRequest {
  method: string;
  headers: Record<string, string>;
  body?: URLSearchParams | string | null | undefined;
}

export type ProviderFetch = (url: string, request: ProviderRequest) => Promise<Response>;

/** The calls of one exchange with a provider. Its signal ends all of them. */
export function providerFetch(signal: AbortSignal): ProviderFetch {
  return (url, request) => fetchWhole(url, request, signal);
}

/**
 * Makes one call: bounded in time and size, never redirected, and only over a secure connection, because endpoints also
 * come from a discovery document. The answer is complete when this returns, so reading it cannot stall.
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

/** An error code as the standards spell it. Other error texts of a provider are prose and are not passed on. */
const ERROR_CODE = /^[a-z][a-z_]{0,39}$/;

/** Milliseconds for all calls of one exchange with a provider. The user waits in front of a blank page. */
const EXCHANGE_TIMEOUT_MS = 10_000;

/**
 * Runs the steps of one exchange with a provider, whose calls must end with the signal. Every error becomes a failure
 * of the provider: a lost connection, a time-out, an invalid answer, a token that does not verify.
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
  // Errors of the runtime: TimeoutError, or a TypeError or Error if the connection was refused or lost.
  return error instanceof Error ? `connection: ${error.name}` : "connection";
}

/** The name of the invalid claim of an ID token, never its value. */
function claimOf({ cause }: Error): string {
  const named = typeof cause === "object" && cause !== null && "claim" in cause ? cause.claim : "";
  return typeof named === "string" ? named : "";
}

function spelled(code: string): string {
  return ERROR_CODE.test(code) ? code : "other";
}
