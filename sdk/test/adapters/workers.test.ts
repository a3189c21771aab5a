import path from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLogger } from "../../src/index.ts";
import { memoryTransport } from "../../src/testing.ts";
import { withTaffrail } from "../../src/workers/index.ts";
import { type Sink, startSink } from "../support/sink.ts";
import { matrix } from "./matrix.ts";
import { routes, serveWeb } from "./web-routes.ts";

matrix({
  name: "Workers' handlers, on Node",
  async start(logger, options) {
    const worker = withTaffrail(
      () => logger,
      { fetch: (request: Request, _env: object, _context: unknown) => routes(request, logger) },
      options,
    );
    const context = { waitUntil() {} };
    return serveWeb((request) => worker.fetch(request, {}, context));
  },
});

test("logs and rethrows errors of other handlers, and flushes after each call", async () => {
  const memory = memoryTransport();
  let flushes = 0;
  const logger = createLogger({ transport: { ...memory, flush: () => void flushes++ } });
  const failure = new Error("queue is broken");
  const worker = withTaffrail(() => logger, {
    async queue(_batch: unknown, _env: object, _context: unknown): Promise<void> {
      throw failure;
    },
  });
  const waiting: Promise<unknown>[] = [];
  await expect(worker.queue({}, {}, { waitUntil: (one: Promise<unknown>) => waiting.push(one) })).rejects.toBe(failure);
  await Promise.all(waiting);
  expect(flushes).toBe(1);
  memory.assertLogged({ category: "system", type: "error", message: "queue failed: queue is broken" }, 1);
});

let sink: Sink;
let workerd: Miniflare;

beforeAll(async () => {
  sink = await startSink();
  const source = new URL("../../src/", import.meta.url).pathname;
  const bundle = await build({
    stdin: {
      resolveDir: source,
      contents: `
        import { createLogger } from "./index.ts";
        import { withTaffrail } from "./workers/index.ts";
        import { taffrail } from "./adapters/hono.ts";
        import { Hono } from "hono";
        let logger;
        const makeLogger = (env) => (logger ??= createLogger({ apiUrl: env.API_URL, projectId: "proj_w", apiKey: env.API_KEY }));
        const app = new Hono();
        app.use(taffrail((c) => makeLogger(c.env)));
        app.get("/hono/:n", async (c) => {
          await scheduler.wait(5);
          makeLogger(c.env).info("inside", { n: Number(c.req.param("n")) });
          return c.text("x".repeat(1000));
        });
        app.get("/hono/stream/:n", (c) => new Response(new ReadableStream({
          async pull(controller) {
            await scheduler.wait(20);
            this.n = (this.n ?? 0) + 1;
            controller.enqueue(new TextEncoder().encode("part "));
            if (this.n === 3) controller.close();
          },
        })));
        const plain = withTaffrail(makeLogger, {
          async fetch(request) {
            await scheduler.wait(5);
            logger.info("inside", { n: Number(new URL(request.url).searchParams.get("n")) });
            return new Response("plain", { headers: { "Content-Length": "5" } });
          },
        });
        export default {
          fetch: (request, env, context) =>
            new URL(request.url).pathname.startsWith("/hono") ? app.fetch(request, env, context) : plain.fetch(request, env, context),
        };`,
      loader: "js",
    },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    conditions: ["workerd"],
    alias: { "#runtime": path.join(source, "runtime/workerd.ts"), "#names": path.join(source, "names.ts") },
    tsconfigRaw: "{}",
  });
  workerd = new Miniflare(
    convertV4MiniflareOptions({
      workers: [
        {
          name: "app",
          modules: [{ type: "ESModule", path: "app.js", contents: bundle.outputFiles[0]?.text ?? "" }],
          compatibilityDate: "2026-11-01",
          compatibilityFlags: ["nodejs_compat"],
          bindings: { API_URL: sink.url, API_KEY: "sk_test_0123456789" },
        },
      ],
    }),
  );
  await workerd.ready;
});

afterAll(async () => {
  await workerd?.dispose();
  await sink?.close();
});

test("delivers all entries of each request before it ends in the real runtime, also of concurrent ones", async () => {
  const url = await workerd.ready;
  const COUNT = 60;
  await Promise.all(
    Array.from({ length: COUNT }, async (_, n) => {
      const response = await fetch(
        new URL(n % 3 === 0 ? `/plain?n=${n}` : n % 3 === 1 ? `/hono/${n}` : `/hono/stream/${n}`, url),
      );
      expect((await response.text()).length).toBe(n % 3 === 0 ? 5 : n % 3 === 1 ? 1000 : 15);
    }),
  );
  const wanted = COUNT * 2 + (COUNT * 2) / 3;
  for (let waited = 0; sink.stored().length < wanted && waited < 5000; waited += 50) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const entries = sink.stored();
  expect(entries).toHaveLength(wanted);
  const traces = Map.groupBy(entries, ({ traceId }) => traceId);
  expect(traces.size).toBe(COUNT);
  for (const all of traces.values()) {
    const types = all.map(({ type }) => type).sort();
    expect(types.filter((type) => type !== "log")).toEqual(["request", "response"]);
    expect(all.find(({ type }) => type === "response")?.data).toMatchObject({ status: 200 });
  }
});
