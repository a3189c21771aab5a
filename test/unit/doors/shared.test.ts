import { expect, test } from "vitest";
import { DoorBodyFault } from "../../../src/doors/decoder.ts";
import type { DoorEntry } from "../../../src/doors/entry.ts";
import { DoorEntries } from "../../../src/doors/shared/door-entries.ts";
import { JsonCutter, type JsonNode } from "../../../src/doors/shared/json-cutter.ts";
import { levelOf } from "../../../src/doors/shared/levels.ts";
import { LineReader } from "../../../src/doors/shared/line-reader.ts";
import { PlainTimes } from "../../../src/doors/shared/plain-times.ts";
import { RecordReader, readRecord } from "../../../src/doors/shared/record-reader.ts";
import { timeOf } from "../../../src/doors/shared/times.ts";
import { decodeBody } from "../../../src/logs/batch.ts";
import { type Entry, INGEST_LIMITS } from "../../../src/logs/entry.ts";
import { EntryValidator } from "../../../src/logs/ingest/validate.ts";
import { inOneTurn, TurnMeter } from "../../../src/platform/turns.ts";

const NOW = Date.UTC(2026, 10, 23, 8, 0, 0, 500);
const NOW_TEXT = new Date(NOW).toISOString();

function entry(more: Partial<DoorEntry> = {}): DoorEntry {
  return { time: NOW - 1, level: "info", message: "m", data: {}, ...more };
}

function stored(entries: DoorEntries): Entry[] {
  return entries.finish().batches.flatMap(({ encoding, body }) =>
    new TextDecoder()
      .decode(decodeBody(encoding, body))
      .split("\n")
      .map((line): Entry => JSON.parse(line)),
  );
}

function storedOf(...sent: DoorEntry[]): Entry[] {
  const entries = new DoorEntries(NOW);
  for (const one of sent) entries.add(one);
  return stored(entries);
}

test.each([
  ["WARNING", "warn", true],
  ["err", "error", true],
  ["I", "info", true],
  ["notice", "info", false],
  ["Emergency", "fatal", false],
  [30, "info", true],
  [35, "info", false],
  ["50", "error", true],
  [3, "error", true],
  [0, "fatal", false],
  ["log", "log", true],
] as const)("the level %s is %s", (sent, level, isExact) => {
  expect(levelOf(sent)).toEqual({ level, isExact });
});

test("levels have the scale of their client", () => {
  expect(levelOf(17, "otlp")).toEqual({ level: "error", isExact: true });
  expect(levelOf(24, "otlp")).toEqual({ level: "fatal", isExact: false });
  expect(levelOf(30, "python")).toEqual({ level: "warn", isExact: true });
  expect([levelOf(0, "otlp"), levelOf(25, "otlp"), levelOf(8), levelOf(99), levelOf("loud"), levelOf({})]).toEqual(
    Array(6).fill(null),
  );
});

const AT = Date.UTC(2026, 10, 20, 14, 0, 0);
test.each([
  ["2026-11-20T14:00:00.123Z", AT + 123, undefined],
  ["2026-11-20 14:00:00", AT, undefined],
  ["2026-11-20T16:00:00+0200", AT, undefined],
  ["2026-11-20T14:00:00.123456789Z", AT + 123.456789, "2026-11-20T14:00:00.123456789Z"],
  ["2026-11-20T14:00:00.123000Z", AT + 123, undefined],
  ["2026-11-20T14:00Z", AT, undefined],
  ["2026/11/20 14:00:00", AT, undefined],
  ["20/Nov/2026:14:00:00 +0000", AT, undefined],
  ["Fri, 20 Nov 2026 14:00:00 GMT", AT, undefined],
  [AT / 1000, AT, undefined],
  [AT / 1000 + 0.123, AT + 123, undefined],
  [AT, AT, undefined],
  [AT * 1000 + 5, AT + 0.005, AT * 1000 + 5],
  [String(AT), AT, undefined],
  [`${AT}000005`, AT + 0.000005, `${AT}000005`],
  [`${AT}000000`, AT, undefined],
  [`${AT / 1000}.25`, AT + 250, undefined],
] as const)("the time %s", (sent, time, kept) => {
  const read = timeOf(sent);
  expect(read?.time).toBeCloseTo(time, 5);
  expect(read?.sent).toEqual(kept);
});

test.each(["", "12ms", "yesterday", "2026-13-40T00:00:00Z", "2026-02-30T00:00:00Z", -1, Number.NaN, null, {}, true])(
  "%s is no time",
  (sent) => {
    expect(timeOf(sent)).toBeNull();
  },
);

test("a record is read by its usual names, and everything else stays in data", () => {
  expect(
    readRecord({
      "@timestamp": "2026-11-20T14:00:00Z",
      msg: "hello",
      level: 40,
      "service.name": "api",
      hostname: "web-1",
      trace_id: "abc",
      "span.id": "def",
      user: 5,
    }),
  ).toEqual({
    time: AT,
    message: "hello",
    level: "warn",
    service: "api",
    host: "web-1",
    traceId: "abc",
    spanId: "def",
    data: { user: 5 },
  });
});

test("the preferred of several names is taken, whatever their order, and the others stay", () => {
  const expected = { message: "b", data: { log: "a", event: "c" } };
  expect(readRecord({ log: "a", msg: "b", event: "c" })).toMatchObject(expected);
  expect(readRecord({ event: "c", msg: "b", log: "a" })).toMatchObject(expected);
});

test("names of ECS are nested or have dots", () => {
  expect(
    readRecord({ log: { level: "ERROR" }, service: { name: "api" }, host: { name: "h" }, trace: { id: "t" } }),
  ).toEqual({
    time: null,
    message: null,
    level: "error",
    service: "api",
    host: "h",
    traceId: "t",
    data: { log: { level: "ERROR" }, service: { name: "api" }, host: { name: "h" }, trace: { id: "t" } },
  });
  expect(readRecord({ "log.level": "warn", message: "m" })).toMatchObject({ level: "warn", data: {} });
});

test("values of another type stay in data under their names", () => {
  const record = { message: { a: 1 }, time: "soon", level: "loud", service: 5, traceId: 7, type: [1] };
  expect(readRecord(structuredClone(record))).toEqual({ time: null, level: null, message: null, data: record });
  expect(readRecord({ message: 42 })).toMatchObject({ message: "42", data: { message: 42 } });
  expect(readRecord({ body: { message: "inner", a: 1 } })).toMatchObject({
    message: "inner",
    data: { body: { message: "inner", a: 1 } },
  });
});

test("a mapping comes before the usual names", () => {
  const reader = new RecordReader({ message: ["log", "msg"], time: ["when.at"], level: ["message"] });
  expect(reader.read({ log: "a", msg: "b", message: "error", when: { at: AT } })).toEqual({
    time: AT,
    message: "a",
    level: "error",
    data: { msg: "b", when: { at: AT } },
  });
  expect(reader.read({ body: "c" })).toMatchObject({ message: "c" });
});

test("own data is data, unless a name occurs twice", () => {
  expect(readRecord({ message: "m", data: { a: 1 }, b: 2 })).toMatchObject({ data: { a: 1, b: 2 } });
  expect(readRecord({ message: "m", data: { b: 1 }, b: 2 })).toMatchObject({ data: { data: { b: 1 }, b: 2 } });
});

test("a line is a record or a message, and long integers keep their digits", () => {
  const reader = new RecordReader();
  expect(reader.readLine("plain {")).toMatchObject({ message: "plain {", data: {} });
  expect(reader.readLine('{"msg":"m","id":12345678901234567890,"n":3}')).toMatchObject({
    message: "m",
    data: { id: "12345678901234567890", n: 3 },
  });
  expect(reader.readLine('{"msg":"m"')).toMatchObject({ message: '{"msg":"m"' });
});

test("a record named __proto__ is stored, and pollutes nothing", () => {
  const [line] = storedOf(readRecord(JSON.parse('{"message":"m","__proto__":{"x":1},"constructor":2}')));
  expect(JSON.stringify(line?.data)).toBe('{"__proto__":{"x":1},"constructor":2}');
  expect(Object.hasOwn(Object.prototype, "x")).toBe(false);
});

test("times out of range become the receipt, and the original stays", () => {
  const old = Date.UTC(2001, 0, 1);
  const data = storedOf(
    entry({ time: old }),
    entry({ time: NOW + 25 * 3_600_000, sentTime: "tomorrow" }),
    entry({ time: null }),
    entry({ time: -5 }),
    entry({ time: 1e300 }),
    entry({ time: NOW - 0.5, sentTime: "x" }),
  ).map(({ timestamp, data }) => [timestamp, data]);
  expect(data).toEqual([
    [NOW_TEXT, { _taffrail: { timestamp: "2001-01-01T00:00:00.000Z" } }],
    [NOW_TEXT, { _taffrail: { timestamp: "tomorrow" } }],
    [NOW_TEXT, undefined],
    [NOW_TEXT, { _taffrail: { timestamp: -5 } }],
    [NOW_TEXT, { _taffrail: { timestamp: 1e300 } }],
    ["2026-11-23T08:00:00.499Z", { _taffrail: { timestamp: "x" } }],
  ]);
});

test("entries of finished batches that are too old get the time of receipt", () => {
  const entries = new DoorEntries(NOW);
  for (let i = 0; i < 1500; i++) entries.add(entry({ time: NOW - i * 1000, message: `m${i}`, data: { i } }));
  inOneTurn(entries.moveOlder(NOW - 10_000));
  entries.add(entry({ time: NOW - 11_000 }));
  const lines = stored(entries);
  expect(lines).toHaveLength(1501);
  expect(lines.filter(({ timestamp }) => Date.parse(timestamp) < NOW - 10_000)).toEqual([]);
  expect(lines[11]).toMatchObject({
    timestamp: NOW_TEXT,
    message: "m11",
    data: { i: 11, _taffrail: { timestamp: new Date(NOW - 11_000).toISOString() } },
  });
  expect(lines[10]?.data).toEqual({ i: 10 });
});

test("finding 15: a record's own _taffrail is kept, whatever is changed in the entry later", () => {
  const old = NOW - 3 * 86_400_000;
  const oldText = new Date(old).toISOString();
  const entries = new DoorEntries(NOW);
  entries.add(entry({ time: old, data: { _taffrail: "mine" } }));
  entries.add(entry({ time: old, data: { _taffrail: { timestamp: "2020" } } }));
  const own = `{"message":"m","timestamp":"${oldText}","data":{"a":1,"_taffrail":{"timestamp":"2020"}}}`;
  const bytes = new TextEncoder().encode(own);
  const reader = new RecordReader();
  expect(entries.addPlain(reader.lines, bytes, 0, bytes.length)).toBe(false);
  entries.add(reader.readLine(own));
  entries.add(entry({ message: "x".repeat(300_000), data: { _taffrail: "mine" } }));
  inOneTurn(entries.moveOlder(NOW - 86_400_000));
  expect(stored(entries).map(({ data }) => data)).toEqual([
    { _taffrail: { sent: "mine", timestamp: oldText } },
    { _taffrail: { sent: { timestamp: "2020" }, timestamp: oldText } },
    { a: 1, _taffrail: { sent: { timestamp: "2020" }, timestamp: oldText } },
    { _taffrail: { sent: "mine", cut: { message: 300_000 } } },
  ]);
});

test.each([
  ["a duration", 3, false],
  ["an uptime", 12_345, false],
  ["a time of 1999", Date.UTC(1999, 0, 1) + 500, false],
  ["a time in two days", NOW + 2 * 86_400_000 + 1, false],
  ["a time", NOW - 1, true],
  ["a time older than the retention", NOW - 40 * 86_400_000 + 1, true],
])("finding 10: with %s as its time, a repeated record is a retry: %s %s", (_, time, isRetry) => {
  const entries = new DoorEntries(NOW);
  inOneTurn(entries.moveOlder(NOW - 30 * 86_400_000));
  entries.add(entry({ time: NOW - 1 }));
  entries.add(entry({ time }));
  expect(entries.isRepeatRetry).toBe(isRetry);
});

test("what an entry cannot have is marked", () => {
  expect(
    storedOf(
      entry({ sentLevel: "notice", category: "x".repeat(65), type: "" }),
      entry({ category: "http", type: "odd", data: { _taffrail: 1 } }),
      entry({ message: "", data: { a: 1 } }),
      entry({ message: null }),
    ),
  ).toMatchObject([
    {
      level: "info",
      category: "custom",
      type: "log",
      data: { _taffrail: { level: "notice", category: "x".repeat(65) } },
    },
    { category: "http", type: "request", data: { _taffrail: { type: "odd", sent: 1 } } },
    { message: '{"a":1}', data: { a: 1 } },
    { message: "(no message)" },
  ]);
});

test("every stored entry is valid by the rules of own entries", () => {
  const validator = new EntryValidator(NOW);
  let deep: unknown = 1;
  for (let i = 0; i < 200_000; i++) deep = [deep];
  const long = "ä\u0001".repeat(300_000);
  const odd: unknown[] = [
    deep,
    { deep },
    Number.NaN,
    Number.NEGATIVE_INFINITY,
    2n ** 70n,
    long,
    { [long]: 1 },
    { [long]: long, b: long },
    Array(30_000).fill(1),
    Array.from({ length: 15_000 }, (_, i) => ({ i })),
    Array.from({ length: 9_000 }, (_, i) => `${i}${"x".repeat(40)}`),
    Array.from({ length: 2_000 }, (_, i) => `${i}${"y".repeat(400)}`),
    "\ud800",
    undefined,
  ];
  const entries = new DoorEntries(NOW);
  for (const value of odd) {
    entries.add(entry({ data: { value } }));
    entries.add(entry({ message: String(typeof value === "string" ? value : "m"), data: { value, more: long } }));
    if (typeof value === "string") {
      entries.add(
        entry({ message: value, category: value, type: value, session: value, traceId: value, sentTime: value }),
      );
    }
  }
  const lines = stored(entries);
  expect(lines).toHaveLength(2 * odd.length + 2);
  for (const line of lines) {
    expect(Buffer.byteLength(JSON.stringify(line))).toBeLessThanOrEqual(INGEST_LIMITS.entryBytes);
    expect(() => validator.check(line)).not.toThrow();
  }
});

test("the largest texts are cut, the others stay whole", () => {
  const shared = { text: "s".repeat(200_000) };
  const [first, second] = storedOf(
    entry({ message: "m".repeat(200_000), data: { a: "kept", list: ["x".repeat(150_000), 1] } }),
    entry({ data: { shared, other: "o".repeat(100_000) } }),
  );
  expect(first?.data).toMatchObject({ a: "kept", _taffrail: { cut: { message: 200_000, "data.list.0": 150_000 } } });
  expect(first?.data).toHaveProperty(["list", "0", "length"], first?.message.length);
  expect(second?.data).toMatchObject({ _taffrail: { cut: { "data.shared.text": 200_000 } } });
  expect(shared.text.length).toBe(200_000);
});

test("an entry whose data are cut as a whole keeps its ids, and a host that is too long replaces nothing", () => {
  const data = Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`k${i}`, "v".repeat(40)]));
  const ids = { session: "s", traceId: "t".repeat(2_000), spanId: "p", service: "api", host: "web-1" };
  const long = "h".repeat(300);
  const [cut, kept, both] = storedOf(
    entry({ ...ids, data }),
    entry({ host: long, data: { host: "other" } }),
    entry({ host: long, data: { host: "other", host_: "third" } }),
  );
  expect(cut).toMatchObject({ ...ids, traceId: "t".repeat(1024) });
  expect(cut?.data).toHaveProperty("json");
  expect(kept?.data).toEqual({ host: "other", host_: long });
  expect(both?.data).toEqual({ host: "other", host_: "third", host__: long });
});

test("records share what is stored with each, up to a bound; there are at most 20,000", () => {
  const large = new DoorEntries(NOW);
  const shared = { text: "s".repeat(100_000) };
  for (let i = 0; i < 1000; i++) {
    large.add(entry({ data: { shared } }));
    if (large.batchBytes > 100_000) large.take();
  }
  expect(large.finish()).toMatchObject({ failure: { reason: "too_many" }, batches: [] });
  const small = new DoorEntries(NOW);
  small.receive(100_000);
  for (let i = 0; i < 30; i++) small.add(entry({ data: { shared } }));
  expect(small.finish()).toMatchObject({ failure: null });
  for (let i = 0; i < 10; i++) small.add(entry({ data: { shared } }));
  expect(small.finish()).toMatchObject({ failure: { reason: "too_many" } });
  const many = new DoorEntries(NOW);
  for (let i = 0; i < 20_000; i++) many.add(entry());
  expect(many.finish()).toMatchObject({ failure: null, units: 20_000 });
  many.reject("one more");
  expect(many.finish()).toMatchObject({ failure: { reason: "too_many" } });
  expect(many.held).toBe(0);
});

test("rejected records are counted by index", () => {
  const entries = new DoorEntries(NOW);
  entries.add(entry());
  entries.reject("first");
  entries.add(entry());
  entries.reject("second");
  expect(entries.finish()).toMatchObject({ units: 4, rejectedCount: 2, rejected: [{ index: 1 }, { index: 3 }] });
  expect(entries.rejectedIndexes).toEqual([1, 3]);
});

test.each([
  ["times with milliseconds", [entry({ time: NOW }), entry({ time: NOW - 500 })], true],
  ["whole seconds", [entry({ time: NOW - 500 }), entry({ time: NOW - 1500 })], false],
  ["a whole second with nanoseconds", [entry({ time: NOW - 500, sentTime: `${NOW - 500}000001` })], true],
  ["whole seconds in nanoseconds", [entry({ time: NOW - 500, sentTime: `${NOW - 500}000000` })], false],
  ["a record without time", [entry({ time: NOW }), entry({ time: null })], false],
  [
    "ids without times",
    [
      entry({ time: null, id: { text: "i", hasContent: true } }),
      entry({ time: NOW - 500, id: { text: "i", hasContent: true } }),
    ],
    true,
  ],
  [
    "ids and a whole second",
    [entry({ time: null, id: { text: "i", hasContent: true } }), entry({ time: NOW - 500 })],
    false,
  ],
  ["nothing", [], false],
] as const)("a repeated body of %s is a retry or not", (_, sent, expected) => {
  const entries = new DoorEntries(NOW);
  for (const one of sent) entries.add({ ...one });
  expect(entries.isRepeatRetry).toBe(expected);
});

/** Cuts a body at every `size` bytes. */
function cut(text: string, root: JsonNode, size: number, isMany = false): string[] {
  const found: string[] = [];
  const cutter = new JsonCutter(
    root,
    {
      value: (name, bytes, length) => found.push(`${name}=${new TextDecoder().decode(bytes)}#${length}`),
      open: (name) => found.push(`<${name}`),
      close: (name) => found.push(`${name}>`),
    },
    new TurnMeter(),
    isMany,
  );
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) inOneTurn(cutter.read(bytes.slice(at, at + size)));
  cutter.end();
  return found;
}

const OTLP: JsonNode = {
  name: "request",
  members: {
    resourceLogs: {
      name: "resources",
      items: {
        name: "resource",
        members: { resource: { name: "attributes" }, scöpe: { name: "scope", items: { name: "record" } } },
      },
    },
  },
};

test("parts of a document are cut out of chunks of any size", () => {
  const text = String.raw` {"x":[1,{"a":"]}\\"}],"resourceLogs" : [ {"resource":{"é":"\"}"},"sc\u00f6pe":[1 , -2.5e3,"a,]b\\\"",{"m":[{}]},null,[]]},{"skipped":{"resourceLogs":[1]},"resource": true }, 7 ] , "y":"z"} `;
  const whole = cut(text, OTLP, text.length * 2);
  expect(whole).toEqual([
    "<request",
    "<resources",
    "<resource",
    String.raw`attributes={"é":"\"}"}#12`,
    "<scope",
    "record=1#1",
    "record=-2.5e3#6",
    String.raw`record="a,]b\\\""#10`,
    'record={"m":[{}]}#10',
    "record=null#4",
    "record=[]#2",
    "scope>",
    "resource>",
    "<resource",
    "attributes=true#4",
    "resource>",
    "resource=7#1",
    "resources>",
    "request>",
  ]);
  for (let size = 1; size < 40; size++) expect(cut(text, OTLP, size)).toEqual(whole);
});

test("documents may follow each other", () => {
  const text = '{"a":1}{"b":"}"}\n[3] 4\n"five"';
  for (let size = 1; size < 32; size++) {
    expect(cut(text, { name: "v" }, size, true)).toEqual([
      'v={"a":1}#7',
      'v={"b":"}"}#9',
      "v=[3]#3",
      "v=4#1",
      'v="five"#6',
    ]);
  }
  expect(cut(" ", { name: "v" }, 1, true)).toEqual([]);
});

test.each([
  "",
  "{",
  "[1",
  '{"resourceLogs":',
  '{"resourceLogs":[}',
  "}",
  "{} {}",
  '{"a" 1}',
  "{1:2}",
  "[,]",
  '{"a":1,,}',
  '"abc',
])("%s is a fault", (text) => {
  for (const size of [1, 100]) {
    expect(() => cut(text, { ...OTLP, items: { name: "item" } }, size)).toThrow(DoorBodyFault);
  }
});

test("the beginning of a very long value is kept", () => {
  const [found = ""] = cut(`"${"x".repeat(3_000_000)}"`, { name: "v" }, 128 * 1024);
  expect(found).toMatch(/#3000002$/);
  expect(found.length).toBeLessThan(1024 * 1024 + 20);
});

test("cutting mutated documents fails only with a fault of the body", () => {
  const text = JSON.stringify({ resourceLogs: [{ resource: { a: 'b"\\' }, scöpe: [{ x: [1, "y"] }, 2] }] });
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  for (let run = 0; run < 3_000; run++) {
    const chars = [...text];
    for (let i = 0; i <= random(4); i++) chars[random(chars.length)] = '{}[]",:\\ 1a'.charAt(random(11));
    const outcome = (size: number) => {
      try {
        return cut(chars.join(""), OTLP, size);
      } catch (error) {
        if (error instanceof DoorBodyFault) return null;
        throw error;
      }
    };
    const whole = outcome(1_000);
    // A fault may come after parts, but the parts of a good document never depend on the chunks.
    if (whole !== null) expect(outcome(1 + random(9))).toEqual(whole);
  }
});

test("lines are cut out of chunks of any size", () => {
  const text = `\ufeffone\r\n\n  \ntwo ü\n${"x".repeat(70_000)}\nlast`;
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 2, 3, 7, 1000, bytes.length]) {
    const lines: string[] = [];
    const reader = new LineReader((line) => lines.push(line), new TurnMeter());
    for (let at = 0; at < bytes.length; at += size) inOneTurn(reader.read(bytes.slice(at, at + size)));
    reader.end();
    expect(lines).toEqual(["one", "two ü", "x".repeat(70_000), "last"]);
  }
});

test("finding 4: empty lines are skipped, and other lines are counted", () => {
  const pass = (lines: string, onBytes: ((bytes: Uint8Array) => boolean) | null) => {
    const meter = new TurnMeter();
    const read: string[] = [];
    const tried: number[] = [];
    const wrapped = onBytes && ((bytes: Uint8Array) => tried.push(0) > 0 && onBytes(bytes));
    const reader = new LineReader((line) => read.push(line), meter, wrapped);
    let yields = 0;
    for (const _ of reader.read(Buffer.from(lines))) {
      meter.renew();
      yields++;
    }
    reader.end();
    return { read, tried: tried.length, yields };
  };
  const parsed = () => false;
  for (const blank of ["\n", " \n", "\r\n", "\t \f\v\r\n"]) {
    const lines = `\ufeffa\n${blank.repeat(100_000)}  b\n${blank}\ufeffc \n \t`;
    expect(pass(lines, null)).toEqual({ read: ["a", "  b", "\ufeffc "], tried: 0, yields: expect.any(Number) });
    expect(pass(lines, parsed)).toEqual({ read: ["a", "  b", "\ufeffc "], tried: 4, yields: expect.any(Number) });
  }
  expect(pass("a\n".repeat(200_000), null).yields).toBeGreaterThan(1);
  expect(pass("a\n".repeat(200_000), parsed).yields).toBeGreaterThan(10);
  expect(pass("a\n".repeat(200_000), () => true).yields).toBeGreaterThan(1);
});

test("times that are not parsed are those that are, next to whole milliseconds and seconds, too", () => {
  const digits = ["", "000", "999", "0000", "000000001", "999999999", "1239999", "123456", "12", "12a", "5000000000"];
  const texts = ["05", "05", "06", "59", "60"].flatMap((second) =>
    digits.flatMap((fraction) =>
      ["Z", "z", "+01:00", ""].map((zone) => `2026-11-23T08:00:${second}${fraction && "."}${fraction}${zone}`),
    ),
  );
  const times = new PlainTimes();
  let read = 0;
  // In the other order each of them meets another second in the cache.
  for (const text of [...texts, ...texts.reverse(), "1764000000", "1764000000.000001", "-1", "1764000000123456789"]) {
    for (const json of [JSON.stringify(text), text]) {
      if (json === text && !/^-?[\d.]+$/.test(text)) continue;
      const bytes = Buffer.from(` ${json} `);
      const expected = timeOf(JSON.parse(json));
      expect(times.read(bytes, 1, bytes.length - 1, "any"), json).toBe(expected !== null);
      if (expected === null) continue;
      read++;
      expect([times.time, times.hasMore], json).toEqual([expected.time, expected.sent !== undefined]);
    }
  }
  expect(read).toBeGreaterThan(100);
});
