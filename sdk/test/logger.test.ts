import { describe, expect, expectTypeOf, test } from "vitest";
import { createLogger, type LogEntry, type Logger, type LoggerOptions, type LogMethod } from "../src/index.ts";
import { type MemoryTransport, memoryTransport } from "../src/testing.ts";

declare module "../src/types.ts" {
  interface TaffrailCategories {
    billing: "invoice" | "refundIssued";
  }
}

type Rest = Omit<LoggerOptions, "transport" | "apiUrl" | "projectId">;

function setup(options: Rest = {}): { logger: Logger; memory: MemoryTransport } {
  const memory = memoryTransport();
  return { memory, logger: createLogger({ ...options, transport: memory }) };
}

const TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const places = ({ entries }: MemoryTransport): string[] =>
  entries.map(({ level, category, type }) => `${level} ${category}/${type}`);

test("the default level is info, and all disabled methods are the same no-op", () => {
  const { logger, memory } = setup();
  for (const level of ["trace", "debug", "log", "info", "warn", "error", "fatal"] as const) logger[level](level);
  expect(memory.entries.map(({ level }) => level)).toEqual(["info", "warn", "error", "fatal"]);
  expect(logger.trace).toBe(logger.debug);
});

test("an entry has the interface's members", () => {
  const { logger, memory } = setup({ sessionId: "s1", defaultMeta: { service: "shop" } });
  logger.info("hello", { a: 1 });
  expect(memory.entries).toEqual([
    {
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      level: "info",
      category: "custom",
      type: "log",
      message: "hello",
      session: "s1",
      data: { service: "shop", a: 1 },
    },
  ]);
  expect(Math.abs(Date.parse(memory.entries[0]?.timestamp ?? "") - Date.now())).toBeLessThan(1000);
});

test("lines have their members in the service's canonical order", () => {
  const lines: string[] = [];
  const transport = { write: (json: string) => void lines.push(json) };
  const first = createLogger({
    transport,
    sampling: { rate: 0.999999 },
    defaultMeta: { service: "shop", traceparent: TRACE },
  });
  const hooked = createLogger({ transport, beforeSend: (entry) => ({ ...entry, data: { ...entry.data, more: 1 } }) });
  for (const logger of [first, first.child({ user: "u1" }), hooked, hooked.child({ session: "s", spanId: "b" })]) {
    logger.info("plain");
    logger.warn('quoted "x"\n', { a: [1, 2.5, null], b: { c: "é" } });
    logger.http.request("GET /", { status: 200 });
  }
  expect(lines).toHaveLength(12);
  const order = ["timestamp", "level", "category", "type", "message", "session", "traceId", "spanId", "data"];
  for (const line of lines) {
    const entry = JSON.parse(line);
    expect(JSON.stringify(entry)).toBe(line);
    expect(Object.keys(entry)).toEqual(order.filter((name) => Object.hasOwn(entry, name)));
  }
});

test("an invalid timestamp of beforeSend is replaced by the time of the call", () => {
  const memory = memoryTransport();
  const logger = createLogger({
    transport: memory,
    beforeSend: (entry) => ({ ...entry, timestamp: `${entry.message}` }),
  });
  for (const time of ["+012026-01-01T00:00:00.000Z", "soon", "2026-01-01T00:00:00Z"]) logger.info(time);
  const [far, none, good] = memory.entries.map(({ timestamp }) => timestamp);
  expect(Date.parse(`${far}`)).toBeLessThan(Date.UTC(2100, 0));
  expect(none).toMatch(/^\d{4}-.{18}Z$/);
  expect(good).toBe("2026-01-01T00:00:00.000Z");
});

test("each entry has the time of its own call", async () => {
  const { logger, memory } = setup();
  const times: number[] = [];
  for (let n = 0; n < 3; n++) {
    times.push(Date.now());
    logger.info("x");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const late = memory.entries.map(({ timestamp }, n) => Date.parse(`${timestamp}`) - (times[n] ?? 0));
  expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...late)).toBeLessThan(15);
});

test("a field of the call replaces the logger's field", () => {
  const { logger, memory } = setup({ defaultMeta: { a: 1, b: { c: 2 } } });
  logger.info("x", { a: 5 });
  logger.info("y");
  expect(memory.entries.map(({ data }) => data)).toEqual([
    { b: { c: 2 }, a: 5 },
    { a: 1, b: { c: 2 } },
  ]);
});

test("methods work detached, and a session is created once", () => {
  const { logger, memory } = setup();
  const { info } = logger;
  info("a");
  logger.warn("b");
  expect(new Set(memory.entries.map(({ session }) => session))).toEqual(new Set([logger.sessionId]));
  expect(logger.sessionId).not.toBe("");
});

test("sessionId is the session of the logger's entries", () => {
  const { logger, memory } = setup({ sessionId: "s1", defaultMeta: { session: "s2" } });
  const child = logger.child({ session: "s3" });
  const named = [logger, child].map((one) => {
    one.info("x");
    return one.sessionId;
  });
  logger.withContext({ session: "s4" }, () => {
    logger.info("x");
    named.push(logger.sessionId);
  });
  expect(named).toEqual(["s2", "s3", "s4"]);
  expect(memory.entries.map(({ session }) => session)).toEqual(named);
});

test("scopes log with category and type; a type named like a level logs at that level", () => {
  const { logger, memory } = setup({ level: "trace" });
  logger.http.request("GET /x", { ms: 5 });
  logger.ai.toolCall("tool");
  logger.database.slowQuery("slow");
  logger.system.error("bad");
  logger.system.debug("detail");
  logger.billing.invoice("sent");
  logger.billing.refundIssued("sent");
  logger.category("queue", "dead-letter").fatal("lost");
  logger.category("auth").info("first type");
  expect(places(memory)).toEqual([
    "info http/request",
    "info ai/tool-call",
    "info database/slow-query",
    "error system/error",
    "debug system/debug",
    "info billing/invoice",
    "info billing/refundIssued",
    "fatal queue/dead-letter",
    "info auth/login",
  ]);
});

test("an unknown type of a category keeps the entry", () => {
  const { logger, memory } = setup();
  // @ts-expect-error not a type of the category
  logger.category("http", "teapot").info("x");
  // @ts-expect-error not a category
  logger.category("y".repeat(100)).info("z");
  expect(memory.entries[0]).toMatchObject({ category: "http", type: "request", data: { invalidType: "teapot" } });
  expect(memory.entries[1]).toMatchObject({ category: "y".repeat(64), type: "log" });
});

test("types", () => {
  const { logger } = setup();
  expectTypeOf(logger.http.request).toEqualTypeOf<LogMethod>();
  expectTypeOf(logger.billing.invoice).toEqualTypeOf<LogMethod>();
  expectTypeOf(logger.ai.toolCall).toEqualTypeOf<LogMethod>();
  // @ts-expect-error no such type
  logger.http.teapot;
  // @ts-expect-error no such category
  logger.nothing;
  // URL and project may come from the environment.
  const _unset: LoggerOptions = { apiUrl: undefined, projectId: undefined };
  const _address: LoggerOptions = { apiUrl: "http://localhost", projectId: "proj_x" };
});

test("members that the language and tools read are not categories", async () => {
  const { logger } = setup();
  expect(await logger).toBe(logger);
  expect(String(Reflect.get(logger, "toJSON"))).toBe("undefined");
  expect(Reflect.get(logger, "$$typeof")).toBeUndefined();
  expect(Reflect.get(logger, "__v_isRef")).toBeUndefined();
  expect(logger).not.toEqual({});
});

test("categories and excludeCategories filter entries", () => {
  const { logger, memory } = setup({ categories: ["http", "custom"], excludeCategories: ["custom"] });
  logger.info("custom");
  logger.http.request("http");
  logger.cache.hit("cache");
  expect(places(memory)).toEqual(["info http/request"]);
});

describe("sampling", () => {
  test("keeps the configured share, and adds the rate", () => {
    const { logger, memory } = setup({ sampling: { rate: 0.25, overrides: { error: 1, warn: 0 } } });
    for (let i = 0; i < 4000; i++) logger.info("x");
    logger.warn("never");
    logger.error("always");
    const infos = memory.find({ level: "info" });
    expect(infos.length).toBeGreaterThan(850);
    expect(infos.length).toBeLessThan(1150);
    expect(infos[0]?.data).toEqual({ sampleRate: 0.25 });
    expect(memory.find({ level: "error" }).map(({ data }) => data)).toEqual([undefined]);
    expect(memory.find({ level: "warn" })).toEqual([]);
    expect(logger.stats().sampledOut).toBe(4000 - infos.length);
  });

  test("keeps a trace or session whole", () => {
    const { logger, memory } = setup({ sampling: { rate: 0.5 } });
    for (let trace = 0; trace < 400; trace++) {
      const child = logger.child({ traceId: `trace-${trace}` });
      for (let i = 0; i < 5; i++) child.info("x");
    }
    const perTrace = Map.groupBy(memory.entries, ({ traceId }) => traceId);
    expect([...perTrace.values()].every((entries) => entries.length === 5)).toBe(true);
    expect(perTrace.size).toBeGreaterThan(150);
    expect(perTrace.size).toBeLessThan(250);
  });

  test("D24: keeps a configured session whole, and samples each entry separately with an automatic session", () => {
    const kept = (options: Rest, fields: Record<string, string> = {}) => {
      const { logger, memory } = setup({ sampling: { rate: 0.5 }, ...options });
      const child = logger.child(fields);
      for (let i = 0; i < 50; i++) child.info("x");
      return memory.entries.length;
    };
    for (let n = 0; n < 40; n++) {
      expect([0, 50]).toContain(kept({ sessionId: `session-${n}` }));
      expect([0, 50]).toContain(kept({}, { session: `session-${n}` }));
      // All or no entries of 50: probability 2 in 10^15.
      expect([0, 50]).not.toContain(kept({}));
    }
  });
});

describe("beforeSend", () => {
  test("gets a redacted copy; its result is redacted again", () => {
    const seen: LogEntry[] = [];
    const { logger, memory } = setup({
      beforeSend(entry) {
        seen.push(structuredClone(entry));
        return { ...entry, level: "warn", message: "changed", data: { ...entry.data, token: "abc", list: [1n] } };
      },
    });
    logger.info("x", { password: "p", a: 1 });
    expect(seen[0]?.data).toEqual({ password: "[REDACTED]", a: 1 });
    expect(memory.entries[0]).toMatchObject({
      level: "warn",
      message: "changed",
      data: { password: "[REDACTED]", a: 1, token: "[REDACTED]", list: ["1"] },
    });
  });

  test("null leaves an entry out silently; an error drops it through onDrop", () => {
    const drops: string[] = [];
    let answer: () => LogEntry | null = () => null;
    const { logger, memory } = setup({ beforeSend: () => answer(), onDrop: (_, reason) => drops.push(reason) });
    logger.info("null");
    answer = () => {
      throw new Error("no");
    };
    logger.info("throws");
    // SAFETY: an untyped caller may return anything.
    answer = () => Promise.resolve() as unknown as LogEntry;
    logger.info("promise");
    answer = () => undefined as unknown as LogEntry;
    logger.info("nothing");
    expect(memory.entries).toEqual([]);
    expect(drops).toEqual(["before-send", "before-send", "before-send"]);
    expect(logger.stats()).toMatchObject({ filtered: 1, dropped: 3 });
  });

  test("makes a valid entry of any result", () => {
    // SAFETY: an untyped caller may return anything.
    const { logger, memory } = setup({
      beforeSend: () =>
        ({
          level: "loud",
          category: 7,
          type: "",
          message: "",
          timestamp: 'x"',
          extra: 1,
          data: { a: 1 },
        }) as unknown as LogEntry,
    });
    logger.info("x");
    expect(memory.entries[0]).toMatchObject({
      level: "info",
      category: "7",
      type: "log",
      message: "(no message)",
      timestamp: expect.stringMatching(/Z$/),
      data: { extra: 1, a: 1 },
    });
  });

  test("keeps data and session if it makes the message too long", () => {
    const { logger, memory } = setup({ beforeSend: (entry) => ({ ...entry, message: "x".repeat(400_000) }) });
    logger.info("x", { a: 1, text: "y".repeat(50_000) });
    const [entry] = memory.entries;
    expect(entry?.session).toMatch(/^[\da-f-]{36}$/);
    expect(entry?.message.length).toBeLessThan(140_000);
    expect(entry?.data).toEqual({ a: 1, text: "y".repeat(50_000) });
  });

  test("does not call itself if it logs", () => {
    const { logger, memory } = setup({
      beforeSend(entry) {
        logger.info("again");
        return entry;
      },
    });
    logger.info("once");
    expect(memory.entries.map(({ message }) => message)).toEqual(["once"]);
  });
});

test("children and contexts add fields; ids go to the entry, through awaits", async () => {
  const { logger, memory } = setup({ defaultMeta: { app: "a" } });
  const child = logger.child({ module: "m" });
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const result = await logger.withContext({ traceparent, requestId: "r1", password: "x" }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    child.info("in");
    await logger.withContext({ requestId: "r2", step: 1 }, async () => logger.info("nested"));
    return 7;
  });
  child.info("out");
  expect(result).toBe(7);
  const ids = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
  expect(memory.entries).toMatchObject([
    { ...ids, data: { app: "a", requestId: "r1", password: "[REDACTED]", module: "m" } },
    { ...ids, data: { app: "a", requestId: "r2", step: 1 } },
    { data: { app: "a", module: "m" } },
  ]);
  expect(memory.entries[2]?.traceId).toBeUndefined();
  logger.child({ traceparent: "nonsense" }).info("x");
  expect(memory.entries[3]?.traceId).toBeUndefined();
});

test("explain names the step", () => {
  const { logger } = setup({
    excludeCategories: ["cache"],
    sampling: { overrides: { warn: 0 } },
    beforeSend: (entry) => (entry.message === "drop" ? null : entry),
  });
  expect(logger.explain("debug")).toMatchObject({ sent: false, step: "level" });
  expect(logger.category("cache", "hit").explain("info")).toMatchObject({ sent: false, step: "category" });
  expect(logger.explain("warn")).toMatchObject({ sent: false, step: "sampling" });
  expect(logger.explain("info", "drop")).toMatchObject({ sent: false, step: "beforeSend" });
  expect(logger.explain("info", "keep")).toMatchObject({ sent: true, step: "transport" });
});

test("supports several transports, custom ones with retries, and one that throws", async () => {
  const memory = memoryTransport();
  const sent: LogEntry[] = [];
  let calls = 0;
  const errors: Error[] = [];
  const logger = createLogger({
    batch: { backoffBase: 5 },
    onError: (error) => errors.push(error),
    transport: [
      "memory",
      memory,
      {
        write() {
          throw new Error("broken");
        },
      },
      {
        async send(entries) {
          if (calls++ === 0) throw new Error("once");
          sent.push(...entries);
        },
      },
    ],
  });
  logger.info("a");
  logger.info("b");
  const result = await logger.flush();
  expect(result.pending).toBe(0);
  expect(sent.map(({ message }) => message)).toEqual(["a", "b"]);
  expect(memory.entries.length).toBe(2);
  expect(logger.entries.length).toBe(2);
  expect(errors.map(({ message }) => message)).toEqual(["broken", "broken", "once"]);
});

test.each([
  [{ level: "loud" }],
  [{ batch: { size: 0 } }],
  [{ batch: { size: 1.5 } }],
  [{ batch: { size: "50" } }],
  [{ batch: { flushInterval: Number.NaN } }],
  [{ batch: { maxRetries: -1 } }],
  [{ batch: { backoffBase: Infinity } }],
  [{ batch: { backoff: "quadratic" } }],
  [{ sampling: { rate: 1.1 } }],
  [{ sampling: { rate: "0.5" } }],
  [{ sampling: { overrides: { loud: 1 } } }],
  [{ transport: "pigeon" }],
  [{ transport: {} }],
  [{ transport: "batch" }],
  [{ transport: "batch", apiUrl: "ftp://x", projectId: "p" }],
  [{ transport: "http", apiUrl: "http://x", projectId: "" }],
  [{ apiKey: 5 }],
  [{ beforeSend: "x" }],
  [{ categories: "http" }],
])("%j is refused at construction", (options) => {
  // SAFETY: untyped callers pass anything.
  expect(() => createLogger({ transport: "memory", ...options } as unknown as LoggerOptions)).toThrow(TypeError);
});

test("flush waits for the other transports if one fails, and accepts any timeout", async () => {
  const errors: Error[] = [];
  const sent: LogEntry[] = [];
  const logger = createLogger({
    transport: [
      {
        write() {},
        flush() {
          throw new Error("no");
        },
      },
      {
        async send(entries) {
          await new Promise((resolve) => setTimeout(resolve, 50));
          sent.push(...entries);
        },
      },
    ],
    onError: (error) => errors.push(error),
  });
  logger.info("x");
  expect(await logger.flush({ timeoutMs: Number.POSITIVE_INFINITY })).toMatchObject({ pending: 0 });
  expect(sent.length).toBe(1);
  expect(errors.map(({ message }) => message)).toEqual(["no"]);
});

test("memoryTransport asserts", () => {
  const { logger, memory } = setup();
  logger.http.response("GET /x 200", { status: 200, tags: ["a"] });
  expect(memory.assertLogged({ category: "http", message: /200/, data: { tags: ["a"] } }).message).toBe("GET /x 200");
  expect(() => memory.assertLogged({ message: "nothing" })).toThrow(/GET \/x 200/);
  expect(() => memory.assertLogged({ level: "info" }, 2)).toThrow(/1 instead of 2/);
  expect(() => memory.assertNotLogged({ level: "info" })).toThrow(/GET/);
});
