import { expect, test } from "vitest";
import { DoorBodyFault } from "../../../src/doors/decoder.ts";
import { BulkDecoder } from "../../../src/doors/elasticsearch.ts";
import { readerOf } from "../../../src/doors/shared/record-reader.ts";
import { decode, mutated, randomFrom } from "../../support/doors/decode.ts";

/** Mutated bodies; more by hand. */
const RUNS = Number(process.env.DOOR_RUNS ?? 1_000);
const decodeBulk = (body: string | Uint8Array, chunk?: number, index?: string) =>
  decode((sink, meter) => new BulkDecoder(sink, readerOf(), meter, index), body, chunk);
type Item = Record<string, { status: number; _index: string; _id: string | null; error?: unknown; result?: string }>;
const answerOf = ({ items }: BulkDecoder, stored: readonly number[] = []) =>
  JSON.parse(items.toJson(stored)) as { errors: boolean; items: Item[] };
const itemsOf = (decoder: BulkDecoder) => answerOf(decoder).items;

const BODY = [
  '{"index":{"_index":"logs"}}',
  '{"@timestamp":"2026-11-23T08:00:00.123Z","message":"first","log.level":"WARN","service":{"name":"shop"},"trace":{"id":"t1"}}',
  '{"create":{"_index":"logs","_id":"a-1"}}',
  '{"@timestamp":"2026-11-23T08:00:00.124Z","message":"second","log":{"level":"error","logger":"x"},"n":12345678901234567890}',
  '{"delete":{"_index":"logs","_id":"a-1"}}',
  '{"update":{"_id":"a-2"}}',
  '{"doc":{"message":"changed"}}',
  '{"create":{}}',
  "not json",
  '{"create":{}}',
  '["an array"]',
  '{"create":{"_index":"other"}}',
  '{"msg":"last"}',
].join("\n");

test("Elasticsearch bulk: documents become entries, and each action has an item in its order under its name", () => {
  for (let size = 1; size <= BODY.length; size += size < 60 ? 1 : 41) {
    const { entries, rejected, decoder } = decodeBulk(BODY, size, "default");
    expect(entries).toEqual([
      {
        time: Date.UTC(2026, 10, 23, 8, 0, 0, 123),
        level: "warn",
        message: "first",
        service: "shop",
        traceId: "t1",
        data: { service: { name: "shop" }, trace: { id: "t1" }, _index: "logs" },
      },
      {
        time: Date.UTC(2026, 10, 23, 8, 0, 0, 124),
        level: "error",
        message: "second",
        data: { log: { level: "error", logger: "x" }, n: "12345678901234567890", _index: "logs", _id: "a-1" },
        id: { text: "elasticsearch\ncreate\nlogs\na-1", hasContent: false },
      },
      { time: null, level: null, message: "last", data: { _index: "other" } },
    ]);
    expect(rejected.length).toBe(4);
    expect(answerOf(decoder).errors).toBe(true);
    const items = itemsOf(decoder);
    expect(
      items.flatMap((item) => Object.entries(item).map(([name, { status, _index }]) => `${name} ${status} ${_index}`)),
    ).toEqual([
      "index 201 logs",
      "create 201 logs",
      "delete 400 logs",
      "update 400 default",
      "create 400 default",
      "create 400 default",
      "create 201 other",
    ]);
    expect(items[2]?.delete?.error).toEqual({ type: "illegal_argument_exception", reason: expect.any(String) });
  }
});

test("Elasticsearch bulk: items have the id of their action, and documents the index of the path", () => {
  const long = "x".repeat(65);
  const body = [`a`, `b`, long].flatMap((id) => [`{"index":{"_id":"${id}"}}`, '{"m":1}']).join("\n");
  const { decoder, entries } = decodeBulk(`${body}\n{"index":{}}\n{"m":1}\n{"delete":{"_id":"d"}}\n`, undefined, "own");
  const items = itemsOf(decoder).flatMap((item) => Object.values(item));
  expect(items.map(({ _id, _index }) => `${_index} ${_id}`)).toEqual([
    "own a",
    "own b",
    "own null",
    "own null",
    "own d",
  ]);
  expect(entries.map(({ data }) => data)).toEqual([
    ...["a", "b", long].map((id) => ({ m: 1, _index: "own", _id: id })),
    { m: 1, _index: "own" },
  ]);
});

test("Elasticsearch bulk: a request without errors says so", () => {
  const { decoder, entries } = decodeBulk('{"index":{}}\r\n{"message":"a"}\r\n\r\n{"index":{}}\r\n{"message":"b"}\r\n');
  expect(answerOf(decoder).errors).toBe(false);
  expect(itemsOf(decoder)).toEqual(Array(2).fill({ index: { _index: "", _id: null, status: 201, result: "created" } }));
  expect(entries.map(({ message }) => message)).toEqual(["a", "b"]);
});

test("Elasticsearch bulk: members beside an action, as winston-elasticsearch sends them, are ignored", () => {
  const { decoder, entries } = decodeBulk('{"attempts":0,"index":{"_index":"a"}}\n{"message":"a"}\n');
  expect(entries.length).toBe(1);
  expect(itemsOf(decoder)[0]?.index?._index).toBe("a");
});

test("Elasticsearch bulk: a last action without a document fails alone", () => {
  const { decoder, rejected } = decodeBulk('{"index":{}}\n{"message":"a"}\n{"index":{}}\n');
  expect(rejected).toEqual(["The action has no document."]);
  expect(itemsOf(decoder).map(({ index }) => index?.status)).toEqual([201, 400]);
});

test.each([
  ["nothing", ""],
  ["line breaks", "\n\n"],
  ["a document without an action", '{"message":"a"}'],
  ["an unknown action", '{"upsert":{}}\n{}'],
  ["an action without an object", '{"index":1}\n{}'],
  ["an array", "[]\n{}"],
  ["text", "hello\n{}"],
])("Elasticsearch bulk: not a bulk request: %s", (_, body) => {
  expect(() => decodeBulk(body)).toThrow(DoorBodyFault);
});

test("Elasticsearch bulk: 20,000 items of a long index name make a small response", () => {
  const { decoder } = decodeBulk(`{"index":{}}\n{"m":1}\n`.repeat(20_001), undefined, "i".repeat(255));
  const json = decoder.items.toJson([]);
  expect(json.length).toBeLessThan(3 * 1024 * 1024);
  expect(itemsOf(decoder).length).toBe(20_000);
});

test("Elasticsearch bulk: a document beyond 1 MiB is cut, and little is held", () => {
  const body = `{"index":{}}\n{"message":"${"x".repeat(2_000_000)}"}\n{"index":{}}\n{"message":"b"}\n`;
  const { entries, held, decoder } = decodeBulk(body);
  expect(entries.map(({ message }) => message?.length)).toEqual([1024 * 1024, 1]);
  expect(entries[0]?.marks).toEqual({ cut: { message: 2_000_014 } });
  expect(itemsOf(decoder).map(({ index }) => index?.status)).toEqual([201, 201]);
  expect(held).toBeLessThanOrEqual(1024 * 1024);
});

test("Elasticsearch bulk: an action that is repeated is read as the first one", () => {
  const actions = [
    '{"create":{"_index":"a"}}',
    '{"index":{"_index":"ü"}}',
    '{"delete":{"_index":"a"}}',
    '{"create":{"_id":"1"}}',
  ];
  for (const action of actions) {
    const hasDocument = !action.includes("delete");
    const pair = `${action}\n${hasDocument ? '{"msg":"a"}\n' : ""}`;
    for (const one of [pair, pair.replace("\n", " \r\n")]) {
      const once = decodeBulk(one);
      const thrice = decodeBulk(one.repeat(3));
      expect(thrice.entries).toEqual([1, 2, 3].flatMap(() => once.entries));
      expect(thrice.rejected).toEqual([1, 2, 3].flatMap(() => once.rejected));
      expect(itemsOf(thrice.decoder)).toEqual([1, 2, 3].flatMap(() => itemsOf(once.decoder)));
    }
  }
  expect(() => decodeBulk(`${'{"delete":{}}\n'.repeat(3)}{"other":{}}`)).toThrow("line [4]");
});

test("Elasticsearch bulk: mutated bodies end with items for every action or with a fault of the body", () => {
  const random = randomFrom(2);
  const body = Buffer.from(BODY);
  let ok = 0;
  for (let i = 0; i < RUNS; i++) {
    try {
      const { decoder, entries, rejected } = decodeBulk(mutated(body, random), 1 + random(300));
      expect(itemsOf(decoder).length).toBe(entries.length + rejected.length);
      ok++;
    } catch (error) {
      if (!(error instanceof DoorBodyFault)) throw error;
    }
  }
  expect(ok).toBeGreaterThan(RUNS / 8);
  expect(ok).toBeLessThan(RUNS);
});

test("Elasticsearch bulk: a document that was stored before is a conflict, an update, or stored, as its action says", () => {
  const actions = ['{"create":{"_id":"a"}}', '{"index":{"_index":"i","_id":"b"}}', '{"create":{}}', '{"create":{}}'];
  const { decoder } = decodeBulk(actions.map((action) => `${action}\n{"m":1}\n`).join(""));
  const told = answerOf(decoder, [0, 1, 3]);
  expect(told.errors).toBe(true);
  expect(told.items.map((item) => Object.values(item).map(({ status, _id, result }) => [status, _id, result]))).toEqual(
    [[[409, "a", undefined]], [[200, "b", "updated"]], [[201, null, "created"]], [[201, null, "created"]]],
  );
  expect(answerOf(decoder, [1]).errors).toBe(false);
});
