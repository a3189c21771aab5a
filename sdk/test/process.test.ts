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
  // Long enough for a busy machine, where nothing hinders a delivery.
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

  test("natural end: 10 of 10 at once", async () => {
    expect(await run(runtime, "natural")).toMatchObject({ code: 0 });
    expect(numbers(sink.stored())).toEqual(TEN);
    expect(readdirSync(dir)).toEqual([]);
  });

  test.each(["SIGTERM", "SIGINT"] as const)(
    "%s: 10 of 10 at once, and the process ends by the signal",
    async (signal) => {
      expect(await run(runtime, "signal", { signal })).toMatchObject({ code: null, signal });
      expect(numbers(sink.stored())).toEqual(TEN);
      expect(readdirSync(dir)).toEqual([]);
    },
  );

  test("an application that shuts itself down on SIGTERM keeps its own way, and what it logs on it", async () => {
    expect(await run(runtime, "graceful", { signal: "SIGTERM" })).toMatchObject({ code: 0 });
    await run(runtime, "natural", { count: 0 });
    // Two requests at the same time may overtake each other.
    const all = sink.stored().map(({ data }) => Number(data?.n));
    expect(all.sort((a, b) => a - b)).toEqual([...TEN, 10]);
  });

  test.each(["uncaught", "rejection"])("%s: 10 of 10 and the error itself, code 1, printed as ever", async (how) => {
    const { code, errors } = await run(runtime, how);
    expect(code).toBe(1);
    expect(errors).toContain("nobody");
    expect(numbers(sink.stored())).toEqual(TEN);
    expect(sink.stored()[10]).toMatchObject({ level: "fatal", category: "system", type: "error" });
  });

  test("process.exit: on disk, and 10 of 10 after the next start", async () => {
    expect(await run(runtime, "exit")).toMatchObject({ code: 0 });
    expect(sink.seen.length).toBe(0);
    expect(readdirSync(dir).length).toBe(1);
    await run(runtime, "natural", { count: 0 });
    expect(numbers(sink.stored())).toEqual(TEN);
    expect(readdirSync(dir)).toEqual([]);
  });

  test("what the application's own exit listeners log is on disk too", async () => {
    expect(await run(runtime, "listener")).toMatchObject({ code: 0 });
    await run(runtime, "natural", { count: 0 });
    expect(numbers(sink.stored())).toEqual([...TEN, 10, 11]);
    expect(readdirSync(dir)).toEqual([]);
  });

  test("a sink that is down at the end: on disk, and there after the next start", async () => {
    answer = () => ({ status: 503 });
    await run(runtime, "signal", { signal: "SIGTERM", timeoutMs: 2000 });
    expect(sink.stored().length).toBe(0);
    answer = () => ({ status: 201 });
    await run(runtime, "natural", { count: 0 });
    expect(numbers(sink.stored())).toEqual(TEN);
  });

  test("stored, unanswered, and the process ends: the next start repeats the id, nothing is doubled", async () => {
    answer = () => "cut";
    await run(runtime, "uncaught", { timeoutMs: 2000 });
    expect(sink.storedTwice()).toBeGreaterThan(0);
    answer = () => ({ status: 201 });
    await run(runtime, "natural", { count: 0 });
    expect(numbers(sink.stored())).toEqual(TEN);
  });
});

/** Waits are lengthened by a random part of themselves: without it retries are used up before the end, with all of it not. */
test.each([
  ["shortest", 0],
  ["longest", 0.999],
])(
  "natural end with the service away and the %s waits: 10 of 10 on disk, and there after the next start",
  async (_, r) => {
    answer = () => ({ status: 503 });
    const flags = ["--import", `data:text/javascript,Math.random=()=>${r}`];
    await Promise.all(Array.from({ length: 10 }, () => run(process.execPath, "natural", { flags, timeoutMs: 10_000 })));
    expect(readdirSync(dir).length).toBe(10);
    expect(sink.seen.length).toBe(r === 0 ? 40 : 30);
    answer = () => ({ status: 201 });
    await run(process.execPath, "natural", { count: 0 });
    expect(numbers(sink.stored()).length).toBe(100);
    expect(new Set(sink.seen.map(({ id }) => id)).size).toBe(10);
    expect(readdirSync(dir)).toEqual([]);
  },
);

test("processes that start at once share out the files: each is sent by one", async () => {
  for (let i = 0; i < 6; i++) await run(process.execPath, "exit");
  await Promise.all(Array.from({ length: 4 }, () => run(process.execPath, "natural", { count: 0 })));
  expect(numbers(sink.stored()).length).toBe(60);
  expect(new Set(sink.seen.map(({ id }) => id)).size).toBe(sink.seen.length);
  expect(readdirSync(dir)).toEqual([]);
});

test("the claim of a process that was killed is taken over", async () => {
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
