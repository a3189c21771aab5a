import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createLogger, type LoggerOptions } from "../src/index.ts";
import { startSink } from "./support/sink.ts";

const APP = path.join(import.meta.dirname, "support/plain.mjs");

let dir = "";
let page: { url: string; close(): void };

beforeEach(async () => {
  dir = mkdtempSync(path.join(tmpdir(), "taffrail-spool-"));
  const server = createServer((_, response) => {
    response.setHeader("Content-Type", "text/html").end("<!doctype html><title>Sign in</title>");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  // SAFETY: it listens on a port.
  const { port } = server.address() as AddressInfo;
  page = {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
});
afterEach(() => {
  page.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Returns a URL of this machine whose port is closed. */
async function closedPort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  // SAFETY: it listens on a port.
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}`;
}

const PLACES: [string, () => string | Promise<string>, RegExp][] = [
  [
    "a closed port",
    closedPort,
    /^taffrail: No answer from http:\S+ \(.*ECONNREFUSED.*\)\. Check apiUrl \(TAFFRAIL_URL\)\. Entries are retried, then dropped; taffrail\/node spools them\.$/,
  ],
  [
    "an unknown host",
    () => "http://logs.invalid",
    /^taffrail: No answer from http:\/\/logs\.invalid \(.+\)\. Check apiUrl \(TAFFRAIL_URL\)\. Entries are retried, then dropped; taffrail\/node spools them\.$/,
  ],
  ["a 200 with HTML", () => page.url, /^taffrail: The service answered 200: .+ Check apiUrl \(TAFFRAIL_URL\)\.$/],
];

/** Runs an application. @returns its output, and the milliseconds from its start to its end */
async function run(entry: string, url: string, options: object = {}) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [APP, entry, url, JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const out = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (out.stderr += text));
  const [code] = await once(child, "close");
  return { ...out, code, ms: performance.now() - startedAt, stats: JSON.parse(out.stdout) };
}

describe.each(PLACES)("11: %s", (_, place, reported) => {
  test("is reported once on stderr with what to check, and does not delay the end of Node by 10 s", async () => {
    // One attempt, without the pauses before three retries, which take at least 7 s.
    const { code, stderr, stats, ms } = await run("index.mjs", await place());
    expect(code).toBe(0);
    expect(stderr.trim()).toMatch(reported);
    expect(stats).toMatchObject({ delivered: 0, requests: 1, pending: 10 });
    expect(ms).toBeLessThan(6500);
  });

  test("leaves all entries in the spool at the end of taffrail/node, without a delay", async () => {
    const { stderr, stats, ms } = await run("node/index.mjs", await place(), { spool: { dir } });
    expect(stderr.trim()).toMatch(reported);
    expect(stats.requests).toBe(1);
    expect(ms).toBeLessThan(6500);
    expect(readdirSync(dir)).toHaveLength(1);
  });
});

async function consoleOf(options: LoggerOptions, work: (logger: ReturnType<typeof createLogger>) => Promise<unknown>) {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  try {
    await work(createLogger({ projectId: "proj_test", batch: { backoffBase: 1, maxRetries: 1 }, ...options }));
    return warn.mock.calls.map((parts) => parts.join(" "));
  } finally {
    warn.mockRestore();
  }
}

test("11: the first failure is reported once, and the first drop", async () => {
  for (const status of [500, 503, 429, 400]) {
    const sink = await startSink((_, n) =>
      n > 3 ? { status: 201 } : { status, body: { error: { message: "not now" } } },
    );
    const lines = await consoleOf({ apiUrl: sink.url }, async (logger) => {
      for (let n = 0; n < 4; n++) {
        logger.info("x");
        await logger.flush();
      }
    });
    expect(lines[0]).toBe(`taffrail: The service answered ${status}: not now`);
    const reason = status >= 500 ? "retries" : "rejected";
    expect(lines.slice(1)).toEqual(
      // A pause drops nothing.
      status === 429 ? [] : [`taffrail: 1 dropped so far: ${reason}. Next report at 10; see onDrop.`],
    );
    await sink.close();
  }
});

test("11: the drops of a full or closed queue are reported: the first, and each tenfold number", async () => {
  const sink = await startSink();
  const lines = await consoleOf({ apiUrl: sink.url, batch: { maxQueueBytes: 1024 } }, async (logger) => {
    for (let n = 0; n < 50; n++) logger.info("x".repeat(300));
    await logger.close();
    logger.info("late");
  });
  expect(lines).toEqual([
    "taffrail: 1 dropped so far: queue-full. Next report at 10; see onDrop.",
    "taffrail: 10 dropped so far: queue-full. Next report at 100; see onDrop.",
  ]);
  await sink.close();
});

test("11: with onError nothing is reported on the console", async () => {
  const errors: Error[] = [];
  const apiUrl = await closedPort();
  const lines = await consoleOf({ apiUrl, onError: (error) => errors.push(error) }, async (logger) => {
    logger.info("x");
    await logger.flush();
  });
  expect(lines).toEqual([]);
  expect(errors).toHaveLength(2);
  expect(errors[0]?.message).toContain("Check apiUrl (TAFFRAIL_URL)");
  expect(errors[0]?.cause).toBeInstanceOf(Error);
});
