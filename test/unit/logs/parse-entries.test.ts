import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { INGEST_LIMITS } from "../../../src/logs/entry.ts";
import { countValues } from "../../../src/logs/ingest/check-json.ts";
import { trimmedLength } from "../../../src/logs/ingest/entry-offsets.ts";
import { readIngestBody } from "../../../src/logs/ingest/lines-reader.ts";
import type { IngestMediaType } from "../../../src/logs/ingest/parse-entries.ts";
import { TurnMeter } from "../../../src/platform/turns.ts";
import { jsonMember, jsonText, whiteSpace } from "./json-text.ts";
import { referenceVerdict, type Verdict, verdictOf } from "./reference-ingest.ts";

const NOW = Date.UTC(2026, 10, 20);
const JSON_TYPE = "application/json";
const NDJSON = "application/x-ndjson";
const bytes = (text: string) => new Uint8Array(Buffer.from(text));

/** @returns the verdict */
function expectSame(body: Uint8Array, type: IngestMediaType): Verdict {
  const verdict = referenceVerdict(body, type, NOW);
  expect(verdictOf(body, type, NOW)).toEqual(verdict);
  return verdict;
}

/** V8 of Node 24 misreads some names (see the test of member names), so two parses of one text may differ in them. */
const isMisread = (text: string) => /\\"|\\\\/.test(text);

const member = jsonMember.map(([name, value]) => `${name}:${value}`);
const entry = fc.oneof(
  fc.array(member, { maxLength: 3 }).map((members) => `{"message":"m"${members.map((each) => `,${each}`).join("")}}`),
  fc.constantFrom(
    '{"message":"m","data":{"a":12345678901234567890}}',
    '{"message":"m","data":{"a":9007199254740992,"a":9007199254740993}}',
    '{"level":"warn","message":"},{"}',
    '{"level":"warn","message":"}","data":{"b":[{"message":1},{"message":2}]}}',
    '{"timestamp":9007199254740993,"message":"m"}',
  ),
  jsonText,
);
const spaced = fc.tuple(whiteSpace, entry, whiteSpace).map((parts) => parts.join(""));
const plain = fc.array(entry, { maxLength: 5 }).map((entries) => entries.join(","));
const list = fc.array(spaced, { maxLength: 5 }).map((entries) => entries.join(","));
const logsName = fc.constantFrom('"logs"', '"l\\u006fgs"', '"message"', '"log"', '"\\u0030"', '"7"', '"__proto__"');
const document = fc.oneof(
  entry,
  spaced,
  plain.map((text) => `[${text}]`),
  list.map((text) => `[${text}]`),
  plain.map((text) => `{"logs":[${text}]}`),
  fc
    .array(
      fc.tuple(
        whiteSpace,
        logsName,
        whiteSpace,
        fc.oneof(
          list.map((text) => `[${text}]`),
          jsonText,
        ),
        whiteSpace,
      ),
      {
        maxLength: 3,
      },
    )
    .map((members) => `{${members.map(([a, name, b, value, c]) => `${a}${name}${b}:${c}${value}${a}`).join(",")}}`),
);
const blank = fc.constantFrom("", " ", "\t\r", "\u00a0", "\ufeff", "\u2028 \u3000", "\u0085", "\u200b");
const ndjson = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: spaced.map((text) => text.replaceAll("\n", " ")) },
      { weight: 1, arbitrary: blank },
    ),
    {
      maxLength: 6,
    },
  )
  .chain((lines) => fc.constantFrom("\n", "\r\n", " \n").map((end) => lines.join(end)));
const mark = fc.constantFrom("", "", "", "\ufeff", "\ufeff\ufeff", " ", "\u00a0");
/** A change of a body, which usually makes it invalid or other JSON. */
const change = fc.tuple(
  fc.nat(),
  fc.constantFrom("replace", "insert", "remove", "cut"),
  fc.constantFrom(...Buffer.from('"\\,:{}[]0123456789-.eE \n\r\tun'), 0xff, 0xc3, 0xa9, 0xef, 0xbb, 0xbf, 0xa0, 0x00),
);

function changed(text: string, changes: readonly [number, string, number][]): Uint8Array {
  const body = [...Buffer.from(text)];
  for (const [where, how, byte] of changes) {
    const at = where % (body.length + 1);
    if (how === "cut") body.length = at;
    else body.splice(at, how === "insert" ? 0 : 1, ...(how === "remove" ? [] : [byte]));
  }
  return Uint8Array.from(body);
}

describe("A1: entries cut out of the bytes have the verdicts of one JSON.parse of the whole", () => {
  test.each([
    ["a document", JSON_TYPE, document],
    ["lines", NDJSON, ndjson],
  ] as const)("%s", (_, type, body) => {
    fc.assert(
      fc.property(mark, body, whiteSpace, (before, text, after) => {
        fc.pre(!isMisread(text));
        expectSame(bytes(before + text + after), type);
      }),
      { numRuns: 4000 },
    );
  });

  test.each([
    ["a document", JSON_TYPE, document],
    ["lines", NDJSON, ndjson],
  ] as const)("%s that is damaged", (_, type, body) => {
    let broken = 0;
    fc.assert(
      fc.property(body, fc.array(change, { minLength: 1, maxLength: 3 }), (text, changes) => {
        const damaged = changed(text, changes);
        fc.pre(!isMisread(Buffer.from(damaged).toString("latin1")));
        if (expectSame(damaged, type).failure !== null) broken++;
      }),
      { numRuns: 6000 },
    );
    expect(broken).toBeGreaterThan(type === NDJSON ? 50 : 1000);
  });

  test("a body of many pieces, with entries that look like the border of two", () => {
    const part = fc.constantFrom(
      `{"message":"${"x".repeat(700)}"}`,
      `{"message":"${'},{\\"message\\":'.repeat(60)}"}`,
      `{"message":"m","data":{"list":[${Array.from({ length: 40 }, (_, i) => `{"message":${i}}`).join(",")}]}}`,
      `{"message":"m","data":{"id":12345678901234567890,"pad":"${"é".repeat(300)}"}}`,
      `{"level":"none","message":"${"y".repeat(500)}"}`,
    );
    const broken = fc.option(fc.constantFrom("{", "}", '"', ",", '{"message":"m"'), { nil: null, freq: 4 });
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 60, maxLength: 200 }),
        fc.nat(),
        broken,
        fc.constantFrom(",", ",", ", "),
        fc.boolean(),
        (parts, where, fault, comma, isWrapped) => {
          const all: string[] = fault === null ? parts : (parts as string[]).toSpliced(where % parts.length, 0, fault);
          const text = isWrapped ? `{"logs":[${all.join(comma)}]}` : `[${all.join(comma)}]`;
          fc.pre(text.length < INGEST_LIMITS.entryBytes);
          expectSame(bytes(text), JSON_TYPE);
          expectSame(bytes(all.join("\n")), NDJSON);
        },
      ),
      { numRuns: 150 },
    );
  });
});

test("values are counted like JSON.parse does, and text that is not JSON is rejected", () => {
  const count = (value: unknown): number =>
    typeof value === "object" && value !== null
      ? Object.values(value).reduce<number>((sum, each) => sum + count(each), 1)
      : 1;
  fc.assert(
    fc.property(whiteSpace, jsonText, fc.array(change, { maxLength: 2 }), (space, text, changes) => {
      const body = changed(space + text + space, changes);
      fc.pre(Buffer.from(body).toString() === new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(body));
      const read = Buffer.from(body).toString();
      fc.pre(Buffer.from(read).equals(body));
      let value: unknown;
      try {
        value = JSON.parse(read);
      } catch {
        expect(countValues(body, 0, body.length)).toBe(-1);
        return;
      }
      const counted = countValues(body, 0, body.length);
      expect(counted).toBeGreaterThanOrEqual(count(value));
      // A repeated name counts twice.
      if (!/\\|"([^"]*)".*"\1"\s*:/s.test(read)) expect(counted).toBe(count(value));
    }),
    { numRuns: 6000 },
  );
});

test("white space at both ends is the same that trim removes", () => {
  const piece = fc.constantFrom(
    " ",
    "\t",
    "\u000b",
    "\u00a0",
    "\u1680",
    "\u2003",
    "\u2028",
    "\u202f",
    "\u205f",
    "\u3000",
    "\ufeff",
    "a",
    "é",
    "\u200b",
    "\u0085",
    "漢",
    "😀",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join("");
      const all = bytes(`x${text}x`);
      expect(trimmedLength(all, 1, all.length - 1)).toBe(Buffer.byteLength(text.trim()));
    }),
    { numRuns: 3000 },
  );
});

/** An entry of `count` values in total, of the given kind. */
const VALUES: Record<string, (count: number) => string> = {
  objects: (count) => `{"message":"m","data":{"a":[${Array.from({ length: count - 4 }, () => "{}").join(",")}]}}`,
  "short names": (count) =>
    `{"message":"m","data":{${Array.from({ length: count - 3 }, (_, i) => `"${i.toString(36)}":0`).join(",")}}}`,
  "members of its own": (count) =>
    `{"message":"m",${Array.from({ length: count - 2 }, (_, i) => `"m${i.toString(36)}":0`).join(",")}}`,
};

describe("A1: an entry of more than 20,000 values is rejected alone", () => {
  const limit = INGEST_LIMITS.entryValues;
  const good = '{"message":"good"}';
  const FORMS: [string, IngestMediaType, (entries: string[]) => string][] = [
    ["an array", JSON_TYPE, (entries) => `[${entries.join(",")}]`],
    ["a spaced array", JSON_TYPE, (entries) => ` [ ${entries.join(" , ")} ] `],
    ["a wrapper", JSON_TYPE, (entries) => `{"logs":[${entries.join(",")}]}`],
    ["lines", NDJSON, (entries) => entries.join("\n")],
  ];
  for (const [kind, make] of Object.entries(VALUES)) {
    for (const [name, type, form] of FORMS) {
      test(`${kind}, in ${name}`, () => {
        expect(countValues(bytes(make(limit)), 0, make(limit).length)).toBe(limit);
        expect(verdictOf(bytes(form([good, make(limit), good])), type, NOW)).toMatchObject({
          failure: null,
          rejected: [],
        });
        const over = verdictOf(bytes(form([good, make(limit + 1), good])), type, NOW);
        expect(over.lines).toHaveLength(2);
        expect(over.rejected).toEqual([[1, "ENTRY_TOO_LARGE", "The entry has more than 20000 values."]]);
      });
    }
  }

  test("as a single canonical entry", () => {
    const data = (count: number) => `{"a":[${Array.from({ length: count - 8 }, () => "0").join(",")}]}`;
    const stored = (count: number) =>
      `{"timestamp":"2026-11-19T11:59:00.000Z","level":"info","category":"custom","type":"log","message":"m","data":${data(count)}}`;
    for (const type of [JSON_TYPE, NDJSON] as const) {
      expect(verdictOf(bytes(stored(limit)), type, NOW)).toMatchObject({ failure: null, rejected: [] });
      expect(verdictOf(bytes(stored(limit + 1)), type, NOW).rejected.map(([, code]) => code)).toEqual([
        "ENTRY_TOO_LARGE",
      ]);
    }
  });

  test("invalid JSON fails a whole document, but only its own line of NDJSON", () => {
    const broken = `${VALUES.objects?.(limit + 5).slice(0, -3)}!]}}`;
    expect(verdictOf(bytes(`[${good},${broken}]`), JSON_TYPE, NOW).failure).toBe(
      "invalid: The body is not valid JSON.",
    );
    expect(verdictOf(bytes(`${good}\n${broken}`), NDJSON, NOW).rejected.map(([, code]) => code)).toEqual([
      "INVALID_ENTRY",
    ]);
  });
});

describe("A1: a large body is read in turns", () => {
  const size = INGEST_LIMITS.bodyBytes;
  const fill = (unit: string, open: string, close: string) =>
    `${open}${unit.repeat(Math.floor((size - open.length - close.length + 1) / unit.length)).slice(0, -1)}${close}`;
  const entries = (data: string) =>
    `[${Array.from({ length: 1000 }, () => `{"message":"m","data":${data}}`).join(",")}]`;
  const BODIES: Record<string, string> = {
    "objects in a list of an entry": fill("{},", '{"message":"m","data":{"a":[', "]}}"),
    "objects for entries": fill("{},", "[", "]"),
    "lists in lists": "[".repeat(size / 2) + "]".repeat(size / 2),
    "objects beside logs": fill("{},", '{"x":[', '],"logs":[]}'),
    "entries of many objects": entries(`{"a":[${fill("{},", "", "").slice(0, 5_100)}{}]}`),
    "entries of many names": entries(`{${Array.from({ length: 600 }, (_, i) => `"${i.toString(36)}":0`).join(",")}}`),
    "entries of escapes": `[${Array.from({ length: 20 }, () => `{"message":"${"\\u4e00".repeat(43_000)}"}`).join(",")}]`,
    "entries of integers that lose digits": entries(`{"a":[${"9007199254740992,".repeat(290)}0]}`),
    "20 entries of 19,000 objects": `[${Array.from({ length: 20 }, () => `{"message":"m","data":{"a":[${"{},".repeat(18_999)}{}]}}`).join(",")}]`,
    "escaped names": fill('"\\u0061\\u0062":0,', "{", "}"),
    "lines of objects": Array.from(
      { length: 1000 },
      () => `{"message":"m","data":{"a":[${"{},".repeat(1_700)}{}]}}`,
    ).join("\n"),
  };

  test.each(Object.keys(BODIES))("%s", (name) => {
    const body = bytes(BODIES[name] ?? "");
    expect(body.length).toBeLessThanOrEqual(size);
    const type = name.startsWith("lines") ? NDJSON : JSON_TYPE;
    const meter = new TurnMeter();
    let turns = 1;
    for (const steps = readIngestBody(body, type, { now: NOW, oldest: null }, meter); !steps.next().done; turns++) {
      meter.renew();
    }
    expect(turns).toBeGreaterThan(1);
  });
});

describe("a body in another form than its headers say", () => {
  const one = '{"message":"m"}';

  test("NDJSON with several objects in a line names the cause", () => {
    const { rejected } = verdictOf(bytes(`${one}${one}\n${one} ${one}\n{\n${one}`), NDJSON, NOW);
    expect(rejected).toEqual([
      [0, "INVALID_ENTRY", expect.stringContaining("one entry per line; curl keeps line breaks with --data-binary")],
      [1, "INVALID_ENTRY", expect.stringContaining("one entry per line")],
      [2, "INVALID_ENTRY", "The line is not valid JSON."],
    ]);
  });

  test("gzip without Content-Encoding names the header", () => {
    for (const type of [JSON_TYPE, NDJSON] as const) {
      expect(verdictOf(new Uint8Array(gzipSync(one)), type, NOW).failure).toBe(
        "invalid: The body is gzip. Send it with Content-Encoding: gzip.",
      );
    }
  });
});
