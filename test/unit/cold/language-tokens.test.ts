import fc from "fast-check";
import { expect, it } from "vitest";
import { mayContain } from "../../../src/logs/cold/filter/bloom.ts";
import { allTokenTestsOf } from "../../../src/logs/cold/filter/language-tokens.ts";
import { tokensFor } from "../../../src/logs/cold/filter/token-tests.ts";
import type { EncodedSegment } from "../../../src/logs/cold/format/segment.ts";
import type { Entry } from "../../../src/logs/entry.ts";
import { needlesOf } from "../../../src/logs/query/needles.ts";
import { compileFilter } from "../../../src/logs/search/compile-filter.ts";
import { encodeFiles } from "../../../src/logs/segments/encode/encode-rows.ts";
import { parse } from "../../../src/query-language/parse.ts";
import type { Filter } from "../../../src/query-language/syntax.ts";
import { encodeSegments } from "../../support/line-blocks.ts";
import { lineOf, type TestEntry } from "../query/store.ts";
import { entry, NOW, place, query } from "../search/arbitraries.ts";
import { passes } from "../search/reference.ts";
import { slices } from "./support.ts";

const PROJECT = "proj_000000000001";

function testEntry({ timestamp, ...rest }: Entry): TestEntry {
  return { ...rest, timestamp: Date.parse(timestamp) };
}

/** Segments of both kinds: with tokens of earlier versions, and of this one. */
function segmentsOf(entries: readonly TestEntry[]): EncodedSegment[] {
  const range = { firstSeq: 1, lastSeq: entries.length };
  const files = [...encodeFiles(PROJECT, slices([entries]), range, true)].flatMap((file) => (file ? [file.row] : []));
  return [...encodeSegments(PROJECT, slices([entries]), range), ...files];
}

function mayPass({ filter, filterKinds }: EncodedSegment, wanted: Filter): boolean {
  const tests = allTokenTestsOf(compileFilter(wanted, NOW));
  return tests.every((test) => tokensFor(test, filterKinds)?.some(({ a, b }) => mayContain(filter, a, b)) ?? true);
}

function filterOf(text: string): Filter {
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.query.filter;
}

it("17.3: tokens and needles exclude no entry that passes a filter of the query language", () => {
  let found = 0;
  fc.assert(
    fc.property(entry, place, fc.array(query, { minLength: 10, maxLength: 10 }), (own, where, wanted) => {
      const line = lineOf(testEntry(own));
      const bytes = Buffer.from(line).toString("latin1");
      const segments = segmentsOf([testEntry(own)]);
      for (const { text, filter } of wanted) {
        if (!passes(filter, JSON.parse(line), where, NOW)) continue;
        found++;
        for (const segment of segments) expect(mayPass(segment, filter), `${text} of ${line}`).toBe(true);
        for (const needle of needlesOf(compileFilter(filter, NOW))) {
          expect(needle.next(bytes, 0), `${text} of ${line}`).toBeGreaterThanOrEqual(0);
          if (needle.bytes !== null) expect(Buffer.from(line).includes(needle.bytes), `${text} of ${line}`).toBe(true);
        }
      }
    }),
    { numRuns: 300 },
  );
  expect(found).toBeGreaterThan(500);
});

const [, file] = segmentsOf([
  {
    ...{ timestamp: NOW, level: "info", category: "http", type: "request", message: "Connection Reset by peer" },
    ...{ session: "Sess-1", traceId: "ABC", spanId: "x1" },
    data: { status: 500, user: { id: "U-7" }, tags: ["Red", { name: "deep" }], "service.name": "Shop", ok: true },
  },
]);

it.each([
  ["session:SESS-1", "session:other"],
  ["trace:abc OR span:no", "trace:(no OR none) OR span:no"],
  ["user.id:u-7", "user.id:u-8"],
  ["user.id:=U-7", "user.id:=u-9"],
  ["status:(404 OR 500)", "status:(404 OR 405)"],
  ["tags:red", "tags:green"],
  ["tags.name:DEEP", "tags.name:red"],
  ["tags[1].name:deep", "tags[1].name:shallow"],
  ["service:shop", "service:store"],
  ["ok:true", "ok:false"],
  ["status:>400", "duration:>400"],
  ["user.id:*", "user.name:*"],
  ["reset OR missing", "missing OR absent"],
  ["~/Connection .* by/", "~/Disconnection .* by/"],
  ["message:*peer", "message:*pier"],
  ["(user.id:u-7 absent) OR reset", "(user.id:u-8 reset) OR (status:404 reset)"],
  ["-user.id:u-7", "user.id:u-7 -status:500 user.name:x"],
])("17.3: tokens let a segment with %s be read, and none for %s", (present, absent) => {
  if (file === undefined) throw new Error("There is a file.");
  expect([mayPass(file, filterOf(present)), mayPass(file, filterOf(absent))]).toEqual([true, false]);
});
