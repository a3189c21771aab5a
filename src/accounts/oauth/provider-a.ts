import {
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type Client,
  type ClientAuth,
  ClientSecretPost,
  calculatePKCECodeChallenge,
  customFetch,
  None,
  processAuthorizationCodeResponse,
  validateAuthResponse,
} from "oauth4webapi";
import { z } from "zod";
import type { Settings } from "../../settings.ts";
import type { FlowSecrets, ProviderClient, ProviderProfile } from "./provider.ts";
import {
  ProviderFault,
  type ProviderFetch,
  providerEmail,
  providerFetch,
  providerName,
  SUBJECT_MAX_LENGTH,
  withProvider,
} from "./provider-fetch.ts";

/** Read access to the profile and to the addresses; no write access. */
const SCOPE = "read:user user:email";

/** The version of GitHub's REST API whose responses are parsed here. */
const API_HEADERS = { Accept: "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28" };

const userSchema = z.object({
  id: z.union([z.int().positive(), z.string().min(1).max(SUBJECT_MAX_LENGTH)]),
  name: z.string().nullish(),
});

const emailsSchema = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

/** A provider like GitHub: OAuth 2 without discovery or ID tokens, and a REST API that identifies the user. */
export function providerA(settings: Settings, clientId: string): ProviderClient {
  const { PROVIDER_A_AUTHORIZE_URL, PROVIDER_A_TOKEN_URL, PROVIDER_A_API_URL, PROVIDER_A_CLIENT_SECRET } = settings;
  const server: AuthorizationServer = {
    issuer: new URL(PROVIDER_A_AUTHORIZE_URL).origin,
    token_endpoint: PROVIDER_A_TOKEN_URL,
  };
  const client: Client = { client_id: clientId };
  const clientAuth: ClientAuth = PROVIDER_A_CLIENT_SECRET ? ClientSecretPost(PROVIDER_A_CLIENT_SECRET) : None();
  return {
    authorizeUrl: (flow) => withProvider(() => authorizeUrl(PROVIDER_A_AUTHORIZE_URL, clientId, flow)),
    profile: (callback, flow) =>
      withProvider(async (signal) => {
        const parameters = new URLSearchParams(callback);
        // There is no issuer to compare with. Each provider has a separate callback, which distinguishes them.
        parameters.delete("iss");
        const authorized = validateAuthResponse(server, client, parameters, flow.state);
        const { redirectUri, verifier } = flow;
        const call = providerFetch(signal);
        const options = { [customFetch]: tokenFetch(call), [allowInsecureRequests]: true };
        const answer = await authorizationCodeGrantRequest(
          server,
          client,
          clientAuth,
          authorized,
          redirectUri,
          verifier,
          options,
        );
        const { access_token } = await processAuthorizationCodeResponse(server, client, answer);
        return readProfile(call, PROVIDER_A_API_URL, access_token);
      }),
  };
}

async function authorizeUrl(endpoint: string, clientId: string, flow: FlowSecrets): Promise<URL> {
  const url = new URL(endpoint);
  const parameters = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: flow.redirectUri,
    scope: SCOPE,
    state: flow.state,
    code_challenge: await calculatePKCECodeChallenge(flow.verifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

/** GitHub reports errors with status 200. With the standard's status the library understands them. */
function tokenFetch(call: ProviderFetch): ProviderFetch {
  return async (url, request) => {
    const response = await call(url, request);
    if (response.status !== 200) return response;
    const body = await response.clone().json();
    const failed = typeof body === "object" && body !== null && "error" in body;
    return failed ? new Response(JSON.stringify(body), { status: 400, headers: response.headers }) : response;
  };
}

async function readProfile(call: ProviderFetch, apiUrl: string, accessToken: string): Promise<ProviderProfile> {
  const [user, emails] = await Promise.all([
    readApi(call, `${apiUrl}/user`, accessToken),
    readApi(call, `${apiUrl}/user/emails`, accessToken),
  ]);
  if (user.status !== 200) throw new ProviderFault(`user: ${user.status}`);
  const { id, name } = userSchema.parse(await user.json());
  return {
    provider: "provider_a",
    subject: String(id),
    email: await primaryVerified(emails),
    name: providerName(name),
  };
}

/** Without the scope, the answer is 403 or 404. Then no address counts; an existing link does not need one. */
async function primaryVerified(response: Response): Promise<string | null> {
  if (response.status === 403 || response.status === 404) return null;
  if (response.status !== 200) throw new ProviderFault(`emails: ${response.status}`);
  const emails = emailsSchema.parse(await response.json());
  return providerEmail(emails.find(({ primary, verified }) => primary && verified)?.email);
}

function readApi(call: ProviderFetch, url: string, accessToken: string): Promise<Response> {
  return call(url, { method: "GET", headers: { ...API_HEADERS, Authorization: `Bearer ${accessToken}` } });
}
