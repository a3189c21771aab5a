import { isUtf8 } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Batch, decodeBody } from "../../../src/logs/batch.ts";
import { CATEGORY_TYPES, INGEST_LIMITS, LEVELS } from "../../../src/logs/entry.ts";
import type { BuildResult } from "../../../src/logs/ingest/build-batch.ts";
import { canonicalBatch, canonicalLines } from "../../../src/logs/ingest/ingest-body.ts";
import { readIngestBody } from "../../../src/logs/ingest/lines-reader.ts";
import { type IngestMediaType, parseEntries, parseLines } from "../../../src/logs/ingest/parse-entries.ts";
import { inOneTurn, TurnMeter } from "../../../src/platform/turns.ts";
import { jsonText } from "./json-text.ts";

const NOW = Date.UTC(2026, 10, 20, 12);
const NDJSON = "application/x-ndjson";
const JSON_TYPE = "application/json";
const encoder = new TextEncoder();

/** The result of parsing a body, or `null` if the body is rejected. */
function parsed(bytes: Uint8Array, type: IngestMediaType): BuildResult | null {
  const options = { now: NOW, oldest: null };
  if (type === NDJSON) return inOneTurn(parseLines(bytes, options, new TurnMeter())).builder.finish();
  const result = inOneTurn(parseEntries(bytes, options, new TurnMeter()));
  return result.ok ? result.builder.finish() : null;
}

function canonical(bytes: Uint8Array, type: IngestMediaType): Batch | null {
  if (type === JSON_TYPE) return inOneTurn(canonicalBatch(bytes, NOW, new TurnMeter()));
  // The service checks lines before it reads them.
  return isUtf8(bytes) ? (inOneTurn(canonicalLines(bytes, NOW, new TurnMeter()))?.batch ?? null) : null;
}

function shown(batch: Batch) {
  return {
    ...batch,
    summary: Buffer.from(batch.summary).toString("hex"),
    body: Buffer.from(decodeBody(batch.encoding, batch.body)).toString(),
  };
}

/** Whether a body is accepted as canonical. If so, parsing must have the same result, without rejections. */
function isTaken(bytes: Uint8Array, type: IngestMediaType): boolean {
  const before = Buffer.from(bytes);
  const batch = canonical(bytes, type);
  expect(before.equals(bytes)).toBe(true);
  if (batch === null) return false;
  const slow = parsed(bytes, type);
  expect(slow?.rejectedCount).toBe(0);
  expect(shown(batch)).toEqual(slow?.batch && shown(slow.batch));
  return true;
}

const isTakenText = (text: string, type: IngestMediaType = NDJSON) => isTaken(encoder.encode(text), type);

const HEAD = '{"timestamp":"2026-11-20T11:59:00.000Z","level":"info","category":"custom","type":"log","message":"m"';
const withData = (data: string) => `${HEAD},"data":${data}}`;

/** Forms that a body of lines may have. */
const FORMS: readonly [string, IngestMediaType, (lines: readonly string[]) => string][] = [
  ["NDJSON", NDJSON, (lines) => lines.join("\n")],
  ["NDJSON with a last line feed", NDJSON, (lines) => `${lines.join("\n")}\n`],
  ["an array", JSON_TYPE, (lines) => `[${lines.join(",")}]`],
  ["a wrapper", JSON_TYPE, (lines) => `{"logs":[${lines.join(",")}]}`],
];

const text = fc.string({
  unit: fc.oneof(fc.string({ unit: "binary", maxLength: 1 }), fc.constantFrom('"', "\\", "\n", "\u0001", "\u007f")),
  maxLength: 12,
});
const name = fc.oneof(
  { weight: 9, arbitrary: text.filter((each) => !/^\d/.test(each)) },
  fc.constantFrom("__proto__", "toJSON", "constructor", ""),
);
const number = fc.oneof(
  fc.integer(),
  fc.integer({ min: -999_999, max: 999_999 }).map((each) => each / 1000),
  fc.constantFrom(0, 0.5, -0.000001, 123456789.123456, 999999999999999, -1),
  // Sixteen digits that a number preserves, with a point anywhere.
  fc
    .tuple(fc.integer({ min: 1e15, max: 2 ** 52 - 1 }), fc.integer({ min: 0, max: 15 }))
    .map(([digits, decimals]) => Number(`${digits}e-${decimals}`)),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    text,
    number,
    fc.constantFrom(true, false, null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(name, tie("value"), { maxKeys: 5, noNullPrototype: true }),
  ),
}));
const data = fc.dictionary(name, value, { maxKeys: 5, noNullPrototype: true });
const place = fc.oneof(
  fc.constantFrom(
    ...Object.entries(CATEGORY_TYPES).flatMap(([category, types]) => types.map((type) => [category, type])),
  ),
  fc.constantFrom(["custom", "log"], ["custom", "own type"], ["billing", "refund"]),
);
/** Own members, which are never empty. */
const own = text.filter((each) => each !== "");
/** Entries as they are stored. */
const stored = fc
  .tuple(
    fc.integer({ min: NOW - 90_000, max: NOW + 1000 }),
    fc.constantFrom(...LEVELS),
    place,
    text.filter((each) => each !== ""),
    fc.record({ session: text, traceId: text, spanId: text, service: own, host: own, data }, { requiredKeys: [] }),
  )
  .map(([ms, level, [category, type], message, { session, traceId, spanId, service, host, data: members }]) =>
    JSON.stringify({
      timestamp: new Date(ms).toISOString(),
      ...{ level, category, type, message, session, traceId, spanId, service, host, data: members },
    }),
  )
  // Lines that `JSON.stringify` writes the same after `JSON.parse`, which excludes some member names.
  .filter((line) => JSON.stringify(JSON.parse(line)) === line);

function read(lines: string, oldest: number | null = null) {
  return inOneTurn(readIngestBody(encoder.encode(lines), NDJSON, { now: NOW, oldest }));
}

describe("a canonical body", () => {
  test.each(FORMS)("is copied without parsing: %s", (_, type, form) => {
    fc.assert(
      fc.property(fc.array(stored, { minLength: 1, maxLength: 8 }), (lines) => {
        // UTF-8 replaces lone surrogates unless they are escaped, so such lines need the parser.
        fc.pre(!/\\ud/.test(lines.join()));
        expect(isTakenText(form(lines), type)).toBe(true);
      }),
      { numRuns: 250 },
    );
  });

  test("may be a single entry", () => {
    expect(isTakenText(withData('{"a":[1,{"b":"\\u0001é\\n"}],"c":{}}'), JSON_TYPE)).toBe(true);
    expect(isTakenText(`${HEAD}}`, JSON_TYPE)).toBe(true);
    expect(isTakenText(`${HEAD}},${HEAD}}`, JSON_TYPE)).toBe(false);
  });

  test("has the result of parsing, whichever bytes of it are changed", () => {
    const bit = fc.tuple(
      // Half of the changes affect the first line's head, where each byte has a meaning.
      fc.oneof(fc.nat({ max: 120 }), fc.nat()),
      fc.constantFrom("replace", "insert", "remove"),
      fc.constantFrom(
        ...Buffer.from('"\\,:{}[]0123456789-.eE \n\r\t/ubfnrtaZ\u0000'),
        0xff,
        0xc3,
        0xa9,
        0xed,
        0xa0,
        0x80,
      ),
    );
    let taken = 0;
    fc.assert(
      fc.property(
        fc.array(stored, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(...FORMS),
        fc.array(bit, { minLength: 1, maxLength: 3 }),
        (lines, [, type, form], changes) => {
          let bytes = [...encoder.encode(form(lines))];
          for (const [at, how, byte] of changes) {
            const place = at % bytes.length;
            if (how === "replace") bytes[place] = byte;
            else bytes = bytes.toSpliced(place, how === "remove" ? 1 : 0, ...(how === "remove" ? [] : [byte]));
          }
          if (isTaken(Uint8Array.from(bytes), type)) taken++;
        },
      ),
      { numRuns: 3000 },
    );
    // One letter more or less in a text keeps it canonical.
    expect(taken).toBeGreaterThan(50);
  });

  test("has the result of parsing, whatever JSON is in it", () => {
    fc.assert(
      fc.property(jsonText, (json) => {
        isTakenText(withData(json));
        isTakenText(withData(`{"a":${json}}`));
        isTakenText(`[${withData(`{"a":${json}}`)}]`, JSON_TYPE);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("a body is not canonical with", () => {
  test.each([
    ["a name twice", '{"a":1,"a":1}'],
    ["a name twice, deeper", '{"a":{"b":1,"c":{},"b":2}}'],
    ["a whole number as a name", '{"b":1,"1":2}'],
    ["minus nothing", '{"a":-0}'],
    ["an exponent", '{"a":1e5}'],
    ["an exponent after a point", '{"a":1.5e5}'],
    ["a last zero", '{"a":1.50}'],
    ["a first zero", '{"a":01}'],
    ["a number without digits", '{"a":-}'],
    ["a point without digits", '{"a":1.}'],
    ["more digits than a number can represent", '{"a":9007199254740993}'],
    ["more decimals than a number can represent", '{"a":5000000000.000001}'],
    ["a number that is written with an exponent", '{"a":0.0000001}'],
    ["an escape of a letter", '{"a":"\\u0041"}'],
    ["an escaped slash", '{"a":"\\/"}'],
    ["an escape in capitals", '{"a":"\\u001F"}'],
    ["a long escape instead of a short one", '{"a":"\\u000a"}'],
    ["a lone surrogate", '{"a":"\\ud800"}'],
    ["a control character", '{"a":"\u0001"}'],
    ["white space", '{"a": 1}'],
    ["an invalid value", '{"a":nul}'],
    ["nesting that is too deep", `${'{"a":'.repeat(33)}1${"}".repeat(33)}`],
    ["lists that are too deep", `{"a":${"[".repeat(32)}${"]".repeat(32)}}`],
    ["a list", "[]"],
    ["an unfinished object", '{"a":1'],
  ])("data with %s", (_, json) => {
    expect(canonical(encoder.encode(withData(json)), NDJSON)).toBeNull();
  });

  test.each([
    ["members in another order", '{"level":"info","timestamp":"2026-11-20T11:59:00.000Z","message":"m"}'],
    ["members left out", '{"timestamp":"2026-11-20T11:59:00.000Z","level":"info","message":"m"}'],
    ["another member", `${HEAD},"extra":1}`],
    ["an id twice", `${HEAD},"session":"a","session":"b"}`],
    ["ids in another order", `${HEAD},"traceId":"a","session":"b"}`],
    ["own members in another order", `${HEAD},"host":"a","service":"b"}`],
    ["an own member before an id", `${HEAD},"service":"a","session":"b"}`],
    ["an own member that is empty", `${HEAD},"service":""}`],
    ["an own member that is no string", `${HEAD},"host":5}`],
    ["an own member that is too long", `${HEAD},"host":"${"h".repeat(257)}"}`],
    ["an empty message", HEAD.replace('"m"', '""').concat("}")],
    ["an unknown level", HEAD.replace("info", "inform").concat("}")],
    ["a type of another category", HEAD.replace("custom", "http").concat("}")],
    ["a category that is too long", HEAD.replace("custom", "c".repeat(65)).concat("}")],
    ["an empty category", HEAD.replace("custom", "").concat("}")],
    ["a category outside ASCII", HEAD.replace("custom", "é").concat("}")],
    ["a time of another form", HEAD.replace("00.000Z", "00Z").concat("}")],
    ["a time with a space in it", HEAD.replace("20T11", "20 11").concat("}")],
    ["a time with a small letter in it", HEAD.replace("20T11", "20t11").concat("}")],
    ["a minute of another form", HEAD.replace("11:59:", "11.59:").concat("}")],
    ["an invalid second", HEAD.replace("00.000Z", "60.000Z").concat("}")],
    ["an invalid day", HEAD.replace("11-20", "02-30").concat("}")],
    ["a time long ago", HEAD.replace("2026", "2024").concat("}")],
    ["a time far ahead", HEAD.replace("11-20", "11-22").concat("}")],
    ["a carriage return", `${HEAD}}\r\n${HEAD}}`],
    ["an empty line", `${HEAD}}\n\n${HEAD}}`],
    ["a byte order mark", `\ufeff${HEAD}}`],
    ["nothing", ""],
  ])("a line with %s", (_, line) => {
    expect(canonical(encoder.encode(line), NDJSON)).toBeNull();
  });

  test("bytes that are not UTF-8", () => {
    const bytes = encoder.encode(`${HEAD.replace('"m"', '"mm"')}}`);
    bytes[bytes.length - 3] = 0xc3;
    expect(canonical(bytes, NDJSON)).toBeNull();
  });

  test("a larger entry, or more entries, than allowed", () => {
    const most = withData(`{"a":"${"x".repeat(INGEST_LIMITS.entryBytes - withData('{"a":""}').length)}"}`);
    expect(most).toHaveLength(INGEST_LIMITS.entryBytes);
    expect(isTakenText(most)).toBe(true);
    expect(canonical(encoder.encode(most.replace("x", "xx")), NDJSON)).toBeNull();
    const many = new Array<string>(INGEST_LIMITS.entries).fill(`${HEAD}}`);
    expect(isTakenText(many.join("\n"))).toBe(true);
    expect(canonical(encoder.encode(`[${[...many, `${HEAD}}`].join(",")}]`), JSON_TYPE)).toBeNull();
  });
});

test("the time limits are exact to the millisecond", () => {
  const DAY_MS = 86_400_000;
  for (const edge of [NOW + INGEST_LIMITS.futureMs, NOW - 365 * DAY_MS]) {
    for (const ms of [edge - 1, edge, edge + 1]) {
      const line = `${HEAD.replace("2026-11-20T11:59:00.000Z", new Date(ms).toISOString())}}`;
      const [batch = null] = read(line).batches;
      const slow = parsed(encoder.encode(line), NDJSON)?.batch ?? null;
      expect(slow === null).toBe(ms > NOW + INGEST_LIMITS.futureMs || ms < NOW - 365 * DAY_MS);
      expect(batch && shown(batch)).toEqual(slow && shown(slow));
    }
  }
});

test("entries older than the workspace's retention are rejected if it is given", () => {
  const lines = [`${HEAD}}`, HEAD.replace("11-20", "11-10").concat("}")].join("\n");
  expect(read(lines)).toMatchObject({ units: 2, rejectedCount: 0, batches: [{ count: 2 }] });
  expect(read(lines, NOW - 86_400_000)).toMatchObject({
    units: 2,
    batches: [{ count: 1 }],
    rejected: [{ index: 1, code: "TIMESTAMP_TOO_OLD" }],
  });
});

test("entries whose category changes with each line keep their own", () => {
  const lines = Array.from({ length: 60 }, (_, index) => `${HEAD.replace("custom", `own${index % 40}`)}}`);
  expect(isTakenText(lines.join("\n"))).toBe(true);
});
