import { once } from "node:events";
import { createServer } from "node:http";
import { createApp, createRouter, defineEventHandler, readBody, sendRedirect, toNodeListener } from "h3";
import { expect, test } from "vitest";
import { createLogger } from "../../src/index.ts";
import taffrail from "../../src/nuxt/index.ts";
import { createNitroPlugin, type NitroApp } from "../../src/nuxt/nitro.ts";
import { memoryTransport } from "../../src/testing.ts";
import { sleep } from "../support/sink.ts";
import { BOOM, CHUNKS, INSIDE, matrix, PAUSE_MS, TEAPOT } from "./matrix.ts";
import { streamed } from "./web-routes.ts";

type Listener = (...args: unknown[]) => unknown;

/** A Nitro application with a real h3. Its hooks are called like in Nitro's `app.mjs`. */
function nitro(errors: unknown[]) {
  const listeners = new Map<string, Listener[]>();
  const call = (name: string, ...args: unknown[]): unknown[] => (listeners.get(name) ?? []).map((one) => one(...args));
  const h3App = createApp({
    onError(error, event) {
      if (error.cause === BOOM) errors.push(error.cause);
      call("error", error, { event });
      event.node.res.statusCode = error.statusCode;
      event.node.res.end("failed");
    },
    onAfterResponse: (event) => void call("afterResponse", event),
  });
  const hooks = {
    hook(name: string, listener: Listener) {
      listeners.set(name, [...(listeners.get(name) ?? []), listener]);
    },
  };
  // SAFETY: the object has all members of Nitro that the plugin uses.
  return { h3App, call, app: { h3App, hooks } as unknown as NitroApp };
}

matrix({
  name: "Nuxt (Nitro with h3)",
  async start(logger, options) {
    const errors: unknown[] = [];
    const { app, h3App } = nitro(errors);
    const router = createRouter();
    router.get(
      "/ok",
      defineEventHandler(async () => {
        await sleep(5);
        logger.info(INSIDE);
        return "ok";
      }),
    );
    for (const path of ["/health", "/ready", "/favicon.ico"])
      router.get(
        path,
        defineEventHandler(() => "fine"),
      );
    router.get(
      "/moved",
      defineEventHandler((event) => sendRedirect(event, "/ok")),
    );
    router.get(
      "/throws",
      defineEventHandler(() => {
        throw BOOM;
      }),
    );
    router.get(
      "/refused",
      defineEventHandler(() => {
        throw TEAPOT;
      }),
    );
    router.post(
      "/echo",
      defineEventHandler((event) => readBody(event)),
    );
    router.get(
      "/slow",
      defineEventHandler(async () => {
        await sleep(1000);
        return "late";
      }),
    );
    router.get(
      "/stream",
      defineEventHandler(() => streamed(CHUNKS, PAUSE_MS)),
    );
    router.get(
      "/endless",
      // Finite, because h3 continues to read after the client has disconnected.
      defineEventHandler(() => streamed(Array(300).fill("again "), 10)),
    );
    h3App.use(router);
    createNitroPlugin({ logger, ...(options ? { capture: options } : {}) })(app);
    const server = createServer(toNodeListener(h3App)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("No port.");
    return {
      url: `http://127.0.0.1:${address.port}`,
      errors,
      async close() {
        server.closeAllConnections();
        server.close();
        await once(server, "close");
      },
    };
  },
});

test("the module makes its options settable by the environment, and adds its plugin first", () => {
  const nitro = { options: { plugins: ["other"], virtual: {} as Record<string, string> } };
  const options = {
    taffrail: { apiUrl: "https://logs.example", projectId: "proj_a" },
    runtimeConfig: { public: {} } as Record<string, unknown>,
  };
  taffrail({ level: "debug" }, { options, hook: (_name, listener) => listener(nitro) });
  expect(options.runtimeConfig).toEqual({
    public: {},
    taffrail: { apiUrl: "https://logs.example", projectId: "proj_a", apiKey: "", level: "debug" },
  });
  expect(nitro.options.plugins).toEqual(["#taffrail/plugin", "other"]);
  expect(nitro.options.virtual["#taffrail/plugin"]).toContain("taffrail/nuxt/nitro");
});

test("logs errors outside of requests, and flushes when Nitro closes", async () => {
  const memory = memoryTransport();
  let closes = 0;
  const logger = createLogger({ transport: { ...memory, close: () => void closes++ } });
  const { app, call } = nitro([]);
  createNitroPlugin({ logger })(app);
  call("error", new Error("in a task"), {});
  memory.assertLogged({ category: "system", type: "error", message: "in a task" }, 1);
  await Promise.all(call("close"));
  expect(closes).toBe(1);
});
