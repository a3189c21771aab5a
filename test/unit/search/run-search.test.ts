import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { QUERY_BUDGET, type QueryBudget } from "../../../src/logs/query/budget.ts";
import { decodeCursor, decodeSnapshot } from "../../../src/logs/query/cursor.ts";
import { rowText } from "../../../src/logs/query/run-query.ts";
import { runSearch } from "../../../src/logs/search/run-search.ts";
import {
  type SearchAnswer,
  type SearchQuery,
  type SearchSource,
  searchTexts,
} from "../../../src/logs/search/search-query.ts";
import { SearchBody } from "../../../src/logs/search/search-schema.ts";
import { parse } from "../../../src/query-language/parse.ts";
import type { Query } from "../../../src/query-language/syntax.ts";
import { threadMs } from "../../support/thread-time.ts";
import { SEGMENT_KINDS, type TestEntry, TestStore } from "../query/store.ts";
import { NOW, searchEntry, searchText } from "./any-search.ts";
import { evaluate } from "./query-reference.ts";

const PROJECTS = ["proj_00000000000a", "proj_00000000000b"];
const [ONE = ""] = PROJECTS;

/** Sets of entries with their queries: a share of those that the language was checked with. */
const RUNS = Number(process.env.SEARCH_RUNS ?? 300);

function queryOf(text: string): Query {
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.error.message}`);
  return parsed.query;
}

function sourceOf(store: TestStore): SearchSource {
  const source = store.stats(3);
  const { workspaceId, report, cold } = source;
  return {
    ...source,
    bySeq: (projectId) => ({ scope: { workspaceId, projectId, report }, recent: store.bySeq(projectId, 2), cold }),
  };
}

async function search(
  store: TestStore,
  text: string,
  more: Partial<SearchQuery> = {},
  budget?: QueryBudget,
): Promise<SearchAnswer> {
  const wanted = { now: NOW, projectId: null, from: null, to: null, asOf: null, limit: 100, cursor: null, ...more };
  const result = await runSearch(sourceOf(store), { ...wanted, query: queryOf(text) }, budget);
  if (!result.ok) throw new Error(JSON.stringify(result));
  // Whatever is asked: what lacks entries is not exact.
  expect([result.answer.complete, result.answer.exact], text).not.toEqual([false, true]);
  return result.answer;
}

/** The rows of an answer as its client reads them. */
function rowsOf(answer: SearchAnswer): unknown[][] {
  const texts = answer.kind === "table" ? answer.rows : answer.rows.map(rowText);
  return texts.map((text) => JSON.parse(Buffer.from(text, "latin1").toString("utf8")));
}

function idsOf(answer: SearchAnswer): string[] {
  return answer.kind === "table" ? [] : answer.rows.map(({ projectId, seq }) => `${projectId}/${seq}`);
}

const batch = fc.record({
  project: fc.constantFrom(...PROJECTS),
  entries: fc.array(searchEntry, { minLength: 1, maxLength: 6 }),
});
const flush = fc.record({
  project: fc.constantFrom(...PROJECTS),
  count: fc.integer({ min: 1, max: 4 }),
  kind: fc.constantFrom(...SEGMENT_KINDS),
});

const entry = (at: number, message = "m", data?: Record<string, unknown>): TestEntry => ({
  timestamp: NOW - 10_000 + at,
  level: "info",
  category: "custom",
  type: "log",
  message,
  ...(data === undefined ? {} : { data }),
});

describe("runSearch", () => {
  it("gives what a plain evaluator of whole queries gives, over both tiers and whatever moves meanwhile", async () => {
    let [tables, entries] = [0, 0];
    await fc.assert(
      fc.asyncProperty(
        fc.array(batch, { minLength: 1, maxLength: 6 }),
        fc.array(searchText, { minLength: 1, maxLength: 6 }),
        fc.array(flush, { maxLength: 4 }),
        fc.array(fc.option(flush), { maxLength: 4 }),
        async (batches, texts, flushed, moves) => {
          const store = new TestStore();
          for (const { project, entries: own } of batches) store.add(project, own);
          for (const { project, count, kind } of flushed) store.flush(project, count, kind);
          const waiting = [...moves];
          store.beforePage = () => {
            const move = waiting.shift();
            if (move) store.flush(move.project, move.count, move.kind);
          };
          for (const text of texts) {
            const parsed = parse(text);
            // Two columns of one name.
            if (!parsed.ok) continue;
            const expected = evaluate(parsed.query, store.rows, NOW);
            const answer = await search(store, text);
            expect(answer.complete, text).toBe(true);
            expect(answer.kind, text).toBe(expected.kind);
            if (expected.kind === "entries") {
              entries++;
              expect(idsOf(answer), text).toEqual(expected.rows.map(({ projectId, seq }) => `${projectId}/${seq}`));
              continue;
            }
            tables++;
            expect(rowsOf(answer), text).toEqual(expected.rows);
          }
        },
      ),
      { numRuns: RUNS },
    );
    expect(tables).toBeGreaterThan(RUNS);
    expect(entries).toBeGreaterThan(RUNS / 4);
  });

  it("finds as many entries by a pattern as it counts, whatever the messages have", async () => {
    const piece = fc.constantFrom(
      ...["<N>", "<STR>", "<*>", '"', "'", "\\", "\n", "\u001b[31m", "\u0000", "ü", "İ", "ς", "\u212a", "🚀", "\ud83d"],
      ...[" 17", "/a1", "0xff", '"x 1"', "it's", "*", "(", "~/", "a", " ", "10:00:00", "x".repeat(1990), '\\"'],
    );
    const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));
    const own = fc.tuple(text, fc.option(fc.oneof(text, fc.array(text, { maxLength: 2 }))), fc.nat({ max: 2 }));
    let found = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(own, { minLength: 1, maxLength: 10 }), async (messages) => {
        const entries = messages.flatMap(([message, member, more], at) =>
          Array.from({ length: more + 1 }, (_, copy) =>
            entry(10 * at + copy, message, member === null ? undefined : { pattern: member }),
          ),
        );
        for (const kind of [null, ...SEGMENT_KINDS]) {
          const store = new TestStore();
          store.add(ONE, entries);
          if (kind !== null) store.flush(ONE, 1, kind, 8);
          const counts = rowsOf(await search(store, "* | patterns 100"));
          // SAFETY: the first columns are the pattern and its count.
          for (const [pattern, count] of counts as [string, number][]) {
            const test = `pattern:=${JSON.stringify(pattern)}`;
            const inList = `pattern:(=${JSON.stringify(pattern)} OR =nothing OR ="<N>x")`;
            const matched = async (filter: string) => (await search(store, `${filter} | count`)).matched;
            expect(await matched(test), test).toBe(count);
            expect(await matched(inList), inList).toBe(count);
            expect(await matched(`-${test}`), `-${test}`).toBe(entries.length - count);
            expect(await matched(`-${inList}`), `-${inList}`).toBe(entries.length - count);
            found += count;
          }
          // SAFETY: as above.
          expect((counts as [string, number][]).reduce((sum, [, count]) => sum + count, 0)).toBe(entries.length);
        }
      }),
      { numRuns: Math.ceil(RUNS / 40) },
    );
    expect(found).toBeGreaterThan(RUNS / 40);
  });

  it("has entries of one time in the same direction, sorted as they are read or afterwards", async () => {
    const store = new TestStore();
    for (let at = 0; at < 3; at++) store.add(ONE, [entry(0)]);
    for (const before of ["", " | context 1", " | sort seq | limit 3"]) {
      const up = idsOf(await search(store, `*${before} | sort time`));
      expect(up, before).toEqual([1, 2, 3].map((seq) => `${ONE}/${seq}`));
      expect(idsOf(await search(store, `*${before} | sort time desc`)), before).toEqual(up.toReversed());
    }
  });

  it("17: sorts the first and the last level of groups by severity, in every place of a query", async () => {
    const store = new TestStore();
    const levels = ["info", "fatal", "trace", "error", "debug", "warn"] as const;
    store.add("proj_00000000000a", [
      ...levels.map((level) => ({ ...entry(0, level), level })),
      { ...entry(0, "none", { n: 1 }), level: "trace" as const },
    ]);
    const sorted = ["trace", "trace", "debug", "info", "warn", "error", "fatal"];
    for (const fn of ["first", "last", "min", "max"]) {
      const table = `* | stats ${fn}(level) as own by message`;
      for (const text of [`${table} | sort own`, `${table} | where own:* | sort own`]) {
        expect(
          rowsOf(await search(store, text)).map(([, level]) => level),
          text,
        ).toEqual(sorted);
        const falling = await search(store, `${text} desc | limit 3`);
        expect(
          rowsOf(falling).map(([, level]) => level),
          text,
        ).toEqual(["fatal", "error", "warn"]);
      }
    }
  });

  it("says of a table that is not complete that it is not exact", async () => {
    const store = new TestStore();
    for (let at = 0; at < 40; at++) store.add(ONE, [entry(at)]);
    for (const text of ["* | stats count() by pattern", "m | patterns", "* | fields seq | count", "* | facets"]) {
      const answer = await search(store, text, {}, { ...QUERY_BUDGET, work: 100_000 });
      expect(answer, text).toMatchObject({ complete: false, exact: false });
    }
  });

  it("answers entries in pages of one instant and one snapshot, and ends at `limit`", async () => {
    const store = new TestStore();
    for (let at = 0; at < 12; at++) store.add(ONE, [entry(at * 1000)]);
    store.flush(ONE, 5, "bucket");
    const ids: string[] = [];
    let cursor: SearchQuery["cursor"] = null;
    const matched: unknown[] = [];
    const notes: string[][] = [];
    for (;;) {
      const instant: number = cursor?.search?.instant ?? NOW + 2000;
      const answer: SearchAnswer = await search(store, "time:10s | limit 8", {
        ...{ now: instant, limit: 3, cursor, asOf: cursor?.asOf ?? null },
      });
      if (answer.kind !== "entries") throw new Error("A table");
      ids.push(...idsOf(answer));
      matched.push([answer.matched, answer.exact, answer.complete]);
      notes.push(answer.notes);
      store.add(ONE, [entry(20_000)]);
      if (answer.nextCursor === null) break;
      cursor = decodeCursor(answer.nextCursor);
    }
    // The entries of the first two seconds are older than ten seconds at the instant of the question.
    expect(ids).toEqual([12, 11, 10, 9, 8, 7, 6, 5].map((seq) => `${ONE}/${seq}`));
    expect(matched).toEqual([
      [3, false, true],
      [6, false, true],
      [8, false, true],
    ]);
    // 17: a page that ends before the query's limit says so.
    const more = (read: number) => `${read} of at most 8 entries: the next page continues at \`nextCursor\`.`;
    expect(notes).toEqual([[more(3)], [more(6)], []]);
    const all = await search(store, "time:10s | limit 100", { now: NOW + 2000, asOf: cursor?.asOf ?? null });
    expect(all).toMatchObject({ matched: 10, exact: true, nextCursor: null, notes: [] });
  });

  it("counts a snapshot of the request itself from stored counts, whatever is stored and moved after it", async () => {
    const texts = [
      "* | stats count() by level, bin(1s)",
      "level:>=warn | top 10 by category, type",
      "category:http time:3s | count by bin(1s)",
    ];
    let later = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(batch, { minLength: 1, maxLength: 6 }),
        fc.array(batch, { minLength: 1, maxLength: 4 }),
        fc.array(flush, { maxLength: 3 }),
        fc.array(flush, { maxLength: 6 }),
        fc.array(fc.option(flush), { maxLength: 4 }),
        async (before, after, flushed, moved, moves) => {
          const store = new TestStore();
          for (const { project, entries } of before) store.add(project, entries);
          for (const { project, count, kind } of flushed) store.flush(project, count, kind);
          const expected = texts.map((text) => evaluate(queryOf(text), store.rows, NOW));
          const asOf = store.lastCommit;
          for (const { project, entries } of after) store.add(project, entries);
          for (const { project, count, kind } of moved) store.flush(project, count, kind);
          later += store.rows.length;
          const waiting = [...moves];
          store.beforePage = () => {
            const move = waiting.shift();
            if (move) store.flush(move.project, move.count, move.kind);
          };
          for (const [at, text] of texts.entries()) {
            const answer = await search(store, text, { asOf, isNewest: true });
            expect(answer.complete).toBe(true);
            expect(rowsOf(answer), text).toEqual(expected[at]?.rows);
          }
        },
      ),
      { numRuns: 150 },
    );
    expect(later).toBeGreaterThan(0);
  });

  it("17: a page has as many entries as the query's limit, if a page can have so many", () => {
    const limitOf = (body: object) => SearchBody.parse(body).limit;
    expect(limitOf({ query: "level:error" })).toBe(100);
    expect(limitOf({ query: "level:error | limit 1000" })).toBe(1000);
    expect(limitOf({ query: "* | limit 5000 | where a:1 | limit 300 | context 2" })).toBe(300);
    expect(limitOf({ query: "* | sort a | limit 9000" })).toBe(1000);
    expect(limitOf({ query: "* | limit 1000", limit: 10 })).toBe(10);
  });

  it("17: names the times that were searched, of the text and the request together", async () => {
    const store = new TestStore();
    store.add(ONE, [entry(0)]);
    const iso = (at: number) => new Date(at).toISOString();
    expect(await search(store, "*")).toMatchObject({ range: { from: null, to: null } });
    expect(await search(store, "m | count", { to: NOW })).toMatchObject({ range: { from: null, to: iso(NOW) } });
    expect(await search(store, "time:1h level:info | sort seq | limit 5", { from: NOW - 60_000 })).toMatchObject({
      range: { from: iso(NOW - 60_000), to: null },
    });
    const range = { from: "2026-11-20T00:00:00.000Z", to: "2026-11-22T00:00:00.000Z" };
    expect(await search(store, "time:2026-11-20..2026-11-22 | facets")).toMatchObject({ range });
  });

  it("answers the same with the `asOf` of an answer, which has the commit and the instant", async () => {
    const store = new TestStore();
    for (let at = 0; at < 6; at++) store.add(ONE, [entry(at * 1000, "m", { n: at })]);
    for (const text of ["time:8s", "time:8s | stats count(), sum(n)", "time:8s | patterns", "time:8s | facets"]) {
      const first = await search(store, text);
      const snapshot = decodeSnapshot(first.asOf);
      expect(snapshot).toMatchObject({ instant: NOW });
      store.add(ONE, [entry(9000, "later", { n: 1 })]);
      store.flush(ONE, 2, "inline");
      const again = await search(store, text, { now: snapshot?.instant ?? 0, asOf: snapshot?.commit ?? null });
      expect(rowsOf(again), text).toEqual(rowsOf(first));
      expect(again.matched, text).toBe(first.matched);
      expect((await search(store, text)).matched, text).toBe(first.matched + 1);
    }
    expect(decodeSnapshot("4c92")).toEqual({ commit: expect.any(Number), instant: null });
    for (const text of ["", "-", "4c92-", "-4c92", "a-b-c", "4c92-!"]) expect(decodeSnapshot(text), text).toBeNull();
  });

  it("adds the neighbours of entries, without those that came after the snapshot", async () => {
    const store = new TestStore();
    store.add(
      ONE,
      Array.from({ length: 10 }, (_, at) => entry(1000 * at, at === 4 || at === 9 ? "found" : "m")),
    );
    const { asOf } = await search(store, "*");
    store.add(ONE, [entry(0), entry(50_000)]);
    const commit = decodeSnapshot(asOf)?.commit ?? null;
    for (const kind of [null, "lines", "bucket"] as const) {
      if (kind !== null) store.flush(ONE, 1, kind);
      const numbers = async (text: string, at: number | null) =>
        idsOf(await search(store, text, { asOf: at })).map((id) => Number(id.split("/")[1]));
      expect(await numbers("found | context 2", commit)).toEqual([10, 9, 8, 7, 6, 5, 4, 3]);
      expect(await numbers("found | sort time | context 1", null)).toEqual([11, 4, 5, 6, 9, 10]);
      expect(await numbers("found | limit 1 | context 1", commit)).toEqual([10, 9]);
      const matches = async (text: string) => {
        const found = await search(store, text, { asOf: commit });
        return found.kind === "entries" ? found.matches : null;
      };
      expect(await matches("found | context 2")).toEqual([0, 5]);
      expect(await matches("found | sort time | context 1 | where message:* | limit 4")).toEqual([1]);
      expect(await matches("found")).toBeUndefined();
    }
    const answer = await search(store, "found | context 1", { limit: 1 });
    expect(answer).toMatchObject({ matched: 1, exact: false, complete: true });
  });

  it("says that a table has no neighbours of further entries than 50", async () => {
    const store = new TestStore();
    store.add(
      ONE,
      Array.from({ length: 60 }, (_, at) => entry(at)),
    );
    const note = "The table has the first 50 entries with their neighbours; there are more.";
    for (const text of ["* | context 1 | count", "* | sort time | context 1 | fields seq"])
      expect(await search(store, text), text).toMatchObject({ complete: false, exact: false, notes: [note] });
    expect(await search(store, "* | limit 3 | context 1 | count")).toMatchObject({ complete: true, notes: [] });
  });

  it("states what of a snapshot has expired", async () => {
    const store = new TestStore();
    store.add(ONE, [entry(0)]);
    const { asOf, notes } = await search(store, "*");
    expect(notes).toEqual([]);
    store.oldest = NOW - 60_000;
    const commit = decodeSnapshot(asOf)?.commit ?? null;
    const wanted = { now: NOW, projectId: null, from: null, to: null, asOf: commit, limit: 100, cursor: null };
    const notesAt = async (text: string, at: number) => {
      const found = await runSearch(
        sourceOf(store),
        { ...wanted, query: queryOf(text) },
        undefined,
        undefined,
        () => at,
      );
      return found.ok ? found.answer.notes : found;
    };
    for (const text of ["*", "* | sort time", "* | count"]) {
      // Until the cutoff has risen the answer is the same.
      expect(await notesAt(text, NOW + 59_999)).toEqual([]);
      expect(await notesAt(text, NOW + 130_000)).toEqual([
        "Entries before 2026-11-22T11:59:00.000Z have expired, some of them possibly since `asOf`.",
      ]);
    }
    const recent = await runSearch(
      sourceOf(store),
      { ...wanted, from: NOW - 60_000, query: queryOf("*") },
      undefined,
      undefined,
      () => NOW + 130_000,
    );
    expect(recent).toMatchObject({ answer: { notes: [] } });
  });

  it("compares patterns with those of a period before, and their counts add up", async () => {
    const store = new TestStore();
    const day = 86_400_000;
    const said = (text: string, count: number, ago: number) =>
      Array.from({ length: count }, (_, at) => ({ ...entry(0, `${text} ${at}`), timestamp: NOW - ago - 2000 - at }));
    store.add(ONE, [...said("risen", 5, 0), ...said("same", 2, 0), ...said("new", 1, 0)]);
    store.add(ONE, [
      ...said("risen", 2, day),
      ...said("same", 2, day),
      ...said("gone", 4, day),
      ...said("old", 9, 2 * day),
    ]);
    store.flush(ONE, 1, "bucket");
    const expected = [
      ["gone <N>", 0, 4, -4],
      ["risen <N>", 5, 2, 3],
      ["new <N>", 1, 0, 1],
      ["same <N>", 2, 2, 0],
    ];
    for (const text of [
      "time:1h | patterns vs 1d",
      "time:1h..1s | patterns 10 vs 1d",
      "time:2026-11-22 | patterns vs 24h",
    ]) {
      const answer = await search(store, text);
      expect(rowsOf(answer), text).toEqual(expected);
      expect(answer, text).toMatchObject({ matched: 8, exact: true, complete: true, notes: [] });
    }
    // Without a time the last day is compared with the one before it.
    const last = await search(store, "* | patterns 2 vs 1d");
    expect(rowsOf(last)).toEqual([
      ["gone <N>", 0, 4, -4],
      ["risen <N>", 5, 2, 3],
      [null, 3, 2, 1],
    ]);
    expect(last.notes).toHaveLength(1);
    // 17: `where` after a number of patterns tests these only, and says so.
    const few = await search(store, "* | patterns 2 vs 1d | where before:0");
    expect([rowsOf(few), few.notes[1]]).toEqual([
      [],
      "`where` tests only these 2. All are tested by `patterns vs 1d | where ... | limit 2`.",
    ]);
    const all = await search(store, "* | patterns vs 1d | where before:0 | limit 2");
    expect([rowsOf(all), all.notes]).toEqual([[["new <N>", 1, 0, 1]], []]);
    expect(rowsOf(await search(store, "-new | where message:* | patterns vs 12h"))).toEqual([
      ["risen <N>", 5, 0, 5],
      ["same <N>", 2, 0, 2],
    ]);
  });

  it("says if the period before is not kept, or before the first entry, so that patterns only look new", async () => {
    const day = 86_400_000;
    const store = new TestStore();
    const at = (ago: number) => ({ ...entry(0, "same"), timestamp: NOW - ago });
    store.add(ONE, [at(1000), at(day + 1000), at(6.5 * day), at(30 * day)]);
    const notesOf = async (text: string) => (await search(store, text)).notes;
    const first = new Date(NOW - 30 * day).toISOString();
    for (const text of [
      "time:1h | patterns",
      "time:1h | patterns vs 1d",
      "time:<1h | patterns vs 60d",
      "* | patterns vs 15d",
    ])
      expect(await notesOf(text), text).toEqual([]);
    expect(await notesOf("time:1d | patterns vs 29d")).toEqual([]);
    expect(await notesOf("time:2d | patterns vs 29d")).toEqual([
      `The earlier range lacks entries: the first entry is of ${first}. Patterns may look new that are not.`,
    ]);
    const none = `The earlier range has no entries to compare with: the first entry is of ${first}.`;
    expect(await notesOf("time:1h | patterns vs 40d")).toEqual([none]);
    store.flush(ONE, 1, "bucket");
    expect(await notesOf("time:1h | patterns vs 40d")).toEqual([none]);
    store.oldest = NOW - 7 * day;
    const kept = new Date(store.oldest).toISOString();
    expect(await notesOf("time:2d | patterns vs 6d")).toEqual([
      `The earlier range lacks entries: entries before ${kept} are no longer kept. Patterns may look new that are not.`,
    ]);
    expect(await notesOf("time:1h | patterns vs 7d")).toEqual([
      `The earlier range has no entries to compare with: entries before ${kept} are no longer kept.`,
    ]);
    expect(await notesOf("time:1h | patterns vs 2d")).toEqual([]);
  });

  it("counts patterns beyond those that it tells apart in one row, so that the counts add up", async () => {
    const store = new TestStore();
    const letters = (at: number) =>
      at.toString(36).replaceAll(/\d/g, (digit) => String.fromCharCode(75 + Number(digit)));
    for (let batch_ = 0; batch_ < 21; batch_++) {
      store.add(
        ONE,
        Array.from({ length: 1000 }, (_, at) => entry(batch_, letters(batch_ * 1000 + at))),
      );
    }
    store.flush(ONE, 10);
    const answer = await search(store, "* | patterns");
    // SAFETY: the table has the columns `pattern` and `count`.
    const counts = rowsOf(answer).map((row) => (row as [string | null, number])[1]);
    expect(counts).toHaveLength(10_000);
    expect(counts.reduce((sum, each) => sum + each, 0)).toBe(21_000);
    expect(answer).toMatchObject({ matched: 21_000, exact: false, complete: true });
    expect(answer.notes).toHaveLength(2);
  });

  it("keeps only the fields of entries that a table needs, and says that there are more than 10,000", async () => {
    const store = new TestStore();
    for (let batch_ = 0; batch_ < 11; batch_++) {
      const text = "long ".repeat(300);
      store.add(
        ONE,
        Array.from({ length: 1000 }, (_, at) => entry(batch_, text, { n: batch_ * 1000 + at })),
      );
    }
    const answer = await search(store, "* | fields n | limit 3");
    expect(rowsOf(answer)).toEqual([[10_999], [10_998], [10_997]]);
    expect(answer).toMatchObject({ matched: 10_000, complete: true, exact: false });
    expect(answer.notes).toEqual(["The table has the first 10,000 entries; there are more."]);
    expect(await search(store, "* | limit 10000 | fields n | count")).toMatchObject({ exact: false, notes: [] });
  });

  it("is not exact if more entries pass than were read, or than a table has", async () => {
    const store = new TestStore();
    const few = Array.from({ length: 5 }, (_, at) => entry(0, "m", { n: at }));
    store.add(ONE, [...few, ...Array.from({ length: 9996 }, () => entry(1))]);
    for (const text of ["* | fields n | limit 3", "* | fields n", "* | sort n | fields n", "* | limit 3 | fields n"])
      expect((await search(store, text)).exact, text).toBe(false);
    for (const text of ["*", "* | limit 3", "* | limit 3 | count", "* | sort time | limit 3 | sort n"])
      expect((await search(store, text)).exact, text).toBe(false);
    for (const text of ["n:<9 | fields n", "n:<9", "* | count", "n:<9 | sort n | fields n", "n:<9 | limit 100 | count"])
      expect((await search(store, text)).exact, text).toBe(true);
  });

  it("says if the cut of a table is among equal rows, and how to leave out the row `null`", async () => {
    const store = new TestStore();
    const members: Record<string, unknown>[] = [
      { a: "x" },
      { a: "x" },
      { a: "y" },
      { a: "z" },
      {},
      { a: "w", b: null, c: [] },
    ];
    store.add(
      ONE,
      members.map((data) => entry(0, "m", data)),
    );
    const tie = "Rows that are left out have the same `count` as the last one.";
    const missing = "`a:*` in the filter leaves them out.";
    const keys = "Rows with equal values are in the order of their keys.";
    const cases: [text: string, ...notes: string[]][] = [
      ["a:* | top 1 by a"],
      ["a:* | top 2 by a", `${tie} ${keys}`],
      ["a:* | top 4 by a"],
      ["a:* | rare 3 by a"],
      ["a:* | rare 2 by a", tie],
      ["a:* | count by a | sort count desc | limit 3", tie],
      ["a:* | count by a | limit 3"],
      ["a:* | count by a | where count:<2 | sort count | limit 2", tie],
      ["a:* | top 4 by a | limit 2", `${tie} ${keys}`],
      ["a:* | fields a | count by a | stats count() as n by a | sort n | limit 2", tie.replace("count", "n")],
      ["* | count by a", missing],
      ["* | top 1 by a"],
      ["* | count by a | where a:*"],
      ["* | count by a | sort a | fields count"],
      ["* | count by nothing"],
      ["* | count by b"],
      ["* | count by level, a", missing],
    ];
    for (const [text, ...notes] of cases) {
      const answer = await search(store, text);
      expect({ text, notes: answer.notes }).toEqual({
        text,
        notes: notes.map((note) => expect.stringContaining(note)),
      });
    }
    // After `sort` rows with equal values are in the order that they had.
    for (const text of ["a:* | count by a | where a:* | sort count | limit 2", "a:* | fields a | sort a | limit 2"]) {
      const column = /sort (\w+)/.exec(text)?.[1] ?? "";
      expect({ text, notes: (await search(store, text)).notes }).toEqual({
        text,
        notes: [tie.replace("count", column)],
      });
    }
    // A value that is stored as null passes `a:*`.
    store.add(ONE, [entry(1, "m", { a: null })]);
    const { notes } = await search(store, "a:* | count by a");
    expect(notes).toEqual([expect.stringContaining("`| where a:*` behind the table leaves them out.")]);
    expect((await search(store, "a:* | count by a | where a:*")).notes).toEqual([]);
  });

  it("is not exact if a pipe had only the first rows of a table", async () => {
    const store = new TestStore();
    for (let batch_ = 0; batch_ < 11; batch_++)
      store.add(
        ONE,
        Array.from({ length: 1000 }, (_, at) => entry(batch_, "m", { n: batch_ * 1000 + at })),
      );
    for (const text of ["* | count by n | count", "* | count by n | where n:>10990", "* | count by n | sort n | count"])
      expect((await search(store, text)).exact, text).toBe(false);
    for (const text of ["* | count by n | limit 3", "* | count by n | limit 3 | count", "* | top 3 by n | count"])
      expect((await search(store, text)).exact, text).toBe(true);
  });

  it("reads only the lines that may be among the first ones by a number", async () => {
    const store = new TestStore();
    for (let batch_ = 0; batch_ < 20; batch_++) {
      store.add(
        ONE,
        Array.from({ length: 20 }, (_, at) => entry(batch_, "m", { n: (batch_ * 20 + at * 7) % 400, same: 1 })),
      );
    }
    store.flush(ONE, 20, "bucket");
    const values = Array.from({ length: 20 }, (_, batch_) =>
      Array.from({ length: 20 }, (__, at) => (batch_ * 20 + at * 7) % 400),
    );
    const sorted = values.flat().sort((a, b) => b - a);
    const largest = await search(store, "* | sort n desc | limit 5 | fields n");
    expect(rowsOf(largest)).toEqual(sorted.slice(0, 5).map((n) => [n]));
    expect(largest).toMatchObject({ matched: 400, exact: true });
    expect(rowsOf(await search(store, "* | sort n | limit 3 | fields n"))).toEqual(
      sorted
        .slice(-3)
        .reverse()
        .map((n) => [n]),
    );
    expect(rowsOf(await search(store, "* | sort same | limit 3 | fields seq"))).toEqual([[400], [399], [398]]);
    const work = async (text: string) => {
      const wanted = { now: NOW, projectId: null, from: null, to: null, asOf: null, limit: 100, cursor: null };
      const result = await runSearch(sourceOf(store), { ...wanted, query: queryOf(text) });
      return result.ok ? result.work : 0;
    };
    expect(await work("* | sort n desc | limit 5")).toBeLessThan(await work("* | sort message | limit 5"));
  });

  it("tests long values with many regular expressions in steps, and ends at the limit of work", async () => {
    const store = new TestStore();
    store.add(ONE, [entry(0, "a".repeat(200_000)), entry(1, "a".repeat(200_000))]);
    const regexes = Array.from({ length: 190 }, (_, at) => `message:~/a.*b${at}$/`).join(" OR ");
    const budget = { ...QUERY_BUDGET, work: 400_000_000 };
    for (const pipes of ["fields message | where", "limit 5 | where"]) {
      let [longest, last] = [0, threadMs()];
      const watch = setInterval(() => {
        longest = Math.max(longest, threadMs() - last);
        last = threadMs();
      }, 0);
      const answer = await search(store, `* | ${pipes} ${regexes}`, {}, budget);
      clearInterval(watch);
      expect(answer.complete, pipes).toBe(false);
      expect(answer.notes[0], pipes).toContain("limit of work");
      // Each regular expression takes milliseconds, all of them seconds.
      expect(longest, pipes).toBeLessThan(500);
    }
  });

  it("refuses queries that cannot be run, with a reason for their author", async () => {
    const store = new TestStore();
    const wanted = { now: NOW, projectId: null, from: null, to: null, asOf: null, limit: 100, cursor: null };
    const refused = async (text: string) => {
      const result = await runSearch(sourceOf(store), { ...wanted, query: queryOf(text) });
      return result.ok || result.reason !== "invalid_query" ? null : result.message;
    };
    expect(await refused("* | stats rate()")).toContain("needs `bin(...)`");
    expect(await refused("time:1h | stats rate()")).toBeNull();
    expect(await refused("* | stats rate() by bin(1m)")).toBeNull();
    expect(await refused("* | count by bin(1m) | stats rate()")).toContain("of a table needs");
    expect(await refused("* | stats sum(level)")).toContain("`sum` needs numbers");
    expect(await refused("~/(a/")).toContain("`(a` is not accepted");
    expect(await refused("* | count by level | where level:~/(a/")).toContain("not accepted");
    expect(await refused("* | limit 5 | patterns vs 1d")).toContain("cannot follow");
    expect(await refused("* | count by a, b, c, d, e, f")).toContain("at most 5 keys");
    const future = await runSearch(sourceOf(store), { ...wanted, asOf: 9, query: queryOf("*") });
    expect(future).toEqual({ ok: false, reason: "future_snapshot" });
  });

  it("ends at its budget with what it has read, and says so", async () => {
    const store = new TestStore();
    for (let at = 0; at < 6; at++) store.add(ONE, [entry(at, "m", { n: at })]);
    const budget = { ...QUERY_BUDGET, work: 100 };
    for (const text of ["* | stats sum(n)", "* | patterns", "* | facets", "* | sort n | limit 3", "* | fields n"]) {
      const answer = await search(store, text, {}, budget);
      expect(answer, text).toMatchObject({ complete: false, exact: false });
      expect(answer.notes[0], text).toContain("limit of work");
      expect(answer.matched, text).toBeLessThan(6);
    }
  });

  it("writes answers as JSON of bytes", async () => {
    const store = new TestStore();
    store.add(ONE, [entry(0, "é")]);
    const read = (answer: SearchAnswer) =>
      JSON.parse(Buffer.from([...searchTexts({ ...answer, tookMs: 0 })].join(""), "latin1").toString("utf8"));
    const answer = await search(store, "*");
    const range = { from: null, to: null };
    const common = {
      range,
      matched: 1,
      scanned: 1,
      complete: true,
      exact: true,
      asOf: answer.asOf,
      notes: [],
      tookMs: 0,
    };
    expect(read(answer)).toEqual({ kind: "entries", logs: rowsOf(answer), nextCursor: null, ...common });
    expect(read(await search(store, "* | fields message"))).toEqual({
      kind: "table",
      columns: [{ name: "message", type: "string" }],
      rows: [["é"]],
      ...common,
    });
  });
});
