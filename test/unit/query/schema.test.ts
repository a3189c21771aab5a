import { describe, expect, it } from "vitest";
import { encodeAsOf, encodeCursor } from "../../../src/logs/query/cursor.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";

/** JSON instead of a literal, in which a member named `__proto__` would be the prototype. */
function parse(json: string) {
  return QueryBody.safeParse(JSON.parse(json));
}

/** Path and code of every issue; unknown members by their name. */
function issuesOf(json: string): string[] {
  const result = parse(json);
  if (result.success) return [];
  return result.error.issues.flatMap((issue) => {
    const path = issue.path.join(".");
    return issue.code === "unrecognized_keys" ? issue.keys.map((key) => `${path}!${key}`) : [path];
  });
}

function filterOf(json: string) {
  return QueryBody.parse(JSON.parse(json)).filter;
}

const cursor = encodeCursor({
  asOf: 7,
  order: "desc",
  fingerprint: "AAAAAAAAAAA",
  position: { timestamp: 5, seq: 3, projectId: "proj_00000000000a" },
  resume: null,
  skip: 0,
});

describe("QueryBody", () => {
  it("fills in the defaults", () => {
    expect(QueryBody.parse({})).toMatchObject({
      projectId: null,
      order: "desc",
      offset: 0,
      limit: 100,
      cursor: null,
      includeTotal: false,
      asOf: null,
    });
  });

  it.each([
    ['{"x":1}', "!x"],
    ['{"__proto__":{}}', "!__proto__"],
    ['{"filters":{"levels":"info"}}', "filters!levels"],
    ['{"filters":{"__proto__":{"level":"info"}}}', "filters!__proto__"],
    ['{"filters":{"constructor":1}}', "filters!constructor"],
    ['{"filters":null}', "filters"],
    ['{"filters":[]}', "filters"],
    ['{"filters":{"level":"loud"}}', "filters.level"],
    ['{"filters":{"level":[]}}', "filters.level"],
    ['{"filters":{"level":["info","loud"]}}', "filters.level"],
    ['{"filters":{"category":""}}', "filters.category"],
    ['{"filters":{"type":5}}', "filters.type"],
    ['{"filters":{"minLevel":["info"]}}', "filters.minLevel"],
    ['{"filters":{"session":1}}', "filters.session"],
    ['{"filters":{"traceId":null}}', "filters.traceId"],
    ['{"filters":{"from":"yesterday"}}', "filters.from"],
    ['{"filters":{"from":"2026-02-30"}}', "filters.from"],
    ['{"filters":{"to":-1}}', "filters.to"],
    ['{"filters":{"to":1e300}}', "filters.to"],
    ['{"filters":{"to":null}}', "filters.to"],
    ['{"filters":{"to":{}}}', "filters.to"],
    ['{"filters":{"search":""}}', "filters.search"],
    ['{"filters":{"search":7}}', "filters.search"],
    ['{"filters":{"data":[]}}', "filters.data"],
    ['{"filters":{"data":"a"}}', "filters.data"],
    ['{"filters":{"data":{"":1}}}', "filters.data."],
    ['{"filters":{"data":{"a.":1}}}', "filters.data.a."],
    ['{"filters":{"data":{".a":1}}}', "filters.data..a"],
    ['{"filters":{"data":{"a..b":1}}}', "filters.data.a..b"],
    ['{"filters":{"data":{"a[b]":1}}}', "filters.data.a[b]"],
    ['{"filters":{"data":{"a[01]":1}}}', "filters.data.a[01]"],
    ['{"filters":{"data":{"a[\\"b]":1}}}', 'filters.data.a["b]'],
    ['{"filters":{"data":{"[\\"\\\\x\\"]":1}}}', 'filters.data.["\\x"]'],
    ['{"filters":{"data":{"[\\"a\\"]b":1}}}', 'filters.data.["a"]b'],
    ['{"filters":{"data":{"a":[1]}}}', "filters.data.a"],
    ['{"filters":{"data":{"a":{}}}}', "filters.data.a"],
    ['{"filters":{"data":{"a":{"equals":1}}}}', "filters.data.a.equals"],
    ['{"filters":{"data":{"a":{"__proto__":1}}}}', "filters.data.a.__proto__"],
    ['{"filters":{"data":{"__proto__":{"level":1}}}}', "filters.data.__proto__.level"],
    ['{"filters":{"data":{"a":{"in":[]}}}}', "filters.data.a.in"],
    ['{"filters":{"data":{"a":{"in":"x"}}}}', "filters.data.a.in"],
    ['{"filters":{"data":{"a":{"in":[{}]}}}}', "filters.data.a.in.0"],
    ['{"filters":{"data":{"a":{"gt":true}}}}', "filters.data.a.gt"],
    ['{"filters":{"data":{"a":{"exists":1}}}}', "filters.data.a.exists"],
    ['{"filters":{"data":{"a":{"eq":{}}}}}', "filters.data.a.eq"],
    ['{"order":"up"}', "order"],
    ['{"projectId":7}', "projectId"],
    ['{"pagination":{"offset":-1}}', "pagination.offset"],
    ['{"pagination":{"offset":10001}}', "pagination.offset"],
    ['{"pagination":{"offset":"1"}}', "pagination.offset"],
    ['{"pagination":{"limit":0}}', "pagination.limit"],
    ['{"pagination":{"limit":1001}}', "pagination.limit"],
    ['{"pagination":{"limit":1.5}}', "pagination.limit"],
    ['{"pagination":{"includeTotal":"yes"}}', "pagination.includeTotal"],
    ['{"pagination":{"page":1}}', "pagination!page"],
    ['{"pagination":{"cursor":""}}', "pagination.cursor"],
    ['{"pagination":{"cursor":"abc"}}', "pagination.cursor"],
    [`{"pagination":{"cursor":"${cursor}="}}`, "pagination.cursor"],
    [`{"pagination":{"cursor":"${cursor} "}}`, "pagination.cursor"],
    [`{"pagination":{"cursor":"${cursor}","offset":0}}`, "pagination.offset"],
    [`{"order":"asc","pagination":{"cursor":"${cursor}"}}`, "order"],
    [`{"asOf":"${encodeAsOf(8)}","pagination":{"cursor":"${cursor}"}}`, "asOf"],
    ['{"asOf":""}', "asOf"],
    ['{"asOf":"-1"}', "asOf"],
    ['{"asOf":"01"}', "asOf"],
    ['{"asOf":7}', "asOf"],
  ])("refuses %s and names %s", (json, path) => {
    expect(issuesOf(json)).toContain(path);
  });

  it.each(['"last week"', '"2026-02-30"', "-1", "1.5", "1e999", "null"])("answers from: %s with examples", (value) => {
    const result = parse(`{"filters":{"from":${value}}}`);
    expect(result.error?.issues.map(({ path, message }) => [path.join("."), message])).toEqual([
      [
        "filters.from",
        "Must be an ISO 8601 time from 1970 on, such as 2026-11-20T14:00:00Z or 2026-11-20, or epoch milliseconds such as 1795183200000.",
      ],
    ]);
  });

  it("accepts a cursor with its own snapshot and order", () => {
    const query = QueryBody.parse({ order: "desc", asOf: encodeAsOf(7), pagination: { cursor } });
    expect(query).toMatchObject({ asOf: 7, order: "desc", cursor: { skip: 0, position: { timestamp: 5, seq: 3 } } });
  });

  it("refuses every cursor that is changed anywhere", () => {
    const fields = JSON.parse(Buffer.from(cursor, "base64url").toString());
    const bad = [2, -1, "up", "short", 1.5, -1, 7, 10_001];
    for (let at = 0; at < fields.length; at++) {
      const changed = fields.with(at, bad[at]);
      const text = Buffer.from(JSON.stringify(changed)).toString("base64url");
      expect(QueryBody.safeParse({ pagination: { cursor: text } }).success).toBe(false);
    }
  });

  it("combines level and minLevel", () => {
    expect(filterOf('{"filters":{"minLevel":"warn"}}').levelMask).toBe(0b1110000);
    expect(filterOf('{"filters":{"level":["info","error"],"minLevel":"warn"}}').levelMask).toBe(0b0100000);
    expect(filterOf('{"filters":{"level":"info","minLevel":"warn"}}').levelMask).toBe(0);
  });

  it("accepts times in both forms", () => {
    const filter = filterOf('{"filters":{"from":"2026-11-20T14:00:00+02:00","to":1795183200000}}');
    expect(filter).toMatchObject({ from: Date.UTC(2026, 10, 20, 12), to: 1795183200000 });
  });

  it.each([
    ["a", ["a"]],
    ["a.b", ["a", "b"]],
    ['["a.b"]', ["a.b"]],
    ['a["b.c"].d', ["a", "b.c", "d"]],
    ['a.["b.c"]', ["a", "b.c"]],
    ['["a"]["b"]', ["a", "b"]],
    ['[""]', [""]],
    ['["\\"\\u0041"]', ['"A']],
    ["items.0.id", ["items", "0", "id"]],
    ["items[0].id", ["items", "0", "id"]],
    ["with space.ж", ["with space", "ж"]],
    ["__proto__", ["__proto__"]],
  ])("reads the path %s", (text, names) => {
    expect(
      filterOf(JSON.stringify({ filters: { data: { placeholder: 1 } } }).replace('"placeholder"', JSON.stringify(text)))
        .data,
    ).toEqual([{ path: names, op: "eq", value: 1 }]);
  });
});
