import { configure, dispose, getLogger } from "@logtape/logtape";
import { expect, test } from "vitest";
import { logtapeSink } from "../../src/adapters/logtape.ts";
import { createLogger } from "../../src/index.ts";
import { memoryTransport } from "../../src/testing.ts";

test("passes on LogTape's levels, messages, properties and categories, and flushes at disposal", async () => {
  const memory = memoryTransport();
  let flushes = 0;
  const logger = createLogger({ transport: { ...memory, flush: () => void flushes++ }, level: "trace" });
  await configure({
    reset: true,
    sinks: { taffrail: logtapeSink(logger) },
    loggers: [
      { category: "shop", sinks: ["taffrail"], lowestLevel: "trace" },
      { category: ["logtape", "meta"], sinks: [] },
    ],
  });
  const log = getLogger(["shop", "cart"]);
  log.trace("a");
  log.debug("b");
  log.info("user {user} has {items}", { user: "ada", items: [1, 2], token: "secret", traceId: "t1" });
  log.warn`count ${5n}`;
  log.error("failed", { error: new TypeError("broken") });
  log.fatal("f");
  expect(memory.entries.map(({ level, message }) => `${level} ${message}`)).toEqual([
    "trace a",
    "debug b",
    "info user ada has [1,2]",
    "warn count 5",
    "error failed",
    "fatal f",
  ]);
  expect(memory.entries[2]).toMatchObject({
    traceId: "t1",
    data: { logger: "shop.cart", user: "ada", items: [1, 2], token: "[REDACTED]" },
  });
  expect(memory.entries[4]?.data?.error).toMatchObject({ name: "TypeError", message: "broken" });
  await dispose();
  expect(flushes).toBe(1);
});
