import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DoorBodyFault } from "../../../src/doors/decoder.ts";
import { PlainDecoder } from "../../../src/doors/plain.ts";
import { DoorEntries } from "../../../src/doors/shared/door-entries.ts";
import { NOT_JSON, parseText } from "../../../src/doors/shared/parse-text.ts";
import { type Mapping, RecordReader } from "../../../src/doors/shared/record-reader.ts";
import { decodeBody } from "../../../src/logs/batch.ts";
import type { Entry } from "../../../src/logs/entry.ts";
import { readSummary } from "../../../src/logs/summary.ts";
import { inOneTurn } from "../../../src/platform/turns.ts";
import { threadMs } from "../../support/thread-time.ts";

const NOW = Date.UTC(2026, 10, 23, 8, 0, 0, 500);

function linesOf(entries: DoorEntries): string[] {
  return entries
    .finish()
    .batches.flatMap(({ encoding, body }) => new TextDecoder().decode(decodeBody(encoding, body)).split("\n"));
}

function decoded(body: string | Uint8Array, size = 1_000_000, mediaType = "application/json"): DoorEntries {
  const entries = new DoorEntries(NOW);
  const decoder = new PlainDecoder(entries, new RecordReader(), mediaType);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  for (let at = 0; at < bytes.length; at += size) inOneTurn(decoder.read(bytes.slice(at, at + size)));
  inOneTurn(decoder.end());
  return entries;
}

/** The lines of records that are parsed, and of those that are not, if all of them can be read so. */
function bothWays(texts: readonly string[], mapping: Mapping = {}): [parsed: string[], plain: string[], count: number] {
  const reader = new RecordReader(mapping);
  const parsed = new DoorEntries(NOW);
  const plain = new DoorEntries(NOW);
  let count = 0;
  for (const text of texts) {
    const read = () => reader.read(parseText(text) as Record<string, unknown>);
    parsed.add(read());
    const bytes = new TextEncoder().encode(text);
    if (plain.addPlain(reader.lines, bytes, 0, bytes.length)) count++;
    else plain.add(read());
  }
  expect(plain.isRepeatRetry).toBe(parsed.isRepeatRetry);
  const summary = (entries: DoorEntries) => entries.finish().batches.map((batch) => [...readSummary(batch.summary)]);
  expect(summary(plain)).toEqual(summary(parsed));
  return [linesOf(parsed), linesOf(plain), count];
}

test.each([
  ["pino", '{"level":30,"time":1795420799999,"pid":1,"hostname":"web-1","msg":"hi"}'],
  ["zerolog", '{"level":"error","time":"2026-11-23T07:59:59Z","message":"hi","caller":"a.go:1"}'],
  ["logrus", '{"level":"warning","msg":"hi","time":"2026-11-23T07:59:59+01:00"}'],
  ["seconds", '{"ts":1795420799.25,"severity":"INFO","message":"hi","ok":true,"none":null}'],
  ["log4j", '{"timeMillis":1795420799999,"level":"WARN","message":"hi","thrown":{"name":"E"},"contextMap":{}}'],
  ["docker", String.raw`{"log":"line \"1\"\r\n","stream":"stdout","time":"2026-11-23T07:59:59.123456789Z"}`],
  [
    "own",
    '{"timestamp":"2026-11-23T07:59:59.123Z","level":"log","category":"http","type":"request","message":"hi","session":"s","traceId":"ab","spanId":"cd","service":"api","host":"h","data":{"a":[1,{"b":"ü"}]}}',
  ],
  [
    "several names",
    '{"log":"a","message":"b","event":"c","timestamp":1795420799999,"time":"x","@timestamp":1795420799998}',
  ],
  ["microseconds", '{"ts":1795420799999123,"message":"hi","n":1795420799999123}'],
  ["seconds with six decimals", '{"ts":1795420799.999123,"message":"hi"}'],
  ["nanoseconds", '{"time":1795420799999123457,"message":"hi"}'],
  ["a level that means more", '{"severity":"NOTICE","message":"hi"}'],
  ["empty data", '{"message":"hi","data":{}}'],
  ["ids that are none", '{"message":"hi","trace_id":"0000","span_id":"","service":"","session":""}'],
])("a record of %s is stored without being parsed, as if it were", (_, text) => {
  const [parsed, plain, count] = bothWays([text]);
  expect(count).toBe(1);
  expect(plain.map((line) => JSON.parse(line))).toEqual(parsed.map((line) => JSON.parse(line)));
  expect(JSON.stringify(JSON.parse(plain[0] ?? ""))).toBe(plain[0]);
});

test("integers of any length are read as the parser reads them", () => {
  const digits = fc.oneof(
    fc.bigInt({ min: 1_795_420_000_000_000_000n, max: 1_795_420_800_000_000_000n }),
    fc.bigInt({ min: 0n, max: 99_999_999_999_999_999_999n }),
    // A number holds these.
    fc.bigInt({ min: 7_013_359_375_000_000n, max: 7_013_362_500_000_000n }).map((each) => each * 256n),
  );
  const texts = fc.array(
    fc
      .tuple(fc.constantFrom("time", "ts", "n"), fc.constantFrom("time", "@timestamp"), digits)
      .map(([a, b, each]) =>
        a === b ? `{"message":"m","${a}":${each}}` : `{"${a}":${each},"message":"m","${b}":1795420799999}`,
      ),
    { minLength: 1, maxLength: 4 },
  );
  fc.assert(
    fc.property(texts, (each) => {
      const [parsed, plain] = bothWays(each);
      expect(plain.map((line) => JSON.parse(line))).toEqual(parsed.map((line) => JSON.parse(line)));
    }),
  );
});

const name = fc.constantFrom(
  ...[
    "message",
    "msg",
    "log",
    "body",
    "event",
    "time",
    "timestamp",
    "@timestamp",
    "ts",
    "level",
    "severity",
    "PRIORITY",
  ],
  ...["service", "service.name", "host", "hostname", "trace_id", "spanId", "session", "category", "type", "data"],
  ...["_taffrail", "a", "b", "é", "__proto__", "7", "kubernetes", "", "x.y", "severity_number", "toString"],
);
const scalar = fc.oneof(
  fc.constantFrom(
    "info",
    "WARN",
    "notice",
    "x",
    "",
    "a\n",
    "a\r\n",
    "\\n",
    "2026-11-23T07:59:59.123Z",
    "0",
    "http",
    "request",
  ),
  fc.constantFrom(NOW - 1, NOW / 1000, (NOW - 5) * 1000 + 7, 30, 4, 0, -1, 1.5, 1e21, 1e-7, 1.5e300, true, false, null),
  fc.string({ maxLength: 8, unit: "binary" }),
);
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(name, scalar, { maxKeys: 3 }) },
);
/** Most records have a message, and no name twice. */
const members = fc.oneof(
  { weight: 3, arbitrary: fc.uniqueArray(fc.tuple(name, value), { maxLength: 9, selector: ([key]) => key }) },
  { weight: 1, arbitrary: fc.array(fc.tuple(name, value), { maxLength: 9 }) },
);
const record = fc.tuple(members, fc.nat(3)).map(([some, message]) => {
  return message === 0 ? some : [["message", "m"] as const, ...some.filter(([key]) => key !== "message")];
});

test("records that are not parsed are stored as those that are", () => {
  let plainly = 0;
  const odd = fc.tuple(
    fc.array(record, { maxLength: 4 }),
    fc.nat(4).map((one) => one === 0),
    fc.boolean(),
  );
  fc.assert(
    fc.property(odd, ([records, isSpaced, isMapped]) => {
      const gap = isSpaced ? ": " : ":";
      const texts = records.map((members) => {
        return `{${members.map(([key, item]) => `${JSON.stringify(key)}${gap}${JSON.stringify(item)}`).join(",")}}`;
      });
      const [parsed, plain, count] = bothWays(texts, isMapped ? { message: ["a", "kubernetes.b"], level: ["b"] } : {});
      plainly += count;
      const sorted = (line: string) => {
        const { data, ...entry }: Entry = JSON.parse(line);
        return [
          JSON.stringify(entry),
          Object.entries(data ?? {})
            .map(([key, item]) => JSON.stringify([key, item]))
            .sort(),
        ];
      };
      expect(plain.map(sorted)).toEqual(parsed.map(sorted));
    }),
    { numRuns: 3_000 },
  );
  // Most records are read by the fast way, or the comparison says little.
  expect(plainly).toBeGreaterThan(1_000);
});

test("bodies in chunks of any size are the same", () => {
  const bodies = [
    '{"msg":"a ü"}\n\n{"msg":"b"}\r\nplain ü\n{"msg":"c","n":12345678901234567890}',
    ' [{"msg":"a"},"b",3,[4],null]',
    '{"logs":[{"msg":"a"},{"msg":"b"}]}',
    '{"msg":"a"}{"msg":"b"}\n [{"msg":"c"}]',
    '{\n "msg": "a",\n "logs": [1]\n}',
  ];
  for (const body of bodies) {
    const whole = linesOf(decoded(body));
    expect(whole.length).toBeGreaterThan(0);
    for (let size = 1; size < 20; size++) expect(linesOf(decoded(body, size))).toEqual(whole);
  }
  expect(linesOf(decoded("a\nb ü", 1, "text/plain"))).toHaveLength(2);
});

const messagesOf = (entries: DoorEntries) => linesOf(entries).map((line) => JSON.parse(line).message);

test.each([
  ["levels in brackets", "[INFO] x\n[WARN] y\nz\n", ["[INFO] x", "[WARN] y", "z"]],
  ["times in brackets", "[2026-11-23 07:59:59] ERROR x\n[2026] y", ["[2026-11-23 07:59:59] ERROR x", "[2026] y"]],
  ["numbers in brackets", "[123] [456] x\n[1] 2", ["[123] [456] x", "[1] 2"]],
  ["one line without a break", "[error] x", ["[error] x"]],
  ["text behind an object", '{"message":"a"} tail\n{"message":"b"}', ['{"message":"a"} tail', "b"]],
  ["a string that is cut", '{"message":"a\n["b\nc', ['{"message":"a', '["b', "c"]],
  ["values behind text", 'x\n1.50\nnull\n"y"\n{"message":"z"}', ["x", "1.50", "null", '"y"', "z"]],
  ["braces", "{main} x\n{\n", ["{main} x", "{"]],
  ["a byte order mark", '\ufeff{"message":"a"}\n\ufeffb', ["a", "\ufeffb"]],
  [
    "a number in brackets alone",
    "[1]\n[2] two of three\n[worker] three",
    ["[1]", "[2] two of three", "[worker] three"],
  ],
  ["a number in brackets, then JSON", '[1]\n{"message":"a b"}\n[2, 3]\nc d', ["[1]", "a b", "[2, 3]", "c d"]],
  ["lines that go on after JSON", '["1"]\n}] y\nz', ["1", "}] y", "z"]],
  ["lines of words after JSON", '[{"message":"a"}]\nb c, d: e\n<13>Nov 23 f', ["a", "b c, d: e", "<13>Nov 23 f"]],
  ["words after JSON over two lines", '[{"message":"a"},\n"b"]\nc d\n"e f" g', ["a", "b", "c d", '"e f" g']],
  ["a document that is cut", '[{"message":"a"},\n{"message":"b', ["a", '{"message":"b']],
])("lines of text that begin like JSON are messages: %s", (_, body, messages) => {
  for (const type of ["text/plain", "", "application/x-www-form-urlencoded", "application/x-ndjson"]) {
    for (const size of [1, 5, 1_000]) expect(messagesOf(decoded(body, size, type))).toEqual(messages);
  }
});

test("lines of text that begin like JSON after long lines are messages", () => {
  const long = `[${"x".repeat(200_000)}`;
  expect(messagesOf(decoded(`${long}\n{"message":"b"}`, 131_072, "text/plain"))).toHaveLength(2);
  expect(linesOf(decoded(`[${'"a",'.repeat(5_000)}"b"]`, 131_072, "text/plain"))).toHaveLength(5_001);
});

test("an array of scalars that is sent as JSON has a record for each", () => {
  expect(messagesOf(decoded("[1,true]\n2 [3]\n"))).toEqual(["1", "true", "2", "3"]);
  for (const type of ["text/plain", "application/json"])
    expect(messagesOf(decoded("[1,2]", 9, type))).toEqual(["1", "2"]);
});

test("a body that is sent as JSON must be JSON", () => {
  for (const body of ["x", "[INFO] x", '{"message":"a"} tail', '[{"message":x}]', '[{"message":"a"}']) {
    expect(() => decoded(body)).toThrow(DoorBodyFault);
  }
});

test("NaN and Infinity are texts", () => {
  const text = '{"message":"NaN \\"Infinity","a":NaN,"b":[-Infinity,Infinity],"c":1}';
  const data = { a: "NaN", b: ["-Infinity", "Infinity"], c: 1 };
  for (const body of [text, `[${text}]`, `{"logs":[${text}]}`, `{"message":"x"}\n${text}`, `[1,${text},NaN]`]) {
    const entries = linesOf(decoded(body)).map((line) => JSON.parse(line));
    expect(entries.find(({ data }) => data?.a)).toMatchObject({ message: 'NaN "Infinity', data });
  }
  expect(parseText("[NaN,-NaN]")).toBe(NOT_JSON);
  // A text with many quotes takes linear time.
  const started = threadMs();
  expect(parseText(`{NaN${'\\"'.repeat(500_000)}`)).toBe(NOT_JSON);
  expect(parseText(`[${"NaN".repeat(300_000)}`)).toBe(NOT_JSON);
  expect(parseText(`[NaN${"-".repeat(1_000_000)}`)).toBe(NOT_JSON);
  expect(threadMs() - started).toBeLessThan(2_000);
});

test("mutated bodies fail only with a fault of the body, and are never held whole", () => {
  const bodies = [
    '{"msg":"a ü","time":1795420799999,"x":{"y":[1,"z"]}}\n{"msg":"b","level":30}\n',
    '[{"msg":"a","time":"2026-11-23T07:59:59.123Z"},{"msg":"b\\n","level":"notice"}]',
    '{"logs":[{"msg":"a"},{"msg":"b"}]}',
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...bodies),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }),
      fc.integer({ min: 1, max: 60 }),
      fc.constantFrom("application/json", "text/plain", ""),
      (body, changes, size, mediaType) => {
        const bytes = new TextEncoder().encode(body);
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
        try {
          const lines = linesOf(decoded(bytes, size, mediaType));
          for (const line of lines) if (line !== "") JSON.parse(line);
        } catch (error) {
          expect(error).toBeInstanceOf(DoorBodyFault);
        }
      },
    ),
    { numRuns: 4_000 },
  );
});

test("records that are deep, large or have many values are kept within little memory", () => {
  const many = `{"msg":"m","list":[${"1,".repeat(300_000)}1]}`;
  const deep = `{"msg":"m","deep":${"[".repeat(15_000)}${"]".repeat(15_000)}}`;
  const long = `{"msg":"m","${"n".repeat(262_144)}":1}`;
  const huge = `{"msg":"${"x".repeat(3_000_000)}"}`;
  const body = new TextEncoder().encode([many, deep, long, huge, '{"msg":"last"}'].join("\n"));
  const entries = new DoorEntries(NOW);
  const decoder = new PlainDecoder(entries, new RecordReader(), "");
  for (let at = 0; at < body.length; at += 131_072) {
    inOneTurn(decoder.read(body.slice(at, at + 131_072)));
    expect(decoder.held + entries.held).toBeLessThan(3_000_000);
  }
  inOneTurn(decoder.end());
  const lines = linesOf(entries);
  expect(lines).toHaveLength(5);
  for (const line of lines) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(262_144);
  expect(JSON.parse(lines[4] ?? "")).toMatchObject({ message: "last" });
});

test.each([
  ["a line of text", "text/plain", (text: string) => text],
  ["a line of NDJSON", "", (text: string) => `{"a":1}\n"${text}"`],
  ["a text of an array", "application/json", (text: string) => `["${text}"]`],
])("finding 18: %s over 1 MiB says how long it was", (_, mediaType, bodyOf) => {
  const body = bodyOf("x".repeat(1_500_000));
  const last = linesOf(decoded(body, 131_072, mediaType)).at(-1) ?? "";
  const { cut } = JSON.parse(last).data._taffrail;
  expect(cut.message).toBeGreaterThanOrEqual(1_500_000);
});

test.each([1, 7, 1_000_000])("keeps text of any encoding, in chunks of %i bytes", (size) => {
  const latin1 = Buffer.from('start grüße\n{"msg":"\u00e4","a":"\u00fc"}\nno fault\n', "latin1");
  const utf8 = Buffer.concat([
    Buffer.from("\u65e5\u672c"),
    Buffer.of(0xe6, 0x97),
    Buffer.from(' \u00e9\n{"msg":"\u{1f389}"}\n'),
  ]);
  const entries = decoded(Buffer.concat([latin1, utf8]), size, "text/plain");
  expect(linesOf(entries).map((line) => JSON.parse(line).message)).toEqual([
    "start grüße",
    "\u00e4",
    "no fault",
    "\u65e5\u672c\u00e6\u0097 \u00e9",
    "\u{1f389}",
  ]);
  const document = decoded(Buffer.from('[{"msg":"gr\u00fc\u00dfe"}]', "latin1"), size);
  expect(linesOf(document).map((line) => JSON.parse(line).message)).toEqual(["grüße"]);
});

test("refuses binary data, and keeps a text with some control characters", () => {
  const text = "a line of text\n".repeat(100);
  for (const binary of [gzipSync(text), deflateSync(text), zstdCompressSync(text), Buffer.from(text, "utf16le")]) {
    expect(() => decoded(binary, 1_000_000, "text/plain")).toThrow(DoorBodyFault);
  }
  expect(linesOf(decoded(`torn \0 here\n${text}`, 1_000_000, "text/plain"))).toHaveLength(101);
  expect(linesOf(decoded("a\0b\n", 1_000_000, "text/plain"))).toHaveLength(1);
});
