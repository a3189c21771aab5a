import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import * as oauth from "oauth4webapi";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, createProject, createTenant, register, type Tenant } from "../support/api.ts";
import { signIn } from "./support/account.ts";
import { axeFaults, type ConsoleUnderTest, startSharedConsole, tooWide } from "./support/console.ts";

const INSECURE = { [oauth.allowInsecureRequests]: true } as const;

let console: ConsoleUnderTest;
let tenant: Tenant;
let as: oauth.AuthorizationServer;
let client: oauth.Client;
/** The program that asks: it receives the answer of the authorization. */
const answers: URL[] = [];
const program = http.createServer((request, response) => {
  const url = new URL(request.url ?? "", "http://127.0.0.1");
  // A browser also asks for an icon.
  if (url.pathname === "/cb") answers.push(url);
  response.writeHead(200, { "content-type": "text/html" }).end("<title>Program</title>");
});

beforeAll(async () => {
  program.listen(0, "127.0.0.1");
  await once(program, "listening");
  console = await startSharedConsole();
  const { url } = console.server;
  tenant = await createTenant(url);
  const issuer = new URL(url);
  const metadata = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...INSECURE });
  as = await oauth.processDiscoveryResponse(issuer, metadata);
  client = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(
      as,
      { client_name: "Night agent", redirect_uris: ["http://127.0.0.1/cb"] },
      INSECURE,
    ),
  );
});

afterAll(async () => {
  program.closeAllConnections();
  program.close();
  await console?.close();
});

function redirectUri(): string {
  // SAFETY: it listens on a TCP port.
  return `http://127.0.0.1:${(program.address() as AddressInfo).port}/cb`;
}

async function authorization(change: Readonly<Record<string, string>> = {}) {
  const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
  const url = new URL(as.authorization_endpoint ?? "");
  url.search = new URLSearchParams({
    response_type: "code",
    client_id: client.client_id,
    redirect_uri: redirectUri(),
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    ...change,
  }).toString();
  return { url: url.href, verifier, state };
}

const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const ask = (token: string) =>
  call(console.server.url, "/mcp", { token, headers: { Accept: "application/json, text/event-stream" }, body: list });

describe("consent", () => {
  it("21.3: returns to the request after a sign-in, gives what the user chooses, and the account page ends it", async () => {
    const { account, projectId } = tenant;
    await createProject(console.server.url, account, "not for agents");
    const context = await console.open();
    const page = await context.newPage();
    const { url, verifier, state } = await authorization();
    await page.goto(url);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await signIn(page, account.email, account.password);
    await page.getByRole("heading", { name: "Allow access" }).waitFor();
    await page.getByText("Night agent").waitFor();
    await page.getByText("The name is not verified.").waitFor();
    await page.getByText("this computer").waitFor();
    await page.getByText(account.email).first().waitFor();
    // Without a scope of the request an agent reads and no more, unless the user adds to it.
    expect(await page.getByLabel("Read logs").isChecked()).toBe(true);
    expect(await page.getByLabel("Create alerts").isChecked()).toBe(false);
    await page.getByLabel("Selected").check();
    expect(await page.getByRole("button", { name: "Allow" }).isDisabled()).toBe(true);
    await page.getByLabel("test", { exact: true }).check();
    await page.getByLabel("Save views").check();
    await page.setViewportSize({ width: 360, height: 740 });
    expect([await axeFaults(page), await tooWide(page)]).toEqual([[], []]);
    const count = answers.length;
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(`${redirectUri()}?*`);
    expect(answers).toHaveLength(count + 1);
    const params = oauth.validateAuthResponse(as, client, answers[count] ?? new URL(url), state);
    const sent = await oauth.authorizationCodeGrantRequest(
      as,
      client,
      oauth.None(),
      params,
      redirectUri(),
      verifier,
      INSECURE,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(as, client, sent);
    expect(tokens.scope).toBe("logs:read views:write");
    expect((await ask(tokens.access_token)).status).toBe(200);
    const grants = await call<{ items: { projects: { id: string }[] }[] }>(console.server.url, "/oauth/grants", {
      token: account.accessToken,
    });
    expect(grants.body.data.items.map(({ projects }) => projects.map(({ id }) => id))).toEqual([[projectId]]);
    await page.goto(`${console.server.url}/auth/account`);
    await page.getByRole("button", { name: "End the access of Night agent" }).click();
    await page.getByText("No agent has access.").waitFor();
    expect((await ask(tokens.access_token)).status).toBe(401);
    await context.close();
  });

  it("21.3: gives nothing without a click, takes a refusal to the program, and cannot be framed", async () => {
    const account = await register(console.server.url);
    const context = await console.open({ as: account });
    const page = await context.newPage();
    const { url, state } = await authorization({ scope: "logs:read" });
    const response = await page.goto(url);
    expect(response?.headers()["content-security-policy"]).toContain("frame-ancestors 'none'");
    await page.getByRole("button", { name: "Refuse" }).waitFor();
    expect(await page.getByLabel("Create alerts").count()).toBe(0);
    const count = answers.length;
    await page.getByRole("button", { name: "Refuse" }).click();
    await page.waitForURL(`${redirectUri()}?*`);
    expect(Object.fromEntries(answers[count]?.searchParams ?? [])).toMatchObject({
      error: "access_denied",
      state,
      iss: as.issuer,
    });
    const grants = await call(console.server.url, "/oauth/grants", { token: account.accessToken });
    expect(grants.body.data).toEqual({ items: [] });
    await context.close();
  });

  it("21.3: never leaves for a receiver that is not the client's, and says what is wrong", async () => {
    const context = await console.open({ as: tenant.account });
    const page = await context.newPage();
    const count = answers.length;
    for (const [change, words] of [
      [{ redirect_uri: "https://evil.example.com/" }, "The redirect_uri is not one of the client's."],
      [{ client_id: "cl_unknown" }, "The client is not registered here."],
      [{ client_id: "https://169.254.169.254/client.json" }, "The client_id must name a public host."],
    ] as const) {
      await page.goto((await authorization(change)).url);
      await page.getByText(words).waitFor();
      expect(await page.getByRole("button", { name: /Allow|Back to the program/ }).count()).toBe(0);
    }
    await page.goto((await authorization({ code_challenge_method: "plain" })).url);
    await page.getByRole("button", { name: "Back to the program" }).waitFor();
    expect(answers).toHaveLength(count);
    await context.close();
  });
});
