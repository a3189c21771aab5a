import { pino } from "pino";
import { expect, expectTypeOf, test, vi } from "vitest";
import { createLogger, type Logger, type LoggerOptions, type LogMethod } from "../src/index.ts";
import { type MemoryTransport, memoryTransport } from "../src/testing.ts";

declare module "../src/types.ts" {
  interface TaffrailCategories {
    critical: "path";
  }
}

function setup(options: Omit<LoggerOptions, "transport"> = {}): { logger: Logger; memory: MemoryTransport } {
  const memory = memoryTransport();
  return { memory, logger: createLogger({ ...options, transport: memory }) };
}

const LEVELS = ["trace", "debug", "log", "info", "warn", "error", "fatal"] as const;

function logged(logger: Logger, memory: MemoryTransport): string {
  memory.clear();
  for (const level of LEVELS) logger[level](level);
  return memory.entries.map(({ message }) => message).join(" ");
}

test("12: a level set at run time applies immediately to the logger and to its earlier and later children, contexts and scopes", () => {
  const { logger, memory } = setup();
  const early = logger.child({ n: 1 });
  const placed = logger.category("http", "request");
  const { request } = logger.http;
  early.http.request("not at debug");
  // @ts-expect-error a type of the user's
  logger.custom.debug("closed");
  memory.clear();
  logger.level = "debug";
  // @ts-expect-error a type of the user's
  logger.custom.debug("open");
  expect(memory.entries.map(({ message, level }) => [message, level])).toEqual([["open", "debug"]]);
  for (const one of [
    logger,
    early,
    placed,
    early.child({ m: 2 }),
    logger.child({}),
    early.category("billing" as "custom", "x"),
  ]) {
    expect(logged(one, memory)).toBe("debug log info warn error fatal");
    expect(one.level).toBe("debug");
  }
  logger.level = "error";
  request("too low");
  logger.http.request("too low");
  for (const one of [logger, early, placed, early.child({ m: 2 })]) expect(logged(one, memory)).toBe("error fatal");
  logger.level = "info";
  for (const one of [logger, early, placed]) expect(logged(one, memory)).toBe("info warn error fatal");
  memory.clear();
  request("again");
  expect(memory.entries).toHaveLength(1);
  logger.level = "trace";
  early.debug("fields stay");
  expect(memory.entries[1]?.data).toEqual({ n: 1 });
});

test("12: a level set on a child applies only to the child", () => {
  const { logger, memory } = setup();
  const child = logger.child({ module: "db" });
  child.http.request("scope of the level before");
  child.level = "trace";
  const grandchild = child.child({});
  expect([logger.level, child.level, grandchild.level]).toEqual(["info", "trace", "trace"]);
  expect(logged(logger, memory)).toBe("info warn error fatal");
  expect(logged(child, memory)).toBe(LEVELS.join(" "));
  expect(logged(grandchild, memory)).toBe(LEVELS.join(" "));
  child.level = "silent";
  child.http.request("closed too");
  expect(logged(child, memory) + logged(grandchild, memory)).toBe("");
  logger.level = "warn";
  expect(child.level).toBe("silent");
  const own = logger.child({}, { level: "error" });
  logger.level = "trace";
  expect(logged(own, memory)).toBe("error fatal");
});

test("12: silent is a method that logs nothing, and a level that disables all others", () => {
  const { logger, memory } = setup({ level: "silent" });
  expect(logged(logger, memory)).toBe("");
  expect(logger.isLevelEnabled("fatal")).toBe(false);
  logger.level = "info";
  logger.silent("nothing", { a: 1 });
  expect(memory.entries).toEqual([]);
  logger.info("x");
  expect(memory.entries).toHaveLength(1);
});

test("12: isLevelEnabled checks level, category and sampling", () => {
  const { logger } = setup({ excludeCategories: ["cache"], sampling: { overrides: { warn: 0 } } });
  expect(LEVELS.filter((level) => logger.isLevelEnabled(level))).toEqual(["info", "error", "fatal"]);
  expect(logger.category("cache").isLevelEnabled("fatal")).toBe(false);
  expect(logger.isLevelEnabled("nonsense")).toBe(false);
  logger.level = "trace";
  expect(logger.isLevelEnabled("trace")).toBe(true);
  expect(logger.explain("trace")).toMatchObject({ sent: true });
});

test("12: an unknown level changes nothing, does not throw, and is reported", () => {
  const onError = vi.fn();
  const { logger, memory } = setup({ onError });
  // @ts-expect-error not a level
  logger.level = "loud";
  // @ts-expect-error not a level either
  expect(logged(logger.child({}, { level: "quiet" }), memory)).toBe("info warn error fatal");
  expect(logger.level).toBe("info");
  expect(onError.mock.calls.map(([error]) => `${error}`)).toEqual(
    Array(2).fill("TypeError: taffrail: level must be one of trace, debug, log, info, warn, error, fatal, silent"),
  );
  // @ts-expect-error throws at construction
  expect(() => setup({ level: "loud" })).toThrow("level must be one of");
});

test("12: other members of pino's logger work or are undefined", () => {
  const { logger } = setup();
  const theirs = pino({ enabled: false });
  const others = [
    "isLevelEnabled",
    "level",
    "silent",
    "child",
    "flush",
    ...LEVELS.filter((level) => level !== "log"),
  ] as const;
  for (const name of others) expect(typeof logger[name]).toBe(typeof theirs[name]);
  for (const name of ["bindings", "setBindings", "levels", "levelVal", "isDebugEnabled", "hasLevel", "setLevel"]) {
    expect([name, Reflect.get(logger, name)]).toEqual([name, undefined]);
  }
});

test("12: a disabled level is one no-op for all loggers until it is enabled", () => {
  const { logger } = setup();
  const child = logger.child({});
  expect(child.debug).toBe(logger.debug);
  expect(child.debug).toBe(logger.silent);
  logger.level = "debug";
  expect(child.debug).not.toBe(logger.silent);
  expect(child.debug).toBe(child.debug);
  const mine: LogMethod = () => {};
  child.debug = mine;
  expect(child.debug).toBe(mine);
});

test("12: warning, notice and critical are levels, and also categories if the application has such names", () => {
  const { logger, memory } = setup();
  const { warning } = logger;
  warning("a", { n: 1 });
  logger.notice(new Error("b"));
  warning.bind(logger)("c");
  logger.critical.path("d");
  // The types have only the category.
  const { critical }: { critical: unknown } = logger;
  if (typeof critical === "function") critical("e");
  logger.level = "error";
  warning("closed");
  expect(memory.entries.map(({ level, category, type, message }) => `${level} ${category}/${type} ${message}`)).toEqual(
    ["warn custom/log a", "info custom/log b", "warn custom/log c", "info critical/path d", "fatal custom/log e"],
  );
  expectTypeOf(logger.warning).toEqualTypeOf<LogMethod>();
  expectTypeOf(logger.critical).not.toBeFunction();
});
