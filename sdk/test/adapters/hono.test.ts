import { once } from "node:events";
import { type ServerType, serve } from "@hono/node-server";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { stream } from "hono/streaming";
import { expect, test } from "vitest";
import { taffrail } from "../../src/adapters/hono.ts";
import { createLogger, type Logger } from "../../src/index.ts";
import { memoryTransport } from "../../src/testing.ts";
import { sleep } from "../support/sink.ts";
import { BOOM, CHUNKS, INSIDE, matrix, PAUSE_MS, type Peer } from "./matrix.ts";

function makeApp(logger: Logger, options: Parameters<typeof taffrail>[1], errors: unknown[]) {
  const app = new Hono();
  app.use(taffrail(logger, options));
  app.onError((error, c) => {
    if (error === BOOM) errors.push(error);
    return error instanceof HTTPException ? error.getResponse() : c.text("failed", 500);
  });
  app.get("/ok", async (c) => {
    await sleep(5);
    logger.info(INSIDE);
    return c.text("ok");
  });
  for (const path of ["/health", "/ready", "/favicon.ico"]) app.get(path, (c) => c.text("fine"));
  app.get("/moved", (c) => c.redirect("/ok"));
  app.get("/throws", () => {
    throw BOOM;
  });
  app.get("/refused", () => {
    throw new HTTPException(418, { message: "short and stout" });
  });
  app.post("/echo", async (c) => c.json(await c.req.json()));
  app.get("/slow", async (c) => {
    await sleep(1000);
    return c.text("late");
  });
  app.get("/stream", (c) => {
    c.header("Content-Type", "text/plain");
    return stream(c, async (out) => {
      for (const chunk of CHUNKS) {
        await out.write(chunk);
        await sleep(PAUSE_MS);
      }
    });
  });
  app.get("/endless", (c) => {
    c.header("Content-Type", "text/plain");
    return stream(c, async (out) => {
      while (!out.aborted) {
        await out.write("again ");
        await sleep(10);
      }
    });
  });
  return app;
}

/** @param isWeb whether the environment has no request and response of Node, as on Bun, Deno and Workers */
function peer(name: string, isWeb: boolean): Peer {
  return {
    name,
    async start(logger, options) {
      const errors: unknown[] = [];
      const app = makeApp(logger, options, errors);
      const server: ServerType = serve({
        fetch: isWeb ? (request) => app.fetch(request) : app.fetch,
        port: 0,
        hostname: "127.0.0.1",
      });
      if (!server.listening) await once(server, "listening");
      const address = server.address();
      if (address === null || typeof address === "string") throw new Error("No port.");
      return {
        url: `http://127.0.0.1:${address.port}`,
        errors,
        async close() {
          if ("closeAllConnections" in server) server.closeAllConnections();
          server.close();
          await once(server, "close");
        },
      };
    },
  };
}

matrix(peer("Hono on Node", false));
matrix(peer("Hono, web-standard", true));

test("on Workers each request flushes after its response, and the context has its logger", async () => {
  const memory = memoryTransport();
  let flushes = 0;
  const logger = createLogger({ transport: { ...memory, flush: () => void flushes++ } });
  const app = new Hono<{ Variables: { logger: Logger } }>();
  app.use(taffrail(() => logger));
  app.get("/", (c) => {
    c.get("logger").info("mine");
    return c.text("body");
  });
  const waiting: Promise<unknown>[] = [];
  const response = await app.request(
    "/",
    {},
    {},
    {
      waitUntil: (promise: Promise<unknown>) => waiting.push(promise),
      passThroughOnException() {},
      props: {},
    },
  );
  expect(waiting).toHaveLength(1);
  expect(flushes).toBe(0);
  await response.text();
  await Promise.all(waiting);
  expect(flushes).toBe(1);
  expect(memory.entries.map(({ message }) => message)).toEqual(["GET /", "mine", "GET / 200"]);
  expect(new Set(memory.entries.map(({ traceId }) => traceId)).size).toBe(1);
  expect(memory.entries[2]?.data?.bytes).toBe(4);
});
