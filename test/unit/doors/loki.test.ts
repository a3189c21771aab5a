import { expect, test } from "vitest";
import { bytesField, message, numberField } from "../../../bench/protobuf-fields.ts";
import { snappyBlock } from "../../../bench/snappy.ts";
import { DoorBodyFault } from "../../../src/doors/decoder.ts";
import { labelsOf, lokiTime } from "../../../src/doors/loki/entries.ts";
import { LokiJsonDecoder } from "../../../src/doors/loki/json-push.ts";
import { LokiProtobufDecoder } from "../../../src/doors/loki/protobuf-push.ts";
import { readerOf } from "../../../src/doors/shared/record-reader.ts";
import { ApiError } from "../../../src/http/errors.ts";
import { decode, mutated, randomFrom } from "../../support/doors/decode.ts";
import { threadMs } from "../../support/thread-time.ts";

const READER = readerOf();
/** Mutated bodies; more by hand. */
const RUNS = Number(process.env.DOOR_RUNS ?? 1_000);
const MIB = 1024 * 1024;

type Value = readonly [nanoseconds: string, line: string, metadata?: Record<string, string>];
interface Stream {
  labels: Record<string, string>;
  values: readonly Value[];
}

function jsonPush(streams: readonly Stream[]): string {
  return JSON.stringify({ streams: streams.map(({ labels, values }) => ({ stream: labels, values })) });
}

function protobufPush(streams: readonly Stream[]): Uint8Array {
  return message(
    ...streams.map(({ labels, values }) => {
      const text = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
      return bytesField(1, message(bytesField(1, `{${text.join(", ")}}`), ...values.map(entryField)));
    }),
  );
}

function entryField([nanoseconds, line, metadata = {}]: Value): Uint8Array {
  const time = BigInt(nanoseconds);
  const stamp = message(numberField(1, time / 1_000_000_000n), numberField(2, time % 1_000_000_000n));
  const pairs = Object.entries(metadata).map(([name, value]) =>
    bytesField(3, message(bytesField(1, name), bytesField(2, value))),
  );
  return bytesField(2, message(bytesField(1, stamp), bytesField(2, line), ...pairs));
}

const decodeJson = (body: string | Uint8Array, chunk?: number) =>
  decode((sink, meter) => new LokiJsonDecoder(sink, READER, meter), body, chunk);
const decodeProtobuf = (body: Uint8Array, chunk?: number) =>
  decode((sink, meter) => new LokiProtobufDecoder(sink, READER, meter, 20 * MIB), body, chunk);

const STREAMS: Stream[] = [
  {
    labels: { service_name: "shop", hostname: "web-1", level: "warn", path: 'C:\\logs\\"a"' },
    values: [
      ["1795435200123456789", "plain text"],
      [
        "1795435200124000000",
        '{"level":50,"time":1795435200124,"pid":7,"msg":"order failed","order":12345678901234567890}',
      ],
      [
        "1795435200125000000",
        "with metadata",
        { trace_id: "0af7651916cd43dd8448eb211c80319c", detected_level: "error", pod: "p" },
      ],
    ],
  },
  {
    labels: { job: "cron" },
    values: [
      ["1795435201000000000", '{"labels":"own","host":"h","message":"m"}'],
      ["-5", ""],
    ],
  },
];

const ENTRIES = [
  {
    time: 1795435200123.4568,
    sentTime: "1795435200123456789",
    level: "warn",
    message: "plain text",
    service: "shop",
    host: "web-1",
    data: { labels: STREAMS[0]?.labels },
  },
  {
    time: 1795435200124,
    level: "warn",
    message: "order failed",
    service: "shop",
    host: "web-1",
    data: { pid: 7, order: "12345678901234567890", labels: STREAMS[0]?.labels, line: { level: "error" } },
  },
  {
    time: 1795435200125,
    level: "error",
    message: "with metadata",
    service: "shop",
    host: "web-1",
    traceId: "0af7651916cd43dd8448eb211c80319c",
    data: { labels: STREAMS[0]?.labels, metadata: STREAMS[0]?.values[2]?.[2] },
  },
  {
    time: 1795435201000,
    level: null,
    message: "m",
    service: "cron",
    host: "h",
    data: { labels: { job: "cron" }, line: { labels: "own" } },
  },
];

test("Loki JSON: labels, lines, metadata and nanoseconds become entries, whatever chunks they arrive in", () => {
  const body = jsonPush(STREAMS);
  for (let size = 1; size <= body.length; size += size < 60 ? 1 : 41) {
    const { entries, rejected } = decodeJson(body, size);
    expect(entries.slice(0, 4)).toEqual(ENTRIES);
    expect(entries[4]).toMatchObject({ time: -5e-6, sentTime: "-5" });
    expect(rejected).toEqual([]);
  }
});

test("Loki Snappy protobuf: the same push makes the same entries, whatever chunks it arrives in", () => {
  const block = snappyBlock(protobufPush(STREAMS));
  for (let size = 1; size <= block.length; size += size < 60 ? 1 : 41) {
    expect(decodeProtobuf(block, size).entries.slice(0, 4)).toEqual(ENTRIES);
  }
});

test("Loki: entries that come before the labels of their stream get them", () => {
  const json =
    '{"other":[1,{"a":[]}],"streams":[{"values":[["1","a"],["2","b"]],"stream":{"app":"x"}},{"values":[["3","c"]]}]}';
  const expected = [{ app: "x" }, { app: "x" }, undefined];
  expect(decodeJson(json, 7).entries.map(({ data }) => data.labels)).toEqual(expected);
  const first = message(entryField(["1", "a"]), entryField(["2", "b"]), bytesField(1, '{app="x"}'));
  const push = message(bytesField(1, first), bytesField(1, message(entryField(["3", "c"]))));
  expect(decodeProtobuf(snappyBlock(push), 7).entries.map(({ data }) => data.labels)).toEqual(expected);
});

test("Loki: early entries are held up to a bound, and stored without labels beyond it", () => {
  const values = Array.from({ length: 3_000 }, (_, i) => [`${i}`, "x".repeat(1_000)] as const);
  const body = `{"streams":[{"values":${JSON.stringify(values)},"stream":{"app":"x"}}]}`;
  const { entries, held } = decodeJson(body);
  expect(entries.length).toBe(3_000);
  expect(entries.at(0)?.data.labels).toBeUndefined();
  expect(held).toBeLessThan(2 * MIB);
});

test("Loki: the first version's labels and entries are read, too", () => {
  const body = '{"streams":[{"labels":"{job=\\"old\\"}","entries":[{"ts":"2026-11-23T08:00:00.5Z","line":"hi"}]}]}';
  expect(decodeJson(body).entries).toEqual([
    {
      time: Date.UTC(2026, 10, 23, 8, 0, 0, 500),
      level: null,
      message: "hi",
      service: "old",
      data: { labels: { job: "old" } },
    },
  ]);
});

test("Loki: an empty push is no fault", () => {
  expect(decodeJson('{"streams":[]}').entries).toEqual([]);
  expect(decodeProtobuf(snappyBlock(new Uint8Array())).entries).toEqual([]);
});

test("Loki: a line beyond 1 MiB is cut, and the entries after it are whole", () => {
  const long = "long ".repeat(300_000);
  const streams = [
    {
      labels: { app: "x" },
      values: [
        ["1000000", long],
        ["2000000", "short"],
      ] as const,
    },
  ];
  for (const { entries, held } of [decodeProtobuf(snappyBlock(protobufPush(streams))), decodeJson(jsonPush(streams))]) {
    expect(entries.map(({ message }) => message?.includes("long long"))).toEqual([true, false]);
    expect(entries[0]?.message?.length).toBeGreaterThan(1_000_000);
    expect(entries[0]?.marks).toEqual({ cut: { message: expect.any(Number) } });
    expect(entries[1]).toMatchObject({ message: "short", data: { labels: { app: "x" } } });
    expect(held).toBeLessThan(3.2 * MIB);
  }
});

test("Loki: labels as text", () => {
  expect(labelsOf('{job="a", b_1="x,y}=\\"q\\"\\n\\u00e9\\x41" , c="" }')).toEqual({
    job: "a",
    b_1: 'x,y}="q"\néA',
    c: "",
  });
  expect(labelsOf("{}")).toEqual({});
  for (const text of ["", "job=a", "{job=a}", '{job="a"', '{job="a" b="c"}'])
    expect(labelsOf(text)).toEqual({ labels: text });
  const hostile = `{${'a="\\'.repeat(50_000)}}`;
  const started = threadMs();
  labelsOf(hostile);
  expect(threadMs() - started).toBeLessThan(500);
});

test("Loki: times", () => {
  expect(lokiTime("1795435200123000000")).toEqual({ ms: 1795435200123 });
  expect(lokiTime(1795435200123000000)).toEqual({ ms: 1795435200123 });
  expect(lokiTime("12")).toEqual({ ms: 0.000012, sent: "12" });
  for (const value of ["", "now", null, {}, "1.5", "9".repeat(30)]) expect(lokiTime(value)).toBeNull();
});

test("Loki: mutated pushes end with entries or with a fault of the body, and hold little", () => {
  const random = randomFrom(1);
  const json = Buffer.from(jsonPush(STREAMS));
  const plain = protobufPush(STREAMS);
  const block = snappyBlock(plain);
  const counts = { fault: 0, ok: 0 };
  for (let i = 0; i < RUNS; i++) {
    const runs = [
      () => decodeJson(mutated(json, random), 1 + random(400)),
      () => decodeProtobuf(mutated(block, random), 1 + random(400)),
      () => decodeProtobuf(snappyBlock(mutated(plain, random)), 1 + random(400)),
    ];
    for (const run of runs) {
      try {
        expect(run().held).toBeLessThan(MIB);
        counts.ok++;
      } catch (error) {
        if (!(error instanceof DoorBodyFault || error instanceof ApiError)) throw error;
        counts.fault++;
      }
    }
  }
  expect(counts.fault).toBeGreaterThan(RUNS / 4);
  expect(counts.ok).toBeGreaterThan(RUNS / 2);
});

test("Loki: JSON that is not a push is refused, and what is no stream or no entry of one is rejected alone", () => {
  for (const body of ["{}", "[1]", '{"message":"m"}', '{"streams":"x"}', '{"streams":null}']) {
    expect(() => decodeJson(body), body).toThrow(DoorBodyFault);
  }
  const body =
    '{"streams":[1,{"values":"x"},{"values":null},{"stream":{},"values":[["1795435200123000000","kept"],7]}]}';
  for (let size = 1; size <= body.length; size += 7) {
    const { entries, rejected } = decodeJson(body, size);
    expect(entries.map(({ message }) => message)).toEqual(["kept"]);
    expect(rejected).toHaveLength(3);
  }
  expect(decodeJson('{"streams":[]}')).toMatchObject({ entries: [], rejected: [] });
});

test("Loki: a time that cannot be read is kept as it was sent", () => {
  const line = '{\\"time\\":1795435200123.5,\\"msg\\":\\"own\\"}';
  const body = `{"streams":[{"stream":{},"values":[["bad","a"],[["x"],"${line}"],["","b"]]}]}`;
  const { entries } = decodeJson(body);
  expect(entries.map(({ time, sentTime }) => ({ time, sentTime }))).toEqual([
    { time: null, sentTime: "bad" },
    { time: 1795435200123.5, sentTime: '["x"]' },
    { time: null, sentTime: undefined },
  ]);
  expect(entries[1]?.data.line).toEqual({ time: 1795435200123.5 });
});

test("Loki: JSON with another media type is told which one to send", () => {
  for (const size of [1, 1_000]) {
    expect(() => decodeProtobuf(Buffer.from(jsonPush(STREAMS)), size)).toThrow(
      "Send JSON with Content-Type: application/json.",
    );
  }
  expect(() => decodeProtobuf(Buffer.from("[1]"))).toThrow(/^(?!.*Send JSON)/);
});
