import { AGENT_SCOPES, type AgentScope } from "../keys/scopes.ts";
import type { AgentClient } from "./client.ts";
import { answerUrl, isRegisteredRedirect } from "./redirect-uri.ts";

/** A valid request of a client for access, which a user may grant. */
export interface AuthorizationRequest {
  clientId: string;
  redirectUri: string;
  /** What the client asks for; all scopes if it names none. Always with `logs:read`. */
  scopes: readonly AgentScope[];
  state: string | null;
  /** PKCE, S256. */
  challenge: string;
  /** The protected resource that tokens are for (RFC 8707). */
  resource: string;
}

/** The authorization server and the resource that it issues tokens for. */
export interface GrantService {
  issuer: string;
  resource: string;
}

/** What is wrong with a request. */
export interface RequestProblem {
  ok: false;
  message: string;
  /** Where the client gets the error; `null` if the request does not name a receiver that may be trusted. */
  redirectTo: string | null;
}

export type CheckedRequest = { ok: true; request: AuthorizationRequest } | RequestProblem;

/** Characters of a client id, and of the state. */
const MAX_LENGTH = { clientId: 2048, state: 2048 } as const;

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** Returns the one value of a parameter; `null` without one, `undefined` for several. */
function single(parameters: URLSearchParams, name: string): string | null | undefined {
  const values = parameters.getAll(name);
  return values.length > 1 ? undefined : values[0] || null;
}

function untrusted(message: string): RequestProblem {
  return { ok: false, message, redirectTo: null };
}

/** Returns the client id of a request, or what is wrong with it. */
export function requestedClient(parameters: URLSearchParams): { ok: true; id: string } | RequestProblem {
  const id = single(parameters, "client_id");
  if (!id) return untrusted("The request does not name one client (client_id).");
  return id.length > MAX_LENGTH.clientId ? untrusted("The client_id is too long.") : { ok: true, id };
}

/**
 * Checks a request of a known client. Problems of the redirect URI are never redirected, because their receiver is not trusted.
 */
export function checkRequest(
  parameters: URLSearchParams,
  client: AgentClient,
  { issuer, resource }: GrantService,
): CheckedRequest {
  const redirectUri = single(parameters, "redirect_uri");
  if (!redirectUri) return untrusted("The request does not name one redirect_uri.");
  if (!isRegisteredRedirect(client.redirectUris, redirectUri)) {
    return untrusted("The redirect_uri is not one of the client's.");
  }
  const state = single(parameters, "state");
  const refused = (error: string, message: string): RequestProblem => {
    const answer = { error, error_description: message, state: state ?? null, iss: issuer };
    return { ok: false, message, redirectTo: answerUrl(redirectUri, answer) };
  };
  const repeated = REQUEST_PARAMETERS.find((name) => single(parameters, name) === undefined);
  if (repeated !== undefined) return refused("invalid_request", `${repeated} must not be repeated.`);
  if (state && state.length > MAX_LENGTH.state) return refused("invalid_request", "state is too long.");
  for (const name of ["request", "request_uri"] as const) {
    if (parameters.has(name)) return refused(`${name}_not_supported`, `${name} is not supported.`);
  }
  if (single(parameters, "response_type") !== "code") {
    return refused("unsupported_response_type", "response_type must be code.");
  }
  if ((single(parameters, "response_mode") ?? "query") !== "query") {
    return refused("invalid_request", "response_mode must be query.");
  }
  const challenge = single(parameters, "code_challenge") ?? "";
  if (single(parameters, "code_challenge_method") !== "S256" || !CHALLENGE.test(challenge)) {
    return refused("invalid_request", "PKCE with code_challenge_method S256 is required.");
  }
  const named = parameters.getAll("resource");
  if (named.some((uri) => !isSameResource(uri, resource))) {
    return refused("invalid_target", `The resource of this service is ${resource}.`);
  }
  const scopes = requestedScopes(single(parameters, "scope") ?? "");
  if (scopes === null) return refused("invalid_scope", `The scopes are ${AGENT_SCOPES.join(", ")}.`);
  const request = { clientId: client.id, redirectUri, scopes, state: state ?? null, challenge, resource };
  return { ok: true, request };
}

const REQUEST_PARAMETERS = [
  "response_type",
  "response_mode",
  "scope",
  "state",
  "code_challenge",
  "code_challenge_method",
] as const;

/** Whether a client names the resource: as the metadata spells it, or with another spelling of the same URL. */
export function isSameResource(named: string, resource: string): boolean {
  return URL.canParse(named) && new URL(named).href.replace(/\/$/, "") === resource;
}

/** Returns the known ones of the named scopes, with `logs:read`; `null` if scopes are named and none is known. */
function requestedScopes(text: string): AgentScope[] | null {
  const named = text.split(" ").filter((scope) => scope !== "");
  if (named.length === 0) return [...AGENT_SCOPES];
  const known = AGENT_SCOPES.filter((scope) => named.includes(scope));
  return known.length === 0 ? null : AGENT_SCOPES.filter((scope) => scope === "logs:read" || known.includes(scope));
}
