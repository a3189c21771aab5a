import { expect, it } from "vitest";
import type { Entry } from "../../../src/logs/entry.ts";
import { unknownFields } from "../../../src/logs/search/field-sample.ts";
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
  return unknownFields(entries, parsed.query);
}

it("notes members that a query names and no entry has, with the most similar name", () => {
  expect(notesOf("staus:500")).toEqual(["No recent entry has the member `staus`; did you mean `status`?"]);
  expect(notesOf("user.plann:free OR x:zebra")).toEqual([
    "No recent entry has the member `user.plann`; did you mean `user.plan`?",
    "No recent entry has the member `x`.",
  ]);
  expect(notesOf("levle:error")).toEqual(["No recent entry has the member `levle`; did you mean `level`?"]);
  expect(notesOf("zebra:1")).toEqual(["No recent entry has the member `zebra`."]);
  expect(notesOf("status:1 | where zebra:1 | top 5 by zebras")).toHaveLength(2);
  expect(notesOf("status:1 | stats p99(zebra) by lion | where lion:x")).toHaveLength(2);
  expect(notesOf("a1:1 b1:1 c1:1 d1:1")).toHaveLength(3);
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
