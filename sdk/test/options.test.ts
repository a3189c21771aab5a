import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, expectTypeOf, test, vi } from "vitest";
import { type BrowserLoggerOptions, createLogger as createPageLogger } from "../src/browser/index.ts";
import { createLogger, type LoggerOptions } from "../src/index.ts";
import { createLogger as createNodeLogger } from "../src/node/index.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test("15: createLogger() without options names all missing options", () => {
  for (const name of ["TAFFRAIL_URL", "TAFFRAIL_PROJECT", "TAFFRAIL_API_KEY"]) vi.stubEnv(name, undefined);
  const all = "taffrail: missing apiUrl (TAFFRAIL_URL), projectId (TAFFRAIL_PROJECT), apiKey (TAFFRAIL_API_KEY)";
  expect(() => createLogger()).toThrow(new TypeError(all));
  expect(() => createNodeLogger()).toThrow(new TypeError(all));
  expect(() => createLogger({ apiKey: "sk_0123456789", apiUrl: "http://x" })).toThrow(
    "missing projectId (TAFFRAIL_PROJECT)",
  );
  // The key is optional.
  expect(() => createLogger({ apiUrl: "http://127.0.0.1:1", projectId: "p" })).not.toThrow();
  expect(() => createLogger({ apiUrl: "127.0.0.1:1", projectId: "p" })).toThrow("apiUrl must be an http(s) URL");
});

test("15: each misspelt option is reported once, with a list of the options", () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  // A variable is not checked for excess members, unlike a literal.
  const misspelt: object = {
    transport: "memory",
    apikey: "sk",
    batch: { flushIntervall: 1, gzip: true },
    sampling: { rates: 1 },
  };
  for (let n = 0; n < 3; n++) createLogger({ ...misspelt });
  const lines = warn.mock.calls.map(([line]) => `${line}`);
  expect(lines.map((line) => line.split(";")[0])).toEqual([
    'taffrail: unknown option "apikey"',
    'taffrail: unknown option "batch.flushIntervall"',
    'taffrail: unknown option "sampling.rates"',
  ]);
  expect(lines[0]).toContain("apiKey");
  expect(lines[1]).toContain("flushInterval,");
});

test("15: no existing option is reported", () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const all: Required<LoggerOptions> = {
    apiUrl: "http://127.0.0.1:1",
    projectId: "p",
    apiKey: "sk_0123456789",
    transport: "memory",
    level: "info",
    service: "s",
    version: "1",
    environment: "e",
    host: "h",
    categories: null,
    excludeCategories: null,
    sampling: { rate: 1, overrides: {} },
    defaultMeta: {},
    sessionId: "s",
    beforeSend: (entry) => entry,
    onError() {},
    onDrop() {},
    debug: false,
    batch: {
      size: 1,
      flushInterval: 1,
      maxRetries: 1,
      backoff: "fixed",
      backoffBase: 1,
      maxQueueBytes: 5000,
      concurrency: 1,
      timeout: 1,
      gzip: false,
    },
    redact: [],
  };
  createLogger(all);
  createNodeLogger({ ...all, shutdown: false, spool: false });
  expect(warn.mock.calls).toEqual([]);
  expectTypeOf<Required<NonNullable<LoggerOptions["batch"]>>>().toEqualTypeOf<{
    [K in keyof typeof all.batch]-?: NonNullable<(typeof all.batch)[K]>;
  }>();
});

test("15: no existing option of a page's logger is reported", () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const all: Required<BrowserLoggerOptions> = {
    url: "/logs",
    level: "info",
    service: "s",
    version: "1",
    environment: "e",
    captureErrors: false,
    categories: null,
    excludeCategories: null,
    sampling: {},
    defaultMeta: {},
    sessionId: "s",
    beforeSend: (entry) => entry,
    onError() {},
    onDrop() {},
    debug: false,
    batch: {},
    redact: [],
  };
  createPageLogger(all);
  expect(warn.mock.calls).toEqual([]);
  createPageLogger({ ...all, ...{ redacted: [] } });
  expect(warn.mock.calls).toEqual([[expect.stringContaining('unknown option "redacted"')]]);
});

test.each([
  ["throw", /^\S*throws\.mjs:\d+\n\s+JSON\.parse\("\{ of the user"\);\n\s+\^\n\nSyntaxError: .+\n\s+at JSON\.parse/],
  ["rejection", /^\S*throws\.mjs:\d+\n\s+JSON\.parse\("\{ of the user"\);\n\s+\^\n\nSyntaxError: /],
  [
    "cause",
    /^\S*throws\.mjs:\d+\n.+throw new RangeError.+\n\s+\^\n\nRangeError: outer\n[\s\S]+\[cause\]: Error: inner/,
  ],
  ["forged", /^\S*throws\.mjs:\d+\n.+throw new Error.+\n\s+\^\n\nError: x\n/],
  ["text", /^Uncaught:\n'only a text'\n/],
])("15: an uncaught error (%s) prints the user's frame, not the library's", async (how, expected) => {
  const app = path.join(import.meta.dirname, "support/throws.mjs");
  const { code, stderr } = (await promisify(execFile)(process.execPath, [app, how]).catch(
    (error: { code: number; stderr: string }) => error,
  )) as { code: number; stderr: string };
  expect(code).toBe(1);
  expect(stderr).toMatch(expected);
  expect(stderr).toMatch(/\n\nNode\.js v\d+\.\d+\.\d+\n$/);
  expect(stderr).not.toContain("/dist/");
});
