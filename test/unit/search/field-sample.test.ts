import { expect, it } from "vitest";
import type { Entry } from "../../../src/logs/entry.ts";
import { emptyMembers, namedMembers, unknownFields } from "../../../src/logs/search/field-sample.ts";
import { parse } from "../../../src/query-language/parse.ts";

const entry = (data: Record<string, unknown>): Entry => ({
  timestamp: "2026-11-22T10:00:00.000Z",
  level: "info",
  category: "http",
  type: "request",
  message: "m",
  data,
});

const ENTRIES = [
  entry({ status: 500, user: { plan: "free" }, "http.route": "/a", none: null }),
  entry({ ms: 5, tags: [{ name: "x" }], headers: { "content-type": "json" } }),
];

function notesOf(text: string, entries = ENTRIES): string[] {
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(text);
  return unknownFields(entries, namedMembers(parsed.query));
}

function emptyOf(text: string, filled: readonly string[], first: Entry | null = null): unknown {
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(text);
  const fields = emptyMembers(parsed.query, new Set(filled), first);
  return fields.map((field) => ("path" in field ? field.path.join(".") : field));
}

it("notes members that a query names and no entry has, with the most similar name", () => {
  expect(notesOf("staus:500")).toEqual(["No recent entry has the member `staus`; did you mean `status`?"]);
  expect(notesOf("user.plann:free OR x:zebra")).toEqual([
    "No recent entry has the member `user.plann`; did you mean `user.plan`?",
    "No recent entry has the member `x`.",
  ]);
  expect(notesOf("levle:error")).toEqual(["No recent entry has the member `levle`; did you mean `level`?"]);
  // 17: the last name of a path, and a plural.
  expect(notesOf("plan:free")).toEqual(["No recent entry has the member `plan`; did you mean `user.plan`?"]);
  expect(notesOf("* | top 5 by Plans")).toEqual(["No recent entry has the member `Plans`; did you mean `user.plan`?"]);
  const city = [entry({ city: "Oslo", classes: 1 })];
  expect(notesOf("* | top 5 by cities", city)).toEqual([
    "No recent entry has the member `cities`; did you mean `city`?",
  ]);
  expect(notesOf("zebra:1")).toEqual(["No recent entry has the member `zebra`."]);
  expect(notesOf("status:1 | where zebra:1 | top 5 by zebras")).toHaveLength(2);
  expect(notesOf("status:1 | stats p99(zebra) by lion | where lion:x")).toHaveLength(2);
  expect(notesOf("a1:1 b1:1 c1:1 d1:1")).toHaveLength(3);
  // Not more than 20 members are looked for.
  const names = (count: number) => Array.from({ length: count }, (_, at) => `n${at}`);
  const wide = [entry(Object.fromEntries(names(30).map((name) => [name, 1])))];
  const tests = (count: number) =>
    names(count)
      .map((name) => `${name}:1`)
      .join(" ");
  expect(notesOf(`${tests(19)} zebra:1`, wide)).toHaveLength(1);
  expect(notesOf(`${tests(20)} zebra:1`, wide)).toHaveLength(0);
});

it("notes nothing of members that an entry has, that must be missing, or without entries", () => {
  for (const text of [
    "status:9 user.plan:x http.route:/b none:1 tags.name:y headers.content-type:z",
    "timeout level:error",
    "-zebra:* NOT (lion:1)",
    "status:1 | count by status | where count:>5",
    "* | patterns",
  ])
    expect(notesOf(text), text).toEqual([]);
  expect(notesOf("zebra:1", [])).toEqual([]);
});

it("17: a table's columns without a value, and a sort by what no entry has, name the members that they read", () => {
  expect(emptyOf("* | count by cty, route", ["route", "count"])).toEqual(["cty"]);
  expect(emptyOf("* | stats p99(mss), count() as n, sum(a.b) as s by level", ["level", "n"])).toEqual(["mss", "a.b"]);
  expect(emptyOf("* | fields time, x | where x:*", ["time"])).toEqual(["x"]);
  expect(emptyOf("* | top 5 by session", ["count"])).toEqual([]);
  expect(emptyOf("a:1 | count by b", ["b", "count"])).toEqual([]);
  expect(emptyOf("* | sort zebra desc | limit 5", [], ENTRIES[0])).toEqual(["zebra"]);
  expect(emptyOf("* | sort status desc | limit 5", [], ENTRIES[0])).toEqual([]);
  expect(emptyOf("* | sort time desc", [], ENTRIES[0])).toEqual([]);
});
