import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import * as oauth from "oauth4webapi";
import type { Page } from "playwright-core";

const INSECURE = { [oauth.allowInsecureRequests]: true } as const;

/** A request for access, and what its program keeps to check the answer. */
export interface Asked {
  url: string;
  verifier: string;
  state: string;
}

/** A program on this machine that asks for access: a client that has registered itself, and the server of its redirect URI. */
export interface AgentProgram {
  /** Origin of its server. */
  origin: string;
  as: oauth.AuthorizationServer;
  client: oauth.Client;
  redirectUri: string;
  /** What its redirect URI received. */
  answers: URL[];
  /** A new authorization request. @param change parameters in place of the valid ones */
  authorization(change?: Readonly<Record<string, string>>): Promise<Asked>;
  /** Waits until a page has continued at the redirect URI. @returns its address */
  answerIn(page: Page): Promise<URL>;
  /** Checks `state` and `iss` of an answer, and exchanges its code. @throws for another answer */
  exchange(answer: URL, asked: Asked): Promise<oauth.TokenEndpointResponse>;
  close(): void;
}

/** @param url of the service */
export async function startAgentProgram(url: string): Promise<AgentProgram> {
  const answers: URL[] = [];
  const server = http.createServer((request, response) => {
    const answer = new URL(request.url ?? "", "http://127.0.0.1");
    // A browser also asks for an icon.
    if (answer.pathname === "/cb") answers.push(answer);
    response.writeHead(200, { "content-type": "text/html" }).end("<title>Program</title>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // SAFETY: it listens on a TCP port.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const redirectUri = `${origin}/cb`;
  const issuer = new URL(url);
  const metadata = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...INSECURE });
  const as = await oauth.processDiscoveryResponse(issuer, metadata);
  const client = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(
      as,
      { client_name: "Night agent", redirect_uris: ["http://127.0.0.1/cb"] },
      INSECURE,
    ),
  );
  return {
    origin,
    as,
    client,
    redirectUri,
    answers,
    async authorization(change = {}) {
      const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
      const request = new URL(as.authorization_endpoint ?? "");
      request.search = new URLSearchParams({
        response_type: "code",
        client_id: client.client_id,
        redirect_uri: redirectUri,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state,
        ...change,
      }).toString();
      return { url: request.href, verifier, state: change.state ?? state };
    },
    async answerIn(page) {
      await page.waitForURL(`${redirectUri}?*`);
      return new URL(page.url());
    },
    async exchange(answer, { verifier, state }) {
      const params = oauth.validateAuthResponse(as, client, answer, state);
      const sent = await oauth.authorizationCodeGrantRequest(
        as,
        client,
        oauth.None(),
        params,
        redirectUri,
        verifier,
        INSECURE,
      );
      return oauth.processAuthorizationCodeResponse(as, client, sent);
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
