import { describe, expect, it } from "vitest";
import { matchesFilter } from "../../../src/logs/query/filter.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";

/** Whether an entry with this `data` passes this `data` filter; both as JSON, where `__proto__` is a member like any. */
function passes(data: string, filter: string): boolean {
  const entry = JSON.parse(`{"level":"info","category":"custom","type":"log","message":"m","data":${data}}`);
  return matchesFilter(QueryBody.parse({ filters: { data: JSON.parse(filter) } }).filter, entry, 0);
}

describe("data filters", () => {
  it.each([
    // A scalar is short for eq, which is strict about types.
    ['{"a":1}', '{"a":1}', true],
    ['{"a":"1"}', '{"a":1}', false],
    ['{"a":null}', '{"a":null}', true],
    ["{}", '{"a":null}', false],
    ['{"a":false}', '{"a":0}', false],
    ['{"a":{"b":1}}', '{"a.b":1}', true],
    ['{"a.b":1}', '{"a.b":1}', false],
    ['{"a.b":1}', '{"[\\"a.b\\"]":1}', true],
    // Arrays by index only; nothing stands for any element.
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
    // Own members only, and those whatever their name.
    ["{}", '{"constructor":{"exists":true}}', false],
    ["{}", '{"__proto__":{"exists":true}}', false],
    ["{}", '{"toString.name":"toString"}', false],
    ['{"__proto__":{"a":1}}', '{"__proto__.a":1}', true],
    ['{"__proto__":{"a":1}}', '{"a":1}', false],
    ['{"constructor":5}', '{"constructor":{"gt":4}}', true],
    // ne also holds where there is nothing.
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
    // All of them together.
    ['{"a":1,"b":2}', '{"a":1,"b":3}', false],
    ['{"a":5}', '{"a":{"gt":1,"ne":5}}', false],
    ['{"a":5}', "{}", true],
  ])("%s by %s: %s", (data, filter, expected) => {
    expect(passes(data, filter)).toBe(expected);
  });

  it("passes over an entry without data unless that is what is asked for", () => {
    const entry = { timestamp: "", level: "info", category: "custom", type: "log", message: "m" } as const;
    const filterOf = (data: object) => QueryBody.parse({ filters: { data } }).filter;
    expect(matchesFilter(filterOf({ a: { exists: true } }), entry, 0)).toBe(false);
    expect(matchesFilter(filterOf({ a: { exists: false } }), entry, 0)).toBe(true);
    expect(matchesFilter(filterOf({ a: { ne: 1 } }), entry, 0)).toBe(true);
  });
});
