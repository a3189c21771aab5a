import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CATEGORY_TYPES, type Entry, INGEST_LIMITS, LEVELS } from "../../../src/logs/entry.ts";
import { entrySchema } from "../../../src/logs/ingest/entry-schema.ts";
import { EntryRejected } from "../../../src/logs/ingest/rejection.ts";
import { EntryValidator } from "../../../src/logs/ingest/validate.ts";
import { jsonMember, ODD_NAMES } from "./json-text.ts";

const NOW = Date.UTC(2026, 10, 20, 12);
const DAY_MS = 86_400_000;

/** The entry as it would be stored, or the code of its rejection. */
function check(value: unknown): Entry | string {
  try {
    return new EntryValidator(NOW, true).check(value).entry;
  } catch (error) {
    if (error instanceof EntryRejected) return error.code;
    throw error;
  }
}

const checkText = (text: string) => check(JSON.parse(text));
const data = (text: string) => JSON.stringify(entryOf(checkText(text)).data);

function entryOf(result: Entry | string): Entry {
  if (typeof result === "string") throw new Error(result);
  return result;
}

describe("the validator and the documented schema", () => {
  const junk = fc.constantFrom<unknown>(null, true, 0, -1, 1.5, "", "x", [], {}, ["info"], { a: 1 });
  const mostly = (good: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 8, arbitrary: good }, { weight: 1, arbitrary: junk });
  const name = mostly(
    fc.constantFrom("custom", "own", ...["a", "é", "😀"].flatMap((x) => [x.repeat(64), x.repeat(65)])),
  );
  /** Entries that the schema describes completely: no built-in category, no time, no depth. */
  const sayable = fc.record(
    {
      message: mostly(fc.string({ minLength: 1 })),
      level: mostly(fc.constantFrom<unknown>(...LEVELS, "INFO", "warning", " info", "constructor")),
      category: name,
      type: name,
      timestamp: fc.oneof(fc.constant(NOW), fc.constant(NOW), fc.constantFrom<unknown>(null, true, [], {}, -5)),
      session: mostly(fc.string()),
      traceId: mostly(fc.string()),
      spanId: mostly(fc.string()),
      service: fc.oneof(fc.string(), fc.constantFrom<unknown>("h".repeat(256), "h".repeat(257), 5, null, {})),
      host: mostly(fc.string()),
      data: mostly(fc.dictionary(fc.string(), fc.jsonValue())),
      extra: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );

  test("give the same verdict on rules that the schema can express", () => {
    const verdicts = { accepted: 0, refused: 0 };
    const value = fc.oneof({ weight: 20, arbitrary: sayable }, { weight: 1, arbitrary: junk });
    fc.assert(
      fc.property(value, (sent) => {
        // As parsed from a body: without prototypes and without `undefined`.
        const entry = JSON.parse(JSON.stringify(sent));
        const accepted = typeof check(entry) !== "string";
        const conflict = check(entry) === "MEMBER_CONFLICT";
        expect(conflict || accepted).toBe(entrySchema.safeParse(entry).success);
        verdicts[accepted ? "accepted" : "refused"]++;
      }),
      { numRuns: 5000 },
    );
    expect(verdicts.accepted).toBeGreaterThan(200);
    expect(verdicts.refused).toBeGreaterThan(500);
  });

  test("agree in one direction on everything: accepted entries match the schema", () => {
    const entryText = fc
      .array(
        fc.oneof(
          jsonMember.map(([key, value]) => `${key}:${value}`),
          fc.constantFrom('"level":"fatal"', '"category":"http"', '"type":"request"', '"timestamp":"2026-11-20"'),
          fc.constantFrom('"session":"s"', '"data":{"a":1}', '"type":"embedding"', '"data":1e999'),
        ),
        { maxLength: 6 },
      )
      .map((members) => `{"message":"m"${members.map((member) => `,${member}`).join("")}}`);
    fc.assert(
      fc.property(entryText, (text) => {
        if (typeof checkText(text) !== "string") expect(entrySchema.safeParse(JSON.parse(text)).success).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("an entry", () => {
  test("gets the defaults", () => {
    const timestamp = new Date(NOW).toISOString();
    expect(check({ message: "m" })).toEqual({
      timestamp,
      level: "info",
      category: "custom",
      type: "log",
      message: "m",
    });
    expect(check({ message: "m", category: "own" })).toMatchObject({ category: "own", type: "log" });
  });

  test("of a built-in category has one of its types, by default the first", () => {
    for (const [category, types] of Object.entries(CATEGORY_TYPES)) {
      expect(check({ message: "m", category })).toMatchObject({ type: types[0] });
      for (const type of types) expect(check({ message: "m", category, type })).toMatchObject({ category, type });
      for (const type of ["log", "", "Request", 1, null, {}]) {
        if (types.some((own) => own === type)) continue;
        expect(check({ message: "m", category, type })).toBe("INVALID_TYPE");
      }
    }
    // A category is a name, not a member of an object.
    for (const category of ["constructor", "__proto__", "toString"]) {
      expect(check({ message: "m", category, type: "anything" })).toMatchObject({ category, type: "anything" });
    }
  });

  test.each([
    [null, "INVALID_ENTRY"],
    ["m", "INVALID_ENTRY"],
    [[{ message: "m" }], "INVALID_ENTRY"],
    [{}, "INVALID_MESSAGE"],
    [{ message: "" }, "INVALID_MESSAGE"],
    [{ message: 1 }, "INVALID_MESSAGE"],
    [{ message: null }, "INVALID_MESSAGE"],
    [{ message: "m", level: "loud" }, "INVALID_LEVEL"],
    [{ message: "m", level: 3 }, "INVALID_LEVEL"],
    [{ message: "m", level: null }, "INVALID_LEVEL"],
    [{ message: "m", category: "" }, "INVALID_TYPE"],
    [{ message: "m", category: "a".repeat(65) }, "INVALID_TYPE"],
    [{ message: "m", type: "\ud800" }, "INVALID_TYPE"],
    [{ message: "m", timestamp: null }, "INVALID_TIMESTAMP"],
    [{ message: "m", timestamp: NOW + DAY_MS + 1 }, "TIMESTAMP_IN_FUTURE"],
    [{ message: "m", timestamp: NOW - 365 * DAY_MS - 1 }, "TIMESTAMP_TOO_OLD"],
    [{ message: "m", data: [] }, "INVALID_DATA"],
    [{ message: "m", data: null }, "INVALID_DATA"],
    [{ message: "m", data: "x" }, "INVALID_DATA"],
    [{ message: "m", session: 1 }, "INVALID_ENTRY"],
    [{ message: "m", traceId: null }, "INVALID_ENTRY"],
    [{ message: "m", spanId: {} }, "INVALID_ENTRY"],
  ])("%j is rejected as %s", (sent, code) => expect(check(sent)).toBe(code));

  test.each<[string, unknown, boolean]>([
    ["a text", "checkout", true],
    ["one character", "c", true],
    ["256 characters", "\u{1f600}".repeat(256), true],
    ["257 characters", "c".repeat(257), false],
    ["an empty text", "", false],
    ["half of a character", "a\ud800", false],
    ["a number", 5, false],
    ["null", null, false],
    ["an object", { name: "checkout" }, false],
  ])("18.3: service and host of %s are own members, or stay in `data` and reject nothing", (_, value, isOwn) => {
    for (const name of ["service", "host"]) {
      const entry = entryOf(check({ message: "m", [name]: value, extra: 1 }));
      const own = isOwn ? { [name]: value, data: { extra: 1 } } : { data: { [name]: value, extra: 1 } };
      expect(entry).toEqual({ ...entryOf(check({ message: "m" })), ...own });
      // Written between the ids and `data`, whatever the order in which they were sent.
      const names = Object.keys(entryOf(check({ message: "m", data: {}, [name]: value, spanId: "s", session: "t" })));
      const written = isOwn ? ["session", "spanId", name, "data"] : ["session", "spanId", "data"];
      expect(names.slice(5)).toEqual(written);
    }
  });

  test("18.3: an own member and a member of `data` of the same name are both kept", () => {
    const sent = {
      message: "m",
      service: "checkout",
      data: { service: "search", host: { ip: "10.0.0.1" } },
      host: "web-1",
    };
    const { service, host, data } = sent;
    expect(entryOf(check(sent))).toMatchObject({ service, host, data });
    expect(check({ ...sent, service: 5 })).toBe("MEMBER_CONFLICT");
  });

  test("may be exactly as old and as far ahead as the limits say", () => {
    expect(check({ message: "m", timestamp: NOW + DAY_MS })).toBeTypeOf("object");
    expect(check({ message: "m", timestamp: NOW - 365 * DAY_MS })).toBeTypeOf("object");
  });

  test("keeps lone surrogates in text, as escapes", () => {
    const entry = entryOf(checkText('{"message":"a\\ud800b","data":{"\\udc00":"\\ud83d"}}'));
    const text = JSON.stringify(entry);
    expect(text).toContain('"message":"a\\ud800b"');
    expect(JSON.parse(text)).toEqual(entry);
    expect(Buffer.from(text).toString()).toBe(text);
  });

  test("names the conflicting member in at most 64 characters", () => {
    const name = "n".repeat(100_000);
    try {
      new EntryValidator(NOW).check({ message: "m", data: { [name]: 1 }, [name]: 2 });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(EntryRejected);
      expect(String(error).length).toBeLessThan(200);
    }
  });
});

describe("members without a defined meaning", () => {
  test("are appended to data", () => {
    expect(data('{"message":"m","userId":7,"data":{"a":1},"b":null}')).toBe('{"a":1,"userId":7,"b":null}');
    expect(data('{"message":"m","b":{"c":[]}}')).toBe('{"b":{"c":[]}}');
    expect(entryOf(checkText('{"message":"m"}')).data).toBeUndefined();
    expect(data('{"message":"m","logs":[1]}')).toBe('{"logs":[1]}');
  });

  test("keep their names, even those with a special meaning in objects", () => {
    for (const name of ODD_NAMES) {
      const key = JSON.stringify(name);
      expect(data(`{"message":"m",${key}:{"x":1}}`)).toBe(`{${key}:{"x":1}}`);
      expect(data(`{"message":"m","data":{${key}:{"x":1}},"k":1}`)).toContain(`${key}:{"x":1}`);
      expect(data(`{"message":"m","data":{"in":{${key}:1}}}`)).toBe(`{"in":{${key}:1}}`);
      expect(checkText(`{"message":"m","data":{${key}:1},${key}:2}`)).toBe("MEMBER_CONFLICT");
    }
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  test("are all stored, each once", () => {
    const members = fc.uniqueArray(jsonMember, { maxLength: 6, selector: ([name]) => JSON.parse(name) });
    const KNOWN = new Set([
      "message",
      "level",
      "category",
      "type",
      "timestamp",
      "session",
      "traceId",
      "spanId",
      "service",
      "host",
      "data",
    ]);
    fc.assert(
      fc.property(members, fc.nat(6), (all, split) => {
        const sent = all.filter(([name]) => !KNOWN.has(JSON.parse(name)));
        const [inData, beside] = [sent.slice(0, split), sent.slice(split)];
        const textOf = (list: typeof sent) => list.map(([name, value]) => `${name}:${value}`).join(",");
        const text = `{"message":"m","data":{${textOf(inData)}}${beside.length > 0 ? `,${textOf(beside)}` : ""}}`;
        // Compares with the parsed object, not with the text, because Node's parser may misread a name. See
        // docs/known-issues.md.
        const parsed = JSON.parse(text);
        const others = Object.entries(parsed).filter(([name]) => !KNOWN.has(name));
        const wanted = Object.fromEntries([...Object.entries(parsed.data), ...others]);
        expect(JSON.stringify(entryOf(check(parsed)).data)).toBe(JSON.stringify(wanted));
      }),
      { numRuns: 2000 },
    );
  });
});

describe("data", () => {
  const nested = (depth: number, inner = "1") => `${'{"a":'.repeat(depth)}${inner}${"}".repeat(depth)}`;
  const { dataDepth } = INGEST_LIMITS;

  test(`may be ${dataDepth} deep and no deeper`, () => {
    expect(checkText(`{"message":"m","data":${nested(dataDepth)}}`)).toBeTypeOf("object");
    expect(checkText(`{"message":"m","data":${nested(dataDepth + 1)}}`)).toBe("INVALID_DATA");
    expect(checkText(`{"message":"m","data":${nested(dataDepth - 1, "[]")}}`)).toBeTypeOf("object");
    expect(checkText(`{"message":"m","data":${nested(dataDepth, "[]")}}`)).toBe("INVALID_DATA");
    expect(checkText(`{"message":"m","data":${nested(dataDepth, "{}")}}`)).toBe("INVALID_DATA");
  });

  test("counts a folded member one level deeper than sent, because it is stored there", () => {
    expect(checkText(`{"message":"m","x":${nested(dataDepth - 1)}}`)).toBeTypeOf("object");
    expect(checkText(`{"message":"m","x":${nested(dataDepth)}}`)).toBe("INVALID_DATA");
    expect(checkText(`{"message":"m","__proto__":${nested(dataDepth)}}`)).toBe("INVALID_DATA");
  });

  test("survives nesting that would overflow a stack", () => {
    const deep = 200_000;
    expect(checkText(`{"message":"m","data":${nested(deep)}}`)).toBe("INVALID_DATA");
    expect(checkText(`{"message":"m","x":${"[".repeat(deep)}${"]".repeat(deep)}}`)).toBe("INVALID_DATA");
    expect(checkText(`{"message":"m","level":${"[".repeat(deep)}${"]".repeat(deep)}}`)).toBe("INVALID_LEVEL");
  });

  test("rejects numbers that would be stored as null", () => {
    for (const text of ["1e999", "-1e999", "[1,[1e999]]", '{"b":1e400}']) {
      expect(checkText(`{"message":"m","data":{"a":${text}}}`)).toBe("INVALID_DATA");
      expect(checkText(`{"message":"m","a":${text}}`)).toBe("INVALID_DATA");
    }
    expect(data('{"message":"m","a":1e-400,"b":-0,"c":1.7976931348623157e308}')).toContain(
      '"c":1.7976931348623157e+308',
    );
  });
});
