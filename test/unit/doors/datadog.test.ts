import { expect, test } from "vitest";
import { DatadogDecoder, type DatadogDefaults, tagsOf } from "../../../src/doors/datadog.ts";
import { DoorBodyFault } from "../../../src/doors/decoder.ts";
import { readerOf } from "../../../src/doors/shared/record-reader.ts";
import { decode, mutated, randomFrom } from "../../support/doors/decode.ts";

/** Mutated bodies; more by hand. */
const RUNS = Number(process.env.DOOR_RUNS ?? 1_000);
const decodeLogs = (body: string | Uint8Array, chunk?: number, defaults: DatadogDefaults = {}) =>
  decode((sink, meter) => new DatadogDecoder(sink, readerOf(), meter, defaults), body, chunk);

const BODY = JSON.stringify([
  {
    message: "plain",
    ddsource: "nginx",
    ddtags: "env:prod,team:web,team:shop,canary,url:http://x",
    hostname: "web-1",
    service: "shop",
    status: "warning",
    timestamp: 1795435200123,
    attributes: { a: 1 },
  },
  {
    message: '{"level":"error","msg":"inner","order":7,"ddsource":"own","service":"pay"}',
    ddsource: "node",
    service: "shop",
    status: "info",
    timestamp: 1795435200124,
  },
  { message: "{not json", status: "active" },
  "text",
]);

const ENTRIES = [
  {
    time: 1795435200123,
    level: "warn",
    message: "plain",
    service: "shop",
    host: "web-1",
    data: {
      ddsource: "nginx",
      ddtags: { env: "prod", team: ["web", "shop"], canary: true, url: "http://x" },
      attributes: { a: 1 },
    },
  },
  {
    time: 1795435200124,
    level: "error",
    message: "inner",
    service: "shop",
    data: { order: 7, ddsource: "node", status: "info", message: { ddsource: "own", service: "pay" } },
  },
  { time: null, level: null, message: "{not json", data: { status: "active" } },
  { time: null, level: null, message: "text", data: {} },
];

test("Datadog: logs become entries, whatever chunks they arrive in", () => {
  for (let size = 1; size <= BODY.length; size += size < 60 ? 1 : 41)
    expect(decodeLogs(BODY, size).entries).toEqual(ENTRIES);
});

test("Datadog: one log, logs one after the other, and lines of text", () => {
  const defaults = { ddsource: "browser", ddtags: "env:dev", service: "web", hostname: "h" };
  const said = {
    time: null,
    level: null,
    service: "web",
    host: "h",
    data: { ddsource: "browser", ddtags: { env: "dev" } },
  };
  for (const body of ['{"message":"a"}\n{"message":"b"}\n', "a\nb\n", "  a\r\n\r\nb"]) {
    expect(decodeLogs(body, 3, defaults).entries.map(({ message }) => message?.trim())).toEqual(["a", "b"]);
    expect(decodeLogs(body, 50, defaults).entries[1]).toEqual({ ...said, message: "b" });
  }
});

test("Datadog: the empty bodies by which agents test a connection are no logs", () => {
  for (const body of ["{}", "[]", "[{}]", "", "\n"]) {
    const { entries, rejected } = decodeLogs(body);
    expect([...entries, ...rejected]).toEqual([]);
  }
});

test("Datadog: a log that is not JSON does not affect the others", () => {
  const { entries, rejected } = decodeLogs('[{"message":"a"},{"message":x},{"message":"b"}]', 9);
  expect(entries.map(({ message }) => message)).toEqual(["a", "b"]);
  expect(rejected.length).toBe(1);
  for (const body of ['[{"message":"a"}', '{"message":']) expect(() => decodeLogs(body)).toThrow(DoorBodyFault);
});

test.each([
  ['[INFO] started\n{"message":"b","n":NaN}\n[{"message":"c"}]\n', ["[INFO] started", "b", "c"]],
  ['{"message":"a"} tail\n{"message":"b"}', ['{"message":"a"} tail', "b"]],
  ['{"message":"a"}\n[INFO] started\n{"message":"b"}\n{}', ["a", "[INFO] started", "b"]],
  ['{"message":"a"}]', ['{"message":"a"}]']],
  ["[1]\n[2] two of three\nthree 4", ["[1]", "[2] two of three", "three 4"]],
  ['[{"message":"a"}]\nb c, d: e\n{"message":"f"}', ["a", "b c, d: e", "f"]],
])("Datadog: lines of text that begin like JSON are messages, and logs behind them are kept: %s", (body, messages) => {
  for (const size of [1, 7, 1_000]) {
    const { entries, rejected } = decodeLogs(body, size);
    expect(entries.map(({ message }) => message)).toEqual(messages);
    expect(rejected).toEqual([]);
  }
});

test("Datadog: tags", () => {
  expect(tagsOf(" env:prod ,, a:1,a:2,a:3,__proto__:x,b")).toEqual(
    Object.fromEntries([
      ["env", "prod"],
      ["a", ["1", "2", "3"]],
      ["__proto__", "x"],
      ["b", true],
    ]),
  );
});

test("Datadog: mutated bodies end with entries or with a fault of the body", () => {
  const random = randomFrom(4);
  const body = Buffer.from(BODY);
  const counts = { ok: 0, fault: 0 };
  for (let i = 0; i < RUNS; i++) {
    try {
      decodeLogs(mutated(body, random), 1 + random(300));
      counts.ok++;
    } catch (error) {
      if (!(error instanceof DoorBodyFault)) throw error;
      counts.fault++;
    }
  }
  expect(counts.ok).toBeGreaterThan(RUNS / 8);
  expect(counts.fault).toBeGreaterThan(RUNS / 10);
});
