import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { QUERY_BUDGET, type QueryBudget } from "../../../src/logs/query/budget.ts";
import { decodeCursor, decodeSnapshot } from "../../../src/logs/query/cursor.ts";
import { rowText } from "../../../src/logs/query/run-query.ts";
import { runSearch } from "../../../src/logs/search/run-search.ts";
import { type SearchAnswer, type SearchQuery, searchTexts } from "../../../src/logs/search/search-query.ts";
import { parse } from "../../../src/query-language/parse.ts";
import type { Query } from "../../../src/query-language/syntax.ts";
import { SEGMENT_KINDS, type TestEntry, TestStore } from "../query/store.ts";
import { NOW, searchEntry, searchText } from "./any-search.ts";
import { evaluate } from "./query-reference.ts";

const PROJECTS = ["proj_00000000000a", "proj_00000000000b"];
const [ONE = ""] = PROJECTS;

function queryOf(text: string): Query {
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.error.message}`);
  return parsed.query;
}

async function search(
  store: TestStore,
  text: string,
  more: Partial<SearchQuery> = {},
  budget?: QueryBudget,
): Promise<SearchAnswer> {
  const wanted = { now: NOW, projectId: null, from: null, to: null, asOf: null, limit: 100, cursor: null, ...more };
  const result = await runSearch(store.stats(3), { ...wanted, query: queryOf(text) }, budget);
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.answer;
}

/** The rows of an answer as its client reads them. */
function rowsOf(answer: SearchAnswer): unknown[] {
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
      { numRuns: Number(process.env.SEARCH_RUNS ?? 300) },
    );
    expect(tables).toBeGreaterThan(300);
    expect(entries).toBeGreaterThan(100);
  });
});
