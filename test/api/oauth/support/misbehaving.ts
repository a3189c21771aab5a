import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Events, type MutableResponse, type MutableToken, OAuth2Server } from "oauth2-mock-server";

/** An OpenID Connect provider that returns what a test sets. It signs every user in without consent. */
export interface ForgingIssuer {
  url: string;
  /** Changes the ID token before it is signed, until the next `reset`. */
  forgeToken(change: (token: MutableToken) => void): void;
  /** Changes the response of the token endpoint. */
  forgeAnswer(change: (answer: MutableResponse) => void): void;
  forgeUserinfo(change: (answer: MutableResponse) => void): void;
  forgeDiscovery(change: (answer: MutableResponse) => void): void;
  /** Breaks the signature of the ID token in one bit. */
  breakSignature(): void;
  reset(): void;
  stop(): Promise<void>;
}

export async function startForgingIssuer(): Promise<ForgingIssuer> {
  const server = new OAuth2Server();
  await server.issuer.keys.generate("RS256", { kid: "published" });
  await server.start(0, "127.0.0.1");
  const url = server.issuer.url;
  if (url === undefined) throw new Error("The issuer has no address.");
  const { service } = server;
  return {
    url,
    forgeToken: (change) => service.on(Events.BeforeTokenSigning, change),
    forgeAnswer: (change) => service.on(Events.BeforeResponse, change),
    forgeUserinfo: (change) => service.on(Events.BeforeUserinfo, change),
    forgeDiscovery: (change) => service.on(Events.BeforeWellKnownOpenIdConfiguration, change),
    breakSignature: () => {
      service.on(Events.BeforeResponse, ({ body }: MutableResponse) => {
        if (body === "" || typeof body.id_token !== "string") return;
        const [header, payload, signature = ""] = body.id_token.split(".");
        const bytes = Buffer.from(signature, "base64url");
        bytes[10] = (bytes[10] ?? 0) ^ 1;
        body.id_token = [header, payload, bytes.toString("base64url")].join(".");
      });
    },
    reset: () => {
      for (const event of Object.values(Events)) service.removeAllListeners(event);
    },
    stop: () => server.stop(),
  };
}

/** The responses of a peer like GitHub by path; a test sets those it needs. */
export interface FakeGithub {
  url: string;
  routes: Map<string, (request: IncomingMessage, response: ServerResponse) => void>;
  stop(): Promise<void>;
}

export async function startFakeGithub(): Promise<FakeGithub> {
  const routes: FakeGithub["routes"] = new Map();
  const server = createServer((request, response) => {
    const answer = routes.get(request.url ?? "");
    if (answer) answer(request, response);
    else response.writeHead(404).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port was given.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    routes,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Responds with JSON. */
export function json(status: number, body: unknown): (request: IncomingMessage, response: ServerResponse) => void {
  return (_request, response) => {
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  };
}
