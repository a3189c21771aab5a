import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BatchMatcher } from "../../../src/logs/query/batch-matcher.ts";
import { WorkMeter } from "../../../src/logs/query/budget.ts";
import type { LogFilter } from "../../../src/logs/query/filter.ts";
import { UNBOUNDED_MEMORY } from "../../../src/logs/query/memory.ts";
import { andFilters, compileFilter } from "../../../src/logs/search/compile-filter.ts";
import { runSearch } from "../../../src/logs/search/run-search.ts";
import type { SearchAnswer, SearchSource } from "../../../src/logs/search/search-query.ts";
import { RowGroupFilter } from "../../../src/logs/segments/scan/row-group-filter.ts";
import type { ScanPool } from "../../../src/logs/stats/count-parts.ts";
import { runTable } from "../../../src/logs/stats/run-table.ts";
import { type PartOutcome, scanPart } from "../../../src/logs/stats/scan-part.ts";
import { TableBody } from "../../../src/logs/stats/table-schema.ts";
import { parse } from "../../../src/query-language/parse.ts";
import type { Query } from "../../../src/query-language/syntax.ts";
import { lineOf, SEGMENT_KINDS, type TestEntry, TestStore } from "../query/store.ts";
import { batchesOf, bytesOf, encode, open, PROJECT } from "../segments/support.ts";
import { NOW } from "./arbitraries.ts";

/** More filters than CI runs: `SEARCH_RUNS=2000 npx vitest ...`. */
const RUNS = Number(process.env.SEARCH_RUNS ?? 60);

function queryOf(text: string): Query {
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.error.message}`);
  return parsed.query;
}

function namesIn({ rest }: LogFilter): string[] {
  return (rest?.compared.skipped ?? []).map(([name]) => name).sort();
}

const entry = (at: number, data?: Record<string, unknown>): TestEntry => ({
  ...{ timestamp: NOW - 10_000 + at, level: "info", category: "custom", type: "log", message: "m" },
  ...(data === undefined ? {} : { data }),
});

/** Reads lines as recent batches and blocks of lines are read. */
function readLines(lines: readonly string[], filter: LogFilter): void {
  const matcher = new BatchMatcher(filter);
  for (const { body, firstSeq, receivedAt } of batchesOf(lines)) {
    const places = { projectId: PROJECT, seqAt: (index: number) => firstSeq + index, receivedAtOf: () => receivedAt };
    const nothing = () => undefined;
    matcher.forEachMatch(body, () => true, nothing, nothing, places);
  }
}

/** Reads the columns of row groups. */
function readColumns(bytes: Uint8Array, filter: LogFilter): void {
  const { reader, chunk } = open(bytes);
  for (const group of reader.rowGroups.keys()) {
    const own = new RowGroupFilter(reader, group, filter, { asOf: null, afterCommit: 0 }, new WorkMeter());
    const steps = own.steps((column) => {
      if (!own.columns.includes(column)) throw new Error(`The column ${column} was not announced.`);
      return chunk(group, column);
    });
    while (steps.next().done !== true);
  }
}

/** The values of a member that a comparison tests, as a plain reader of one nested path finds them. */
function valuesOf(data: Record<string, unknown> | undefined, name: string): unknown[] {
  // SAFETY: the generated member `o` is an object.
  const value = name === "o.p" ? (data?.o as Record<string, unknown> | undefined)?.p : data?.[name];
  return Array.isArray(value) ? value.flat() : [value];
}

const scalar = fc.constantFrom<unknown>(0, 5, 500, -1.5, null);
const odd = fc.constantFrom<unknown>("500", "x", true, false);
const any = fc.oneof(
  { weight: 3, arbitrary: scalar },
  { weight: 1, arbitrary: odd },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 2 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(["x"], [["500"]], [false], { p: "x" }) },
);
const data = fc.record(
  {
    n: any,
    m: any,
    k: fc.oneof({ weight: 3, arbitrary: scalar }, odd),
    o: fc.record({ p: any }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);
const entries = fc.array(
  fc.tuple(fc.integer({ min: 0, max: 60 }), fc.option(data, { nil: undefined })).map(([at, own]) => entry(at, own)),
  { minLength: 1, maxLength: 40 },
);

describe("members that a filter compares with numbers", () => {
  it("mixed: are named exactly if an entry in the time range has another type there, in lines and in columns", () => {
    const tests = fc.constantFrom(">100000", "<=-100000", "70000..80000");
    const range = fc.tuple(fc.integer({ min: -5, max: 65 }), fc.integer({ min: 0, max: 70 }));
    let [named, unnamed] = [0, 0];
    fc.assert(
      fc.property(
        entries,
        fc.constantFrom("n", "m", "k", "o.p"),
        tests,
        fc.boolean(),
        fc.option(range),
        fc.constantFrom(1, 3, 16, 100),
        fc.constantFrom(0, 3, 256),
        (own, name, test, isNegated, span, groupRows, exactShapes) => {
          const [from, to] = span === null ? [null, null] : span.map((at) => NOW - 10_000 + at);
          const text = `${isNegated ? "-" : ""}${name}:${test}`;
          const ready = () => ({ ...compileFilter(queryOf(text).filter, NOW), from: from ?? null, to: to ?? null });
          // No value passes, so that no array is left before its end.
          const isOdd = own.some(
            ({ timestamp, data: held }) =>
              (from == null || timestamp >= from) &&
              (to == null || timestamp < to) &&
              valuesOf(held, name).some((value) => typeof value === "string" || typeof value === "boolean"),
          );
          if (isOdd) named++;
          else unnamed++;
          const lines = own.map(lineOf);
          const inLines = ready();
          readLines(lines, inLines);
          expect(namesIn(inLines), text).toEqual(isOdd ? [name] : []);
          const inColumns = ready();
          readColumns(bytesOf(encode(lines, { groupRows, exactShapes })), inColumns);
          expect(namesIn(inColumns), text).toEqual(isOdd ? [name] : []);
          expect(inColumns.rest?.compared.skipped).toEqual(inLines.rest?.compared.skipped);
        },
      ),
      { numRuns: 5 * RUNS },
    );
    expect(Math.min(named, unnamed)).toBeGreaterThan(RUNS / 2);
  });

  const NOTE = "`status` is text in some entries; comparisons find numbers only.";

  function sourceOf(store: TestStore, scanners?: ScanPool): SearchSource {
    const source = { ...store.stats(3), scanners };
    const { workspaceId, report, cold } = source;
    return {
      ...source,
      bySeq: (projectId) => ({ scope: { workspaceId, projectId, report }, recent: store.bySeq(projectId, 2), cold }),
    };
  }

  async function search(source: SearchSource, text: string): Promise<SearchAnswer> {
    const wanted = { now: NOW, projectId: null, from: null, to: null, asOf: null, limit: 100, cursor: null };
    const result = await runSearch(source, { ...wanted, query: queryOf(text) });
    if (!result.ok) throw new Error(JSON.stringify(result));
    return result.answer;
  }

  function storeOf(kind: (typeof SEGMENT_KINDS)[number] | null): TestStore {
    const store = new TestStore();
    store.add(PROJECT, [entry(0, { status: 500 }), entry(1, { status: "500" }), entry(2, { ok: 1, n: 1 })]);
    store.add(PROJECT, [entry(3, { status: 200, n: 2 }), entry(4, { ok: true, n: 3 })]);
    if (kind !== null) store.flush(PROJECT, 2, kind);
    return store;
  }

  it.each([null, ...SEGMENT_KINDS])("mixed: are named in the notes of entries and tables: %s", async (kind) => {
    const source = sourceOf(storeOf(kind));
    for (const text of [
      "status:>=500",
      "status:400..599",
      "-status:<500",
      "status:(>=500 OR 404)",
      "status:>=500 OR n:2",
      "* | where status:>=500",
      "* | limit 10 | where status:>=500",
      "* | limit 10 | where status:>=500 | count",
      "status:>=500 | count by level",
      "status:>=500 | fields n",
      "status:>=500 | sort n",
      "status:>=500 | patterns vs 1h",
      "status:>=500 | facets",
      "status:(>=500 OR ~/^9/)",
    ]) {
      expect((await search(source, text)).notes, text).toContain(NOTE);
    }
    for (const text of ["status:500", "n:>1", "status:~/5/", "* | count by status | where count:>1", "level:>=warn"]) {
      expect((await search(source, text)).notes.join(), text).not.toContain("comparisons");
    }
    const { notes } = await search(source, "status:>1 ok:>0 OR ok:>0 | count");
    expect(notes).toEqual([NOTE, "`ok` is a boolean in some entries; comparisons find numbers only."]);
    // The note of an aggregation says the same.
    const summed = await search(source, "-status:>900 | stats sum(status)");
    expect(summed.notes).toEqual(["`status` has mixed types: numbers, strings; only its numbers are added up."]);
  });

  it("mixed: are named in the notes of `POST /logger/stats`, which takes the language as `q`", async () => {
    const { filter, ...plan } = TableBody.parse({ aggregations: [{ fn: "count" }] });
    const both = andFilters(filter, compileFilter(queryOf("status:>=500").filter, NOW));
    const result = await runTable(storeOf("inline").stats(3), { ...plan, filter: both });
    expect(result.ok && result.answer.notes).toEqual([NOTE]);
  });

  it("mixed: at most ten of them are named", async () => {
    const store = new TestStore();
    const names = Array.from({ length: 12 }, (_, at) => `m${at}`);
    store.add(PROJECT, [entry(0, Object.fromEntries(names.map((name) => [name, "x"])))]);
    const { notes } = await search(sourceOf(store), names.map((name) => `${name}:>1`).join(" OR "));
    expect(notes).toHaveLength(10);
  });

  it("mixed: scan objects give them back, and those of a version before none", async () => {
    const poolOf = (change: (outcome: PartOutcome) => PartOutcome): ScanPool => ({
      slots: 1,
      sizes: { splitFrom: 0, part: 1 },
      scan: async (_, call) =>
        change(structuredClone(await scanPart(storeOf("bucket").logs(1), structuredClone(call), UNBOUNDED_MEMORY))),
    });
    const own = await search(
      sourceOf(
        storeOf("bucket"),
        poolOf((outcome) => outcome),
      ),
      "status:>=500 | count",
    );
    expect(own).toMatchObject({ matched: 1, notes: [NOTE] });
    const older = (outcome: PartOutcome): PartOutcome => {
      if ("compared" in outcome) delete outcome.compared;
      return outcome;
    };
    const before = await search(sourceOf(storeOf("bucket"), poolOf(older)), "status:>=500 | count");
    expect(before).toMatchObject({ matched: 1, notes: [] });
  });
});
