import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import * as oauth from "oauth4webapi";
import { WebSocket } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { agentToken, consentTo } from "../../support/agent.ts";
import { asUser, call, createTenant, type Tenant } from "../../support/api.ts";
import { startServer, type TestServer } from "../../support/server.ts";

const REDIRECT = "http://127.0.0.1:9/callback";
const INSECURE = { [oauth.allowInsecureRequests]: true } as const;
const text = z.looseObject({ content: z.array(z.looseObject({ text: z.string() })) });

let server: TestServer;
let tenant: Tenant;
/** Serves metadata documents of clients; `hits` are the paths that were fetched. */
const hits: string[] = [];
const documents = http.createServer((request, response) => {
  hits.push(request.url ?? "");
  const client_id = `${origin()}${request.url}`;
  if (request.url === "/moved.json") return response.writeHead(302, { location: "/client.json" }).end();
  const document = { client_id, client_name: "Documented agent", redirect_uris: ["http://127.0.0.1/callback"] };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
});

function origin(): string {
  // SAFETY: it listens on a TCP port.
  return `http://127.0.0.1:${(documents.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  documents.listen(0, "127.0.0.1");
  await once(documents, "listening");
  server = await startServer({ env: { OUTBOUND_NETWORK: "loopback" } });
  tenant = await createTenant(server.url);
  const body = { logs: [{ message: "payment 7 failed", level: "error" }] };
  await call(server.url, `/logger/${tenant.projectId}/log`, { token: tenant.key.secret, body });
});
afterAll(async () => {
  documents.close();
  await server.stop();
});

async function discovered(): Promise<{ as: oauth.AuthorizationServer; resource: string }> {
  const resource = new URL(`${server.url}/mcp`);
  const found = await oauth.processResourceDiscoveryResponse(
    resource,
    await oauth.resourceDiscoveryRequest(resource, INSECURE),
  );
  const issuer = new URL(found.authorization_servers?.[0] ?? "");
  const response = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...INSECURE });
  return { as: await oauth.processDiscoveryResponse(issuer, response), resource: found.resource };
}

test.each(["a metadata document", "registration"])(
  "21.3: oauth4webapi signs in by %s, refreshes and revokes",
  async (how) => {
    const { as, resource } = await discovered();
    const client: oauth.Client =
      how === "registration"
        ? await oauth.processDynamicClientRegistrationResponse(
            await oauth.dynamicClientRegistrationRequest(
              as,
              { client_name: "Agent", redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" },
              INSECURE,
            ),
          )
        : { client_id: `${origin()}/client.json` };
    const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
    const url = new URL(as.authorization_endpoint ?? "");
    url.search = new URLSearchParams({
      response_type: "code",
      client_id: client.client_id,
      redirect_uri: REDIRECT,
      scope: "logs:read",
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state,
      resource,
    }).toString();
    const answer = (await consentTo(url, tenant)).searchParams;
    // Checks state and, against mix-up, the issuer.
    const params = oauth.validateAuthResponse(as, client, answer, state);
    const options = { additionalParameters: { resource }, ...INSECURE };
    const code = await oauth.authorizationCodeGrantRequest(
      as,
      client,
      oauth.None(),
      params,
      REDIRECT,
      verifier,
      options,
    );
    const first = await oauth.processAuthorizationCodeResponse(as, client, code);
    const refreshed = await oauth.processRefreshTokenResponse(
      as,
      client,
      await oauth.refreshTokenGrantRequest(as, client, oauth.None(), first.refresh_token ?? "", options),
    );
    expect(refreshed).toMatchObject({ token_type: "bearer", expires_in: 3600, scope: "logs:read" });
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const headers = { Accept: "application/json, text/event-stream" };
    const ask = () => call(server.url, "/mcp", { token: refreshed.access_token, headers, body: list });
    expect((await ask()).status).toBe(200);
    const revoked = await oauth.revocationRequest(as, client, oauth.None(), refreshed.refresh_token ?? "", INSECURE);
    await oauth.processRevocationResponse(revoked);
    expect((await ask()).status).toBe(401);
  },
);

test("21.3: a document is fetched once and kept, and its host's redirects are not followed", async () => {
  const { resource } = await discovered();
  const open = async (path: string) => {
    const request = new URLSearchParams({
      response_type: "code",
      client_id: `${origin()}${path}`,
      redirect_uri: REDIRECT,
      code_challenge: "x".repeat(43),
      code_challenge_method: "S256",
      resource,
    }).toString();
    const options = { ...asUser(tenant.account), body: { request } };
    return (await call<{ valid: boolean; message: string | null }>(server.url, "/oauth/requests", options)).body.data;
  };
  hits.length = 0;
  expect(await open("/kept.json")).toMatchObject({ valid: true, client: { name: "Documented agent" } });
  expect(await open("/kept.json")).toMatchObject({ valid: true });
  expect(await open("/moved.json")).toMatchObject({ valid: false, refuseUrl: null });
  expect(hits).toEqual(["/kept.json", "/moved.json"]);
});

/** What a client of the SDK stores between its steps. */
class Stored implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata: OAuthClientMetadata = {
    client_name: "SDK",
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: "none",
  };
  asked: URL | null = null;
  #client: StoredOAuthClientInformation | undefined;
  #tokens: StoredOAuthTokens | undefined;
  #verifier = "";

  clientInformation = () => this.#client;
  saveClientInformation = (client: StoredOAuthClientInformation) => {
    this.#client = client;
  };
  tokens = () => this.#tokens;
  saveTokens = (tokens: StoredOAuthTokens) => {
    this.#tokens = tokens;
  };
  redirectToAuthorization = (url: URL) => {
    this.asked = url;
  };
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;
}

test.each([
  ["2026-07-28", { pin: "2026-07-28" }],
  ["2025-11-25", "legacy"],
] as const)("21.3: the client of the official SDK signs in, by revision %s", async (_revision, mode) => {
  const stored = new Stored();
  const connect = async (): Promise<Client> => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { authProvider: stored });
    try {
      await client.connect(transport);
    } catch (error) {
      if (!(error instanceof UnauthorizedError) || stored.asked === null) throw error;
      await transport.finishAuth((await consentTo(stored.asked, tenant)).searchParams);
      stored.asked = null;
      return connect();
    }
    return client;
  };
  const client = await connect();
  expect(stored.asked).toBeNull();
  const answer = await client.callTool({ name: "search_logs", arguments: { query: "level:error" } });
  expect(text.parse(answer).content[0]?.text).toContain("payment 7 failed");
  await client.close();
});

test("21.3: a grant follows entries by Loki's tail, until its client revokes it", async () => {
  const token = await agentToken(server.url, tenant);
  const query = new URLSearchParams({ query: '{level="error"}' });
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/loki/api/v1/tail?${query}`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  const [first] = await once(socket, "message");
  expect(String(Object(first).data)).toContain("payment 7 failed");
  const closed = once(socket, "close");
  const revoked = await fetch(`${server.url}/oauth/revoke`, { method: "POST", body: new URLSearchParams({ token }) });
  expect(revoked.status).toBe(200);
  const [end] = await closed;
  expect(Object(end).code).toBe(1011);
});
