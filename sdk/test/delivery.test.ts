import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test, vi } from "vitest";
import { createLogger, type DropReason, type LogEntry, type Logger, type LoggerOptions } from "../src/index.ts";
import { createLines } from "../src/transports/lines.ts";
import { type Reply, type Seen, type Sink, sleep, startSink } from "./support/sink.ts";

let sink: Sink | undefined;
let logger: Logger | undefined;

afterEach(async () => {
  await logger?.close({ timeoutMs: 0 });
  await sink?.close();
  sink = logger = undefined;
});

interface Setup {
  sink: Sink;
  logger: Logger;
  drops: { entries: LogEntry[]; reason: DropReason }[];
  errors: Error[];
}

async function setup(
  answer?: (request: Seen, number: number) => Reply | Promise<Reply>,
  options: Partial<LoggerOptions> = {},
): Promise<Setup> {
  const drops: Setup["drops"] = [];
  const errors: Error[] = [];
  sink = await startSink(answer);
  logger = createLogger({
    apiKey: "sk_test_0123456789",
    onDrop: (entries, reason) => drops.push({ entries, reason }),
    onError: (error) => errors.push(error),
    ...options,
    apiUrl: sink.url,
    projectId: "proj_test",
    transport: "batch",
  });
  return { sink, logger, drops, errors };
}

/** Logs `count` entries, numbered in `data.n`. */
function logMany(logger: Logger, count: number, from = 0): void {
  for (let n = from; n < from + count; n++) logger.info("entry", { n });
}

/** Expects every number from 0 to `count` once. */
function expectAll(entries: readonly LogEntry[], count: number): void {
  const numbers = entries.map(({ data }) => Number(data?.n)).sort((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: count }, (_, n) => n));
}

test("sends the key, the idempotency key and NDJSON, compressed from 1 KiB", async () => {
  const { sink, logger } = await setup();
  logger.info("one");
  await logger.flush();
  logMany(logger, 40);
  await logger.flush();
  const [small, large] = sink.seen;
  expect(small?.headers.authorization).toBe("Bearer sk_test_0123456789");
  expect(small?.headers["content-type"]).toBe("application/x-ndjson");
  expect(small?.headers["content-encoding"]).toBeUndefined();
  expect(small?.id).toMatch(/^[\x20-\x7e]{1,128}$/);
  expect(large?.headers["content-encoding"]).toBe("gzip");
  expect(large?.id).not.toBe(small?.id);
});

test("delivers 5,000 entries/s at a round trip of 50 ms with the defaults", async () => {
  const { sink, logger, drops } = await setup(async () => {
    await sleep(50);
    return { status: 201 };
  });
  let n = 0;
  const start = Date.now();
  while (n < 15_000) {
    const due = Math.min(Math.floor((Date.now() - start) * 5), 15_000);
    for (; n < due; n++) logger.info("entry", { n });
    await sleep(2);
  }
  const result = await logger.flush();
  expect(result.pending).toBe(0);
  expect(drops).toEqual([]);
  expectAll(sink.stored(), 15_000);
});

test("delivers what fits the byte limit of a burst of 50,000, and drops the rest through onDrop", async () => {
  const { sink, logger, drops } = await setup();
  logMany(logger, 50_000);
  const result = await logger.flush();
  expect(result.pending).toBe(0);
  const dropped = drops.flatMap(({ entries }) => entries);
  expect(new Set(drops.map(({ reason }) => reason))).toEqual(new Set(["queue-full"]));
  expect(sink.stored().length).toBeGreaterThan(20_000);
  expectAll([...sink.stored(), ...dropped], 50_000);
  expect(Math.max(...sink.seen.map(({ entries }) => entries.length))).toBe(1000);
});

test("delivers a burst within the limit completely, in full requests", async () => {
  const { sink, logger } = await setup();
  logMany(logger, 10_000);
  await logger.flush();
  expectAll(sink.stored(), 10_000);
  expect(sink.seen.length).toBe(10);
});

test("drops the oldest entries of the lowest level if the queue is full", async () => {
  const { sink, logger, drops } = await setup(undefined, { level: "trace", batch: { maxQueueBytes: 64 * 1024 } });
  for (let n = 0; n < 100; n++) logger.debug("debug", { n });
  for (let n = 0; n < 500; n++) logger.error("error", { n });
  logger.trace("late");
  await logger.flush();
  const dropped = drops.flatMap(({ entries }) => entries);
  expect(dropped.slice(0, 100).map(({ level, data }) => [level, data?.n])).toEqual(
    Array.from({ length: 100 }, (_, n) => ["debug", n]),
  );
  expect(dropped.some(({ level }) => level === "trace")).toBe(true);
  const kept = sink.stored();
  expect(kept.every(({ level }) => level === "error")).toBe(true);
  expect(kept.length + dropped.length).toBe(601);
});

test("drops no other entry for one that does not fit beside the deliveries in flight", async () => {
  const { sink, logger, drops } = await setup(() => null, {
    level: "trace",
    batch: { maxQueueBytes: 64 * 1024, concurrency: 1 },
  });
  const ofBytes = (bytes: number) => ({ text: "x".repeat(bytes) });
  logger.error("in flight", ofBytes(30_000));
  logger.flush({ timeoutMs: 0 });
  for (let n = 0; n < 10; n++) logger.debug("waits", ofBytes(2000));
  logger.error("too large", ofBytes(40_000));
  expect(drops.flatMap(({ entries }) => entries.map(({ message }) => message))).toEqual(["too large"]);
  logger.error("fits in place of some", ofBytes(20_000));
  expect(new Set(drops.slice(1).flatMap(({ entries }) => entries.map(({ message }) => message)))).toEqual(
    new Set(["waits"]),
  );
  expect(drops.length).toBeLessThan(6);
  expect(sink.stored()).toEqual([]);
});

test.each([
  ["sk_wrong", "Unknown key", "Unknown key. Check apiKey (TAFFRAIL_API_KEY)."],
  ["sk_wrong", "Unknown key.", "Unknown key. Check apiKey (TAFFRAIL_API_KEY)."],
  ["", "Send an API key as Bearer.", "Send an API key as Bearer. No apiKey (TAFFRAIL_API_KEY) is set."],
])(
  "reports the first 401 and its drops once on the console if no callbacks are set: key %j, answer %j",
  async (apiKey, message, reported) => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const { url } = await setup(() => ({ status: 401, body: { error: { message } } })).then(({ sink }) => sink);
    const logger = createLogger({ apiUrl: url, projectId: "proj_test", apiKey });
    for (let n = 0; n < 3; n++) {
      logger.info("lost");
      await logger.flush();
    }
    expect(warn.mock.calls.map(([, error]) => `${error}`)).toEqual([
      `The service answered 401: ${reported}`,
      "1 dropped so far: rejected. Next report at 10; see onDrop.",
    ]);
    warn.mockRestore();
  },
);

test("loses nothing after 503, 503, 200", async () => {
  const { sink, logger, drops } = await setup((_, n) => ({ status: n < 2 ? 503 : 201 }), {
    batch: { backoffBase: 50 },
  });
  logMany(logger, 500);
  expect(await logger.flush()).toEqual({ delivered: 500, dropped: 0, pending: 0 });
  expectAll(sink.stored(), 500);
  expect(drops).toEqual([]);
});

test("counts nothing as delivered after a 200 of another server", async () => {
  const foreign = ["<html>Log in</html>", {}, null, { data: null }];
  const { sink, logger, drops, errors } = await setup(
    (_, number) => (number < foreign.length ? { status: 200, body: foreign[number] ?? [] } : { status: 201 }),
    { batch: { backoffBase: 5, maxRetries: 4 } },
  );
  logMany(logger, 10);
  expect(await logger.flush()).toEqual({ delivered: 10, dropped: 0, pending: 0 });
  expect(sink.seen.length).toBe(5);
  expect(errors.map(({ message }) => message)).toEqual(
    foreign.map(() => "The service answered 200: no reason given. Check apiUrl (TAFFRAIL_URL)."),
  );
  expect(drops).toEqual([]);
});

test("loses nothing during 4 s of 503 with the default backoff", async () => {
  const start = Date.now();
  const { sink, logger, drops } = await setup(() => ({ status: Date.now() - start < 4000 ? 503 : 201 }));
  for (let n = 0; n < 500; n += 50) {
    logMany(logger, 50, n);
    await sleep(20);
  }
  expect((await logger.flush({ timeoutMs: 30_000 })).pending).toBe(0);
  expectAll(sink.stored(), 500);
  expect(drops).toEqual([]);
});

test("drops entries after the last retry, and waits at least each backoff step", async () => {
  const { sink, logger, drops } = await setup(() => ({ status: 500 }), { batch: { backoffBase: 40, maxRetries: 3 } });
  logMany(logger, 10);
  expect(await logger.flush()).toEqual({ delivered: 0, dropped: 10, pending: 0 });
  expect(sink.seen.length).toBe(4);
  expect(new Set(sink.seen.map(({ id }) => id)).size).toBe(1);
  expect(new Set(sink.seen.map(({ body }) => body)).size).toBe(1);
  expect(drops.map(({ reason }) => reason)).toEqual(["retries"]);
  const waits = sink.seen.slice(1).map(({ at }, i) => at - (sink.seen[i]?.at ?? 0));
  for (const [i, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual(40 * 2 ** i - 5);
});

test.each([
  ["seconds", 1500, () => ({ "Retry-After": "2" })],
  ["a date", 1000, () => ({ "Retry-After": new Date(Date.now() + 3000).toUTCString() })],
  ["X-RateLimit-Reset alone", 1000, () => ({ "X-RateLimit-Reset": String(Math.ceil(Date.now() / 1000) + 2) })],
])("pauses after 429 with %s without counting a retry", async (_, atLeast, headers) => {
  const refusedAt: number[] = [];
  const { sink, logger, drops } = await setup(
    (_, n) => {
      if (n >= 2) return { status: 201 };
      refusedAt.push(Date.now());
      return { status: 429, headers: headers() };
    },
    { batch: { maxRetries: 0 } },
  );
  logMany(logger, 500);
  expect((await logger.flush({ timeoutMs: 20_000 })).pending).toBe(0);
  expectAll(sink.stored(), 500);
  expect(drops).toEqual([]);
  expect((sink.seen[1]?.at ?? 0) - (refusedAt[0] ?? 0)).toBeGreaterThanOrEqual(atLeast);
});

test("sends nothing during a pause, and queues new entries", async () => {
  let refusedAt = 0;
  const { sink, logger } = await setup((_, n) => {
    if (n > 0) return { status: 201 };
    refusedAt = Date.now();
    return { status: 429, headers: { "Retry-After": "2" } };
  });
  logMany(logger, 100);
  // The pause begins with the answer, not with the request.
  while (logger.stats().retries === 0) await sleep(5);
  logMany(logger, 400, 100);
  await logger.flush();
  expectAll(sink.stored(), 500);
  const [first, ...later] = sink.seen;
  expect(first?.entries.length).toBe(100);
  for (const { at } of later) expect(at - refusedAt).toBeGreaterThanOrEqual(1990);
});

test.each([
  ["index", (i: number) => ({ index: i, code: "INVALID_MESSAGE", message: "bad" })],
  ["path", (i: number) => ({ path: `logs.${i}.message`, code: "INVALID_MESSAGE", message: "bad" })],
])("drops only the entries that a 400 names by %s", async (_, detail) => {
  const { sink, logger, drops } = await setup(({ entries }) => {
    const bad = entries.flatMap(({ data }, i) => (data?.n === 7 || data?.n === 30 ? [detail(i)] : []));
    if (bad.length === 0) return { status: 201 };
    return { status: 400, body: { success: false, error: { code: "VALIDATION_ERROR", message: "bad", details: bad } } };
  });
  logMany(logger, 100);
  expect(await logger.flush()).toEqual({ delivered: 98, dropped: 2, pending: 0 });
  expect(sink.seen.length).toBe(2);
  expect(drops.map(({ entries, reason }) => [entries.map(({ data }) => data?.n), reason])).toEqual([
    [[7, 30], "rejected"],
  ]);
  expect(sink.seen[0]?.id).not.toBe(sink.seen[1]?.id);
});

test.each([400, 401, 403, 404, 302])("does not retry a %i that names no entries", async (status) => {
  const { sink, logger, drops, errors } = await setup(() => ({ status, headers: { Location: "/elsewhere" } }));
  logMany(logger, 20);
  expect(await logger.flush()).toEqual({ delivered: 0, dropped: 20, pending: 0 });
  expect(sink.seen.length).toBe(1);
  expect(drops.map(({ reason }) => reason)).toEqual(["rejected"]);
  expect(errors[0]).toMatchObject({ status });
});

test("drops the entries that the receipt rejects, and counts the others as delivered", async () => {
  const { logger, drops } = await setup(() => ({
    status: 201,
    body: { success: true, data: { accepted: 9, rejected: [{ index: 3, code: "INVALID_DATA", message: "no" }] } },
  }));
  logMany(logger, 10);
  expect(await logger.flush()).toEqual({ delivered: 9, dropped: 1, pending: 0 });
  expect(drops.map(({ entries }) => entries[0]?.data?.n)).toEqual([3]);
});

test("halves a batch after 413 until it fits, and drops only an entry that is too large", async () => {
  const { sink, logger, drops } = await setup(({ entries }) =>
    entries.length > 30 || entries.some(({ data }) => data?.n === 55) ? { status: 413 } : { status: 201 },
  );
  logMany(logger, 100);
  expect(await logger.flush()).toEqual({ delivered: 99, dropped: 1, pending: 0 });
  expect(drops.map(({ entries, reason }) => [entries[0]?.data?.n, reason])).toEqual([[55, "too-large"]]);
  expect(new Set(sink.seen.map(({ id }) => id)).size).toBe(sink.seen.length);
});

test("repeats the same bytes under the same key if an answer is lost, without duplicates", async () => {
  // By the key: chance may give every second request of all to one batch, which is then dropped after its retries.
  const answered = new Set<string>();
  const answer = ({ id }: Seen) => {
    if (answered.has(id)) return { status: 201 };
    answered.add(id);
    return "cut" as const;
  };
  const { sink, logger, drops } = await setup(answer, { batch: { backoffBase: 20 } });
  for (let n = 0; n < 500; n += 100) {
    logMany(logger, 100, n);
    await sleep(30);
  }
  await logger.flush();
  expectAll(sink.stored(), 500);
  expect(sink.storedTwice()).toBeGreaterThan(500);
  for (const { id, body } of sink.seen)
    expect(sink.seen.filter((one) => one.id === id).every((one) => one.body === body)).toBe(true);
  expect(drops).toEqual([]);
});

test("bounds memory, ends flush, and retries timed-out requests if a sink never answers", async () => {
  const { sink, logger, drops } = await setup(() => null, {
    batch: { timeout: 300, maxRetries: 100, backoffBase: 10 },
  });
  const filler = "x".repeat(1000);
  for (let round = 0; round < 100; round++) {
    for (let n = 0; n < 200; n++) logger.info(filler, { n });
    await sleep(1);
  }
  expect(logger.stats().pendingBytes).toBeLessThanOrEqual(5 * 1024 * 1024 * 1.1);
  const { pending, delivered } = await logger.flush({ timeoutMs: 700 });
  // The 100 retries of a batch take half a minute at least: without its own end, the flush would wait until none is pending.
  expect(pending).toBeGreaterThan(0);
  expect(delivered).toBe(0);
  expect(pending + drops.length).toBe(20_000);
  expect(sink.seen.length).toBeGreaterThan(4);
});

test("uses no more memory than the length of the lines after evictions and large lines", () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const used = (): number => {
    // The first callback finds the buffers, and the second waits for them.
    collect();
    collect();
    return process.memoryUsage().arrayBuffers;
  };
  for (const bytes of [150, 35_000]) {
    const line = new TextEncoder().encode(`${"x".repeat(bytes)}\n`);
    const before = used();
    const lines = createLines();
    while (lines.bytes < 4_000_000) lines.add(line, 1);
    while (lines.evict(5, 1)) lines.add(line, 5);
    const { count, bytes: measured } = lines;
    expect(used() - before).toBeLessThan(measured * 1.1 + 500_000);
    // A single line of the lowest level among others.
    lines.add(line, 0);
    lines.add(line, 5);
    expect(lines.evict(5, 1)).toEqual(line);
    expect(lines.take(2000, 2 ** 30).length + lines.bytes).toBe((count + 1) * line.length);
  }
});

test("14: flush counts every drop since the flush before, and stderr has the running total", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const { url } = await setup().then(({ sink }) => sink);
  const logger = createLogger({ apiUrl: url, projectId: "proj_test", apiKey: "sk_test" });
  expect(await logger.flush()).toEqual({ delivered: 0, dropped: 0, pending: 0 });
  for (let n = 0; n < 20_000; n++)
    logger.info(`Imported row ${n}`, { row: n, source: "import", note: "x".repeat(150) });
  const { dropped, pendingBytes } = logger.stats();
  // As many as fit into 5 MiB wait; entries of one level are dropped from the newest.
  expect(pendingBytes).toBeGreaterThan(5_242_880 - 400);
  expect(dropped).toBeGreaterThan(1000);
  expect(await logger.flush()).toEqual({ delivered: 20_000 - dropped, dropped, pending: 0 });
  expect(await logger.flush()).toEqual({ delivered: 0, dropped: 0, pending: 0 });
  const told = [1, 10, 100, 1000].filter((count) => count <= dropped);
  expect(warn.mock.calls.map(([, text]) => text)).toEqual(
    told.map((count) => `${count} dropped so far: queue-full. Next report at ${count * 10}; see onDrop.`),
  );
  warn.mockRestore();
});

test("14: two flushes at the same time both count what was dropped before", async () => {
  const { logger } = await setup(() => ({ status: 400 }));
  logMany(logger, 3);
  await logger.flush();
  logMany(logger, 2);
  const both = await Promise.all([logger.flush(), logger.flush()]);
  expect(both.map(({ dropped }) => dropped)).toEqual([2, 2]);
  expect(logger.stats().dropped).toBe(5);
});

test("releases the bytes of delivered and dropped entries", async () => {
  const { logger, drops } = await setup((_, n) => ({ status: n % 3 === 2 ? 400 : 201 }), {
    batch: { maxQueueBytes: 64 * 1024 },
  });
  for (let round = 0; round < 30; round++) {
    logMany(logger, 100, round * 100);
    expect(logger.stats().pending).toBe(100);
    expect(await logger.flush()).toMatchObject({ pending: 0 });
    expect(logger.stats().pendingBytes).toBe(0);
  }
  expect(new Set(drops.map(({ reason }) => reason))).toEqual(new Set(["rejected"]));
  expect(logger.stats()).toMatchObject({ logged: 3000, delivered: 2000, dropped: 1000, pending: 0 });
});

test("replaces a custom backoff that throws by the default first wait", async () => {
  const { sink, logger } = await setup((_, n) => ({ status: n < 2 ? 503 : 201 }), {
    batch: {
      backoffBase: 20,
      backoff() {
        throw new Error("no");
      },
    },
  });
  logMany(logger, 10);
  expect(await logger.flush()).toEqual({ delivered: 10, dropped: 0, pending: 0 });
  expectAll(sink.stored(), 10);
});

test("starts the flush interval at the oldest queued entry under steady traffic", async () => {
  const { sink, logger } = await setup(undefined, { batch: { flushInterval: 200, size: 1000 } });
  for (let n = 0; n < 40; n++) {
    logger.info("steady", { n });
    await sleep(20);
  }
  await logger.flush();
  // Each entry follows the one before by 20 ms at least, so that 600 ms have at most 30.
  expect(sink.seen[0]?.entries.length).toBeLessThanOrEqual(30);
  expect(sink.seen.length).toBeGreaterThan(2);
  expectAll(sink.stored(), 40);
});

test("spreads requests when half of the rate limit is used", async () => {
  const { sink, logger } = await setup(
    () => ({
      status: 201,
      headers: { "X-RateLimit-Limit": "600", "X-RateLimit-Remaining": "10" },
    }),
    { batch: { size: 1 } },
  );
  const start = Date.now();
  for (let n = 0; n < 20; n++) {
    logger.info("one", { n });
    await sleep(20);
  }
  // One request each 100 ms, besides those that were sent before the first answer.
  expect(sink.seen.length).toBeLessThanOrEqual((Date.now() - start) / 100 + 4);
  await logger.flush();
  expectAll(sink.stored(), 20);
});

test("isolates callbacks that throw or log", async () => {
  const { logger } = await setup(() => ({ status: 400 }), {
    onDrop() {
      logger.info("from onDrop");
      throw new Error("onDrop");
    },
    onError() {
      throw new Error("onError");
    },
  });
  logMany(logger, 3);
  expect((await logger.flush()).dropped).toBe(3);
});

test('drops entries after close with the reason "closed"', async () => {
  const { sink, logger, drops } = await setup();
  logger.info("before");
  expect(await logger.close()).toEqual({ delivered: 1, dropped: 0, pending: 0 });
  logger.info("after");
  expect(drops.map(({ entries, reason }) => [entries[0]?.message, reason])).toEqual([["after", "closed"]]);
  expect(sink.stored().length).toBe(1);
});
