import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { DoorBodyFault } from "../../../src/doors/decoder.ts";
import { FirehoseDecoder } from "../../../src/doors/firehose.ts";
import { readerOf } from "../../../src/doors/shared/record-reader.ts";
import { vercelDecoder } from "../../../src/doors/vercel.ts";
import { decode, type NewDecoder } from "./list-sink.ts";

const firehose: NewDecoder = (sink, meter) => new FirehoseDecoder(sink, meter, readerOf());

function requestOf(...records: (string | Uint8Array)[]): string {
  const encoded = records.map((record) => ({ data: Buffer.from(record).toString("base64") }));
  return JSON.stringify({
    requestId: "ed4acda5-034f-9f42-bba1-f29aea6d7d8f",
    timestamp: 1795420800000,
    records: encoded,
  });
}

const CLOUDWATCH = JSON.stringify({
  messageType: "DATA_MESSAGE",
  owner: "123456789012",
  logGroup: "/aws/lambda/checkout",
  logStream: "2026/11/23/[$LATEST]abc",
  subscriptionFilters: ["all"],
  logEvents: [
    {
      id: "1",
      timestamp: 1795420800123,
      message: "2026-11-23T08:00:00.123Z\t5d3c4b2a-1111-2222-3333-444455556666\tERROR\tfailed\n",
    },
    { id: "2", timestamp: 1795420800124, message: '{"level":"WARN","msg":"slow","ms":712}' },
  ],
});
const SHARED = {
  owner: "123456789012",
  logGroup: "/aws/lambda/checkout",
  logStream: "2026/11/23/[$LATEST]abc",
  subscriptionFilters: ["all"],
};

test("reads records of JSON lines, of objects without a separator, of arrays and of text", () => {
  const body = requestOf(
    '{"msg":"a"}\n{"msg":"b"}\n',
    '{"msg":"c"}{"msg":"d"}',
    '[{"msg":"e"}]',
    "2 123 eni-1 ACCEPT OK\n[x] y",
  );
  const { entries } = decode(firehose, body);
  expect(entries.map(({ message }) => message)).toEqual(["a", "b", "c", "d", "e", "2 123 eni-1 ACCEPT OK", "[x] y"]);
  for (let size = 1; size < body.length; size += 11) expect(decode(firehose, body, size).entries).toEqual(entries);
});

test.each([
  ["compressed", requestOf(gzipSync(CLOUDWATCH))],
  ["as text", requestOf(CLOUDWATCH)],
  ["twice in a record", requestOf(Buffer.concat([gzipSync(CLOUDWATCH), gzipSync(CLOUDWATCH)]))],
])("reads messages of CloudWatch Logs, %s", (kind, body) => {
  const { entries } = decode(firehose, body);
  const wanted = [
    {
      time: 1795420800123,
      level: "error",
      message: "2026-11-23T08:00:00.123Z\t5d3c4b2a-1111-2222-3333-444455556666\tERROR\tfailed",
      service: "checkout",
      id: { text: "cloudwatch\n1", hasContent: true },
      data: { cloudwatch: { ...SHARED, id: "1" } },
    },
    {
      time: 1795420800124,
      level: "warn",
      message: "slow",
      service: "checkout",
      id: { text: "cloudwatch\n2", hasContent: true },
      data: { ms: 712, cloudwatch: { ...SHARED, id: "2" } },
    },
  ];
  expect(entries).toEqual(kind === "twice in a record" ? [...wanted, ...wanted] : wanted);
});

test("a control message has no entry", () => {
  const control = CLOUDWATCH.replace("DATA_MESSAGE", "CONTROL_MESSAGE");
  expect(decode(firehose, requestOf(gzipSync(control)))).toMatchObject({ entries: [], rejected: [] });
});

test("a record that cannot be read does not affect the others", () => {
  const broken = gzipSync(CLOUDWATCH).subarray(0, 60);
  broken[20] = 0xff;
  const { entries, rejected } = decode(firehose, requestOf("one", broken, "two", "x".repeat(1_100_000)));
  expect(entries.map(({ message }) => message)).toEqual(["one", "two"]);
  expect(rejected).toHaveLength(2);
});

test("refuses records that inflate to more than 20 MiB, and holds a part of them only", () => {
  const bomb = gzipSync(Buffer.alloc(30 * 1024 * 1024, `${"a".repeat(9_999)}\n`));
  expect(() => decode(firehose, requestOf(bomb))).toThrow(DoorBodyFault);
  const line = gzipSync(Buffer.alloc(10 * 1024 * 1024, "a"));
  const { entries, held } = decode(firehose, requestOf(line));
  expect(entries[0]?.marks?.cut).toEqual({ message: 10 * 1024 * 1024 });
  expect(held).toBeLessThan(2 * 1024 * 1024);
});

test("reads no further than the sink takes records", () => {
  const lines = gzipSync(Buffer.alloc(20 * 1024 * 1024, "a\n"));
  let added = 0;
  const sink = {
    add: () => added++,
    reject: () => {},
    get failure() {
      return added < 5 ? null : {};
    },
  };
  decode((_, meter) => new FirehoseDecoder(sink, meter, readerOf()), requestOf("one", lines, lines));
  expect(added).toBe(5);
});

test("refuses a body that is not JSON", () => {
  expect(() => decode(firehose, "hello")).toThrow(DoorBodyFault);
});

test("a record without valid base64 is rejected alone and counted", () => {
  const records = [
    "null",
    '"!!!"',
    "{}",
    '{"data":5}',
    '{"data":null}',
    '{"data":"a$b%c=="}',
    '{"data":"YQ=a"}',
    '{"data":"YWJjZ"}',
  ];
  const body = `{"records":[{"data":"b25l"},${records.join(",")},{"data":"dHdvPz8\\u002b"},{"data":"dGhyZWU"}]}`;
  for (const size of [1, 7, 1_000]) {
    const { entries, rejected } = decode(firehose, body, size);
    expect(entries.map(({ message }) => message)).toEqual(["one", "two??>", "three"]);
    expect(rejected).toHaveLength(records.length);
  }
});

test.each([
  ["2026-11-23T08:00:00.123Z\tundefined\tWARN\tstarting", "warn"],
  ["[ERROR]\t2026-11-23T08:00:00.123Z\t5d3c4b2a-1111-2222-3333-444455556666\tfailed", "error"],
  ["ERROR plain", null],
])("finds the level of a line of Lambda: %s", (text, level) => {
  const message = JSON.stringify({
    messageType: "DATA_MESSAGE",
    logEvents: [{ id: "1", timestamp: 1, message: text }],
  });
  expect(decode(firehose, requestOf(message)).entries[0]?.level).toBe(level);
});

test("a request of Vercel whose proxy answered from 500 is an error", () => {
  const proxy = { method: "GET", path: "/a", statusCode: 503 };
  const ok = { ...proxy, statusCode: 404 };
  const body = JSON.stringify([
    { proxy },
    { proxy: ok },
    { proxy, level: "warning" },
    { statusCode: 500, message: "m" },
  ]);
  const { entries } = decode((sink, meter) => vercelDecoder(sink, meter), body);
  expect(entries.map(({ level, message }) => `${level} ${message}`)).toEqual([
    "error GET /a 503",
    "null GET /a 404",
    "warn GET /a 503",
    "error m",
  ]);
});

test("keeps the time of an event beside that of a JSON message, and one that cannot be read", () => {
  const logEvents = [
    { id: "1", timestamp: 1795420800123, message: '{"time":"2026-11-23T08:00:00Z","msg":"m"}' },
    { id: "2", timestamp: "soon", message: "n" },
  ];
  const { entries } = decode(firehose, requestOf(JSON.stringify({ messageType: "DATA_MESSAGE", logEvents })));
  expect(entries).toMatchObject([
    { time: Date.parse("2026-11-23T08:00:00Z"), data: { cloudwatch: { timestamp: 1795420800123 } } },
    { time: null, data: { cloudwatch: { timestamp: "soon" } } },
  ]);
});
