import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Entry } from "../../../src/logs/entry.ts";
import { logId } from "../../../src/logs/entry-view.ts";
import { BatchMatcher } from "../../../src/logs/query/batch-matcher.ts";
import { WorkMeter } from "../../../src/logs/query/budget.ts";
import { fingerprint } from "../../../src/logs/query/cursor.ts";
import { ALL_LEVELS_MASK, type LogFilter, matchesFilter, OPEN_FILTER } from "../../../src/logs/query/filter.ts";
import { runQuery } from "../../../src/logs/query/run-query.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import { andFilters, compileFilter } from "../../../src/logs/search/compile-filter.ts";
import { RowGroupFilter } from "../../../src/logs/segments/scan/row-group-filter.ts";
import { parse } from "../../../src/query-language/parse.ts";
import { printFilter } from "../../../src/query-language/print.ts";
import { type Filter, joined } from "../../../src/query-language/syntax.ts";
import { answered, SEGMENT_KINDS, TestStore } from "../query/store.ts";
import { anyLines } from "../segments/any-lines.ts";
import { batchesOf, bytesOf, encode, open, PROJECT } from "../segments/support.ts";
import { entry, NOW, query } from "./arbitraries.ts";
import { passes } from "./reference.ts";

/** More filters than CI runs: `SEARCH_RUNS=2000 npx vitest ...`. */
const RUNS = Number(process.env.SEARCH_RUNS ?? 60);
const HOUR = 3_600_000;

function filterOf(text: string): Filter {
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.query.filter;
}

const compiled = (text: string): LogFilter => compileFilter(filterOf(text), NOW);

const timed = fc
  .tuple(entry, fc.integer({ min: NOW - 30 * HOUR, max: NOW + HOUR }))
  .map(([each, timestamp]): Entry => ({ ...each, timestamp: new Date(timestamp).toISOString() }));
const entries = fc.array(timed, { minLength: 1, maxLength: 30 });

/** Indexes of the lines that pass, as recent batches and blocks of lines are read. */
function inLines(lines: readonly (string | Uint8Array)[], filter: LogFilter, perBatch: number): number[] {
  const found: number[] = [];
  const matcher = new BatchMatcher(filter);
  for (const { body, firstSeq, receivedAt } of batchesOf(lines, perBatch)) {
    const places = {
      projectId: PROJECT,
      seqAt: (index: number) => firstSeq + index,
      receivedAtOf: () => receivedAt,
    };
    matcher.forEachMatch(
      body,
      () => true,
      ({ index }) => found.push(firstSeq - 1 + index),
      () => undefined,
      places,
    );
  }
  return found;
}

/** Indexes of the lines that pass, as they are found in the columns of row groups. */
function inColumns(bytes: Uint8Array, filter: LogFilter): number[] {
  const { reader, chunk } = open(bytes);
  const found: number[] = [];
  let first = 0;
  for (const [group, { rows }] of reader.rowGroups.entries()) {
    const own = new RowGroupFilter(reader, group, filter, { asOf: null, afterCommit: 0 }, new WorkMeter());
    const steps = own.steps((column) => {
      if (!own.columns.includes(column)) throw new Error(`The column ${column} was not announced.`);
      return chunk(group, column);
    });
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    for (const row of step.value.rows) found.push(first + row);
    first += rows;
  }
  return found;
}

describe("filters of the query language", () => {
  it("17.3: find in lines and in columns what a plain evaluator finds", () => {
    let found = 0;
    const queries = fc.array(query, { minLength: 20, maxLength: 20 });
    const options = fc.record({
      perBatch: fc.integer({ min: 1, max: 9 }),
      groupRows: fc.constantFrom(1, 3, 16, 100),
      exactShapes: fc.constantFrom(0, 3, 256),
    });
    fc.assert(
      fc.property(entries, options, queries, (own, settings, wanted) => {
        const lines = own.map((each) => JSON.stringify(each));
        const bytes = bytesOf(encode(lines, settings));
        const places = batchesOf(lines, settings.perBatch).flatMap(({ firstSeq, count, receivedAt }) =>
          Array.from({ length: count }, (_, index) => ({ seq: firstSeq + index, receivedAt })),
        );
        for (const { text, filter } of wanted) {
          const expected = own.flatMap((each, index) => {
            const { seq = 0, receivedAt = 0 } = places[index] ?? {};
            const place = {
              ...{ timestamp: Date.parse(each.timestamp), receivedAt, seq },
              ...{ projectId: PROJECT, id: logId(PROJECT, seq) },
            };
            return passes(filter, JSON.parse(lines[index] ?? ""), place, NOW) ? [index] : [];
          });
          const ready = compileFilter(filter, NOW);
          if (expected.length > 0 && expected.length < own.length) found++;
          expect(inLines(lines, ready, settings.perBatch), text).toEqual(expected);
          expect(inColumns(bytes, ready), text).toEqual(expected);
        }
      }),
      { numRuns: RUNS },
    );
    expect(found).toBeGreaterThan(RUNS);
  });

  it("17.3: find in columns what they find in lines, also of hostile entries", () => {
    const names = fc.constantFrom(
      "n",
      "t",
      "b",
      "m",
      "o",
      "o.p",
      '"o"."q.r"',
      "list",
      "list[0]",
      "a",
      "a.b",
      '""',
      '"0"',
    );
    const tests = fc.constantFrom("*", "x", "1", "0", "abc", '""', "true", ">0", "<=3", "0..1", "=x", "*a*", "~/[a0]/");
    const own = fc.tuple(names, tests).map(([name, test]) => filterOf(`${name}:${test}`));
    const text = fc.constantFrom("a", "true", "1", "ß", "i\u0307", "~/\\d/", "~/[k-z]/i", "a*b").map(filterOf);
    const atom = fc.oneof(own, text);
    const any = fc.letrec<{ filter: Filter }>((tie) => ({
      filter: fc.oneof(
        { depthSize: "small" },
        atom,
        tie("filter").map((filter): Filter => ({ kind: "not", filter })),
        fc
          .tuple(fc.constantFrom("and" as const, "or" as const), tie("filter"), tie("filter"))
          .map(([kind, a, b]) => joined(kind, [a, b])),
      ),
    })).filter;
    const options = fc.record({
      perBatch: fc.integer({ min: 1, max: 9 }),
      groupRows: fc.constantFrom(1, 3, 16, 100),
      exactShapes: fc.constantFrom(0, 3, 256),
    });
    fc.assert(
      fc.property(anyLines, options, fc.array(any, { minLength: 10, maxLength: 10 }), (lines, settings, wanted) => {
        const bytes = bytesOf(encode(lines, settings));
        for (const filter of wanted) {
          const ready = compileFilter(filter, NOW);
          expect(inColumns(bytes, ready), printFilter(filter)).toEqual(inLines(lines, ready, settings.perBatch));
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("17.3: find over both tiers what a plain evaluator finds, beside other filters too", async () => {
    const batch = fc.record({
      project: fc.constantFrom(PROJECT, "proj_00000000000b"),
      own: fc.array(timed, { minLength: 1, maxLength: 5 }),
    });
    const flush = fc.record({
      project: fc.constantFrom(PROJECT, "proj_00000000000b"),
      count: fc.integer({ min: 1, max: 3 }),
      kind: fc.constantFrom(...SEGMENT_KINDS),
    });
    const others = fc.constantFrom({}, { search: "t" }, { minLevel: "warn" }, { data: { status: { exists: true } } });
    await fc.assert(
      fc.asyncProperty(
        fc.array(batch, { minLength: 1, maxLength: 6 }),
        fc.array(flush, { maxLength: 4 }),
        fc.array(fc.tuple(query, others), { minLength: 5, maxLength: 5 }),
        async (batches, flushes, wanted) => {
          const store = new TestStore();
          for (const { project, own } of batches) {
            const added = own.map(({ timestamp, ...each }) => ({ ...each, timestamp: Date.parse(timestamp) }));
            store.add(project, added);
          }
          for (const { project, count, kind } of flushes) store.flush(project, count, kind);
          for (const [{ text, filter }, beside] of wanted) {
            const other = QueryBody.parse({ filters: beside, pagination: { limit: 1000 } });
            const expected = store.rows.filter(({ entry: { timestamp, ...each }, projectId, seq, commit }) => {
              const place = {
                timestamp,
                seq,
                projectId,
                id: logId(projectId, seq),
                receivedAt: 1_800_000_000_000 + commit,
              };
              const own = { ...each, timestamp: new Date(timestamp).toISOString() };
              return passes(filter, own, place, NOW) && matchesFilter(other.filter, own, timestamp);
            });
            const both = { ...other, filter: andFilters(other.filter, compileFilter(filter, NOW)) };
            const result = await runQuery(store.logs(3), both, () => 0);
            if (!result.ok) throw new Error(result.reason);
            const seen = answered(result.page).logs.map(({ projectId, seq }) => `${projectId}/${seq}`);
            expect(seen.sort(), text).toEqual(expected.map(({ projectId, seq }) => `${projectId}/${seq}`).sort());
          }
        },
      ),
      { numRuns: RUNS },
    );
  });
});

describe("a compiled filter", () => {
  it.each<[string, Partial<LogFilter>]>([
    ["*", {}],
    ["level:>=error", { levelMask: 0b1100000 }],
    ["-level:(trace OR debug) -level:info", { levelMask: 0b1110100 }],
    ["level:error OR level:fatal", { levelMask: 0b1100000 }],
    ["time:1h", { from: NOW - HOUR }],
    ["time:2026-11-22 time:<2026-11-22T10", { from: Date.UTC(2026, 10, 22), to: Date.UTC(2026, 10, 22, 10) }],
    ["NOT time:>=2026-11-22", { to: Date.UTC(2026, 10, 22) }],
    ["Timeout", { search: "timeout" }],
    ['"connection reset" level:warn', { search: "connection reset", levelMask: 0b10000 }],
    ["session:=a trace:=b", { session: "a", traceId: "b" }],
    ["category:(=http OR =ai) type:=request", { categories: ["http", "ai"], types: ["request"] }],
    ["status:*", { data: [{ path: ["status"], op: "exists", value: true }] }],
    // 17: a text without letters has one case, so the filters of ids serve it.
    ["session:12-34", { session: "12-34" }],
    ["trace:(00451)", { traceId: "00451" }],
    ["-status:*", { data: [{ path: ["status"], op: "exists", value: false }] }],
  ])("has members for what they express exactly: %s", (text, members) => {
    expect(compiled(text)).toEqual({ ...OPEN_FILTER, ...members });
  });

  it("narrows the scan by what the rest of it requires", () => {
    const either = compiled("(level:error time:>2026-11-22) OR (level:fatal time:2026-11-20 status:5)");
    expect(either).toMatchObject({ levelMask: 0b1100000, from: Date.UTC(2026, 10, 20), to: null });
    expect(either.rest).not.toBeNull();
    expect(compiled("-(level:error status:5)").levelMask).toBe(ALL_LEVELS_MASK);
    // `http` is the second built-in category, and the last bit is for the others.
    expect(compiled("category:http").rest?.categoryMask).toBe(0b10000010);
    expect(compiled("-category:http status:5").rest?.categoryMask).toBe(0b11111101);
  });

  it("means the same at any time, and so does its fingerprint", () => {
    const [first, same] = [compiled("received:1h status:5"), compiled("status:5")];
    const later = compileFilter(filterOf("received:1h status:5"), NOW + 1);
    expect(fingerprint(first, "ws")).not.toBe(fingerprint(later, "ws"));
    expect(fingerprint(same, "ws")).toBe(fingerprint(compileFilter(filterOf("status:5"), NOW + 1), "ws"));
    expect(fingerprint(same, "ws")).not.toBe(fingerprint(OPEN_FILTER, "ws"));
  });

  it("with others passes what both pass", () => {
    expect(andFilters(compiled("session:=a"), compiled("session:=b")).levelMask).toBe(0);
    expect(andFilters(compiled("category:(=a OR =b)"), compiled("category:(=b OR =c)")).categories).toEqual(["b"]);
    const texts = andFilters(compiled("one"), compiled("two"));
    expect([texts.search, texts.rest?.filter]).toEqual(["one", filterOf("two")]);
  });
});
