import {
  AuthorizationResponseError,
  OperationProcessingError,
  ResponseBodyError,
  UnsupportedOperationError,
  WWWAuthenticateChallengeError,
} from "oauth4webapi";
import { z } from "zod";
import type { ProviderFailure, ProviderResult } from "./provider.ts";
import { ProviderFault } from "./provider-fetch.ts";

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
