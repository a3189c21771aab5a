import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import { webHandler } from "../../src/adapters/web-handler.ts";
import { createProxy } from "../../src/proxy/index.ts";

const ORIGIN = "https://shop.example";
let sockets = 0;
let port = 0;
let agent: Agent;
let server: ReturnType<typeof createServer>;

beforeEach(async () => {
  const proxy = createProxy({
    apiUrl: "http://127.0.0.1:1",
    projectId: "proj_test",
    apiKey: "sk_test_0123456789",
    origins: [ORIGIN],
    fetch: async () => Response.json({ success: true }, { status: 201 }),
  });
  sockets = 0;
  server = createServer(webHandler(proxy));
  server.on("connection", () => sockets++);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port.");
  port = address.port;
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
});
afterEach(async () => {
  agent.destroy();
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

/** Sends a body. @param isChunked whether it is sent without a content length */
async function post(body: string, isChunked = false, origin = ORIGIN): Promise<number | undefined> {
  const headers = { Origin: origin, ...(isChunked ? {} : { "Content-Length": body.length }) };
  const sent = request({ port, agent, method: "POST", path: "/logs", headers });
  if (isChunked) for (let at = 0; at < body.length; at += 50_000) sent.write(body.slice(at, at + 50_000));
  sent.end(isChunked ? undefined : body);
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    sent.on("response", resolve).on("error", reject),
  );
  response.resume();
  await once(response, "end");
  return response.statusCode;
}

test.each([
  ["160 KB", 160_000, false],
  ["300 KB", 300_000, false],
  ["1 MB", 1_000_000, false],
  ["300 KB in chunks", 300_000, true],
])("refuses bodies of %s with 413, 20 of 20, on one connection", async (_, bytes, isChunked) => {
  for (let n = 0; n < 20; n++) expect(await post("x".repeat(bytes), isChunked)).toBe(413);
  expect(await post('{"message":"m"}')).toBe(201);
  expect(sockets).toBe(1);
});

test("keeps the connection usable after refusing a request without reading it", async () => {
  for (let n = 0; n < 20; n++) {
    expect(await post("x".repeat(300_000), false, "https://evil.example")).toBe(403);
    expect(await post('{"message":"m"}')).toBe(201);
  }
  expect(sockets).toBe(1);
});

test("closes the connection of a body past the limit without failing the next request", async () => {
  await post("x".repeat(8_000_000)).catch(() => {});
  expect(await post('{"message":"m"}')).toBe(201);
  expect(sockets).toBe(2);
});
