import { expect, test, vi } from "vitest";
import { createProxy, type ProxyOptions } from "../../src/proxy/index.ts";
import { memoryLimit } from "../../src/proxy/limit.ts";

interface Sent {
  url: string;
  headers: Headers;
  lines: unknown[];
}

const KEY = "sk_server_0123456789";

function setup(
  options: Partial<ProxyOptions> = {},
  reply: () => Response = () => Response.json({ data: {} }, { status: 201 }),
) {
  const sent: Sent[] = [];
  const errors: Error[] = [];
  const proxy = createProxy({
    apiUrl: "https://logs.example/",
    projectId: "proj_a",
    apiKey: KEY,
    onError: (error) => errors.push(error),
    fetch: async (url, init) => {
      const body = String(init?.body);
      sent.push({
        url: String(url),
        headers: new Headers(init?.headers),
        lines: body
          .trimEnd()
          .split("\n")
          .map((line): unknown => JSON.parse(line)),
      });
      return reply();
    },
    ...options,
  });
  return { proxy, sent, errors };
}

function post(body: string, headers: Record<string, string> = {}, url = "https://shop.example/logs"): Request {
  return new Request(url, { method: "POST", body, headers: { Origin: "https://shop.example", ...headers } });
}

const line = (entry: object): string => `${JSON.stringify(entry)}\n`;

test("forwards entries with the server's key, a fixed source, and the client's idempotency key", async () => {
  const { proxy, sent } = setup();
  const body = line({ message: "a", level: "warn", data: { a: 1, source: "server" } }) + line({ message: "b" });
  const response = await proxy(post(body, { "Idempotency-Key": "k1" }));
  expect(response.status).toBe(201);
  expect(response.headers.get("Access-Control-Allow-Origin")).toBe("https://shop.example");
  await proxy(post(body, {}, "https://shop.example/logs?id=k2"));
  expect(sent.map(({ headers }) => headers.get("Idempotency-Key"))).toEqual(["browser-k1", "browser-k2"]);
  expect(sent[0]?.url).toBe("https://logs.example/logger/proj_a/log");
  expect(sent[0]?.headers.get("Authorization")).toBe(`Bearer ${KEY}`);
  expect(sent[0]?.lines).toEqual([
    { message: "a", level: "warn", data: { a: 1, source: "browser" } },
    { message: "b", data: { source: "browser" } },
  ]);
});

test("accepts every form of a body, and keeps the index of values that are not entries", async () => {
  const { proxy, sent } = setup();
  const one = { message: "m", data: { source: "browser" } };
  for (const body of ['{"message":"m"}', '[{"message":"m"}]', '{"logs":[{"message":"m"}]}', '{"message":"m"}\n']) {
    await proxy(post(body));
  }
  await proxy(post('{"message":"m"}\nnonsense\n"text"\n{"message":"m"}'));
  expect(sent.map(({ lines }) => lines)).toEqual([[one], [one], [one], [one], [one, null, null, one]]);
});

test("forwards only known members of an entry, and allowed members of its data", async () => {
  const { proxy, sent } = setup({ dataFields: ["page"] });
  await proxy(
    post(JSON.stringify({ message: "m", projectId: "proj_b", seq: 1, traceId: "t", data: { page: "/", x: 1 } })),
  );
  expect(sent[0]?.lines).toEqual([{ message: "m", traceId: "t", data: { page: "/", source: "browser" } }]);
});

test.each([
  ["https://shop.example", undefined, 201],
  ["http://shop.example", undefined, 201],
  ["https://evil.example", undefined, 403],
  ["null", undefined, 403],
  [undefined, undefined, 403],
  ["https://app.example", ["https://app.example"], 201],
  ["https://shop.example", ["https://app.example"], 403],
  ["https://x.app.example", (origin: string) => origin.endsWith(".app.example"), 201],
  [
    "https://x.app.example",
    () => {
      throw new Error("broken");
    },
    403,
  ],
] as const)("origin %s under %s gets %i", async (origin, origins, status) => {
  const { proxy, sent } = setup(origins ? { origins } : {});
  const request = new Request("https://shop.example/logs", {
    method: "POST",
    body: '{"message":"m"}',
    headers: origin ? { Origin: origin } : {},
  });
  const response = await proxy(request);
  expect(response.status).toBe(status);
  expect(sent).toHaveLength(status === 201 ? 1 : 0);
  expect(response.headers.get("Access-Control-Allow-Origin")).toBe(status === 201 ? origin : null);
});

test("answers preflights of allowed origins only, and refuses other methods", async () => {
  const { proxy } = setup({ origins: ["https://app.example"] });
  const ask = (method: string, Origin: string): Promise<Response> =>
    proxy(new Request("https://shop.example/logs", { method, headers: { Origin } }));
  expect((await ask("OPTIONS", "https://app.example")).status).toBe(204);
  expect((await ask("OPTIONS", "https://evil.example")).status).toBe(403);
  const wrong = await ask("GET", "https://app.example");
  expect(wrong.status).toBe(405);
  expect(wrong.headers.get("Allow")).toBe("POST, OPTIONS");
  expect(await wrong.json()).toMatchObject({ success: false, data: null, error: { code: "METHOD_NOT_ALLOWED" } });
});

test("limits bodies and their entries, also without a content length", async () => {
  const { proxy, sent } = setup({ maxBytes: 1000, maxEntries: 3 });
  expect((await proxy(post("x".repeat(1001)))).status).toBe(413);
  let pulled = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(100).fill(97));
    },
  });
  const init: RequestInit & { duplex: "half" } = {
    method: "POST",
    body: endless,
    headers: { Origin: "https://shop.example" },
    duplex: "half",
  };
  const stream = new Request("https://shop.example/logs", init);
  expect((await proxy(stream)).status).toBe(413);
  expect(pulled).toBeLessThan(20);
  expect((await proxy(post(line({ message: "m" }).repeat(4)))).status).toBe(400);
  expect((await proxy(post(""))).status).toBe(400);
  expect((await proxy(post(line({ message: "m" }).repeat(3)))).status).toBe(201);
  expect(sent).toHaveLength(1);
});

test("forwards null for an entry that is nested too deeply", async () => {
  const { proxy, sent } = setup({ maxBytes: 5_000_000 });
  const depth = 1_000_000;
  await proxy(post(`[{"message":"m","data":{"a":${"[".repeat(depth)}${"]".repeat(depth)}}},{"message":"m"}]`));
  expect(sent[0]?.lines).toEqual([null, { message: "m", data: { source: "browser" } }]);
});

test("limits the requests of each client IP and of all together", async () => {
  const { proxy } = setup({ rateLimit: { perAddress: 2, total: 5 } });
  const from = async (ip: string): Promise<number> =>
    (await proxy(post('{"message":"m"}', { "X-Forwarded-For": ip }))).status;
  expect([await from("a"), await from("a"), await from("a")]).toEqual([201, 201, 429]);
  expect([await from("b"), await from("c"), await from("d"), await from("e")]).toEqual([201, 201, 201, 429]);
  const refused = await proxy(post('{"message":"m"}', { "X-Forwarded-For": "a" }));
  expect(refused.headers.get("Retry-After")).toBe("5");
  expect(await refused.json()).toMatchObject({ error: { code: "RATE_LIMITED", message: "Too many requests" } });
});

test("applies a custom rate limit, and lets requests pass if it fails", async () => {
  const asked: unknown[] = [];
  const { proxy } = setup({ rateLimit: async (address) => asked.push(address) < 2 });
  const from = async (ip: string): Promise<number> =>
    (await proxy(post('{"message":"m"}', { "CF-Connecting-IP": ip }))).status;
  expect([await from("1.1.1.1"), await from("2.2.2.2")]).toEqual([201, 429]);
  expect(asked).toEqual(["1.1.1.1", "2.2.2.2"]);
  const { proxy: open, errors } = setup({
    rateLimit: () => {
      throw new Error("store is down");
    },
  });
  expect((await open(post('{"message":"m"}'))).status).toBe(201);
  expect(errors.map(({ message }) => message)).toEqual(["store is down"]);
});

test("slides the window, and evicts the least recently used client IPs", () => {
  let now = 0;
  const limit = memoryLimit({ perAddress: 10, total: 1000, windowMs: 100, maxAddresses: 2, now: () => now });
  const passing = (address: string): number => {
    let n = 0;
    while (limit(address, new Request("https://a.example"))) n++;
    return n;
  };
  expect(passing("a")).toBe(10);
  now = 150;
  expect(passing("a")).toBe(5);
  now = 1000;
  expect(passing("a")).toBe(10);
  passing("b");
  passing("c");
  expect(passing("a")).toBe(10);
});

test.each([
  [201, 201],
  [400, 400],
  [409, 409],
  [413, 413],
  [429, 429],
  [401, 502],
  [403, 502],
  [404, 502],
  [302, 502],
  [500, 503],
  [503, 503],
])("the service's %i is the browser's %i", async (status, shown) => {
  const { proxy, errors } = setup(
    {},
    () => new Response('{"error":{"message":"about the key"}}', { status, headers: { "Retry-After": "7" } }),
  );
  const response = await proxy(post('{"message":"m"}'));
  expect(response.status).toBe(shown);
  expect(errors).toHaveLength(shown === status && status !== 503 ? 0 : 1);
  if (shown !== 502) expect(response.headers.get("Retry-After")).toBe("7");
  const text = await response.text();
  if (shown > 500) expect(text).not.toContain("about the key");
  expect(text).not.toContain(KEY);
});

test("returns a retryable 503 if the service is unreachable", async () => {
  const { proxy, errors } = setup({
    fetch: async () => {
      throw new Error(`connect ECONNREFUSED ${KEY}`);
    },
  });
  const response = await proxy(post('{"message":"m"}'));
  expect(response.status).toBe(503);
  expect(await response.text()).not.toContain(KEY);
  expect(errors).toHaveLength(1);
});

test("10: a proxy without its environment, as in a build, reports it once, at the first request", async () => {
  for (const name of ["apiUrl", "projectId", "apiKey"] as const) {
    const { proxy, errors, sent } = setup({ [name]: undefined });
    expect((await proxy(post('{"message":"m"}'))).status).toBe(503);
    expect(errors).toMatchObject([{ message: `createProxy was given no ${name}` }]);
    expect(sent).toEqual([]);
  }
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const proxy = createProxy({ apiUrl: "http://127.0.0.1:9", projectId: "proj_a", apiKey: undefined });
  for (let n = 0; n < 3; n++) await proxy(post('{"message":"m"}'));
  expect(warn).toHaveBeenCalledOnce();
  expect(String(warn.mock.lastCall?.[1])).toContain("no apiKey");
  warn.mockRestore();
});

test("throws for invalid options at construction", () => {
  for (const options of [
    { apiKey: "" },
    { apiUrl: "logs" },
    { origins: ["shop.example"] },
    { maxBytes: 0 },
    { rateLimit: { perAddress: 0 } },
  ]) {
    expect(() => setup(options)).toThrow(TypeError);
  }
});
