import Fastify, { type FastifyBaseLogger } from "fastify";
import { pino } from "pino";
import { expect, test } from "vitest";
import { createLogger, type Logger } from "../src/index.ts";
import { type MemoryTransport, memoryTransport } from "../src/testing.ts";

function setup(): { logger: Logger; memory: MemoryTransport } {
  const memory = memoryTransport();
  return { memory, logger: createLogger({ transport: memory }) };
}

test("13: an object and then a string, as in pino, are data and message", () => {
  const { logger, memory } = setup();
  const lines: string[] = [];
  const theirs = pino({ base: null }, { write: (line) => lines.push(line) });
  const error = new RangeError("gone");
  for (const one of [logger, theirs as unknown as Logger]) {
    one.info({ user: 7 }, "text");
    one.error({ err: error, user: 7 }, "failed");
    one.warn([1, 2] as object, "list");
  }
  expect(memory.entries.map(({ message }) => message)).toEqual(lines.map((line) => JSON.parse(line).msg));
  expect(memory.entries[0]?.data).toEqual({ user: 7 });
  expect(memory.entries[1]?.data).toMatchObject({ err: { name: "RangeError", message: "gone" }, user: 7 });
  expect(memory.entries[2]?.data).toEqual({ value: [1, 2] });
  memory.clear();
  logger.error(error, "while saving");
  logger.http.request({ status: 200 }, "GET /");
  expect(memory.entries[0]).toMatchObject({
    message: "while saving",
    data: { error: { name: "RangeError", message: "gone" } },
  });
  expect(memory.entries[1]).toMatchObject({ category: "http", message: "GET /", data: { status: 200 } });
});

test("13: Fastify with the logger as loggerInstance writes short messages, and members by its serializers", async () => {
  const { logger, memory } = setup();
  const app = Fastify({ loggerInstance: logger as FastifyBaseLogger });
  app.get("/hello", (request) => {
    request.log.info({ user: 7 }, "in the handler");
    return "ok";
  });
  app.get("/quiet", { logLevel: "error" }, (request) => {
    request.log.info("closed");
    return "ok";
  });
  app.get("/broken", () => {
    throw new Error("broken");
  });
  await app.inject("/hello?token=abc");
  await app.inject("/quiet");
  await app.inject("/broken");
  await app.close();
  const entries = memory.entries.map(({ level, message, data }) => ({ level, message, data }));
  expect(entries.map(({ level, message }) => `${level} ${message}`)).toEqual([
    "info incoming request",
    "info in the handler",
    "info request completed",
    "info incoming request",
    "error broken",
    "info request completed",
  ]);
  expect(entries[0]?.data).toMatchObject({ reqId: "req-1", req: { method: "GET", url: "/hello?token=[REDACTED]" } });
  expect(entries[1]?.data).toEqual({ reqId: "req-1", user: 7 });
  expect(entries[2]?.data).toMatchObject({
    reqId: "req-1",
    res: { statusCode: 200 },
    responseTime: expect.any(Number),
  });
  expect(entries[4]?.data).toMatchObject({ err: { type: "Error", message: "broken" }, res: { statusCode: 500 } });
  for (const entry of memory.entries)
    expect(JSON.stringify({ ...entry, data: { ...entry.data, err: 0 } }).length).toBeLessThan(600);
});

test("13: a serializer that throws loses only its member", () => {
  const { logger, memory } = setup();
  const child = logger.child(
    {},
    {
      serializers: {
        a: () => {
          throw new Error("no");
        },
        b: (value: number) => value + 1,
      },
    },
  );
  const grandchild = child.child({ more: 1 }, { serializers: { c: String } });
  grandchild.info("x", { a: 1, b: 1, c: 1, d: 1 });
  expect(memory.entries[0]?.data).toEqual({ more: 1, a: "[Throws]", b: 2, c: "1", d: 1 });
});
