import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { DropReason, Logger } from "../src/index.ts";
import { createLogger, type NodeLoggerOptions } from "../src/node/index.ts";
import { createSpool } from "../src/node/spool.ts";
import { type Sink, sleep, startSink } from "./support/sink.ts";

let dir = "";
let sink: Sink;
let logger: Logger | undefined;
let drops: [number, DropReason][];
/** The service's current answer; a function decides by entry. */
let status: number | ((message: string | undefined) => number);

beforeEach(async () => {
  dir = mkdtempSync(path.join(tmpdir(), "taffrail-spool-"));
  drops = [];
  status = 503;
  sink = await startSink(({ entries }) => ({
    status: typeof status === "number" ? status : status(entries[0]?.message),
  }));
});
afterEach(async () => {
  await logger?.close({ timeoutMs: 0 });
  logger = undefined;
  await sink.close();
  rmSync(dir, { recursive: true, force: true });
});

function setup(options: Partial<NodeLoggerOptions> = {}): Logger {
  logger = createLogger({
    batch: { backoffBase: 1, maxRetries: 3 },
    spool: { dir },
    shutdown: false,
    onDrop: (entries, reason) => drops.push([entries.length, reason]),
    ...options,
    apiUrl: sink.url,
    projectId: "proj_test",
    transport: "batch",
  });
  return logger;
}

function stored(): string[] {
  return sink.stored().map(({ message }) => message);
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5);
}

test("spools a batch after the last retry, and sends it under its key after the next delivery", async () => {
  const logger = setup();
  logger.info("one");
  expect(await logger.flush()).toEqual({ delivered: 0, dropped: 0, pending: 0 });
  logger.info("two");
  await logger.flush();
  expect(readdirSync(dir).length).toBe(2);
  expect(logger.stats()).toMatchObject({ delivered: 0, dropped: 0, spooled: 2 });
  expect(sink.seen.length).toBe(8);
  status = 201;
  logger.info("three");
  await logger.flush();
  await until(() => readdirSync(dir).length === 0);
  expect(stored()).toEqual(["three", "one", "two"]);
  expect(new Set(sink.seen.map(({ id }) => id)).size).toBe(3);
  expect(logger.stats()).toMatchObject({ delivered: 3, dropped: 0, pending: 0 });
  expect(drops).toEqual([]);
});

test("does not delay other batches repeatedly by one that always fails", async () => {
  const logger = setup();
  status = (message) => (message === "bad" ? 500 : 201);
  logger.info("bad");
  await logger.flush();
  for (let n = 0; n < 20; n++) {
    logger.info("good");
    await logger.flush();
  }
  await sleep(50);
  expect(stored().length).toBe(20);
  expect(sink.seen.filter(({ entries }) => entries[0]?.message === "bad").length).toBe(8);
  expect(readdirSync(dir).length).toBe(1);
  expect(drops).toEqual([]);
});

test("spools the halves of a batch that was too large", async () => {
  const logger = setup({ batch: { backoffBase: 1, maxRetries: 1 } });
  let isFirst = true;
  status = () => {
    if (!isFirst) return 503;
    isFirst = false;
    return 413;
  };
  logger.info("one");
  logger.info("two");
  await logger.flush();
  expect(readdirSync(dir).length).toBe(2);
  status = 201;
  logger.info("three");
  await logger.flush();
  await until(() => readdirSync(dir).length === 0);
  expect(stored().sort()).toEqual(["one", "three", "two"]);
  expect(drops).toEqual([]);
});

test.each<[string, () => Exclude<NodeLoggerOptions["spool"], undefined>]>([
  ["without a spool", () => false],
  ["with a full spool", () => ({ dir, maxBytes: 10 })],
  [
    "with a directory that cannot be created",
    () => {
      writeFileSync(path.join(dir, "file"), "");
      return { dir: path.join(dir, "file") };
    },
  ],
])("%s entries are dropped after the last retry", async (_, spool) => {
  const logger = setup({ spool: spool() });
  logger.info("one");
  expect(await logger.flush()).toEqual({ delivered: 0, dropped: 1, pending: 0 });
  expect(drops).toEqual([[1, "retries"]]);
});

test("keeps a delivery in its file if a full spool cannot store it again", async () => {
  setup();
  logger?.info("one");
  await logger?.flush();
  await logger?.close();
  const next = setup({ spool: { dir, maxBytes: 10 } });
  await until(() => sink.seen.length === 8 && next.stats().pending === 0);
  expect(readdirSync(dir)).toEqual([expect.stringMatching(/\.spool$/)]);
  expect(drops).toEqual([]);
  expect(next.stats().spooled).toBe(0);
});

test("claims files of one millisecond in the order in which they were written", () => {
  const ids = Array.from({ length: 50 }, (_, n) => `id-${n}`);
  const before = createSpool("http://localhost", "proj_test", { dir });
  for (const id of ids) before.add({ id, body: new TextEncoder().encode("{}\n"), count: 1 });
  const after = createSpool("http://localhost", "proj_test", { dir });
  const found: string[] = [];
  for (let claim = after.claim(); claim; claim = after.claim()) {
    found.push(...claim.deliveries.map(({ id }) => id));
    claim.remove();
  }
  expect(found).toEqual(ids);
});
