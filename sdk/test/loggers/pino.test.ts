import pino from "pino";
import { expect, test } from "vitest";
import pinoTransport, { pinoDestination } from "../../src/adapters/pino.ts";
import { createLogger } from "../../src/index.ts";
import { memoryTransport } from "../../src/testing.ts";
import { startSink } from "../support/sink.ts";

function setup(options: pino.LoggerOptions<"audit"> = {}) {
  const memory = memoryTransport();
  const logger = createLogger({ transport: memory, level: "trace" });
  return { memory, log: pino<"audit">({ level: "trace", base: null, ...options }, pinoDestination(logger)) };
}

test("passes on pino's levels, messages and fields", () => {
  const { log, memory } = setup({ customLevels: { audit: 35 } });
  log.trace("a");
  log.debug("b");
  log.info({ user: 7, token: "secret" }, "c %s", "formatted");
  log.warn("d");
  log.error("e");
  log.fatal("f");
  log.child({ module: "m", traceId: "t1" }).info("g");
  log.audit("h");
  expect(memory.entries.map(({ level, message }) => `${level} ${message}`)).toEqual([
    "trace a",
    "debug b",
    "info c formatted",
    "warn d",
    "error e",
    "fatal f",
    "info g",
    "info h",
  ]);
  expect(memory.entries[2]?.data).toEqual({ user: 7, token: "[REDACTED]" });
  expect(memory.entries[6]).toMatchObject({ traceId: "t1", data: { module: "m" } });
});

test("keeps name, message, stack and members of errors", () => {
  const { log, memory } = setup();
  log.error(new TypeError("broken", { cause: new Error("inner") }));
  log.error({ err: Object.assign(new Error("second"), { code: "E2" }) }, "with text");
  expect(memory.entries[0]).toMatchObject({ message: "broken", data: { error: { name: "TypeError" } } });
  expect(memory.entries[1]).toMatchObject({
    message: "with text",
    data: { error: { name: "Error", message: "second", code: "E2", stack: expect.stringContaining("pino.test") } },
  });
});

test("reads other message and error keys, and level names", () => {
  const memory = memoryTransport();
  const logger = createLogger({ transport: memory });
  const log = pino(
    { messageKey: "text", errorKey: "failure", base: null, formatters: { level: (label) => ({ level: label }) } },
    pinoDestination(logger, { messageKey: "text", errorKey: "failure" }),
  );
  log.warn({ failure: new Error("x") }, "hello");
  expect(memory.entries[0]).toMatchObject({ level: "warn", message: "hello", data: { error: { message: "x" } } });
});

test("sends a stream of lines with pino's timestamps, and ends after their delivery", async () => {
  const sink = await startSink();
  const stream = pinoTransport({ apiUrl: sink.url, projectId: "proj_p", apiKey: "sk_test_0123456789" });
  const log = pino({ level: "trace", base: null }, stream);
  for (let n = 0; n < 200; n++) log.debug({ n }, "entry");
  stream.write('{"level":30,"time":1700000000000,"msg":"ol');
  stream.write('d"}\nnot of pino\n{"level":40,"msg":"last"}');
  await new Promise<void>((resolve) => stream.end(resolve));
  const entries = sink.stored();
  expect(entries).toHaveLength(203);
  expect(entries[200]).toMatchObject({ message: "old", timestamp: "2023-11-14T22:13:20.000Z" });
  expect(entries[201]).toMatchObject({ level: "info", message: "not of pino" });
  expect(entries[202]).toMatchObject({ level: "warn", message: "last" });
  await sink.close();
});

test("is recognized by pino as a destination if passed alone", () => {
  const memory = memoryTransport();
  pino(pinoDestination(createLogger({ transport: memory }))).info("arrived");
  expect(memory.entries).toMatchObject([{ level: "info", message: "arrived" }]);
});
