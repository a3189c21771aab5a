import {
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type Client,
  type ClientAuth,
  ClientSecretPost,
  calculatePKCECodeChallenge,
  customFetch,
  discoveryRequest,
  getValidatedIdTokenClaims,
  None,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  processUserInfoResponse,
  userInfoRequest,
  validateApplicationLevelSignature,
  validateAuthResponse,
} from "oauth4webapi";
import { z } from "zod";
import { isSecure } from "../../platform/loopback.ts";
import type { Settings } from "../../settings.ts";
import type { FlowSecrets, ProviderClient, ProviderProfile } from "./provider.ts";
import {
  ProviderFault,
  providerEmail,
  providerFetch,
  providerName,
  SUBJECT_MAX_LENGTH,
  withProvider,
} from "./provider-fetch.ts";

const SCOPE = "openid email profile";

/** Milliseconds for which a discovery document is trusted; providers change theirs once in years. */
const DISCOVERY_MAX_AGE_MS = 3_600_000;

/**
 * Options of one exchange. `providerFetch` refuses plain http except on loopback; the library can only allow all or
 * none. The library also gets the signal: it separates exchanges by it, and they must not wait for each other's I/O.
 */
function optionsOf(signal: AbortSignal) {
  return { [customFetch]: providerFetch(signal), [allowInsecureRequests]: true, signal } as const;
}

type Options = ReturnType<typeof optionsOf>;

/** The claims about a person in an ID token, or at the userinfo endpoint in its place. */
const claimsSchema = z.object({
  sub: z.string().min(1).max(SUBJECT_MAX_LENGTH),
  email: z.string().optional().catch(undefined),
  // Only a literal `true` counts: the meaning of any other value is unknown.
  email_verified: z.literal(true).optional().catch(undefined),
  name: z.string().optional().catch(undefined),
});

/** An OpenID Connect provider, found by discovery. */
export function providerB(settings: Settings, clientId: string): ProviderClient {
  const { PROVIDER_B_ISSUER, PROVIDER_B_CLIENT_SECRET: secret } = settings;
  const client: Client = { client_id: clientId };
  return {
    authorizeUrl: (flow) =>
      withProvider(async (signal) =>
        authorizeUrl(await discover(PROVIDER_B_ISSUER, optionsOf(signal), Date.now()), clientId, flow),
      ),
    profile: (callback, flow) =>
      withProvider(async (signal) => {
        const options = optionsOf(signal);
        const server = await discover(PROVIDER_B_ISSUER, options, Date.now());
        const authorized = validateAuthResponse(server, client, callback, flow.state);
        const { redirectUri, verifier } = flow;
        const exchange = (auth: ClientAuth) =>
          authorizationCodeGrantRequest(server, client, auth, authorized, redirectUri, verifier, options);
        const [auth, otherAuth] = clientAuths(server, secret);
        let answer = await exchange(auth);
        if (answer.status === 401 && otherAuth) answer = await exchange(otherAuth);
        const tokens = await processAuthorizationCodeResponse(server, client, answer, {
          expectedNonce: flow.nonce,
          requireIdToken: true,
        });
        // OpenID Connect allows the library to rely on TLS. This checks the signature as well.
        await validateApplicationLevelSignature(server, answer, options);
        const claims = claimsSchema.parse(getValidatedIdTokenClaims(tokens));
        if (claims.email !== undefined || server.userinfo_endpoint === undefined) return profileOf(claims);
        const info = await userInfoRequest(server, client, tokens.access_token, options);
        return profileOf(claimsSchema.parse(await processUserInfoResponse(server, client, claims.sub, info)));
      }),
  };
}

function profileOf({ sub, email, email_verified, name }: z.output<typeof claimsSchema>): ProviderProfile {
  return {
    provider: "provider_b",
    subject: sub,
    email: email_verified === true ? providerEmail(email) : null,
    name: providerName(name),
  };
}

/** By issuer, per isolate. Holds values, not promises: a request must not wait for the I/O of another one. */
const discovered = new Map<string, { server: AuthorizationServer; at: number }>();

async function discover(issuer: string, options: Options, now: number): Promise<AuthorizationServer> {
  const known = discovered.get(issuer);
  if (known && now - known.at < DISCOVERY_MAX_AGE_MS) return known.server;
  const url = new URL(issuer);
  const server = await processDiscoveryResponse(url, await discoveryRequest(url, options));
  // Validated before it is kept for an hour.
  for (const endpoint of [server.authorization_endpoint, server.token_endpoint, server.jwks_uri]) {
    if (!URL.canParse(endpoint ?? "") || !isSecure(new URL(endpoint ?? "")))
      throw new ProviderFault("insecure endpoint");
  }
  discovered.set(issuer, { server, at: now });
  return server;
}

async function authorizeUrl(server: AuthorizationServer, clientId: string, flow: FlowSecrets): Promise<URL> {
  const url = new URL(server.authorization_endpoint ?? "");
  const parameters = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: flow.redirectUri,
    scope: SCOPE,
    state: flow.state,
    nonce: flow.nonce,
    code_challenge: await calculatePKCECodeChallenge(flow.verifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

/**
 * Chooses the client authentication. The right method is registered at the provider, and no document states it. Takes
 * the first of the two that the provider lists; HTTP Basic if it lists none (RFC 8414).
 */
function clientAuths(server: AuthorizationServer, secret: string | undefined): [ClientAuth, ClientAuth?] {
  if (secret === undefined) return [None()];
  const listed = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  const first = listed.find((method) => method === "client_secret_post" || method === "client_secret_basic");
  const [basic, post] = [basicAuth(secret), ClientSecretPost(secret)];
  return first === "client_secret_basic" ? [basic, post] : [post, basic];
}

/**
 * HTTP Basic of RFC 6749 section 2.3.1. Replaces the library's version, which also encodes hyphens and dots: these
 * occur in the client ids of providers that forget to decode, and need no encoding.
 */
function basicAuth(secret: string): ClientAuth {
  return (_server, { client_id }, _body, headers) => {
    headers.set("Authorization", `Basic ${btoa(`${formEncoded(client_id)}:${formEncoded(secret)}`)}`);
  };
}

function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}
