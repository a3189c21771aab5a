import { createHash, randomUUID } from "node:crypto";
import { call, type Tenant } from "./api.ts";

/** What the tests of agents' sign-in have in common: the consent as the console sends it, and a whole sign-in. */

/**
 * Consents to an authorization request, for the project of a tenant.
 * @param url of the authorization endpoint with the request
 * @returns where the browser continues
 */
export async function consentTo(
  url: string | URL,
  tenant: Tenant,
  scopes: readonly string[] = ["logs:read"],
): Promise<URL> {
  const at = await fetch(url, { redirect: "manual" });
  const page = new URL(at.headers.get("location") ?? "");
  if (at.status !== 302 || page.pathname !== "/auth/consent") throw new Error(`${at.status} ${page}`);
  const { account, projectId } = tenant;
  const body = { request: page.search.slice(1), scopes, projectIds: [projectId] };
  const path = `/workspaces/${account.workspaceId}/grants`;
  const answer = await call<{ redirectTo: string }>(page.origin, path, { token: account.accessToken, body });
  if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body.error)}`);
  return new URL(answer.body.data.redirectTo);
}

/** Registers a client with a redirect URI of this machine. @returns its id */
export async function registerClient(url: string, path = "/callback"): Promise<string> {
  const response = await fetch(`${url}/oauth/register`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ client_name: "Agent", redirect_uris: [`http://127.0.0.1${path}`] }),
  });
  const { client_id } = Object(await response.json());
  return String(client_id);
}

/** Signs an agent in for the project of a tenant. @returns an access token */
export async function agentToken(
  url: string,
  tenant: Tenant,
  scopes: readonly string[] = ["logs:read"],
): Promise<string> {
  const client_id = await registerClient(url);
  const redirect_uri = "http://127.0.0.1:9/callback";
  const code_verifier = `${randomUUID()}${randomUUID()}`;
  const request = new URLSearchParams({
    response_type: "code",
    client_id,
    redirect_uri,
    code_challenge: createHash("sha256").update(code_verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const { searchParams } = await consentTo(`${url}/oauth/authorize?${request}`, tenant, scopes);
  const code = searchParams.get("code") ?? "";
  const form = { grant_type: "authorization_code", client_id, redirect_uri, code_verifier, code };
  const response = await fetch(`${url}/oauth/token`, { method: "POST", body: new URLSearchParams(form) });
  const { access_token } = Object(await response.json());
  return String(access_token);
}
