import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { context, trace } from "@opentelemetry/api";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { afterEach, expect, test, vi } from "vitest";
import { createCapture } from "../src/capture/exchange.ts";
import { createLogger, type LoggerOptions } from "../src/index.ts";
import { createLogger as createNodeLogger } from "../src/node/index.ts";
import { settingsOf } from "../src/runtime/environment.ts";
import { memoryTransport } from "../src/testing.ts";
import { startSink } from "./support/sink.ts";

const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const NAMES = /^(?:TAFFRAIL|OTEL)_/;

afterEach(() => {
  vi.unstubAllEnvs();
  trace.disable();
  context.disable();
});

test("14: an entry logged within an active OpenTelemetry span carries its ids", async () => {
  new NodeTracerProvider().register();
  const tracer = trace.getTracer("test");
  const memory = memoryTransport();
  const logger = createLogger({ transport: memory, defaultMeta: { service: "shop" } });
  const child = logger.child({ traceparent: PARENT, user: 7 });
  const expected: unknown[] = [];
  const note = (): void => {
    const { traceId, spanId } = trace.getActiveSpan()?.spanContext() ?? {};
    expected.push([traceId, spanId]);
  };
  await tracer.startActiveSpan("outer", async (outer) => {
    note();
    logger.info("a");
    await new Promise((resolve) => setTimeout(resolve, 5));
    await tracer.startActiveSpan("inner", async (inner) => {
      note();
      child.info("b", { n: 1 });
      note();
      logger.withContext({ request: "r" }, () => logger.http.request("c"));
      note();
      logger.withContext({ request: "s" }, () => logger.http.request("d"));
      inner.end();
    });
    note();
    logger.info("e");
    outer.end();
  });
  const ids = (): unknown[] => memory.entries.map(({ traceId, spanId }) => [traceId, spanId]);
  expect(ids()).toEqual(expected);
  expect(new Set(expected.map(String)).size).toBe(2);
  expect(memory.entries.map(({ data }) => data)).toEqual([
    { service: "shop" },
    { service: "shop", user: 7, n: 1 },
    { service: "shop", request: "r" },
    { service: "shop", request: "s" },
    { service: "shop" },
  ]);
  memory.clear();
  logger.info("outside");
  child.info("outside");
  expect(ids()).toEqual([[undefined, undefined], PARENT.split("-").slice(1, 3)]);
});

test("14: a request within an OpenTelemetry span uses the trace of the span", async () => {
  new NodeTracerProvider().register();
  const memory = memoryTransport();
  const capture = createCapture(createLogger({ transport: memory }));
  const { traceId, ended } = trace.getTracer("test").startActiveSpan("request", (span) => {
    const exchange = capture({ method: "GET", url: "/", header: () => undefined, headers: () => [] });
    return { traceId: span.spanContext().traceId, ended: exchange.ended };
  });
  // Frameworks may end a response outside of the span.
  ended({ status: 200 });
  expect(memory.entries.map((entry) => [entry.type, entry.traceId])).toEqual([
    ["request", traceId],
    ["response", traceId],
  ]);
});

test("14: an invalid OpenTelemetry global loses no entry", () => {
  const memory = memoryTransport();
  const logger = createLogger({ transport: memory });
  const symbol = Symbol.for("opentelemetry.js.api.1");
  const throws = (): never => {
    throw new Error("no");
  };
  const active = (span: unknown) => ({ context: { active: () => ({ getValue: () => span }) } });
  const zeros = { traceId: "0".repeat(32), spanId: "0".repeat(16) };
  for (const value of [
    1,
    {},
    { context: {} },
    { context: { active: throws } },
    active({ spanContext: throws }),
    active({ spanContext: () => zeros }),
    active({ spanContext: () => ({}) }),
  ]) {
    Reflect.set(globalThis, symbol, value);
    logger.info("x");
  }
  Reflect.deleteProperty(globalThis, symbol);
  expect(memory.entries.map(({ traceId }) => traceId)).toEqual(Array(7).fill(undefined));
});

function dataOf(options: Omit<LoggerOptions, "transport"> = {}, data?: object): unknown {
  const memory = memoryTransport();
  createLogger({ ...options, transport: memory })
    .child({ child: 1 })
    .info("x", data);
  return memory.entries[0]?.data;
}

test("14: service, version, environment and host come from options, else TAFFRAIL_*, else OTEL_*; fields of the call win", () => {
  for (const name of Object.keys(process.env)) if (NAMES.test(name)) vi.stubEnv(name, undefined);
  expect(dataOf()).toEqual({ child: 1 });
  vi.stubEnv("OTEL_SERVICE_NAME", "otel-shop");
  vi.stubEnv(
    "OTEL_RESOURCE_ATTRIBUTES",
    "service.name=ignored, service.version=1.2,deployment.environment.name=a%2Cb,host.name=h=1,x",
  );
  expect(dataOf()).toEqual({ service: "otel-shop", version: "1.2", environment: "a,b", host: "h=1", child: 1 });
  vi.stubEnv("OTEL_SERVICE_NAME", "");
  vi.stubEnv("OTEL_RESOURCE_ATTRIBUTES", "service.name=by-attribute,deployment.environment=%E0%A4%A");
  vi.stubEnv("TAFFRAIL_VERSION", "2.0");
  vi.stubEnv("TAFFRAIL_HOST", "box");
  expect(dataOf()).toEqual({ service: "by-attribute", version: "2.0", environment: "%E0%A4%A", host: "box", child: 1 });
  expect(dataOf({ service: "option", version: undefined })).toMatchObject({ service: "option", version: "2.0" });
  expect(dataOf({ service: "option", defaultMeta: { service: "meta" } }, { host: "call" })).toMatchObject({
    service: "meta",
    host: "call",
  });
  expect(() => dataOf({ service: 1 as unknown as string })).toThrow("service must be a string");
});

test("14: TAFFRAIL_API_KEY, TAFFRAIL_URL and TAFFRAIL_PROJECT are defaults", async () => {
  const sink = await startSink();
  vi.stubEnv("TAFFRAIL_API_KEY", "sk_from_environment");
  vi.stubEnv("TAFFRAIL_URL", sink.url);
  vi.stubEnv("TAFFRAIL_PROJECT", "proj_env");
  for (const logger of [
    createLogger(),
    createLogger({ apiKey: undefined, apiUrl: undefined }),
    createLogger({ apiKey: "sk_given_0123" }),
  ]) {
    logger.info("uses sk_from_environment");
    await logger.flush();
  }
  expect(sink.seen.map(({ headers }) => headers.authorization)).toEqual([
    "Bearer sk_from_environment",
    "Bearer sk_from_environment",
    "Bearer sk_given_0123",
  ]);
  // The logger's key is masked, independent of its source.
  expect(sink.seen[0]?.entries[0]?.message).toBe("uses [REDACTED]");
  await sink.close();
});

test("14: taffrail/node spools by URL and project of the environment", async () => {
  vi.stubEnv("TAFFRAIL_URL", "http://127.0.0.1:1");
  vi.stubEnv("TAFFRAIL_PROJECT", "proj_env");
  const logger = createNodeLogger({
    batch: { maxRetries: 0 },
    onError() {},
    spool: { dir: path.join(import.meta.dirname, ".spool-env") },
  });
  logger.info("x");
  await logger.flush();
  expect(logger.stats()).toMatchObject({ spooled: 1, dropped: 0 });
  await logger.close();
  const { rmSync } = await import("node:fs");
  rmSync(path.join(import.meta.dirname, ".spool-env"), { recursive: true });
});

test("14: variables that are not strings, as in Workers, are ignored", () => {
  expect(settingsOf({ TAFFRAIL_URL: { fetch() {} }, TAFFRAIL_HOST: "h" })).toMatchObject({
    apiUrl: undefined,
    host: "h",
  });
});

test("14: the package neither requires nor installs @opentelemetry/api", async () => {
  const code = `import { createLogger } from ${JSON.stringify(path.resolve(import.meta.dirname, "../dist/index.mjs"))};
    const logger = createLogger({ transport: "memory" });
    logger.info("x");
    console.log(logger.entries.length, Object.getOwnPropertySymbols(globalThis).some((one) => String(one).includes("opentelemetry")));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], { cwd: "/" });
  expect(stdout).toBe("1 false\n");
});
