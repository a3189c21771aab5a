import { expect, test } from "vitest";
import { createLogger, type LogEntry, type Logger, type LoggerOptions, type Transport } from "../src/index.ts";

interface Setup {
  logger: Logger;
  entries(): LogEntry[];
}

type Options = Omit<LoggerOptions, "transport"> & { transport?: Transport | Transport[] };

function setup(options: Options = {}): Setup {
  const lines: string[] = [];
  const logger = createLogger({ transport: { write: (json) => lines.push(json) }, ...options });
  return { logger, entries: () => lines.map((line) => JSON.parse(line)) };
}

test("keeps the entry whole if onDrop logs during its eviction of others", async () => {
  const sent: LogEntry[] = [];
  const errors: Error[] = [];
  const { logger: other } = setup();
  const { logger } = setup({
    level: "trace",
    batch: { maxQueueBytes: 64 * 1024 },
    transport: { send: async (entries) => void sent.push(...entries) },
    onDrop: () => other.info("dropped ".repeat(500)),
    onError: (error) => errors.push(error),
  });
  for (let n = 0; n < 400; n++) logger.debug("debug", { n });
  for (let n = 0; n < 200; n++) logger.error("error", { n });
  await logger.flush();
  expect(errors).toEqual([]);
  const kept = sent.filter(({ message }) => message === "error");
  expect(kept.map(({ data }) => data?.n)).toEqual(Array.from({ length: 200 }, (_, n) => n));
});

test("keeps the entry whole for the next transport if one logs", () => {
  const { logger: other } = setup();
  const seen: LogEntry[] = [];
  const { logger } = setup({
    transport: [{ write: () => other.info("inner ".repeat(100)) }, { write: (json) => seen.push(JSON.parse(json)) }],
  });
  logger.info("outer", { n: 1 });
  expect(seen).toMatchObject([{ message: "outer", data: { n: 1 } }]);
});

test("keeps the entry whole if the traps of a proxy log", () => {
  const { logger, entries } = setup();
  const data = new Proxy(
    { a: 1 },
    {
      getPrototypeOf() {
        logger.info("inner");
        return Object.prototype;
      },
    },
  );
  logger.info("outer", data);
  expect(entries().at(-1)).toMatchObject({ message: "outer", data: { a: 1 } });
});

test("keeps the data if the message getter of an error logs", () => {
  const { logger, entries } = setup();
  const error = new Error();
  Object.defineProperty(error, "message", {
    get() {
      logger.info("inner");
      return "m".repeat(300_000);
    },
  });
  logger.error(error, { a: 1 });
  const outer = entries().at(-1);
  expect(outer?.message.length).toBeLessThan(140_000);
  expect(outer?.data).toMatchObject({ a: 1 });
});

test("keeps the message if the name getter of a function logs", () => {
  const { logger, entries } = setup();
  const named = (): void => {};
  Object.defineProperty(named, "name", {
    value: {
      toString() {
        logger.info("inner");
        return "named";
      },
    },
  });
  // SAFETY: untyped callers pass anything.
  logger.info(named as unknown as string);
  expect(entries().map(({ message }) => message)).toEqual(["inner", '"[Function named]"']);
});

test("ends the recursion of messages that log", () => {
  const { logger, entries } = setup();
  const endless = (): string => {
    const message = {
      get more() {
        logger.info(endless());
        return 1;
      },
    };
    // SAFETY: untyped callers pass anything.
    return message as unknown as string;
  };
  logger.info(endless());
  expect(entries().length).toBeLessThan(10);
  expect(entries().at(-1)?.message).toBe('{"more":1}');
});
