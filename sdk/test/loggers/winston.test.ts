import { expect, test } from "vitest";
import winston from "winston";
import { TaffrailTransport } from "../../src/adapters/winston.ts";
import { createLogger } from "../../src/index.ts";
import { memoryTransport } from "../../src/testing.ts";

function setup(options: winston.LoggerOptions = {}, own: ConstructorParameters<typeof TaffrailTransport>[1] = {}) {
  const memory = memoryTransport();
  const logger = createLogger({ transport: memory, level: "trace" });
  const log = winston.createLogger({ level: "silly", transports: [new TaffrailTransport(logger, own)], ...options });
  const end = (): Promise<void> =>
    new Promise((resolve) => {
      log.on("finish", resolve);
      log.end();
    });
  return { memory, log, end };
}

test("passes on winston's levels, messages and fields", async () => {
  const { log, memory, end } = setup();
  for (const level of ["error", "warn", "info", "http", "verbose", "debug", "silly"]) log.log(level, level);
  log.info("order", { id: 5, password: "secret", traceId: "t1" });
  log.child({ module: "m" }).warn("child");
  await end();
  expect(memory.entries.map(({ level, message }) => `${level} ${message}`)).toEqual([
    "error error",
    "warn warn",
    "info info",
    "log http",
    "debug verbose",
    "debug debug",
    "trace silly",
    "info order",
    "warn child",
  ]);
  expect(memory.entries[7]).toMatchObject({ traceId: "t1", data: { id: 5, password: "[REDACTED]" } });
  expect(memory.entries[8]?.data).toEqual({ module: "m" });
});

test("maps syslog levels and level names that a format has coloured", async () => {
  const { log, memory, end } = setup({
    levels: winston.config.syslog.levels,
    level: "debug",
    format: winston.format.combine(winston.format.colorize({ colors: { warning: "red" } }), winston.format.timestamp()),
  });
  log.log("emerg", "a");
  log.log("warning", "b");
  log.log("notice", "c");
  await end();
  expect(memory.entries.map(({ level }) => level)).toEqual(["fatal", "warn", "info"]);
  expect(memory.entries[0]).not.toHaveProperty("data.timestamp");
});

test("applies the transport's own level, and keeps the stack of errors", async () => {
  const { log, memory, end } = setup({ format: winston.format.errors({ stack: true }) }, { level: "warn" });
  log.info("left out");
  log.error(new TypeError("broken"));
  log.error("with fields", { error: new Error("inner") });
  await end();
  expect(memory.entries.map(({ message }) => message)).toEqual(["broken", "with fields"]);
  expect(memory.entries[0]?.data?.error).toMatchObject({
    message: "broken",
    stack: expect.stringContaining("winston.test"),
  });
  expect(memory.entries[1]?.data?.error).toMatchObject({ message: "inner" });
});
