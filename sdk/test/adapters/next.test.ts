import { expect, test } from "vitest";
import { taffrailRequestError, withTaffrail } from "../../src/adapters/next.ts";
import { createLogger } from "../../src/index.ts";
import { memoryTransport } from "../../src/testing.ts";
import { BOOM, matrix } from "./matrix.ts";
import { routes, serveWeb } from "./web-routes.ts";

matrix({
  name: "Next route handlers",
  start: (logger, options) => serveWeb(withTaffrail(logger, (request) => routes(request, logger), options)),
});

const CONTEXT = { routerKind: "App Router", routePath: "/shop", routeType: "render" };

test("rethrows Next's errors for redirects and missing pages without logging them as errors", async () => {
  const memory = memoryTransport();
  const logger = createLogger({ transport: memory });
  for (const [digest, status] of [
    ["NEXT_REDIRECT;replace;/login;307;", 307],
    ["NEXT_HTTP_ERROR_FALLBACK;404", 404],
    ["NEXT_HTTP_ERROR_FALLBACK;403", 403],
  ] as const) {
    const signal = Object.assign(new Error("NEXT"), { digest });
    const GET = withTaffrail(logger, () => {
      throw signal;
    });
    await expect(GET(new Request("https://shop.example/x"))).rejects.toBe(signal);
    await taffrailRequestError(logger)(signal, { path: "/x", method: "GET", headers: {} }, CONTEXT);
    expect(memory.entries.map(({ data }) => data?.status).filter(Boolean)).toEqual([status]);
    memory.assertNotLogged({ category: "system" });
    memory.clear();
  }
});

test("onRequestError logs errors that no route handler logged, with the request's trace", async () => {
  const memory = memoryTransport();
  const logger = createLogger({ transport: memory });
  const onRequestError = taffrailRequestError(logger);
  const request = {
    path: "/shop?token=abc",
    method: "GET",
    headers: { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" },
  };
  const error = new Error("render failed");
  await onRequestError(error, request, CONTEXT);
  await onRequestError(error, request, CONTEXT);
  expect(memory.entries).toHaveLength(1);
  expect(memory.entries[0]).toMatchObject({
    level: "error",
    category: "system",
    type: "error",
    message: "GET /shop failed: render failed",
    traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
    data: { path: "/shop", routePath: "/shop", routeType: "render", error: { message: "render failed" } },
  });
  const GET = withTaffrail(logger, () => {
    throw BOOM;
  });
  await expect(GET(new Request("https://shop.example/x"))).rejects.toBe(BOOM);
  await onRequestError(BOOM, request, CONTEXT);
  memory.assertLogged({ message: /boom/ }, 1);
});

test("delivers the entries after the response", async () => {
  let flushes = 0;
  const logger = createLogger({ transport: { write() {}, flush: () => void flushes++ } });
  const waiting: Promise<unknown>[] = [];
  const GET = withTaffrail(logger, () => new Response("body"), { waitUntil: (promise) => void waiting.push(promise) });
  const response = await GET(new Request("https://shop.example/x"));
  expect(flushes).toBe(0);
  await response.text();
  await Promise.all(waiting);
  expect(flushes).toBe(1);
});
