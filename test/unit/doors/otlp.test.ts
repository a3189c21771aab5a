import { describe, expect, test } from "vitest";
import {
  field,
  jsonOf,
  type OtlpRecord,
  type OtlpResource,
  protobufOf,
  type Value,
  varint,
} from "../../../bench/otlp-bodies.ts";
import { DoorBodyFault, type DoorDecoder } from "../../../src/doors/decoder.ts";
import type { DoorEntry, DoorEntrySink } from "../../../src/doors/entry.ts";
import { JsonLogsDecoder } from "../../../src/doors/otlp/json-decoder.ts";
import { ProtobufLogsDecoder } from "../../../src/doors/otlp/protobuf-decoder.ts";
import { DoorEntries } from "../../../src/doors/shared/door-entries.ts";
import { EntryFitter } from "../../../src/doors/shared/entry-fitter.ts";
import { decodeBody } from "../../../src/logs/batch.ts";
import { TurnMeter } from "../../../src/platform/turns.ts";

class ListSink implements DoorEntrySink {
  readonly entries: DoorEntry[] = [];
  readonly rejected: string[] = [];

  readonly #read: (entry: DoorEntry) => DoorEntry;

  constructor(read: (entry: DoorEntry) => DoorEntry) {
    this.#read = read;
  }

  add(entry: DoorEntry): void {
    // Shared objects may change afterwards.
    this.entries.push(this.#read(entry));
  }

  reject(reason: string): void {
    this.rejected.push(reason);
  }
}

/** A copy of an entry with its data as an object. The JSON must be as `JSON.stringify` writes it. */
function withData({ json, ...entry }: DoorEntry): DoorEntry {
  if (json === undefined) return structuredClone(entry);
  const data = JSON.parse(`{${json.members}}`);
  expect(JSON.stringify(data)).toBe(`{${json.members}}`);
  return structuredClone({ ...entry, data });
}

interface Decoded {
  entries: DoorEntry[];
  /** The most bytes that the decoder held. */
  held: number;
  pauses: number;
}

type Encoding = "protobuf" | "json";
const ENCODINGS: readonly Encoding[] = ["protobuf", "json"];

function decode(
  encoding: Encoding,
  body: Uint8Array | string,
  chunkBytes = Number.POSITIVE_INFINITY,
  read = withData,
): Decoded {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const sink = new ListSink(read);
  const meter = new TurnMeter();
  const decoder: DoorDecoder =
    encoding === "json" ? new JsonLogsDecoder(sink, meter) : new ProtobufLogsDecoder(sink, meter);
  let held = 0;
  let pauses = 0;
  const run = (steps: Iterable<void>) => {
    for (const _ of steps) {
      pauses++;
      meter.renew();
    }
    held = Math.max(held, decoder.held);
  };
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    // A chunk's owner changes it afterwards.
    const chunk = new Uint8Array(bytes.subarray(at, at + chunkBytes));
    run(decoder.read(chunk));
    chunk.fill(0x22);
  }
  run(decoder.end());
  return { entries: sink.entries, held, pauses };
}

/** Bytes of a model in an encoding. */
function encode(encoding: Encoding, resources: readonly OtlpResource[], isLate = false): Buffer {
  return encoding === "json" ? Buffer.from(jsonOf(resources, isLate)) : protobufOf(resources, isLate);
}

function oneOf(encoding: Encoding, record: OtlpRecord, resource: Partial<OtlpResource> = {}): DoorEntry {
  const { entries } = decode(encoding, encode(encoding, [{ ...resource, scopes: [{ records: [record] }] }]));
  expect(entries).toHaveLength(1);
  return entries[0] as DoorEntry;
}

const TIME = 1_795_420_800_123_456_789n;
const RICH: readonly OtlpResource[] = [
  {
    attributes: [
      ["service.name", "checkout"],
      ["host.name", "node-7"],
      ["process.pid", 42],
    ],
    dropped: 2,
    schemaUrl: "https://opentelemetry.io/schemas/1.26.0",
    scopes: [
      {
        name: "app",
        version: "1.2",
        attributes: [["lib", true]],
        schemaUrl: "https://example.com/scope",
        records: [
          {
            time: TIME,
            observed: TIME + 1_000_000n,
            severityNumber: 10,
            severityText: "Information",
            body: "order placed — 7 €",
            attributes: [
              ["http.status_code", 200],
              ["ratio", { double: 0.5 }],
              ["nan", { double: Number.NaN }],
              ["big", 9_223_372_036_854_775_807n],
              ["small", -9_223_372_036_854_775_808n],
              ["negative", -7],
              ["list", ["a", 1, null, { map: [["b", false]] }]],
              ["map", { map: [["c", { map: [["d", "e"]] }]] }],
              ["bytes", new Uint8Array([1, 2, 255])],
              ["unset", null],
              ["__proto__", "kept"],
            ],
            dropped: 3,
            flags: 1,
            traceId: "5b8efff798038103d269b633813fc60c",
            spanId: "eee19b7ec3c1b174",
            eventName: "order.placed",
          },
          { observed: TIME, body: { map: [["message", "inner"]] } },
        ],
      },
      { records: [{ severityText: "WARNING", body: "second scope" }] },
    ],
  },
  { attributes: [], scopes: [{ name: "other", records: [{ body: 5 }, {}] }] },
];

const EXPECTED: readonly DoorEntry[] = [
  {
    time: Number(TIME) / 1e6,
    sentTime: String(TIME),
    level: "info",
    message: "order placed — 7 €",
    service: "checkout",
    host: "node-7",
    traceId: "5b8efff798038103d269b633813fc60c",
    spanId: "eee19b7ec3c1b174",
    data: JSON.parse(`{
      "http.status_code": 200, "ratio": 0.5, "nan": "NaN", "big": "9223372036854775807",
      "small": "-9223372036854775808", "negative": -7, "list": ["a", 1, null, {"b": false}],
      "map": {"c": {"d": "e"}}, "bytes": "AQL/", "unset": null, "__proto__": "kept",
      "resource": {"service.name": "checkout", "host.name": "node-7", "process.pid": 42},
      "scope": {"name": "app", "version": "1.2", "attributes": {"lib": true}},
      "otel": {
        "severityNumber": 10, "severityText": "Information", "observedTimeUnixNano": "${TIME + 1_000_000n}",
        "eventName": "order.placed", "flags": 1, "droppedAttributes": 3,
        "resourceSchemaUrl": "https://opentelemetry.io/schemas/1.26.0", "resourceDroppedAttributes": 2,
        "schemaUrl": "https://example.com/scope"
      }
    }`),
  },
  {
    time: Number(TIME) / 1e6,
    sentTime: String(TIME),
    level: null,
    message: "inner",
    service: "checkout",
    host: "node-7",
    data: {
      body: { message: "inner" },
      resource: { "service.name": "checkout", "host.name": "node-7", "process.pid": 42 },
      scope: { name: "app", version: "1.2", attributes: { lib: true } },
      otel: {
        resourceSchemaUrl: "https://opentelemetry.io/schemas/1.26.0",
        resourceDroppedAttributes: 2,
        schemaUrl: "https://example.com/scope",
      },
    },
  },
  {
    time: null,
    level: "warn",
    message: "second scope",
    service: "checkout",
    host: "node-7",
    data: {
      resource: { "service.name": "checkout", "host.name": "node-7", "process.pid": 42 },
      otel: {
        severityText: "WARNING",
        resourceSchemaUrl: "https://opentelemetry.io/schemas/1.26.0",
        resourceDroppedAttributes: 2,
      },
    },
  },
  { time: null, level: null, message: "5", data: { body: 5, scope: { name: "other" } } },
  { time: null, level: null, message: null, data: { scope: { name: "other" } } },
];

describe.each(ENCODINGS)("OTLP in %s", (encoding) => {
  test("every part of a record, its scope and its resource is in the entry", () => {
    expect(decode(encoding, encode(encoding, RICH)).entries).toEqual(EXPECTED);
  });

  test("the same entries come of chunks of every size", () => {
    const body = encode(encoding, RICH);
    for (let size = 1; size <= body.length; size = size < 40 ? size + 1 : Math.ceil(size * 1.3)) {
      expect(decode(encoding, body, size).entries, `chunks of ${size} bytes`).toEqual(EXPECTED);
    }
  });

  test("records that come before their scope and their resource have both", () => {
    const body = encode(encoding, RICH, true);
    // Reversed, the second resource and the scopes keep their places in JSON; in protobuf the scopes change theirs.
    const sorted = (entries: readonly DoorEntry[]) =>
      [...entries].sort((a, b) => `${a.message} ${a.time}`.localeCompare(`${b.message} ${b.time}`));
    expect(sorted(decode(encoding, body).entries)).toEqual(sorted(EXPECTED));
    expect(sorted(decode(encoding, body, 7).entries)).toEqual(sorted(EXPECTED));
  });

  test("severity numbers are levels, four numbers each", () => {
    const levels = Array.from({ length: 26 }, (_, severityNumber) => oneOf(encoding, { severityNumber }).level);
    const six = ["trace", "debug", "info", "warn", "error", "fatal"];
    expect(levels).toEqual([null, ...six.flatMap((level) => [level, level, level, level]), null]);
    expect(oneOf(encoding, { severityNumber: 25, severityText: "odd" }).data).toEqual({
      otel: { severityNumber: 25, severityText: "odd" },
    });
    expect(oneOf(encoding, { severityNumber: 9, severityText: "INFO" }).data).toEqual({});
    expect(oneOf(encoding, { severityText: "ERROR" })).toMatchObject({ level: "error", data: {} });
  });

  test("attributes with names of other members are kept aside", () => {
    const entry = oneOf(
      encoding,
      {
        attributes: [
          ["resource", "r"],
          ["otel", 1],
          ["log.record.uid", "01H"],
          ["session.id", "s1"],
        ],
      },
      { attributes: [["k", "v"]] },
    );
    expect(entry.data).toEqual({
      attributes: { resource: "r", otel: 1 },
      "log.record.uid": "01H",
      "session.id": "s1",
      resource: { k: "v" },
    });
    expect(entry).toMatchObject({ id: { text: "otlp\n01H", hasContent: false }, session: "s1" });
  });

  test("values nested deeper than data may be are kept as text", () => {
    let value: OtlpRecord["body"] = "bottom";
    for (let depth = 0; depth < 60; depth++) value = [value];
    const { body } = oneOf(encoding, { body: value }).data;
    const depthOf = (one: unknown): number => (Array.isArray(one) ? 1 + depthOf(one[0]) : 0);
    expect(depthOf(body)).toBeGreaterThan(20);
    expect(depthOf(body)).toBeLessThan(31);
    expect(JSON.stringify(body)).toMatch(encoding === "json" ? /bottom/ : /Ym90dG9t|[A-Za-z0-9+/]{20}/);
  });

  test("a record far above the limit keeps the beginning of its text and everything else", () => {
    const record = { body: "x".repeat(3_000_000), attributes: [["a", 1] as const], traceId: "ab".repeat(16) };
    const after: OtlpRecord = { body: "after" };
    const bytes = encode(encoding, [
      { attributes: [["service.name", "s"]], scopes: [{ name: "n", records: [{ body: "before" }, record, after] }] },
    ]);
    const { entries, held } = decode(encoding, bytes, 128 * 1024);
    expect(entries.map(({ message }) => message?.slice(0, 6))).toEqual([
      "before",
      encoding === "json" ? '{"body' : "xxxxxx",
      "after",
    ]);
    expect(entries[1]?.message?.length).toBeGreaterThan(100_000);
    expect(entries[1]).toMatchObject({ service: "s", marks: { cut: { message: expect.any(Number) } } });
    if (encoding === "protobuf") expect(entries[1]).toMatchObject({ traceId: record.traceId, data: { a: 1 } });
    expect(held).toBeLessThan(1_600_000);
  });

  test("a resource of many records is not held whole, and says what may have come later", () => {
    const records = Array.from({ length: 12_000 }, (_, at) => ({ body: `${at} ${"y".repeat(300)}` }));
    const scopes = [{ name: "n", records }];
    const early = decode(encoding, encode(encoding, [{ attributes: [["k", 1]], scopes }]), 128 * 1024);
    expect(early.entries).toHaveLength(12_000);
    expect(early.held).toBeLessThan(3_000_000);
    expect(early.entries.every(({ data }) => Object.keys(data).join() === "resource,scope")).toBe(true);
    const late = decode(encoding, encode(encoding, [{ attributes: [["k", 1]], scopes }], true), 128 * 1024);
    expect(late.held).toBeLessThan(3_000_000);
    expect(late.entries[0]).toMatchObject({ data: {}, marks: { missing: ["resource", "scope"] } });
    expect(late.entries.at(-1)?.data).toMatchObject({ resource: { k: 1 } });
    expect(late.pauses).toBeGreaterThan(2);
  });

  test("an empty request has no entries", () => {
    expect(decode(encoding, "").entries).toEqual([]);
    expect(decode(encoding, encode(encoding, [])).entries).toEqual([]);
    expect(decode(encoding, encode(encoding, [{ scopes: [] }])).entries).toEqual([]);
  });

  test("mutated bodies end with entries or a fault of the body, in bounded memory", () => {
    const random = seeded(encoding === "json" ? 1 : 2);
    const bodies = [encode(encoding, RICH), encode(encoding, RICH, true)];
    let faults = 0;
    for (let run = 0; run < Number(process.env.FUZZ_RUNS ?? 1_000); run++) {
      const body = mutated(bodies[run % 2] ?? Buffer.alloc(0), random);
      try {
        const { entries, held } = decode(encoding, body, 1 + Math.floor(random() * 300));
        for (const { data } of entries) JSON.stringify(data);
        expect(held).toBeLessThan(300_000);
        if (encoding === "protobuf") expect(linesOf(body)).toHaveLength(entries.length);
      } catch (error) {
        if (!(error instanceof DoorBodyFault)) throw error;
        faults++;
      }
    }
    expect(faults).toBeGreaterThan(0);
  });
});

describe("OTLP in protobuf", () => {
  const fault = (body: Buffer) => expect(() => decode("protobuf", body), body.toString("hex")).toThrow(DoorBodyFault);
  const request = (record: Buffer) => field(1, field(2, field(2, record)));

  test("unknown fields of every wire type are passed over, at every level", () => {
    const unknown = Buffer.concat([
      ...[varint(100 << 3), varint(2n ** 64n - 1n)],
      ...[varint((101 << 3) | 1), Buffer.alloc(8, 1)],
      ...[varint((102 << 3) | 5), Buffer.alloc(4, 1)],
      field(103, Buffer.alloc(200_000, 7)),
    ]);
    const within = (...parts: Buffer[]) => Buffer.concat([unknown, ...parts, unknown]);
    const record = within(field(5, within(field(1, Buffer.from("text")))));
    const body = within(field(1, within(field(1, within()), field(2, within(field(1, within()), field(2, record))))));
    for (const size of [1000, 100_000, Number.POSITIVE_INFINITY]) {
      expect(decode("protobuf", body, size).entries).toEqual([{ time: null, level: null, message: "text", data: {} }]);
    }
  });

  test("groups, field 0, long varints, lengths beyond the message and early ends are refused", () => {
    for (const type of [3, 4, 6, 7]) {
      fault(varint((1 << 3) | type));
      fault(request(varint((5 << 3) | type)));
    }
    fault(Buffer.from([0]));
    fault(request(Buffer.from([0])));
    fault(Buffer.from([8, ...Array(10).fill(0x80), 0]));
    fault(request(Buffer.from([8, ...Array(10).fill(0xff), 1])));
    fault(field(1, Buffer.from([0x12, 5, 0])));
    fault(request(Buffer.from([0x2a, 5, 10])));
    fault(Buffer.from([10, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]));
    const whole = protobufOf(RICH);
    for (let length = 1; length < whole.length; length += 11) {
      if (length !== whole.lastIndexOf("other") && !endsBetweenFields(whole, length)) fault(whole.subarray(0, length));
    }
  });

  test("a byte that is not UTF-8 is read as Latin-1", () => {
    const [entry] = decode("protobuf", request(field(5, field(1, Buffer.from([0x61, 0xff, 0x62]))))).entries;
    expect(entry?.message).toBe("a\u00ffb");
  });

  test("many empty records, scopes and values take little memory", () => {
    const empty = Buffer.alloc(2 * 60_000).fill(Buffer.from([0x12, 0]));
    const records = decode("protobuf", field(1, field(2, empty)), 128 * 1024);
    expect(records.entries).toHaveLength(60_000);
    expect(records.held).toBeLessThan(1_500_000);
    expect(decode("protobuf", field(1, empty), 128 * 1024).held).toBeLessThan(300_000);
    const values = Buffer.alloc(2 * 60_000).fill(Buffer.from([0x0a, 0]));
    const [entry] = decode("protobuf", request(field(5, field(5, values)))).entries;
    const body = entry?.data.body;
    expect(Array.isArray(body) && body.filter((value) => value === null).length).toBeLessThan(20_001);
  });
});

test("an entry with JSON in place of data is stored as the one with data", () => {
  const now = Number(TIME / 1_000_000n) + 5_000;
  const records = Array.from({ length: 40 }, (_, at) => ({
    ...(at % 3 === 0 ? { time: TIME + BigInt(at) } : { time: (TIME / 1_000_000n) * 1_000_000n }),
    ...(at % 5 === 0 ? { severityText: "Notice" } : { severityNumber: at % 25 }),
    ...(at % 7 === 0 ? {} : { body: `text ${at} "é" \\ \u0001` }),
    ...(at % 11 === 0 ? { time: 1n } : {}),
    attributes: [
      ["k", at],
      ["session.id", "s"],
      ["t", 'q"uote'],
      ...(at === 9 ? [["big", "x".repeat(300_000)] as const] : []),
    ] as const,
    traceId: "ab".repeat(16),
    eventName: at % 2 === 0 ? "e" : "",
  }));
  const resources = [{ attributes: [["service.name", "s"] as const], scopes: [{ name: "n", records }] }];
  const lines = ENCODINGS.flatMap((encoding) => {
    const { entries } = decode(encoding, encode(encoding, resources), Number.POSITIVE_INFINITY, (entry) => entry);
    expect(entries.filter(({ json }) => json !== undefined)).toHaveLength(40);
    const fitter = new EntryFitter(now);
    return entries.map((entry) => {
      const { line } = fitter.fit(withData(entry));
      expect(fitter.fit(entry).line).toBe(line);
      return line;
    });
  });
  expect(lines.slice(40)).toEqual(lines.slice(0, 40));
});

/** The same document in other forms: unneeded escapes, white space, numbers and ids as others write them. */
function disguised(json: string, pick: <T>(...choices: T[]) => T): string {
  return json.replace(/"plain"|"\w+Value":"?\d+"?|"traceId":"\w+"|"timeUnixNano":"\d+"|é|\{"key"/g, (part) =>
    pick(
      ...Array<string>(20).fill(part),
      part.replace("é", "\\u00e9").replace("plain", "pl\\u0061in \\/"),
      part.replace('":', '" : '),
      part.replace(/"\d+"/, '"007"'),
      part.replace(/"[0-9a-f]+"/, (id) => id.toUpperCase()),
    ),
  );
}

test.each(ENCODINGS)("a line written straight from the bytes of a record in %s is the one of its entry", (encoding) => {
  const random = seeded(7);
  const pick = <T>(...choices: T[]): T => choices[Math.floor(random() * choices.length)] as T;
  const now = Number(TIME / 1_000_000n) + 5_000;
  const second = (TIME / 1_000_000_000n) * 1_000_000_000n;
  const text = () =>
    pick("plain", "", "é ü 7 €", 'a "quote" and \\', "line\nbreak \u0001", "x".repeat(pick(0, 40, 5_000)));
  const value = () =>
    pick<Value>(text(), 7, -3, 0, 2 ** 40, 9_223_372_036_854_775_807n, true, { double: 0.25 }, null, ["l"]);
  const name = () =>
    pick(
      "http.route",
      "session.id",
      "n",
      "resource",
      "3",
      "service.name",
      "log.record.uid",
      "é",
      'q"',
      "k".repeat(120),
    );
  const record = (): OtlpRecord => ({
    ...pick({}, { time: second }, { time: 5n }, { time: 1n << 62n }, ...Array(6).fill({ time: TIME })),
    ...pick({}, { observed: TIME }, { observed: TIME + 77n }, { observed: 3n }),
    ...pick({}, ...Array(5).fill({ severityNumber: pick(1, 5, 9, 9, 10, 13, 17, 24, 25, 0) })),
    ...pick({}, { severityText: pick("INFO", "Info", "warn", "Notice", "") }),
    ...pick({}, { body: value() }, ...Array(5).fill({ body: text() })),
    ...pick({}, { attributes: Array.from({ length: pick(1, 2, 5) }, () => [name(), value()] as const) }),
    ...pick({}, { dropped: 2 }, { flags: 1 }, { flags: 0xffffffff, eventName: text() }),
    ...pick(
      {},
      { traceId: "ab".repeat(16), spanId: "cd".repeat(8) },
      { traceId: "00".repeat(16) },
      { traceId: "abcd" },
    ),
  });
  let written = 0;
  for (let run = 0; run < 60; run++) {
    const resources = Array.from({ length: pick(1, 2) }, () => ({
      ...pick({}, { attributes: [["service.name", pick("s", 'é "', "x".repeat(300))] as const, ["k", 1] as const] }),
      ...pick({}, { schemaUrl: "https://example.com/1" }),
      scopes: [{ ...pick({}, { name: "n", version: "1" }), records: Array.from({ length: 12 }, record) }],
    }));
    const body = encoding === "json" ? Buffer.from(disguised(jsonOf(resources), pick)) : protobufOf(resources);
    const bodies = [true, false].map((isDirect) => {
      const entries = new DoorEntries(now);
      const addWritten = entries.addWritten.bind(entries);
      entries.addWritten = (entry) => {
        written++;
        addWritten(entry);
      };
      const sink = isDirect ? entries : { add: entries.add.bind(entries), reject: entries.reject.bind(entries) };
      const Decoder = encoding === "json" ? JsonLogsDecoder : ProtobufLogsDecoder;
      const decoder = new Decoder(sink, entries.meter);
      for (const _ of decoder.read(body)) entries.meter.renew();
      for (const _ of decoder.end()) entries.meter.renew();
      const { isRepeatRetry } = entries;
      const batches = entries.finish().batches.map(({ body: lines, encoding, ...columns }) => ({
        ...columns,
        lines: Buffer.from(decodeBody(encoding, lines)).toString().split("\n"),
      }));
      return { batches, isRepeatRetry };
    });
    expect(bodies[0]).toEqual(bodies[1]);
  }
  // All forms occur.
  expect(written).toBeGreaterThan(40);
});

describe("OTLP in JSON", () => {
  const one = (record: string) =>
    decode("json", `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${record}]}]}]}`).entries[0];

  test("64-bit integers are texts or numbers, without a lost digit", () => {
    const values = `[{"key":"a","value":{"intValue":"504"}},{"key":"b","value":{"intValue":504}},
      {"key":"c","value":{"intValue":9007199254740993}},{"key":"d","value":{"intValue":"-9007199254740993"}},
      {"key":"e","value":{"stringValue":"\\"9007199254740993"}},{"key":"f","value":{"doubleValue":9007199254740993}},
      {"key":"g","value":{"doubleValue":"-Infinity"}},{"key":"h","value":{"doubleValue":"2.5"}}]`;
    expect(one(`{"timeUnixNano":1795420800123456789,"attributes":${values}}`)).toMatchObject({
      sentTime: "1795420800123456789",
      data: {
        ...{ a: 504, b: 504, c: "9007199254740993", d: "-9007199254740993", e: '"9007199254740993' },
        ...{ g: "-Infinity", h: 2.5 },
      },
    });
  });

  test("names of the protobuf fields, names of severities and ids in any case are accepted", () => {
    const body = `{"resource_logs":[{"resource":{"attributes":[{"key":"service.name","value":{"string_value":"s"}}]},
      "scope_logs":[{"scope":{"name":"n"},"log_records":[{"time_unix_nano":"1795420800000000000",
      "observed_time_unix_nano":"1795420801000000000","severity_number":"SEVERITY_NUMBER_WARN3","severity_text":"w",
      "trace_id":"5B8EFFF798038103D269B633813FC60C","span_id":"0000000000000000","event_name":"e",
      "dropped_attributes_count":"4","body":{"kvlist_value":{"values":[{"key":"k","value":{"int_value":1}}]}}}]}]}]}`;
    expect(decode("json", body).entries).toEqual([
      {
        time: 1_795_420_800_000,
        level: "warn",
        message: "e",
        service: "s",
        traceId: "5b8efff798038103d269b633813fc60c",
        data: {
          body: { k: 1 },
          resource: { "service.name": "s" },
          scope: { name: "n" },
          otel: {
            ...{ severityNumber: 15, severityText: "w", observedTimeUnixNano: "1795420801000000000" },
            ...{ eventName: "e", droppedAttributes: 4 },
          },
        },
      },
    ]);
  });

  test("unknown members are ignored, values of other types are kept under their names", () => {
    expect(
      one(`{"unknown":{"deep":[1,"]}"]},"severityText":7,"traceId":true,"timeUnixNano":"soon","body":"plain",
      "attributes":{"a":{"b":1}},"eventName":null}`),
    ).toEqual({
      time: null,
      level: null,
      message: "plain",
      data: { severityText: 7, traceId: true, timeUnixNano: "soon", a: { b: 1 } },
    });
    expect(one("7")).toEqual({ time: null, level: null, message: "7", data: { body: 7 } });
  });

  test("a body that is not the JSON of a request is refused", () => {
    const logs = (records: string) => `{"resourceLogs":[{"scopeLogs":[{"logRecords":${records}}]}]}`;
    for (const body of [
      ...["[]", "1", "{", "{}}", '{"resourceLogs":[1]}', '{"resourceLogs":[{}', "{,}", '{"a" 1}', "{} x"],
      ...[logs("[{]"), logs("[{}{}]"), logs("[{},]"), logs('[{"body":}]'), logs("[nul]"), '{"resourceLogs":[],}'],
      ...['{"message":"m"}', '{"resourceLogs":"x"}', '{"resource_logs":{}}', '{"resourceLogs":[{"scopeLogs":1}]}'],
      ...[logs('"x"'), `{"${"n".repeat(5000)}":1}`],
    ]) {
      for (const size of [1, 5, 1000]) {
        expect(() => decode("json", body, size), body).toThrow(DoorBodyFault);
      }
    }
    for (const empty of ['\ufeff {"other":[{"a":"]"}], "resourceLogs" : null }\n', "{}", logs("null")]) {
      expect(decode("json", empty, 1).entries).toEqual([]);
    }
  });

  test("records nested too deep to be parsed are kept as text", () => {
    const deep = `{"body":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect(one(deep)).toMatchObject({ message: expect.stringMatching(/^\{"body":\[\[/) });
  });
});

/** The lines that are stored of a body in protobuf, parsed. */
function linesOf(body: Uint8Array): unknown[] {
  const entries = new DoorEntries(Number(TIME / 1_000_000n));
  const decoder = new ProtobufLogsDecoder(entries, entries.meter);
  for (const _ of decoder.read(body)) entries.meter.renew();
  for (const _ of decoder.end()) entries.meter.renew();
  return entries.finish().batches.flatMap(({ encoding, body: lines }) =>
    Buffer.from(decodeBody(encoding, lines))
      .toString()
      .split("\n")
      .map((line: string): unknown => JSON.parse(line)),
  );
}

/** Whether a body cut at this length is a shorter valid one. */
function endsBetweenFields(body: Buffer, length: number): boolean {
  for (let at = 0; at <= length; ) {
    if (at === length) return true;
    at++;
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = body[at++] ?? 0;
      size += (byte & 127) * 2 ** shift;
      if (byte < 128) break;
    }
    at += size;
  }
  return false;
}

function mutated(body: Buffer, random: () => number): Buffer {
  let bytes = Buffer.from(body);
  const at = () => Math.floor(random() * bytes.length);
  for (let change = 0; change < 1 + random() * 4; change++) {
    const kind = random();
    if (kind < 0.5) bytes[at()] = Math.floor(random() * 256);
    else if (kind < 0.6) bytes = bytes.subarray(0, at());
    else if (kind < 0.8) {
      const from = at();
      bytes = Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + Math.floor(random() * 9))]);
    } else {
      const [from, part] = [at(), at()];
      bytes = Buffer.concat([bytes.subarray(0, from), bytes.subarray(part, part + 40), bytes.subarray(from)]);
    }
  }
  return bytes;
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
