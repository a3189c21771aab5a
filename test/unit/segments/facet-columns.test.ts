import fc from "fast-check";
import { expect, test } from "vitest";
import { BatchMatcher } from "../../../src/logs/query/batch-matcher.ts";
import { WorkMeter } from "../../../src/logs/query/budget.ts";
import type { LineSource } from "../../../src/logs/query/feed.ts";
import { OPEN_FILTER } from "../../../src/logs/query/filter.ts";
import { FacetCounts } from "../../../src/logs/search/facet-counts.ts";
import { FacetSink } from "../../../src/logs/search/facets.ts";
import { anyLines } from "./any-lines.ts";
import { batchesOf, bytesOf, encode, line, open, PROJECT } from "./support.ts";

/** Facets from columns are those from lines. */

function newSink() {
  const counts = new FacetCounts(() => true, new WorkMeter());
  return { counts, sink: new FacetSink(counts, new WorkMeter()) };
}

/** Adds lines. @param isWanted by position in all lines */
function addLines(sink: FacetSink, lines: readonly (string | Uint8Array)[], isWanted: (at: number) => boolean): void {
  const matcher = new BatchMatcher(OPEN_FILTER);
  for (const { firstSeq, receivedAt, body } of batchesOf(lines)) {
    const source: LineSource = {
      projectId: PROJECT,
      pieces: () => [body],
      seqAt: (index) => firstSeq + index,
      receivedAtOf: () => receivedAt,
      isVisible: () => true,
    };
    matcher.forEachMatch(
      body,
      (_, index) => isWanted(firstSeq - 1 + index),
      (match) => sink.addLine(match, source, matcher),
      () => undefined,
    );
  }
}

function stateOf({ counts, sink }: ReturnType<typeof newSink>) {
  const fields = [...counts.fields].map(([name, { entries, types, values }]) => {
    const counted = [...values].map(([text, { count }]) => [text, count] as const);
    // Null has no value to count, and a column does not tell it from the type of others.
    return [name, { entries, types: types & ~1, values: Object.fromEntries(counted) }] as const;
  });
  return { matched: sink.matched, fields: Object.fromEntries(fields) };
}

function fromColumns(lines: readonly (string | Uint8Array)[], groupRows: number, isWanted: (at: number) => boolean) {
  const { reader, chunk } = open(bytesOf(encode(lines, { groupRows })));
  const made = newSink();
  const left = new Set<number>();
  let first = 0;
  for (const [group, { rows }] of reader.rowGroups.entries()) {
    const chosen = Int32Array.from({ length: rows }, (_, row) => row).filter((row) => isWanted(first + row));
    const announced = made.sink.rows.columnsOf(reader, group);
    const steps = made.sink.rows.add(reader, group, chosen, (column) => {
      if (!announced.includes(column)) throw new Error(`The column ${column} was not announced.`);
      return chunk(group, column);
    });
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    for (const row of step.value) left.add(first + row);
    first += rows;
  }
  addLines(made.sink, lines, (at) => left.has(at));
  return { state: stateOf(made), left: left.size };
}

test("columns give the facets that lines give, whatever the entries", () => {
  fc.assert(
    fc.property(anyLines, fc.constantFrom(1, 3, 16, 100), fc.constantFrom(1, 2, 5), (lines, groupRows, share) => {
      const isWanted = (at: number) => at % share === 0;
      const expected = newSink();
      addLines(expected.sink, lines, isWanted);
      expect(fromColumns(lines, groupRows, isWanted).state).toEqual(stateOf(expected));
    }),
    { numRuns: 100 },
  );
});

test("no row of regular entries is left to its line, and a field that some entries lack counts those that have it", () => {
  const lines = Array.from({ length: 200 }, (_, at) =>
    line(
      {
        n: at % 7,
        user: { id: `u${at}` },
        ok: at % 2 === 0,
        none: at % 2 === 0 ? 5 : null,
        ...(at % 3 === 0 ? { some: "x" } : {}),
      },
      {},
      at * 1000,
    ),
  );
  const { state, left } = fromColumns(lines, 50, () => true);
  expect(left).toBe(0);
  expect(state.matched).toBe(200);
  expect(state.fields.some).toMatchObject({ entries: 67, values: { '"x"': 67 } });
  expect(state.fields.none).toMatchObject({ entries: 200, values: { 5: 100 } });
  expect(state.fields.ok).toMatchObject({ values: { true: 100, false: 100 } });
});
