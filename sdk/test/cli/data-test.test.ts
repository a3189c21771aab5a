import { expect, test } from "vitest";
import { type DataTest, parseDataMember, parseDataTest, toDataFilter } from "../../src/cli/data-test.ts";

test.each<[string, Partial<DataTest>]>([
  ["status=500", { path: "status", operator: "eq", value: 500 }],
  ["status!=500", { operator: "ne", value: 500 }],
  ["ms>=2.5", { operator: "gte", value: 2.5 }],
  ["ms<=-1", { operator: "lte", value: -1 }],
  ["ms>1", { operator: "gt", value: 1 }],
  ["ms<1", { operator: "lt", value: 1 }],
  ["ok=true", { operator: "eq", value: true }],
  ["ok=null", { value: null }],
  ["plan=team", { value: "team" }],
  ['zip="0123"', { value: "0123" }],
  ["zip=0123", { value: "0123" }],
  ["id=12345678901234567890", { value: "12345678901234567890" }],
  ["text=a=b>=c", { value: "a=b>=c" }],
  ["text=", { value: "" }],
  ["user.plan", { path: "user.plan", names: ["user", "plan"], operator: "exists", value: true }],
  ["!user.plan", { path: "user.plan", operator: "exists", value: false }],
  ['["a.b=c"].0=1', { path: '["a.b=c"].0', names: ["a.b=c", "0"], value: 1 }],
  ["items[0].id=x", { names: ["items", "0", "id"], value: "x" }],
])("%s", (text, expected) => {
  expect(parseDataTest(text)).toMatchObject(expected);
});

test("parses members to send as JSON, or else as strings", () => {
  expect(parseDataMember("a.b=[1]")).toEqual({ names: ["a", "b"], value: [1] });
  expect(parseDataMember("a=x y")).toEqual({ names: ["a"], value: "x y" });
});

test("matches any of several values of one path, and refuses other repeated tests", () => {
  const tests = ["a=1", "a=x", "a=2", "b>1", "b<5"].map(parseDataTest);
  expect(toDataFilter(tests)).toEqual({ a: { in: [1, "x", 2] }, b: { gt: 1, lt: 5 } });
  expect(() => toDataFilter(["b>1", "b>2"].map(parseDataTest))).toThrow("b has two tests");
});
