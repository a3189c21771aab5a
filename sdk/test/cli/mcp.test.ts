import { once } from "node:events";
import http from "node:http";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../../src/cli/main.ts";

interface Received {
  headers: http.IncomingHttpHeaders;
  message: Record<string, unknown>;
}

const received: Received[] = [];
/** Ids of requests whose connection the program has closed. */
const closed: unknown[] = [];
let url = "";
const server = http.createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  const message = JSON.parse(text);
  received.push({ headers: request.headers, message });
  const reply = (status: number, body?: object) => {
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(body && JSON.stringify(body));
  };
  const { method, id } = message;
  if (method === "initialize") return reply(200, { jsonrpc: "2.0", id, result: { protocolVersion: "2025-06-18" } });
  if (id === undefined) return reply(202);
  if (method === "refused") {
    return reply(401, { jsonrpc: "2.0", id: null, error: { code: -32000, message: "The API key has been revoked." } });
  }
  if (method === "broken") return reply(502);
  if (method === "slow") return void request.socket.once("close", () => closed.push(id));
  const text2 = "matched: 1\n<log-data>\n1\n</log-data>";
  return reply(200, {
    jsonrpc: "2.0",
    id,
    result: { content: [{ type: "text", text: text2 }], structuredContent: { matched: 1 } },
  });
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
});
afterAll(() => void server.close());

async function taffrail(args: string[], lines: object[] | string[] = []) {
  const stdin = new PassThrough();
  stdin.end(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));
  return serving(stdin, args);
}

async function serving(stdin: PassThrough, args = ["mcp"]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io = { stdin, stdout, stderr, env: { TAFFRAIL_URL: url, TAFFRAIL_API_KEY: "sk_test" } };
  const code = await run(args, { ...io, now: Date.now, random: Math.random, stop: new AbortController().signal });
  const out = String(stdout.read() ?? "")
    .split("\n")
    .filter((line) => line !== "");
  return { code, out, err: String(stderr.read() ?? "") };
}

test("21.4: taffrail mcp passes each message on with the key and the agreed revision, and gives refusals the message's id", async () => {
  received.length = 0;
  const { code, out } = await taffrail(
    ["mcp"],
    [
      { jsonrpc: "2.0", id: "a", method: "initialize", params: { protocolVersion: "2025-06-18" } },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 2, method: "refused" },
      { jsonrpc: "2.0", id: 3, method: "broken" },
      { jsonrpc: "2.0", id: 4, method: "tools/call", params: { name: "describe" } },
    ],
  );
  expect(code).toBe(0);
  const answers = new Map(out.map((line) => [JSON.parse(line).id, JSON.parse(line)]));
  expect([...answers.keys()].sort()).toEqual([2, 3, 4, "a"]);
  expect(answers.get(2).error.message).toBe("The API key has been revoked.");
  expect(answers.get(3).error.code).toBe(-32603);
  expect(answers.get(4).result.structuredContent).toEqual({ matched: 1 });
  const [first, ...others] = received;
  expect([first?.headers.authorization, first?.headers["mcp-protocol-version"]]).toEqual(["Bearer sk_test", undefined]);
  expect(new Set(others.map(({ headers }) => headers["mcp-protocol-version"]))).toEqual(new Set(["2025-06-18"]));
});

test("21.4: taffrail mcp sends the headers of the stateless revision, and answers a line that is not JSON", async () => {
  received.length = 0;
  const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "describe", _meta } };
  const { out } = await taffrail(["mcp"], ["{", JSON.stringify(call)]);
  expect(out.map((line) => JSON.parse(line).error?.code)).toContain(-32700);
  expect(received[0]?.headers).toMatchObject({
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "describe",
  });
});

test("21.4: taffrail mcp ends a request that the client cancels, and answers a line that is not one message", async () => {
  received.length = 0;
  const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18" } };
  const slow = { jsonrpc: "2.0", id: 2, method: "slow" };
  const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } };
  const stdin = new PassThrough();
  stdin.write(`${JSON.stringify(initialize)}\n${JSON.stringify(slow)}\n`);
  const answers = serving(stdin);
  while (!received.some(({ message }) => message.id === 2)) await new Promise(setImmediate);
  stdin.end([cancelled, [slow], 5, null].map((line) => `${JSON.stringify(line)}\n`).join(""));
  const { code, out } = await answers;
  expect([code, out.map((line) => JSON.parse(line).id)]).toEqual([0, [1, null, null, null]]);
  expect(out.slice(1).map((line) => JSON.parse(line).error.code)).toEqual([-32600, -32600, -32600]);
  expect(received.map(({ message }) => message.method)).toEqual(["initialize", "slow"]);
  while (closed.length === 0) await new Promise(setImmediate);
  expect(closed).toEqual([2]);
});

test("21.4: taffrail search --max-tokens prints the answer of the tool that fits the query", async () => {
  received.length = 0;
  const entries = await taffrail(["search", "level:error", "--max-tokens", "900"]);
  expect([entries.code, entries.out]).toEqual([0, ["matched: 1", "<log-data>", "1", "</log-data>"]]);
  const table = await taffrail(["search", "* | count by level", "--max-tokens", "900", "--json"]);
  expect(table.out).toEqual(['{"matched":1}']);
  expect(received.map(({ message }) => message.params)).toMatchObject([
    { name: "search_logs", arguments: { query: "level:error", max_tokens: 900 } },
    { name: "aggregate_logs", arguments: { query: "* | count by level" } },
  ]);
  expect((await taffrail(["search", "*", "--max-tokens", "900", "--all"])).code).toBe(2);
  await taffrail(["search", "*", "--max-tokens", "900", "--next", "t5.a"]);
  expect(received.at(-1)?.message.params).toMatchObject({ arguments: { next: "t5.a" } });
  for (const tokens of ["499", "20001"]) {
    const refused = await taffrail(["search", "*", "--max-tokens", tokens]);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("must be a number from 500 to 20000")]);
  }
  expect((await taffrail(["search", "*", "--next", "t5.a"])).code).toBe(2);
});
