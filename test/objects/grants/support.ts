import { exports } from "cloudflare:workers";
import { createHash, randomUUID } from "node:crypto";
import { expect } from "vitest";
import { z } from "zod";
import { type Answer, bearer, call, registered, settings } from "../accounts/support.ts";
import { send } from "../ingest/support.ts";

/** A user with a workspace, two projects with an entry each, and a key of the first. */
export interface Owner {
  userId: string;
  email: string;
  accessToken: string;
  workspaceId: string;
  projects: readonly [string, string];
}

export async function newOwner(): Promise<Owner> {
  const email = `${randomUUID()}@example.com`;
  const { user, accessToken, personalWorkspace } = await registered(email);
  const workspaceId = personalWorkspace.id;
  const headers = { ...bearer(accessToken), "X-Workspace-Id": workspaceId };
  const made = async (name: string): Promise<string> => {
    const project = z.object({ id: z.string() }).parse((await call("/projects", { headers, body: { name } })).data);
    const body = { name: "k", scopes: ["logs:write"] };
    const key = z
      .object({ secret: z.string() })
      .parse((await call(`/projects/${project.id}/keys`, { headers, body })).data);
    const sent = await send({ projectId: project.id, secret: key.secret }, [{ message: `in ${name}`, level: "error" }]);
    expect(sent.status).toBe(201);
    return project.id;
  };
  return { userId: user.id, email, accessToken, workspaceId, projects: [await made("one"), await made("two")] };
}

/** An answer of the authorization server. */
export interface OAuthAnswer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** Sends a form to the authorization server, or JSON if `json`. */
export async function post(
  path: string,
  fields: Readonly<Record<string, unknown>>,
  json = false,
): Promise<OAuthAnswer> {
  const response = await exports.default.fetch(
    new Request(`http://taffrail.test${path}`, {
      method: "POST",
      headers: { "Content-Type": json ? "application/json" : "application/x-www-form-urlencoded" },
      body: json
        ? JSON.stringify(fields)
        : new URLSearchParams(z.record(z.string(), z.string()).parse(fields)).toString(),
    }),
  );
  const body = z.record(z.string(), z.unknown()).parse(JSON.parse(await response.text()));
  return { status: response.status, headers: response.headers, body };
}

export const REDIRECT = "http://127.0.0.1:5000/cb";
export const RESOURCE = `${settings.BASE_URL}/mcp`;

let client: Promise<string> | undefined;

/** Returns the id of the registered client of a test file. */
export function clientId(): Promise<string> {
  client ??= post("/oauth/register", { client_name: "Agent", redirect_uris: ["http://127.0.0.1/cb"] }, true).then(
    ({ body }) => String(body.client_id),
  );
  return client;
}

export interface Authorization {
  verifier: string;
  code: string;
}

export interface Wanted {
  scopes?: readonly string[];
  projectIds?: readonly string[] | null;
  /** Parameters of the request that differ; `null` removes one. */
  change?: Readonly<Record<string, string | null>>;
}

/** Returns the query of a request, and its verifier. */
export async function requestOf(change: Wanted["change"] = {}): Promise<{ request: string; verifier: string }> {
  const verifier = `${randomUUID()}${randomUUID()}`;
  const usual = {
    response_type: "code",
    client_id: await clientId(),
    redirect_uri: REDIRECT,
    state: "s1",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    resource: RESOURCE,
  };
  const entries = Object.entries({ ...usual, ...change }).flatMap(([name, value]) =>
    value === null ? [] : [[name, value]],
  );
  return { request: new URLSearchParams(entries).toString(), verifier };
}

/** The consent of a user, as the console sends it. */
export async function consent(
  { accessToken, workspaceId }: Pick<Owner, "accessToken" | "workspaceId">,
  { scopes = ["logs:read"], projectIds = null, change = {} }: Wanted = {},
): Promise<{ answer: Answer; verifier: string }> {
  const { request, verifier } = await requestOf(change);
  const body = { request, scopes, projectIds };
  return { answer: await call(`/workspaces/${workspaceId}/grants`, { headers: bearer(accessToken), body }), verifier };
}

export async function authorize(
  owner: Pick<Owner, "accessToken" | "workspaceId">,
  wanted: Wanted = {},
): Promise<Authorization> {
  const { answer, verifier } = await consent(owner, wanted);
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  const { redirectTo } = z.object({ redirectTo: z.string() }).parse(answer.data);
  const { searchParams } = new URL(redirectTo);
  expect([searchParams.get("state"), searchParams.get("iss")]).toEqual(["s1", settings.BASE_URL]);
  return { code: searchParams.get("code") ?? "", verifier };
}

/** Exchanges a code. `change` replaces parameters. */
export async function exchange(
  { code, verifier }: Authorization,
  change: Readonly<Record<string, string>> = {},
): Promise<OAuthAnswer> {
  const usual = {
    grant_type: "authorization_code",
    client_id: await clientId(),
    code,
    redirect_uri: REDIRECT,
    code_verifier: verifier,
    resource: RESOURCE,
  };
  return post("/oauth/token", { ...usual, ...change });
}

export interface Tokens {
  access: string;
  refresh: string;
}

export function tokensIn({ status, body }: OAuthAnswer): Tokens {
  expect([status, body.error]).toEqual([200, undefined]);
  return { access: String(body.access_token), refresh: String(body.refresh_token) };
}

/** Signs an agent in. */
export async function signIn(owner: Pick<Owner, "accessToken" | "workspaceId">, wanted: Wanted = {}): Promise<Tokens> {
  return tokensIn(await exchange(await authorize(owner, wanted)));
}

export async function refresh(token: string, change: Readonly<Record<string, string>> = {}): Promise<OAuthAnswer> {
  return post("/oauth/token", {
    grant_type: "refresh_token",
    client_id: await clientId(),
    refresh_token: token,
    ...change,
  });
}
