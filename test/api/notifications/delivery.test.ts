import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { outboundNetwork } from "../../../scripts/lib/runtime.ts";
import { type Account, type CallOptions, call, createKey, createProject, register } from "../../support/api.ts";
import { startServer, type TestServer } from "../../support/server.ts";

interface Got {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Requests that receivers got, and how they answer: at once with 200 unless a test sets another way. */
const got: Got[] = [];
let respond = (_: Got, response: ServerResponse): void => void response.end("thank you");

const receiver = createServer((request, response) => {
  let body = "";
  request
    .setEncoding("utf8")
    .on("data", (text: string) => {
      body += text;
    })
    .on("end", () => {
      const seen = { path: request.url ?? "", headers: request.headers, body };
      got.push(seen);
      respond(seen, response);
    });
});

let server: TestServer;
let account: Account;
let base: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  // SAFETY: it listens on a TCP port.
  base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  server = await startServer({ env: { OUTBOUND_NETWORK: "loopback" } });
  account = await register(server.url);
});

afterAll(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await server?.stop();
});

type Data = Record<string, unknown> & { id: string; secret: string };

async function ask(path: string, options: CallOptions = {}): Promise<Data> {
  const answer = await call<Data>(server.url, `/workspaces/${account.workspaceId}${path}`, {
    token: account.accessToken,
    ...options,
  });
  expect([path, answer.body.error]).toEqual([path, null]);
  return answer.body.data;
}

const arrived = (path: string) => got.filter((each) => each.path === path);

test("a test shows what the receiver answered, and its signature is valid under the secret that was shown", async () => {
  const body = { kind: "webhook", name: "test", url: `${base}/test` };
  const { id, secret } = await ask("/destinations", { body });
  expect(await ask(`/destinations/${id}/test`, { method: "POST" })).toMatchObject({
    delivered: true,
    status: 200,
    text: "thank you",
    error: null,
  });
  const [request] = arrived("/test");
  const headers = request?.headers as Record<string, string>;
  expect(new Webhook(secret).verify(request?.body ?? "", headers)).toMatchObject({ type: "alert.test" });
  expect(await ask(`/destinations/${id}`)).toMatchObject({ lastDeliveredAt: expect.any(String) });
});

test("a redirect to another service of this machine is not followed", async () => {
  respond = ({ path }, response) =>
    path === "/redirect" ? response.writeHead(302, { location: `${base}/inside` }).end() : response.end();
  const { id } = await ask("/destinations", { body: { kind: "slack", name: "redirect", url: `${base}/redirect` } });
  expect(await ask(`/destinations/${id}/test`, { method: "POST" })).toMatchObject({ delivered: false, status: 302 });
  expect(arrived("/inside")).toEqual([]);
});

test("a canary whose receiver got it, and whose outcome kill -9 lost, arrives again with the same id", async () => {
  let hangs = true;
  respond = (_, response) => void (hangs || response.end());
  await ask("/destinations", { body: { kind: "webhook", name: "canary", url: `${base}/canary`, canary: true } });
  await expect.poll(() => arrived("/canary").length, { timeout: 20_000 }).toBe(1);
  await server.kill9();
  hangs = false;
  await server.restart();
  await expect.poll(() => arrived("/canary").length, { timeout: 50_000 }).toBe(2);
  const ids = arrived("/canary").map(({ headers }) => headers["webhook-id"]);
  expect(ids[1]).toBe(ids[0]);
  const delivered = async () => {
    const { items } = (await ask("/notifications")) as unknown as { items: { deliveries: { state: string }[] }[] };
    return items.map(({ deliveries }) => deliveries.map(({ state }) => state));
  };
  await expect.poll(delivered, { timeout: 10_000 }).toEqual([["delivered"]]);
});

test("an alert that fires reaches its webhook and Alertmanager with the entries that decided", async () => {
  respond = (_, response) => void response.end();
  const as = { token: account.accessToken, workspaceId: account.workspaceId };
  const hook = await ask("/destinations", { body: { kind: "webhook", name: "fires", url: `${base}/fires` } });
  const manager = await ask("/destinations", { body: { kind: "alertmanager", name: "manager", url: `${base}/am` } });
  const projectId = await createProject(server.url, account);
  const key = await createKey(server.url, account, projectId);
  const rule = await call<Data>(server.url, `/projects/${projectId}/alerts`, {
    ...as,
    body: {
      name: "Errors",
      query: "level:>=error | count by service",
      condition: { kind: "threshold", value: 2 },
      window: "1m",
      labels: { severity: "critical" },
      destinations: [hook.id, manager.id],
    },
  });
  expect([rule.status, rule.body.error]).toEqual([201, null]);
  const entry = { message: "no", level: "error", service: "shop" };
  const sent = await call(server.url, `/logger/${projectId}/log`, { token: key.secret, body: [entry, entry] });
  expect(sent.status).toBe(201);
  await expect.poll(() => arrived("/fires").length, { timeout: 30_000 }).toBe(1);
  await expect.poll(() => arrived("/am/api/v2/alerts").length, { timeout: 10_000 }).toBe(1);
  const [{ body, headers } = { body: "", headers: {} }] = arrived("/fires");
  expect(new Webhook(hook.secret).verify(body, headers as Record<string, string>)).toMatchObject({
    type: "alert.firing",
    data: { ruleId: rule.body.data.id, group: { service: "shop" }, value: 2, seqRange: { from: 1, to: 2 } },
  });
  expect(JSON.parse(arrived("/am/api/v2/alerts")[0]?.body ?? "")).toMatchObject([
    { labels: { service: "shop", severity: "critical", rule_id: rule.body.data.id } },
  ]);
});

test("the outbound network reaches no address of this machine, by number or by name; the one for tests does", async () => {
  const script = `export default { async fetch(request, env) {
    const urls = await request.json();
    const reached = async (url) => env.OUTBOUND.fetch(url).then(({ status }) => status, () => null);
    return Response.json(await Promise.all(urls.map(reached)));
  } }`;
  const { port } = new URL(base);
  const hosts = ["127.0.0.1", "localhost", "2130706433", "0.0.0.0", "[::ffff:127.0.0.1]"];
  const urls = hosts.map((host) => `http://${host}:${port}/`);
  respond = (_, response) => void response.end();
  const reached = async (setting: string): Promise<unknown> => {
    const runtime = new Miniflare(
      convertV4MiniflareOptions({
        modules: true,
        script,
        compatibilityDate: "2026-11-01",
        serviceBindings: { OUTBOUND: outboundNetwork(setting) },
      }),
    );
    try {
      const response = await runtime.dispatchFetch("http://test/", { method: "POST", body: JSON.stringify(urls) });
      return await response.json();
    } finally {
      await runtime.dispose();
    }
  };
  expect(await reached("public")).toEqual(urls.map(() => null));
  expect(await reached("loopback")).toEqual(expect.arrayContaining([200]));
});
