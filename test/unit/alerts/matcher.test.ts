import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { CompiledRules } from "../../../src/alerts/compiled-rules.ts";
import { countedOf, type RuleDefinition } from "../../../src/alerts/definition.ts";
import { groupFilters } from "../../../src/alerts/group-filters.ts";
import { type MatchCall, type Matched, matchRange } from "../../../src/alerts/match-range.ts";
import { type Counted, RuleMatcher } from "../../../src/alerts/matcher.ts";
import { keepFirst } from "../../../src/alerts/replay.ts";
import type { RecentBatch } from "../../../src/logs/batch.ts";
import { parseStoredLine } from "../../../src/logs/entry.ts";
import { logId } from "../../../src/logs/entry-view.ts";
import { WorkMeter } from "../../../src/logs/query/budget.ts";
import { entryTestOf } from "../../../src/logs/search/entry-test.ts";
import { parse } from "../../../src/query-language/parse.ts";
import { printFilter } from "../../../src/query-language/print.ts";
import { joined } from "../../../src/query-language/syntax.ts";

const PROJECT = "proj_0123456789AB";
const NOW = 1_790_000_000_000;

function countedBy(query: string, run: number, more: Partial<RuleDefinition> = {}): Counted {
  const definition: RuleDefinition = {
    ...{ name: "", query, condition: { kind: "threshold", value: 1 }, windowMs: 60_000, forMs: 0, recovery: null },
    ...{ labels: {}, message: "", destinationIds: [], mutes: [], ...more },
  };
  return { run, startSeq: 0, endSeq: null, ...countedOf(definition) };
}

function lineOf(values: Record<string, unknown>): string {
  const { level = "info", message = "m", timestamp = new Date(NOW).toISOString(), ...data } = values;
  return JSON.stringify({ timestamp, level, category: "custom", type: "log", message, data });
}

function hitsOf(counted: readonly Counted[], lines: readonly string[], receivedAt = NOW) {
  const matcher = new RuleMatcher(new CompiledRules(counted), PROJECT, new WorkMeter());
  for (const [index, line] of lines.entries()) {
    const steps = matcher.steps({ bytes: Buffer.from(line), seq: index + 1, receivedAt });
    while (steps.next().done !== true);
  }
  return { hits: matcher.takeHits(), late: matcher.takeLate(), passed: matcher.passed };
}

const text = fc.constantFrom("a", "A", "b", "ab", "7", "true", "");
const scalar = fc.oneof(text, fc.constantFrom<unknown>(7, 0, true, false, null, -1.5));
const value = fc.oneof(scalar, fc.array(fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })), { maxLength: 3 }));
const lines = fc.array(
  fc
    .record({ level: fc.constantFrom("debug", "info", "error"), s: value, t: value, "x.y": value })
    .map(({ level, s, t, "x.y": dotted }) => lineOf({ level, s, t, "x.y": dotted })),
  { maxLength: 12 },
);
const atom = fc.oneof(
  fc
    .tuple(
      fc.constantFrom("s", "t", "x.y"),
      text.filter((each) => each !== ""),
    )
    .map(([field, each]) => `${field}:${each}`),
  fc.tuple(fc.constantFrom("s", "t"), text).map(([field, each]) => `${field}:="${each}"`),
  fc.constantFrom("s:(a OR 7)", "t:*", "s:>3", "level:error", "level:>=info", "s:a*", "m", "B", '"a"', "service:a"),
);
const query = fc.array(fc.tuple(fc.boolean(), atom), { minLength: 1, maxLength: 3 }).chain((parts) => {
  const texts = parts.map(([isNegated, each]) => (isNegated ? `-${each}` : each));
  return fc.constantFrom(texts.join(" "), texts.join(" OR "), `(${texts.join(" OR ")}) s:a`);
});

test("Rules that are looked up by a value count the entries that their filters pass, and no others", () => {
  fc.assert(
    fc.property(fc.array(query, { minLength: 1, maxLength: 8 }), lines, (queries, all) => {
      const counted = queries.map((each, run) => countedBy(each, run));
      const found = hitsOf(counted, all).hits.map(({ run, count }) => [run, count]);
      const expected = counted.flatMap(({ run, filter }) => {
        const passes = entryTestOf(filter, 0);
        const count = all.filter((line, index) => {
          const entry = parseStoredLine(line);
          const place = { timestamp: NOW, receivedAt: NOW, seq: index + 1, projectId: PROJECT, id: logId(PROJECT, 1) };
          return entry !== null && passes(entry, place);
        }).length;
        return count > 0 ? [[run, count]] : [];
      });
      expect(found.sort(([a = 0], [b = 0]) => a - b)).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test("Entries by their own time are late if a window with them has been decided, and left out if all have", () => {
  const rule = countedBy("*", 1, { delayMs: 5000 });
  const ages = [0, 4000, 7000, 64_000, 65_000, -60_000];
  const all = ages.map((age) => lineOf({ timestamp: new Date(NOW - age).toISOString() }));
  const { hits, late } = hitsOf([rule], all);
  expect(late).toEqual([[1, 3]]);
  // A clock that is ahead makes no later window.
  expect(hits.map(({ step, count }) => [NOW / 1000 - step, count])).toEqual([
    [0, 2],
    [4, 1],
    [7, 1],
    [64, 1],
  ]);
});

test("A rule measures numbers and scalars, also in arrays, and leaves out entries without any", () => {
  const all = [{ ms: 3 }, { ms: "4" }, { ms: [1, "x", 2.5] }, {}, { ms: null }].map(lineOf);
  const rules = [countedBy("* | stats sum(ms)", 1), countedBy("* | stats count_distinct(ms)", 2)];
  const { hits, passed } = hitsOf(rules, all);
  expect(passed).toBe(2 * all.length);
  expect(hits.map(({ run, count, firstSeq, lastSeq }) => [run, count, firstSeq, lastSeq])).toEqual([
    [1, 3, 1, 3],
    [2, 5, 1, 3],
  ]);
  expect(hits[0]?.part?.numbers).toEqual([6.5]);
  expect(hits[1]?.part?.numbers).toHaveLength(5);
});

test("Sums hold few values at once, because a call has many hits, and sets more, which cost more for each part", () => {
  const all = Array.from({ length: 100 }, () => lineOf({ ms: Array.from({ length: 30 }, (_, at) => at) }));
  const { push } = Array.prototype;
  const mostAtOnce = (query: string) => {
    let most = 0;
    // A hit holds the values of an entry beside those before it, until they are part of the measure.
    Array.prototype.push = function (...items) {
      const length = push.apply(this, items);
      if (items.length === 30) most = Math.max(most, length);
      return length;
    };
    try {
      const [hit] = hitsOf([countedBy(query, 1)], all).hits;
      return { count: hit?.count, most };
    } finally {
      Array.prototype.push = push;
    }
  };
  expect(mostAtOnce("* | stats sum(ms)")).toEqual({ count: 3000, most: 90 });
  expect(mostAtOnce("* | stats p99(ms)")).toEqual({ count: 3000, most: 1050 });
});

test("A call that takes long ends early, and the calls after it count the rest", async () => {
  const counted = [countedBy("* | stats sum(ms) by service", 1), countedBy("ms:>2 | count by service", 2)];
  const call: MatchCall = {
    ...{
      workspaceId: "ws_0123456789AB",
      projectId: PROJECT,
      rules: counted,
      floor: NOW,
      range: { after: 0, until: 6 },
    },
    batches: [batchOf(1, [1, 2, 3]), batchOf(4, [4, 5, 6])],
  };
  const noFault = () => expect.fail("An entry was not read.");
  const noCold = { segmentsBySeq: noFault, readBodies: noFault, readFiles: noFault };
  const rangeOf = (after: number) => {
    return matchRange(noCold, { ...call, range: { after, until: 6 } }, new CompiledRules(counted), noFault);
  };
  const whole = await rangeOf(0);
  expect(whole.through).toBe(6);
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 11_000));
  const parts: Matched[] = [];
  for (let after = 0; after < 6; after = parts.at(-1)?.through ?? 6) parts.push(await rangeOf(after));
  clock.mockRestore();
  expect(parts.map(({ through }) => through)).toEqual([1, 2, 3, 4, 5, 6]);
  const counts = (matched: Matched[]) => [1, 2].map((run) => sumOf(matched, run));
  expect(counts(parts)).toEqual(counts([whole]));
  // With a bound of hits, one call returns the same in parts.
  const inParts = await matchRange(noCold, { ...call, hitsAtOnce: 1 }, new CompiledRules(counted), noFault);
  const { rest = [], ...first } = inParts;
  expect(rest.length).toBeGreaterThan(0);
  expect(counts([first, ...rest])).toEqual(counts([whole]));
  expect(rest.at(-1)?.through).toBe(6);
  expect([first, ...rest].map(({ missing }) => missing)).toEqual([first, ...rest].map(() => 0));
  expect(counts([whole])).toEqual([6, 4]);
  // With a bound of the hits of one rule, those of several are in one part.
  const grouped = [countedBy("* | count by ms", 1), countedBy("* | count by ms", 2)];
  const partsOf = async (hitsOfRun?: number) => {
    const bounds = { hitsAtOnce: 1, ...(hitsOfRun === undefined ? {} : { hitsOfRun }) };
    const { rest: more = [] } = await matchRange(noCold, { ...call, ...bounds }, new CompiledRules(grouped), noFault);
    return 1 + more.length;
  };
  expect([await partsOf(), await partsOf(3), await partsOf(6)]).toEqual([6, 2, 1]);
  // Only hits of groups are spread over what the object stores.
  const sum = [countedBy("* | stats p99(ms)", 1), countedBy("* | stats count_distinct(ms)", 2)];
  const ungrouped = await matchRange(noCold, { ...call, hitsAtOnce: 1 }, new CompiledRules(sum), noFault);
  expect([ungrouped.rest, counts([ungrouped])]).toEqual([[], [6, 6]]);
});

/** The encoding of a body that is not compressed. */
const PLAIN = 0;

function sumOf(matched: readonly Matched[], run: number): number {
  return matched.flatMap(({ hits }) => hits).reduce((sum, hit) => sum + (hit.run === run ? hit.count : 0), 0);
}

function batchOf(firstSeq: number, values: readonly number[]): RecentBatch {
  const body = Buffer.from(values.map((ms) => `${lineOf({ ms, service: "a" })}\n`).join(""));
  return {
    ...{ commit: firstSeq, projectId: PROJECT, firstSeq, count: values.length, encoding: PLAIN, body },
    ...{ minTimestamp: NOW, maxTimestamp: NOW, receivedAt: NOW },
  };
}

test("What several rules read of an entry is read once, and entries do not mix", () => {
  const by = "stats sum(ms) by s, t";
  const all = [
    { s: "x", t: ["y", "z"], ms: 1 },
    { s: "x", t: "y", ms: 2 },
    { t: "z", ms: 4 },
  ].map(lineOf);
  const counted = [countedBy(`* | ${by}`, 1), countedBy(`level:info | ${by}`, 2), countedBy("* | count by s", 3)];
  const { hits } = hitsOf(counted, all);
  const found = (run: number) =>
    hits.filter((hit) => hit.run === run).map(({ key, part, count }) => [key, part?.numbers[0] ?? count]);
  expect(found(1)).toEqual([
    ['["x","y"]', 3],
    ['["x","z"]', 1],
    ['[null,"z"]', 4],
  ]);
  expect(found(2)).toEqual(found(1));
  expect(found(3)).toEqual([
    ['["x"]', 2],
    ["[null]", 1],
  ]);
});

test("The counted work of candidates has each value that a rule may be looked up by, and each text that is searched", () => {
  const workOf = (query: string, data: Record<string, unknown>) => {
    const meter = new WorkMeter(1);
    const steps = new CompiledRules([countedBy(query, 1)]).candidates(
      { timestamp: "", level: "info", category: "custom", type: "log", message: "m", data },
      { timestamp: NOW, receivedAt: NOW, seq: 1, projectId: PROJECT, id: logId(PROJECT, 1) },
      meter,
    );
    let pauses = 0;
    while (steps.next().done !== true) pauses++;
    expect(pauses).toBeGreaterThan(0);
    return meter.done;
  };
  const list = (text: string, length: number) => ({ a: Array.from({ length }, (_, at) => `${text}${at}`) });
  // At least 50 work units of each value, one of each byte, and a twentieth of one for each character that a text is searched in.
  expect(workOf("a:x", list("", 10_000)) - workOf("a:x", list("", 100))).toBeGreaterThan(9900 * 50);
  expect(workOf("a:x", list("y".repeat(1000), 200)) - workOf("a:x", list("", 200))).toBeGreaterThan(200 * 1000);
  expect(workOf("qqq", list("y".repeat(1000), 200)) - workOf("qqq", list("", 200))).toBeGreaterThan((200 * 1000) / 20);
});

// A search looks into lists of lists, and the filter of `true` leaves out lists that also have the text; the others of a
// group are found exactly.
const grouping = fc.oneof(
  fc.constantFrom<unknown>("a", "A", "", "7", "null", "a\n/b", 7, 0, -1.5, 1e21, null, {}, [], [[]], [null]),
  fc.constantFrom<unknown>(true, false, "true", "True", "false", "true\n", [true, 7], ["true", false]),
  fc.constantFrom(
    "long ".repeat(40),
    `${"long ".repeat(40)}and longer`,
    `${"\u{1d4b3}".repeat(120)}`,
    `x${"\u{1d4b3}".repeat(120)}`,
  ),
  // Texts whose 200th character is half of one: all of the first half, the half alone, and others.
  fc
    .constantFrom("\u{1d4b3}", "\u{1d4b4} and longer", "\ud835", "\ud835z", "\ud836", "\u{1d800}", "y", "")
    .map((end) => `${"x".repeat(199)}${end}`),
  fc.constantFrom("\ud800x", "\udc00x", "\ufffdx").map((half) => `${half.repeat(100)}and longer`),
  fc.constantFrom("\u0001(.*)[/]\\".repeat(30), `${"é|^$\n".repeat(50)}`),
  fc.constantFrom<unknown>(["a", 7], ["b", null], [0, 0]),
);

test("20: the filter of a group finds the entries that were counted in it, and no others", () => {
  const queries = ["* | count by s", "* | stats sum(t) by s", "* | stats count_distinct(t) by s, t"];
  const entries = fc.array(fc.record({ s: grouping, t: grouping }, { requiredKeys: [] }), {
    minLength: 1,
    maxLength: 10,
  });
  const run = ([query, members]: [string, object[]]) => {
    const counted = countedBy(query, 1);
    const all = members.map((each) => lineOf({ ...each }));
    for (const { key } of hitsOf([counted], all).hits) {
      // As a link has it: half of a character does not pass a URL.
      const link = new URLSearchParams({ q: printFilter(joined("and", groupFilters(counted, key))) });
      const result = parse(new URLSearchParams(link.toString()).get("q") ?? "");
      if (!result.ok) throw new Error(result.error.message);
      const found = entryTestOf(result.query.filter, NOW);
      const inGroup = all.map((line) => hitsOf([counted], [line]).hits.some((hit) => hit.key === key));
      const place = { seq: 1, receivedAt: NOW, timestamp: NOW, projectId: PROJECT, id: logId(PROJECT, 1) };
      const isFound = all.map((line) => {
        const entry = parseStoredLine(line);
        return entry !== null && found(entry, place);
      });
      expect(isFound).toEqual(inGroup);
    }
  };
  fc.assert(fc.property(fc.tuple(fc.constantFrom(...queries), entries), run), { numRuns: 300 });
});

test("A replay has the first decisions by time, in whatever order groups have made them", () => {
  const decisions = Array.from({ length: 3000 }, (_, n) => ({ at: (n * 7919) % 3000 }));
  keepFirst(decisions);
  expect(decisions.map(({ at }) => at)).toEqual(Array.from({ length: 1000 }, (_, at) => at));
});
