import { expect, test } from "vitest";
import { readerOf } from "../../../src/doors/shared/record-reader.ts";
import { type HecDefaults, HecEventDecoder, HecFault, HecRawDecoder } from "../../../src/doors/splunk.ts";
import { decode, mutated, randomFrom } from "../../support/doors/decode.ts";

/** Mutated bodies; more by hand. */
const RUNS = Number(process.env.DOOR_RUNS ?? 1_000);
const decodeEvents = (body: string | Uint8Array, chunk?: number, defaults: HecDefaults = {}) =>
  decode((sink, meter) => new HecEventDecoder(sink, readerOf(), meter, defaults), body, chunk);
const decodeRaw = (body: string, chunk?: number, defaults: HecDefaults = {}) =>
  decode((sink, meter) => new HecRawDecoder(sink, readerOf(), meter, defaults), body, chunk);

const BODY = [
  '{"time":1795435200.123456,"host":"web-1","source":"nginx","sourcetype":"_json","index":"main","event":{"message":"first","severity":"WARN","host":"inner"},"fields":{"region":"eu","trace_id":"t1"}}',
  '{"time":"1795435200.5","event":"second"}',
  '\n{"time":1795435201,"event":"{\\"level\\":\\"error\\",\\"msg\\":\\"third\\",\\"time\\":1795435000}","fields":{"severity":"info"}}',
  ' {"event":{"line":"from docker","source":"stdout","tag":"abc"},"host":"h"}',
  '{"log":"bare of Fluent Bit","date":1795435202.25}',
  '{"event":"","extra":1}',
].join("");

const ENTRIES = [
  {
    time: 1795435200123.456,
    sentTime: 1795435200.123456,
    level: "warn",
    message: "first",
    host: "web-1",
    traceId: "t1",
    data: {
      source: "nginx",
      sourcetype: "_json",
      index: "main",
      region: "eu",
      trace_id: "t1",
      event: { host: "inner" },
    },
  },
  { time: 1795435200500, level: null, message: "second", data: {} },
  { time: 1795435201000, level: "error", message: "third", data: { severity: "info", event: { time: 1795435000000 } } },
  { time: null, level: null, message: "from docker", host: "h", data: { source: "stdout", tag: "abc" } },
  { time: 1795435202250, level: null, message: "bare of Fluent Bit", data: {} },
  { time: null, level: null, message: "", data: { extra: 1 } },
];

test("Splunk HEC: concatenated events become entries, whatever chunks they arrive in", () => {
  for (let size = 1; size <= BODY.length; size += size < 60 ? 1 : 41) {
    const { entries, decoder } = decodeEvents(BODY, size);
    expect(entries).toEqual(ENTRIES);
    expect(decoder.invalidEvent).toBeNull();
  }
  expect(decodeEvents(`[${'{"event":"a"},'.repeat(3)}{"event":"b"}]`).entries.length).toBe(4);
});

test("Splunk HEC: the query says what events do not", () => {
  const defaults = { host: "q", source: "s", index: "i" };
  expect(decodeEvents('{"event":"a"}{"event":"b","host":"own"}', 5, defaults).entries).toEqual([
    { time: null, level: null, message: "a", host: "q", data: { source: "s", index: "i" } },
    { time: null, level: null, message: "b", host: "own", data: { source: "s", index: "i" } },
  ]);
  expect(decodeRaw('one\r\n\n{"msg":"two","level":"debug"}\nthree', 4, defaults).entries).toEqual([
    { time: null, level: null, message: "one", host: "q", data: { source: "s", index: "i" } },
    { time: null, level: "debug", message: "two", host: "q", data: { source: "s", index: "i" } },
    { time: null, level: null, message: "three", host: "q", data: { source: "s", index: "i" } },
  ]);
});

test("Splunk HEC: an event that is not JSON does not affect those before it, and its index is kept", () => {
  for (const broken of ['{"event":"c"', "]", '{"event":x}{"event":"d"}', '"text" {"event":"d"}']) {
    const { decoder, entries, rejected } = decodeEvents(`{"event":"a"}{"event":"b"}${broken}`, 6);
    expect(entries.slice(0, 2).map(({ message }) => message)).toEqual(["a", "b"]);
    expect(rejected.length).toBe(1);
    expect(decoder.invalidEvent).toBe(2);
  }
});

test("Splunk HEC: a body without a valid event is a fault with Splunk's code", () => {
  const codeOf = (run: () => unknown) => {
    try {
      run();
    } catch (error) {
      return error instanceof HecFault ? error.code : error;
    }
    return undefined;
  };
  for (const body of ["", " \n"]) {
    expect(codeOf(() => decodeEvents(body))).toBe(5);
    expect(codeOf(() => decodeRaw(body))).toBe(5);
  }
  for (const body of ["{", "}", "1", '"a"', '{"event":x}']) expect(codeOf(() => decodeEvents(body))).toBe(6);
});

test("Splunk HEC: an event beyond 1 MiB is kept as its text", () => {
  const { entries, held } = decodeEvents(`{"event":"${"x".repeat(2_000_000)}"}{"event":"b"}`);
  expect(entries.map(({ message }) => message?.length)).toEqual([1024 * 1024, 1]);
  expect(held).toBeLessThan(1.1 * 1024 * 1024);
});

test("Splunk HEC: mutated bodies end with entries or with a fault", () => {
  const random = randomFrom(3);
  const body = Buffer.from(BODY);
  let ok = 0;
  for (let i = 0; i < RUNS; i++) {
    try {
      decodeEvents(mutated(body, random), 1 + random(300));
      ok++;
    } catch (error) {
      if (!(error instanceof HecFault)) throw error;
    }
  }
  expect(ok).toBeGreaterThan(RUNS / 8);
});

test("Splunk HEC: a host that is no text is kept", () => {
  expect(decodeEvents('{"event":"e","host":5}').entries).toMatchObject([{ message: "e", data: { host: 5 } }]);
});
