import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findBun } from "../scripts/lib/bun.ts";
import type { LogEntry } from "../src/index.ts";
import { type Reply, type Sink, sleep, startSink } from "./support/sink.ts";

const APP = path.join(import.meta.dirname, "support/app.mjs");
const RUNTIMES = [
  ["node", process.execPath],
  ["bun", findBun() ?? ""],
] as const;

let dir = "";
let sink: Sink;
let answer: () => Reply;

beforeEach(async () => {
  dir = mkdtempSync(path.join(tmpdir(), "taffrail-spool-"));
  answer = () => ({ status: 201 });
  sink = await startSink(() => answer());
});
afterEach(async () => {
  await sink.close();
  rmSync(dir, { recursive: true, force: true });
});

interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
  errors: string;
}

async function run(
  runtime: string,
  how: string,
  options: { signal?: NodeJS.Signals; count?: number; timeoutMs?: number; flags?: string[] } = {},
): Promise<End> {
  // Long enough for a delivery on a busy machine.
  const { flags = [], count = 10, timeoutMs = 8000 } = options;
  const child = spawn(runtime, [...flags, APP, how, sink.url, dir, String(count), String(timeoutMs)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const exit = once(child, "exit");
  if (options.signal) {
    await once(child.stdout, "data");
    child.kill(options.signal);
  }
  const [code, signal] = await exit;
  return { code, signal, errors };
}

function numbers(entries: readonly LogEntry[]): unknown[] {
  return entries.filter(({ message }) => message === "entry").map(({ data }) => data?.n);
}

const TEN = Array.from({ length: 10 }, (_, n) => n);

describe.each(RUNTIMES)("%s", (name, runtime) => {
  beforeEach(({ skip }) => skip(runtime === "", `${name} is not installed`));

  test("delivers 10 of 10 at an empty event loop, without a delay", async () => {
    expect(await run(runtime, "natural")).toMatchObject({ code: 0 });
    expect(numbers(sink.stored())).toEqual(TEN);
    expect(readdirSync(dir)).toEqual([]);
  });

  test.each(["SIGTERM", "SIGINT"] as const)(
    "delivers 10 of 10 after %s without a delay, and ends by the signal",
    async (signal) => {
      expect(await run(runtime, "signal", { signal })).toMatchObject({ code: null, signal });
      expect(numbers(sink.stored())).toEqual(TEN);
      expect(readdirSync(dir)).toEqual([]);
    },
  );

  test("leaves the shutdown to an application that handles SIGTERM, and delivers what that logs", async () => {
    expect(await run(runtime, "graceful", { signal: "SIGTERM" })).toMatchObject({ code: 0 });
    await run(runtime, "natural", { count: 0 });
    // Concurrent requests may arrive in any order.
    const all = sink.stored().map(({ data }) => Number(data?.n));
    expect(all.sort((a, b) => a - b)).toEqual([...TEN, 10]);
  });

  test.each(["uncaught", "rejection"])(
    "delivers 10 of 10 and the error after %s, and prints it with exit code 1",
    async (how) => {
      const { code, errors } = await run(runtime, how);
      expect(code).toBe(1);
      expect(errors).toContain("of the test");
      expect(numbers(sink.stored())).toEqual(TEN);
      expect(sink.stored()[10]).toMatchObject({ level: "fatal", category: "system", type: "error" });
    },
  );

  test("spools after process.exit, and delivers 10 of 10 after the next start", async () => {
    expect(await run(runtime, "exit")).toMatchObject({ code: 0 });
    expect(sink.seen.length).toBe(0);
    expect(readdirSync(dir).length).toBe(1);
    await run(runtime, "natural", { count: 0 });
    expect(numbers(sink.stored())).toEqual(TEN);
    expect(readdirSync(dir)).toEqual([]);
  });

  test("spools what the application's exit listeners log", async () => {
    expect(await run(runtime, "listener")).toMatchObject({ code: 0 });
    await run(runtime, "natural", { count: 0 });
    expect(numbers(sink.stored())).toEqual([...TEN, 10, 11]);
    expect(readdirSync(dir)).toEqual([]);
  });

  test("spools if the sink is down at the end, and delivers after the next start", async () => {
    answer = () => ({ status: 503 });
    await run(runtime, "signal", { signal: "SIGTERM", timeoutMs: 2000 });
    expect(sink.stored().length).toBe(0);
    answer = () => ({ status: 201 });
    await run(runtime, "natural", { count: 0 });
    expect(numbers(sink.stored())).toEqual(TEN);
  });

  test("repeats the id after the next start if the process ended before the answer, without duplicates", async () => {
    answer = () => "cut";
    await run(runtime, "uncaught", { timeoutMs: 2000 });
    expect(sink.storedTwice()).toBeGreaterThan(0);
    answer = () => ({ status: 201 });
    await run(runtime, "natural", { count: 0 });
    expect(numbers(sink.stored())).toEqual(TEN);
  });
});

/**
 * Values of `Math.random` for the backoff, and milliseconds for the flush: with 0 the retries end after 7 s, before the
 * process; with almost 1 the third of four requests is sent after 6 s and the fourth would be after 14 s.
 */
test.each([
  ["shortest", 0, 40_000, 40],
  ["longest", 0.999, 10_000, 30],
])(
  "spools 10 of 10 at an empty event loop if the service is unreachable and the %s waits, and delivers after the next start",
  async (_, r, timeoutMs, requests) => {
    answer = () => ({ status: 503 });
    const flags = ["--import", `data:text/javascript,Math.random=()=>${r}`];
    await Promise.all(Array.from({ length: 10 }, () => run(process.execPath, "natural", { flags, timeoutMs })));
    expect(readdirSync(dir).length).toBe(10);
    expect(sink.seen.length).toBe(requests);
    answer = () => ({ status: 201 });
    await run(process.execPath, "natural", { count: 0 });
    expect(numbers(sink.stored()).length).toBe(100);
    expect(new Set(sink.seen.map(({ id }) => id)).size).toBe(10);
    expect(readdirSync(dir)).toEqual([]);
  },
);

test("sends each file from one of several processes that start together", async () => {
  for (let i = 0; i < 6; i++) await run(process.execPath, "exit");
  await Promise.all(Array.from({ length: 4 }, () => run(process.execPath, "natural", { count: 0 })));
  expect(numbers(sink.stored()).length).toBe(60);
  expect(new Set(sink.seen.map(({ id }) => id)).size).toBe(sink.seen.length);
  expect(readdirSync(dir)).toEqual([]);
});

test("sends the claimed files of a process that was killed", async () => {
  await run(process.execPath, "exit");
  answer = () => null;
  const child = spawn(process.execPath, [APP, "signal", sink.url, dir, "0"], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  while (sink.seen.length === 0) await sleep(10);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(readdirSync(dir)[0]).toContain("claimed");
  answer = () => ({ status: 201 });
  await run(process.execPath, "natural", { count: 0 });
  expect(numbers(sink.stored())).toEqual(TEN);
  expect(readdirSync(dir)).toEqual([]);
});
