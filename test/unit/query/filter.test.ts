import { describe, expect, it } from "vitest";
import { BatchMatcher } from "../../../src/logs/query/batch-matcher.ts";
import { type LogFilter, matchesFilter } from "../../../src/logs/query/filter.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";

const HEAD = '{"timestamp":"2026-11-20T14:00:00.000Z","level":"info","category":"custom","type":"log"';

/** Whether an entry passes, parsed and as a stored line, which must agree. */
function isFound(filter: LogFilter, members: string): boolean {
  const line = `${HEAD},${members}}`;
  const lines: number[] = [];
  const body = new TextEncoder().encode(JSON.stringify(JSON.parse(line)));
  new BatchMatcher(filter).forEachMatch(
    body,
    () => true,
    ({ index }) => lines.push(index),
    () => expect.fail("The line is an entry."),
  );
  const found = matchesFilter(filter, JSON.parse(line), 0);
  expect(lines.length === 1).toBe(found);
  return found;
}

/**
 * Whether an entry with this `data` passes this `data` filter; both as JSON, where `__proto__` is an ordinary member.
 */
function passes(data: string, filter: string): boolean {
  const query = QueryBody.parse({ filters: { data: JSON.parse(filter) } });
  return isFound(query.filter, `"message":"m","data":${data}`);
}

describe("data filters", () => {
  it.each([
    // A scalar is short for eq, which compares types strictly.
    ['{"a":1}', '{"a":1}', true],
    ['{"a":"1"}', '{"a":1}', false],
    ['{"a":null}', '{"a":null}', true],
    ["{}", '{"a":null}', false],
    ['{"a":false}', '{"a":0}', false],
    ['{"a":{"b":1}}', '{"a.b":1}', true],
    ['{"a.b":1}', '{"a.b":1}', false],
    ['{"a.b":1}', '{"[\\"a.b\\"]":1}', true],
    // Array elements by index only; there is no wildcard.
    ['{"a":[1,2]}', '{"a.1":2}', true],
    ['{"a":[1,2]}', '{"a[1]":2}', true],
    ['{"a":[1,2]}', '{"a":1}', false],
    ['{"a":[1,2]}', '{"a.length":2}', false],
    ['{"a":[1,2]}', '{"a.length":{"exists":true}}', false],
    ['{"a":[1,2]}', '{"a.2":{"exists":true}}', false],
    ['{"a":[1,2]}', '{"a.01":{"exists":true}}', false],
    ['{"a":{"0":"x"}}', '{"a.0":"x"}', true],
    ['{"a":"xyz"}', '{"a.0":"x"}', false],
    ['{"a":"xyz"}', '{"a.length":3}', false],
    // Own members only, whatever their name.
    ["{}", '{"constructor":{"exists":true}}', false],
    ["{}", '{"__proto__":{"exists":true}}', false],
    ["{}", '{"toString.name":"toString"}', false],
    ['{"__proto__":{"a":1}}', '{"__proto__.a":1}', true],
    ['{"__proto__":{"a":1}}', '{"a":1}', false],
    ['{"constructor":5}', '{"constructor":{"gt":4}}', true],
    // ne also passes if the path does not exist.
    ['{"a":1}', '{"a":{"ne":1}}', false],
    ['{"a":"1"}', '{"a":{"ne":1}}', true],
    ["{}", '{"a":{"ne":1}}', true],
    ['{"a":null}', '{"a":{"ne":null}}', false],
    // Order within one type.
    ['{"a":10}', '{"a":{"gt":9}}', true],
    ['{"a":"10"}', '{"a":{"gt":9}}', false],
    ['{"a":"10"}', '{"a":{"lt":"9"}}', true],
    ['{"a":10}', '{"a":{"gte":10,"lte":10}}', true],
    ['{"a":10}', '{"a":{"gt":10}}', false],
    ['{"a":10}', '{"a":{"lt":10}}', false],
    ['{"a":1.5}', '{"a":{"gt":1.2}}', true],
    ['{"a":-1.5}', '{"a":{"lt":-1.2}}', true],
    ['{"b":{"a":1},"a":3}', '{"a":{"gt":2}}', true],
    ['{"b":{"a":3},"a":1}', '{"a":{"gt":2}}', false],
    ['{"a":1e21}', '{"a":{"gt":1e20}}', true],
    ['{"a":-1.5e-7}', '{"a":{"lt":0}}', true],
    ['{"a":true}', '{"a":{"gte":0}}', false],
    // in, exists.
    ['{"a":2}', '{"a":{"in":[1,2]}}', true],
    ['{"a":"2"}', '{"a":{"in":[1,2]}}', false],
    ['{"a":null}', '{"a":{"in":[null]}}', true],
    ['{"a":null}', '{"a":{"exists":true}}', true],
    ['{"a":null}', '{"a":{"exists":false}}', false],
    ["{}", '{"a":{"exists":false}}', true],
    // All tests must pass.
    ['{"a":1,"b":2}', '{"a":1,"b":3}', false],
    ['{"a":5}', '{"a":{"gt":1,"ne":5}}', false],
    ['{"a":5}', "{}", true],
  ])("%s by %s: %s", (data, filter, expected) => {
    expect(passes(data, filter)).toBe(expected);
  });

  it("exclude an entry without data unless the test requires its absence", () => {
    const entry = { timestamp: "", level: "info", category: "custom", type: "log", message: "m" } as const;
    const filterOf = (data: object) => QueryBody.parse({ filters: { data } }).filter;
    expect(matchesFilter(filterOf({ a: { exists: true } }), entry, 0)).toBe(false);
    expect(matchesFilter(filterOf({ a: { exists: false } }), entry, 0)).toBe(true);
    expect(matchesFilter(filterOf({ a: { ne: 1 } }), entry, 0)).toBe(true);
  });
});

describe("search", () => {
  it.each([
    ["Payment FAILED", "payment failed", true],
    ["Payment FAILED", "MENT fail", true],
    ["payment", "payments", false],
    ["\u212aelvin", "kelvin", true],
    ["kelvin", "\u212aELVIN", true],
    ["X\u0130", "xi", true],
    ["X\u0130y", "xiy", false],
    ["\u0130x", "\u0307X", true],
    ["\u0130x", "i\u0307x", true],
    ["i\u0307x", "\u0130X", true],
    ["ix", "\u0130x", false],
    ["\u03a3\u039f\u03a3", "\u03c3\u03bf\u03c2", true],
    ["\u03a3\u039f\u03a3", "\u03c3\u03bf\u03c3", true],
    ["\u03a3\u039f\u03a3", "\u03c3\u03bf", true],
    ["ОШИБКА сети", "ошибка СЕТИ", true],
    ["straße", "STRASSE", false],
    ["STRAẞE", "straße", true],
    ["漢字", "字", true],
    ["a😀b", "\ud83d", true],
    ["a😀b", "\ude00B", true],
    ["a\ud83db", "a\ud83dB", true],
    ["line\nbreak", "E\nB", true],
    ["line\nbreak", "\\n", false],
    ['say "x\\y"', '"X\\Y"', true],
    ["a.c", "a.c", true],
    ["abc", "a.c", false],
  ])("%j holds %j: %s", (text, search, expected) => {
    const { filter } = QueryBody.parse({ filters: { search } });
    const json = JSON.stringify(text);
    expect(isFound(filter, `"message":${json}`)).toBe(expected);
    expect(isFound(filter, `"message":"-","data":{"deep":[{"er":[${json}]}]}`)).toBe(expected);
    // Member names, levels and ids are not searched.
    expect(isFound(filter, `"message":"-","session":${json},"data":{${json}:1}`)).toBe(false);
  });
});
