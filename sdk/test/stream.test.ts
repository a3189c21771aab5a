import { afterEach, expect, test } from "vitest";
import { createLogger, type Logger, type LoggerOptions } from "../src/index.ts";
import { type Reply, type Seen, type Sink, startSink } from "./support/sink.ts";

let sink: Sink | undefined;
let logger: Logger | undefined;

afterEach(async () => {
  await logger?.close({ timeoutMs: 0 });
  await sink?.close();
  sink = logger = undefined;
});

async function setup(answer: (request: Seen, number: number) => Reply, batch: LoggerOptions["batch"] = {}) {
  sink = await startSink(answer);
  const { url } = sink;
  logger = createLogger({
    apiUrl: url,
    projectId: "proj_test",
    transport: "batch",
    batch: { backoff: () => 1, ...batch },
  });
  return { sink, logger };
}

interface StreamHeader {
  stream: string;
  first: number;
  count: number;
  drops: Record<string, number>;
}

function headerOf({ headers }: Seen): StreamHeader {
  const [stream = "", ...members] = String(headers["taffrail-stream"]).split(";");
  const { first, count, epoch, ...drops } = Object.fromEntries(
    members.map((member) => [member.split("=")[0], Number(member.split("=")[1])]),
  );
  expect(epoch).toBeGreaterThan(1.7e12);
  return { stream, first: first ?? -1, count: count ?? -1, drops };
}

const OK: Reply = { status: 201 };

test("18.5: each request has the numbers of its entries, in one stream without gaps", async () => {
  const { sink, logger } = await setup(() => OK);
  for (let n = 0; n < 5; n++) logger.info("a", { n });
  await logger.flush();
  logger.info("b");
  await logger.flush();
  const [first, second] = sink.seen.map(headerOf);
  expect([first?.first, first?.count, second?.first, second?.count]).toEqual([0, 5, 5, 1]);
  expect(second?.stream).toBe(first?.stream);
  expect(first?.stream).toMatch(/^[\w-]{36}$/);
});

test("18.5: a retry has the same numbers, and halves have theirs", async () => {
  const { sink, logger } = await setup(({ entries }, number) =>
    number === 0 ? { status: 503, body: {} } : entries.length > 3 ? { status: 413, body: {} } : OK,
  );
  for (let n = 0; n < 5; n++) logger.info("a", { n });
  await logger.flush();
  const ranges = sink.seen.map(headerOf).map(({ first, count }) => [first, count]);
  expect(ranges).toEqual([
    [0, 5],
    [0, 5],
    [0, 2],
    [2, 3],
  ]);
});

test("18.5: the rest of a delivery stands for the entries that were refused by name", async () => {
  const details = [{ path: "logs.1.message" }];
  const { sink, logger } = await setup((_, number) =>
    number === 0 ? { status: 400, body: { error: { code: "VALIDATION_ERROR", details } } } : OK,
  );
  for (let n = 0; n < 3; n++) logger.info("a", { n });
  await logger.flush();
  expect(sink.seen.map(headerOf)).toMatchObject([
    { first: 0, count: 3, drops: {} },
    { first: 0, count: 3, drops: {} },
  ]);
  expect(sink.seen[1]?.entries).toHaveLength(2);
});

test("18.5: the next request says what was dropped, by reason", async () => {
  const { sink, logger } = await setup(({ body }) => (body.includes('"bad"') ? { status: 503, body: {} } : OK), {
    maxRetries: 1,
    maxQueueBytes: 2000,
    flushInterval: 60_000,
    size: 1000,
  });
  logger.info("bad");
  await logger.flush();
  for (let n = 0; n < 40; n++) logger.info("entry", { n });
  await logger.flush();
  const last = sink.seen.map(headerOf).at(-1);
  expect(last).toMatchObject({ first: 1, drops: { retries: 1, "queue-full": 40 - Number(last?.count) } });
});
