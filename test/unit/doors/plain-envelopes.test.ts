import { expect, test } from "vitest";
import { bytesField, message, numberField } from "../../../bench/protobuf-fields.ts";
import { snappyBlock } from "../../../bench/snappy.ts";
import type { DoorDecoder } from "../../../src/doors/decoder.ts";
import { BulkDecoder } from "../../../src/doors/elasticsearch.ts";
import type { DoorEntrySink } from "../../../src/doors/entry.ts";
import { LokiProtobufDecoder } from "../../../src/doors/loki/protobuf-push.ts";
import { DoorEntries } from "../../../src/doors/shared/door-entries.ts";
import { readerOf } from "../../../src/doors/shared/record-reader.ts";
import { decodeBody } from "../../../src/logs/batch.ts";
import { inOneTurn, type TurnMeter } from "../../../src/platform/turns.ts";

const NOW = Date.UTC(2026, 10, 23, 8, 0, 0, 500);

type Make = (sink: DoorEntrySink, meter: TurnMeter) => DoorDecoder;

/** Stored lines of a body, and how many of its records were not parsed. */
function stored(make: Make, body: Uint8Array, isPlain: boolean) {
  const entries = new DoorEntries(NOW);
  let plain = 0;
  const sink: DoorEntrySink = { add: (entry) => entries.add(entry), reject: (reason) => entries.reject(reason) };
  if (isPlain) {
    sink.addPlain = (...record) => {
      const isStored = entries.addPlain(...record);
      if (isStored) plain++;
      return isStored;
    };
  }
  const decoder = make(sink, entries.meter);
  inOneTurn(decoder.read(body));
  inOneTurn(decoder.end());
  const lines = entries
    .finish()
    .batches.flatMap(({ encoding, body: bytes }) => Buffer.from(decodeBody(encoding, bytes)).toString().split("\n"));
  return { lines, plain, isRetry: entries.isRepeatRetry };
}

/** Expects the same lines, but for the order of members of `data`. @returns how many records were not parsed */
function expectSame(make: Make, body: Uint8Array): number {
  const slow = stored(make, body, false);
  const fast = stored(make, body, true);
  expect(fast.lines.map((line): unknown => JSON.parse(line))).toEqual(
    slow.lines.map((line): unknown => JSON.parse(line)),
  );
  expect(fast.lines.map((line) => Object.keys(JSON.parse(line)))).toEqual(
    slow.lines.map((line) => Object.keys(JSON.parse(line))),
  );
  expect(fast.isRetry).toBe(slow.isRetry);
  return fast.plain;
}

const RECORDS = [
  '{"level":"warn","message":"plain","order":7,"nested":{"a":[1,2]}}',
  '{"level":30,"time":1795420800123,"pid":1,"hostname":"h","msg":"of pino"}',
  '{"level":30,"time":1795420700123,"msg":"at another time"}',
  '{"message":"with a service","service":"own","host":"own"}',
  '{"message":"with labels","labels":"own","_index":"own"}',
  '{"message":"with data","data":{"a":1,"labels":2}}',
  '{"message":"with data and more","data":{"a":1},"b":2}',
  '{"message":"escapes \\n \\u00e9 \\"","level":"notice"}',
  '{"message":"gr\u00fcn"}',
  '{ "message": "spaces" }',
  '{"message":"","x":1}',
  '{"x":1}',
  "{}",
  "not JSON",
  '{"message":"trace","trace_id":"0af7651916cd43dd8448eb211c80319c","session":"s"}',
  '{"message":"large","n":12345678901234567890}',
];

test("Elasticsearch bulk: documents that are not parsed are stored like those that are", () => {
  const actions = [
    '{"index":{}}',
    '{"create":{"_index":"logs"}}',
    '{"index":{"_index":"a\\"b","_id":"7"}}',
    `{"index":{"_index":"${"x".repeat(5_000)}"}}`,
  ];
  const make: Make = (sink, meter) => new BulkDecoder(sink, readerOf(), meter, undefined);
  for (const action of actions) {
    for (const record of RECORDS) expectSame(make, Buffer.from(`${action}\n${record}\n`));
  }
  const all = RECORDS.flatMap((record) => actions.map((action) => `${action}\n${record}\n`)).join("");
  expect(expectSame(make, Buffer.from(all))).toBeGreaterThan(15);
});

test("Loki: lines that are not parsed are stored like those that are", () => {
  const labels = [
    "{}",
    '{service_name="shop", host="web-1"}',
    '{level="notice", app="a\\"b"}',
    '{level="error"}',
    '{trace_id="t"}',
    `{a="${"x".repeat(5_000)}"}`,
    `{service="${"x".repeat(300)}"}`,
  ];
  const make: Make = (sink, meter) => new LokiProtobufDecoder(sink, readerOf(), meter, 1e7);
  let plain = 0;
  for (const text of labels) {
    for (const nanos of [123_000_000, 123_456_789]) {
      const entries = RECORDS.map((record) => {
        const stamp = message(numberField(1, 1_795_420_800), numberField(2, nanos));
        return bytesField(2, message(bytesField(1, stamp), bytesField(2, record)));
      });
      const push = message(bytesField(1, message(bytesField(1, text), ...entries)));
      plain += expectSame(make, snappyBlock(push));
    }
  }
  expect(plain).toBeGreaterThan(30);
});
