import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { exportJWK, generateKeyPair } from "jose";
import Provider, { type Configuration } from "oidc-provider";
import { createMemoryAdapter } from "oidc-provider/lib/adapters/memory_adapter.js";
import { People, type Person } from "./people.ts";
import { signInPage } from "./sign-in-page.ts";

/** Lifetime in seconds of an open page, of codes and of tokens. */
const TTL = { Interaction: 600, AuthorizationCode: 60, AccessToken: 300, IdToken: 300, Grant: 600, Session: 600 };

/** Maximum bytes of a form. */
const FORM_MAX_BYTES = 10_000;

const SESSION_COOKIE = /^_session(\.sig)?=/;

const SIGN_IN_PATH = /^\/sign-in\/([\w-]+)$/;

export interface ProviderOptions {
  /** The name on its page. */
  title: string;
  host: string;
  /** 0 uses a free port. */
  port: number;
  client: { id: string; secret: string; redirectUri: string; authMethod: "client_secret_basic" | "client_secret_post" };
  scopes: readonly string[];
  /** What distinguishes this provider from a plain OpenID Connect provider. */
  configuration?: Configuration;
  /** Runs once, before the server listens. */
  extend?: (provider: Provider, people: People) => void;
}

/** A real, strict authorization server on this machine: PKCE, single use of codes, exact redirect addresses. */
export interface LocalProvider {
  readonly url: string;
  readonly provider: Provider;
  close(): Promise<void>;
}

export async function startIdentityProvider(options: ProviderOptions): Promise<LocalProvider> {
  const { title, host, port, extend } = options;
  const people = new People();
  const server = createServer().listen(port, host);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port was given.");
  const url = `http://${host}:${address.port}`;
  const provider = quietly(new Provider(url, await configurationOf(options, people)));
  extend?.(provider, people);
  const serveProtocol = provider.callback();
  server.on("request", (request, response) => {
    const cookies = withoutSession(request.headers.cookie);
    if (cookies !== undefined) request.headers.cookie = cookies;
    const uid = SIGN_IN_PATH.exec(request.url ?? "")?.[1];
    if (uid === undefined) return serveProtocol(request, response);
    serveSignIn(provider, people, title, request, response).catch(() => {
      // The page has expired, or belongs to another browser.
      response.writeHead(400, { "Content-Type": "text/plain" }).end("This sign-in has ended. Start again.\n");
    });
  });
  return {
    url,
    provider,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function configurationOf(options: ProviderOptions, people: People): Promise<Configuration> {
  const { client, scopes, configuration } = options;
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return {
    adapter: createMemoryAdapter(),
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [client.redirectUri],
        token_endpoint_auth_method: client.authMethod,
        grant_types: ["authorization_code"],
        response_types: ["code"],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: "RS256", use: "sig", kid: "local" }] },
    cookies: { keys: [randomBytes(32).toString("base64url")] },
    pkce: { required: () => true },
    scopes: [...scopes],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    // Like Google's, the ID token itself identifies the user.
    conformIdTokenClaims: false,
    ttl: TTL,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/sign-in/${uid}` },
    findAccount: (_context, subject) => {
      const person = people.find(subject);
      return person && { accountId: subject, claims: () => claimsOf(person) };
    },
    ...configuration,
  };
}

function claimsOf({ subject, email, emailVerified, name }: Person) {
  return { sub: subject, email, email_verified: emailVerified, name };
}

/** No sign-in is remembered: each flow asks for the user, so that one browser can be several users. */
function withoutSession(cookies: string | undefined): string | undefined {
  return cookies
    ?.split(/; */)
    .filter((cookie) => !SESSION_COOKIE.test(cookie))
    .join("; ");
}

async function serveSignIn(
  provider: Provider,
  people: People,
  title: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { params } = await provider.interactionDetails(request, response);
  if (request.method !== "POST") {
    const page = signInPage(title, request.url ?? "");
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" }).end(page);
    return;
  }
  const form = await readForm(request);
  if (form.get("decision") === "deny") {
    const denied = { error: "access_denied", error_description: "The user denied access." };
    return provider.interactionFinished(request, response, denied, { mergeWithLastSubmission: false });
  }
  const person = people.signIn({
    email: form.get("email") ?? "",
    name: form.get("name") ?? "",
    emailVerified: form.get("verified") === "yes",
    subject: form.get("subject") ?? "",
  });
  // One form for sign-in and consent.
  const grant = new provider.Grant({ accountId: person.subject, clientId: String(params.client_id) });
  grant.addOIDCScope(String(params.scope));
  const consent = { grantId: await grant.save() };
  return provider.interactionFinished(request, response, { login: { accountId: person.subject }, consent });
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += chunk;
    if (text.length > FORM_MAX_BYTES) throw new Error("The form is too large.");
  }
  return new URLSearchParams(text);
}

/** The caller sees a refused request; in the terminal it would only distract. */
function quietly(provider: Provider): Provider {
  provider.on("server_error", (_context, error) => console.error("Local provider:", error));
  return provider;
}
