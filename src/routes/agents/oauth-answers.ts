import type { Context } from "hono";
import { readBody } from "../../http/body.ts";
import type { AppEnv } from "../../http/context.ts";
import { ERROR_STATUS, type ErrorCode } from "../../http/errors.ts";
import { bodyOrRefuse, decodeUtf8, JSON_BODY_MAX_BYTES, mediaType } from "../../http/resource.ts";

/** Answers of the authorization server in the form of RFC 6749, 7009 and 7591. */

/** Errors of the token endpoint (RFC 6749, 8707), of registration (RFC 7591), and of a request that is not processed. */
export type OAuthError =
  | "invalid_request"
  | "invalid_grant"
  | "invalid_scope"
  | "invalid_target"
  | "unsupported_grant_type"
  | "invalid_redirect_uri"
  | "invalid_client_metadata"
  | "temporarily_unavailable"
  | "server_error";

const NO_STORE = { "Cache-Control": "no-store" } as const;

export function oauthJson(data: object, status = 200, headers: Readonly<Record<string, string>> = NO_STORE): Response {
  return new Response(JSON.stringify(data), { status, headers: { "Content-Type": "application/json", ...headers } });
}

/** Refuses a request, and writes the error into its event. */
export function oauthError(c: Context<AppEnv>, error: OAuthError, description: string): Response {
  c.get("log").outcome = error;
  return oauthJson({ error, error_description: description }, 400);
}

/** Gives refusals of the service the form of OAuth, with the status of the API. */
export function answerLikeOAuth(c: Context<AppEnv>): void {
  c.set("answerFailure", ({ code, message, headers }) => {
    const data = { error: errorOf(code), error_description: message };
    return oauthJson(data, ERROR_STATUS[code], { ...NO_STORE, ...headers });
  });
}

function errorOf(code: ErrorCode): OAuthError {
  if (code === "RATE_LIMITED" || code === "SERVICE_UNAVAILABLE") return "temporarily_unavailable";
  return ERROR_STATUS[code] >= 500 ? "server_error" : "invalid_request";
}

export const FORM = "application/x-www-form-urlencoded";

/** Reads a form; `null` if the body is of another media type. A parameter that occurs twice is `undefined`. */
export async function formOf(c: Context<AppEnv>): Promise<OAuthForm | null> {
  if (mediaType(c.req.header("Content-Type")) !== FORM) return null;
  const body = await readBody(c.req.raw, JSON_BODY_MAX_BYTES);
  try {
    return new OAuthForm(new URLSearchParams(decodeUtf8(bodyOrRefuse(body, JSON_BODY_MAX_BYTES).bytes)));
  } finally {
    if (body.ok) body.lease.release();
  }
}

/** The parameters of a request. An empty one counts as absent (RFC 6749, 3.2). */
export class OAuthForm {
  readonly #parameters: URLSearchParams;

  constructor(parameters: URLSearchParams) {
    this.#parameters = parameters;
  }

  /** Whether one of these occurs twice. */
  repeats(names: readonly string[]): boolean {
    return names.some((name) => this.#parameters.getAll(name).length > 1);
  }

  get(name: string): string | null {
    return this.#parameters.get(name) || null;
  }

  all(name: string): string[] {
    return this.#parameters.getAll(name).filter((value) => value !== "");
  }
}
