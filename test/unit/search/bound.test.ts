import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BatchMatcher } from "../../../src/logs/query/batch-matcher.ts";
import { ALONE_UNITS, UNIT_NS, WorkMeter } from "../../../src/logs/query/budget.ts";
import { piecesOf } from "../../../src/logs/query/lines.ts";
import { compileFilter } from "../../../src/logs/search/compile-filter.ts";
import { someAt } from "../../../src/logs/search/data-values.ts";
import { RegexTest, regexTest } from "../../../src/logs/search/text-tests.ts";
import { RowGroupFilter } from "../../../src/logs/segments/scan/row-group-filter.ts";
import { parse } from "../../../src/query-language/parse.ts";
import { threadMs } from "../../support/thread-time.ts";
import { bytesOf, encode, line, open, PROJECT } from "../segments/support.ts";

/** Milliseconds for which a step may hold the thread, on a machine that is several times slower than a unit says. */
const MAX_STEP_MS = 50;

/** Runs steps to their end. @returns the longest time between two of them, counted and in CPU time */
function longestStep(steps: Generator<void, unknown>, meter: WorkMeter): { counted: number; ms: number } {
  let [counted, ms] = [0, 0];
  for (let isDone = false; !isDone; ) {
    const before = meter.done;
    const start = threadMs();
    isDone = steps.next().done === true;
    ms = Math.max(ms, threadMs() - start);
    counted = Math.max(counted, ((meter.done - before) * UNIT_NS) / 1e6);
    meter.paused(ALONE_UNITS);
  }
  return { counted, ms };
}

const hostile = "ab".repeat(15_000).replace(/ab/g, (pair, at: number) => ((at * 2_654_435_761) % 7 < 3 ? pair : "ba"));
const TEXTS = {
  "many texts": Array.from({ length: 200 }, (_, at) => `x${at}y`).join(" OR "),
  "many wildcards": `a:(${Array.from({ length: 199 }, (_, at) => `*q${at}*z`).join(" OR ")})`,
  "many regular expressions": Array.from({ length: 4 }, (_, at) => `~/a[ab]{${at + 10}}[cd]x/`).join(" OR "),
  "regular expressions of one field": `a:(${Array.from({ length: 4 }, (_, at) => `~/b[ab]{${at + 15}}[cd]$/`).join(" OR ")})`,
  "a large regular expression": "~/a[ab]{900}[cd]/",
  "nested negations": `${"NOT (".repeat(30)}~/a[ab]{20}[cd]/${")".repeat(30)}`,
};

describe("17.6: the steps of a filter", () => {
  const lines = Array.from({ length: 2 }, (_, at) =>
    line({ a: hostile, b: { c: hostile.slice(at) } }, { message: "m" }, at),
  );

  it.each(Object.entries(TEXTS))("are short over long lines and in columns: %s", (_, text) => {
    const parsed = parse(text);
    if (!parsed.ok) throw new Error(parsed.error.message);
    const filter = compileFilter(parsed.query.filter, 0);
    const meter = new WorkMeter(ALONE_UNITS);
    const places = { projectId: PROJECT, seqAt: () => 1, receivedAtOf: () => 0 };
    const nothing = () => undefined;
    const body = Buffer.from(lines.join("\n"));
    const matching = new BatchMatcher(filter, meter).steps(piecesOf(body), () => true, nothing, nothing, places);
    const inLines = longestStep(matching, meter);
    const { reader, chunk } = open(bytesOf(encode(lines)));
    const columns = new RowGroupFilter(reader, 0, filter, { asOf: null, afterCommit: 0 }, meter);
    const inColumns = longestStep(
      columns.steps((column) => chunk(0, column)),
      meter,
    );
    expect(inLines.counted).toBeLessThan(MAX_STEP_MS);
    expect(inColumns.counted).toBeLessThan(MAX_STEP_MS);
    // Other tests run at the same time.
    expect(Math.max(inLines.ms, inColumns.ms)).toBeLessThan(10 * MAX_STEP_MS);
  });

  it.each([16, 150])("count the items of arrays that %i paths look at", (tests) => {
    const parsed = parse(Array.from({ length: tests }, (_, at) => `a.b.c${at}:x`).join(" OR "));
    if (!parsed.ok) throw new Error(parsed.error.message);
    const filter = compileFilter(parsed.query.filter, 0);
    const meter = new WorkMeter(ALONE_UNITS);
    const items = Array.from({ length: 5000 }, () => ({ b: {} }));
    const body = Buffer.from(line({ a: items }, { message: "m" }, 0));
    const nothing = () => undefined;
    const places = { projectId: PROJECT, seqAt: () => 1, receivedAtOf: () => 0 };
    const matching = new BatchMatcher(filter, meter).steps(piecesOf(body), () => true, nothing, nothing, places);
    const { counted } = longestStep(matching, meter);
    expect(counted).toBeLessThan(MAX_STEP_MS);
    // At least 10 ns an item.
    expect(meter.done * UNIT_NS).toBeGreaterThan(tests * items.length * 10);
  });

  it("do not count what others read of entries", () => {
    const places = { projectId: PROJECT, seqAt: () => 1, receivedAtOf: () => 0 };
    const parsed = parse("a:x OR b:y");
    if (!parsed.ok) throw new Error(parsed.error.message);
    const filter = compileFilter(parsed.query.filter, 0);
    const body = Buffer.from(line({ a: 1 }, { message: "m" }, 0));
    const workOf = () => {
      const meter = new WorkMeter(ALONE_UNITS);
      const nothing = () => undefined;
      const matching = new BatchMatcher(filter, meter).steps(piecesOf(body), () => true, nothing, nothing, places);
      longestStep(matching, meter);
      return meter.done;
    };
    const alone = workOf();
    for (let at = 0; at < 1000; at++) someAt({ a: { b: at } }, ["a", "b"], () => false);
    expect(workOf()).toBe(alone);
  });

  it("count each of many short tests, also of members that no entry has", () => {
    const places = { projectId: PROJECT, seqAt: () => 1, receivedAtOf: () => 0 };
    const body = Buffer.from(Array.from({ length: 50 }, (_, at) => line({ a: at }, { message: "m" }, at)).join("\n"));
    const workOf = (tests: number, test: (at: number) => string) => {
      const parsed = parse(Array.from({ length: tests }, (_, at) => test(at)).join(" "));
      if (!parsed.ok) throw new Error(parsed.error.message);
      const meter = new WorkMeter(ALONE_UNITS);
      const matcher = new BatchMatcher(compileFilter(parsed.query.filter, 0), meter);
      longestStep(
        matcher.steps(
          piecesOf(body),
          () => true,
          () => undefined,
          () => undefined,
          places,
        ),
        meter,
      );
      return meter.done;
    };
    for (const test of [(at: number) => `-a:${at}x`, (at: number) => `-b${at}:x`, (at: number) => `-a:*x${at}*`]) {
      // At least 60 ns of each test.
      expect((workOf(200, test) - workOf(20, test)) * UNIT_NS).toBeGreaterThan(180 * 50 * 60);
    }
  });

  it.each(["message", "a", "b", "pattern"])("count each of many tests of one field in columns: %s", (field) => {
    const many = Array.from({ length: 500 }, (_, at) => line({ a: `v${at}`, b: at }, { message: `m${at}` }, at));
    const bytes = bytesOf(encode(many));
    const workOf = (tests: number) => {
      const parsed = parse(`${field}:(${Array.from({ length: tests }, (_, at) => `*q${at}*z`).join(" OR ")})`);
      if (!parsed.ok) throw new Error(parsed.error.message);
      const meter = new WorkMeter(ALONE_UNITS);
      const { reader, chunk } = open(bytes);
      const filter = compileFilter(parsed.query.filter, 0);
      const columns = new RowGroupFilter(reader, 0, filter, { asOf: null, afterCommit: 0 }, meter);
      longestStep(
        columns.steps((column) => chunk(0, column)),
        meter,
      );
      return meter.done;
    };
    // At least 60 ns of each test.
    expect((workOf(200) - workOf(20)) * UNIT_NS).toBeGreaterThan(180 * many.length * 60);
  });

  it("are short over many short texts, once one of them was hard for a regular expression", () => {
    const test = new RegexTest({ kind: "regex", source: "a[ab]{200}[cd]", ignoreCase: false });
    const meter = new WorkMeter(ALONE_UNITS);
    const work = Array.from({ length: 20 }, (_, at) => {
      const before = meter.done;
      const steps = test.steps(hostile.slice(at * 1000, at * 1000 + 1000), meter);
      let [step, pauses] = [steps.next(), 0];
      for (; step.done !== true; step = steps.next()) {
        pauses++;
        meter.paused(ALONE_UNITS);
      }
      meter.paused(ALONE_UNITS);
      return [step.value, pauses > 0 || meter.done - before > 1_000_000];
    });
    // Each text counts what it takes, though it is short.
    expect(work).toEqual(work.map(() => [false, true]));
    const ordinary = new RegexTest({ kind: "regex", source: "took \\d+ ms", ignoreCase: false });
    const before = meter.done;
    for (let at = 0; at < 100; at++) expect(ordinary.steps(`GET /orders took ${at} ms`, meter).next().value).toBe(true);
    expect((meter.done - before) / 100).toBeLessThan(2000);
  });

  it("give what a regular expression gives in one", () => {
    const part = fc.constantFrom(
      ...["a", "B", "ab", "\\.", "\\d", "[ab]", "[^a]", "(a|b)", "(?:ab)+", "a*", "b+?", "c?", "a{2,3}", ".", "^", "$"],
      ...["\\b", "\\B", "|", "ß", "(?i)", "\\n", "(?s).", "(?m)^", "(?m)$", "\\A", "\\z", "🚀", "[^\\n]"],
    );
    const piece = fc.constantFrom("a", "A", "b", "B", "c", ".", "1", "ß", " ", "\n", "🚀", "\ud83d");
    let found = 0;
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join("")),
        fc.boolean(),
        fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("")),
        fc.constantFrom("", "x".repeat(1100), `${"x".repeat(1100)}\n`),
        (source, ignoreCase, end, start) => {
          let compiled: RegexTest;
          try {
            compiled = new RegexTest({ kind: "regex", source, ignoreCase });
          } catch {
            return;
          }
          const text = start + end;
          const steps = compiled.steps(text, new WorkMeter());
          let step = steps.next();
          while (step.done !== true) step = steps.next();
          if (step.value && text.length > 1024) found++;
          expect(step.value, `${source} ${ignoreCase} ${JSON.stringify(end)}`).toBe(
            regexTest({ kind: "regex", source, ignoreCase })(text),
          );
        },
      ),
      { numRuns: 3000 },
    );
    expect(found).toBeGreaterThan(300);
  });
});
