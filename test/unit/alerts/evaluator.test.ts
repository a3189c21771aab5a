import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type PlainDecision, type PlainRule, recompute } from "../../../scripts/alerts/recompute.ts";
import type { PlainFunction } from "../../../scripts/alerts/values.ts";
import type { BucketCounts, BucketStorage, StoredRun } from "../../../src/alerts/bucket.ts";
import type { Condition } from "../../../src/alerts/condition.ts";
import { Evaluator, type Hit, type RunDecision } from "../../../src/alerts/evaluator.ts";
import { FORGET_MS } from "../../../src/alerts/group.ts";
import { takenOf, withValues } from "../../../src/alerts/measure.ts";
import { type Run, stepOf, stepsOf, type Watch } from "../../../src/alerts/rule.ts";

const MINUTE = 60_000;
/** Not a multiple of any step. */
const START = 1_790_000_000_123;

interface Received {
  receivedAt: number;
  /** How much earlier its own time is. */
  age: number;
  key: string;
  /** Of each entry. */
  values: number[];
}

/** Mostly durations; some that add up to what no double is, and many that exceed what a step keeps exactly. */
const value = fc.oneof(fc.integer({ min: 0, max: 50 }), fc.constantFrom(0.1, -3, 1e16, -1e16, 2 ** 900));

/** How much longer all times of a case can be, so that its windows are of hours. */
const LONG = 288;
/** After which groups are forgotten in such a case. */
const FORGOTTEN_AFTER = FORGET_MS / LONG;

/**
 * Entries whose distances are of the size of steps, windows and the time after which groups are forgotten, and whose own
 * times are often at the edge of the last window that is still to be decided.
 */
const received = fc
  .array(
    fc.record({
      wait: fc.oneof(
        fc.integer({ min: 0, max: 3000 }),
        fc.integer({ min: 0, max: 200_000 }),
        fc.constantFrom(0, 1000, 60_000, 120_000, FORGOTTEN_AFTER),
      ),
      key: fc.constantFrom('["a"]', '["b"]', "[null]"),
      age: fc.oneof(fc.constant(0), fc.integer({ min: -500, max: 90_000 }), fc.integer({ min: 59_000, max: 62_000 })),
      values: fc.array(value, { minLength: 1, maxLength: 4 }),
    }),
    { maxLength: 40 },
  )
  .map((list) => {
    let receivedAt = START;
    return list.map(({ wait, ...entries }): Received => {
      receivedAt += wait;
      return { receivedAt, ...entries };
    });
  });

const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ kind: fc.constant("threshold" as const), value: fc.integer({ min: 1, max: 8 }) }),
  fc.record({
    kind: fc.constant("threshold" as const),
    value: fc.integer({ min: 1, max: 30 }),
    direction: fc.constant("below" as const),
  }),
  fc.record({ kind: fc.constant("new-pattern" as const) }),
  fc.record({ kind: fc.constant("rate" as const), value: fc.constantFrom(0.01, 0.05, 0.1) }),
  fc.record({ kind: fc.constant("absence" as const), value: fc.integer({ min: 1, max: 6 }) }),
  fc.record({
    kind: fc.constant("change" as const),
    direction: fc.constantFrom("rise" as const, "fall" as const),
    percent: fc.constantFrom(10, 50, 100),
    min: fc.integer({ min: 0, max: 4 }),
  }),
);

const watches: fc.Arbitrary<Watch> = fc
  .record({
    condition,
    windowMs: fc.constantFrom(MINUTE, 2 * MINUTE, 5 * MINUTE),
    forMs: fc.constantFrom(0, 0, 1500, 30_000, 2 * MINUTE),
    measure: fc.constantFrom<PlainFunction | null>(
      null,
      null,
      "count_distinct",
      "sum",
      "avg",
      "min",
      "max",
      "p50",
      "p99",
    ),
    delayMs: fc.constantFrom(null, null, 0, 2000, 75_500),
    slack: fc.option(fc.integer({ min: 0, max: 5 })),
    isGrouped: fc.boolean(),
  })
  .map(({ condition: wanted, slack, ...rest }): Watch => {
    const watch = {
      ...rest,
      condition: wanted,
      recovery: slack === null ? null : recoveryOf(wanted, slack),
      mutes: [],
    };
    const isPattern = wanted.kind === "new-pattern";
    return isPattern ? { ...watch, isGrouped: true, forMs: 0, recovery: null, measure: null, delayMs: null } : watch;
  });

const cases = fc
  .record({ watch: watches, entries: received, scale: fc.constantFrom(1, 1, LONG) })
  .map(({ watch, entries, scale }) => ({
    watch: {
      ...watch,
      windowMs: watch.windowMs * scale,
      forMs: watch.forMs * scale,
      delayMs: watch.delayMs === null ? null : watch.delayMs * scale,
    },
    entries: entries.map(({ receivedAt, age, ...rest }) => ({
      ...rest,
      receivedAt: START + (receivedAt - START) * scale,
      age: age * scale,
    })),
  }));

function recoveryOf(wanted: Condition, slack: number): number {
  switch (wanted.kind) {
    case "new-pattern":
      return 0;
    case "threshold":
      return wanted.direction === "below" ? wanted.value + slack : Math.max(1, wanted.value - slack);
    case "rate":
      return wanted.value / (slack + 1);
    case "absence":
      return wanted.value + slack;
    case "change":
      return wanted.percent / (slack + 1);
  }
}

function runOf(watch: Watch): Run {
  return { num: 1, watch, startSeq: 0, startAt: START, endSeq: null, endAt: null };
}

function plainRule({ condition: wanted, measure: fn, ...watch }: Watch): PlainRule {
  const change = wanted.kind === "change" ? wanted : null;
  const isBelow = wanted.kind === "threshold" && wanted.direction === "below";
  return {
    ...watch,
    fn,
    kind: wanted.kind === "change" ? wanted.direction : isBelow ? "below" : wanted.kind,
    value: wanted.kind === "change" ? wanted.percent : wanted.kind === "new-pattern" ? 0 : wanted.value,
    min: change?.min ?? 0,
    startSeq: 0,
    startAt: START,
  };
}

function inOrder(decisions: readonly RunDecision[]): PlainDecision[] {
  return decisions
    .map(({ kind, key, at, value, isExact, seqRange }) => ({ kind, key, at, value, isExact, seqRange }))
    .sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1));
}

/** Buckets as they would be on disk. */
class Disk implements BucketStorage {
  readonly rows: { groups: Uint8Array; counts: BucketCounts }[] = [];

  read(bucket: number): Uint8Array {
    return this.rows[bucket]?.groups ?? new Uint8Array();
  }

  write(bucket: number, groups: Uint8Array, counts: BucketCounts): void {
    this.rows[bucket] = { groups, counts };
  }

  removeFrom(bucket: number): void {
    this.rows.splice(bucket);
  }

  stored({ overflow = 0, late = 0 } = {}): StoredRun {
    const buckets = this.rows.map(({ counts }) => counts);
    return { seed: 7, storage: this, buckets, overflow, late, changedMutes: null };
  }
}

/** An evaluator after a restart: all that it has is what the earlier one has stored. */
function restarted(from: Evaluator, disk: Disk): Evaluator {
  from.save();
  const evaluator = new Evaluator();
  for (const { run, ...leftOut } of from.runs.values()) evaluator.restore(run, disk.stored(leftOut));
  from.close();
  return evaluator;
}

/** The hit of an entry with each of the values. */
function hitOf(
  { windowMs, delayMs, measure }: Watch,
  key: string,
  receivedAt: number,
  own: number,
  values: readonly number[],
  seq: number,
): Hit {
  const at = delayMs === null ? receivedAt : own;
  const step = Math.ceil(at / stepOf(windowMs));
  const undecided = Math.floor((receivedAt - 1 - (delayMs ?? 0)) / stepOf(windowMs)) + 1;
  const taken = measure === null ? [] : values.map((each) => takenOf(measure, each) ?? Number.NaN);
  const part = measure === null ? null : withValues(measure, null, taken);
  const count = values.length;
  return {
    run: 1,
    key,
    step,
    undecided,
    count,
    firstSeq: seq + 1,
    lastSeq: seq + count,
    firstAt: at,
    lastAt: at,
    part,
  };
}

interface Schedule {
  /** Whether the evaluator restarts before an entry, advances to the entry first, and how often. */
  restarts: boolean[];
  ticks: number[];
  maxDecisions: number;
}

function evaluate(watch: Watch, entries: readonly Received[], until: number, schedule: Schedule): RunDecision[] {
  let evaluator = new Evaluator();
  const disk = new Disk();
  evaluator.begin(runOf(watch), disk.stored());
  const decisions: RunDecision[] = [];
  let seq = 0;
  for (const [index, { receivedAt, age, key, values }] of entries.entries()) {
    if (schedule.restarts[index % schedule.restarts.length]) evaluator = restarted(evaluator, disk);
    const times = schedule.ticks[index % schedule.ticks.length] ?? 0;
    for (let n = 0; n < times; n++) evaluator.advance(receivedAt - 1, schedule.maxDecisions);
    const hit = hitOf(
      watch,
      watch.isGrouped ? key : "[]",
      receivedAt,
      Math.min(receivedAt, receivedAt - age),
      values,
      seq,
    );
    seq += values.length;
    if (hit.step + stepsOf(watch) > hit.undecided) evaluator.add(hit);
    decisions.push(...evaluator.takeDecisions());
  }
  while (!evaluator.advance(until, schedule.maxDecisions)) decisions.push(...evaluator.takeDecisions());
  // The alarm fires twice.
  evaluator.advance(until, schedule.maxDecisions);
  return [...decisions, ...evaluator.takeDecisions()];
}

describe("Decisions", () => {
  test("are those of a plain count over all steps, whatever restarts and repeated alarms come between", () => {
    const schedule = fc.record({
      restarts: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
      ticks: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 5 }),
      maxDecisions: fc.constantFrom(1, 2, 1000),
    });
    fc.assert(
      fc.property(cases, schedule, ({ watch, entries }, when) => {
        const until = (entries.at(-1)?.receivedAt ?? START) + 4 * watch.windowMs + (watch.delayMs ?? 0);
        const plain = entries.flatMap(({ receivedAt, age, key, values }) =>
          values.map((each) => ({
            ...{ receivedAt, key: watch.isGrouped ? key : "[]", seq: 0 },
            at: watch.delayMs === null ? receivedAt : Math.min(receivedAt, receivedAt - age),
            values: [watch.measure === "count_distinct" ? JSON.stringify(each) : each],
          })),
        );
        const numbered = plain.map((entry, index) => ({ ...entry, seq: index + 1 }));
        const expected = recompute(plainRule(watch), numbered, until);
        expect(inOrder(evaluate(watch, entries, until, when))).toEqual(expected);
      }),
      { numRuns: 400 },
    );
  });
});

const SECOND = 1000;
/** A multiple of every step. */
const EVEN = 1_790_000_100_000 - (1_790_000_100_000 % (24 * 60 * MINUTE));
const threshold: Watch = {
  measure: null,
  delayMs: null,
  condition: { kind: "threshold", value: 2 },
  windowMs: MINUTE,
  forMs: 0,
  recovery: null,
  isGrouped: true,
  mutes: [],
};

/** Hits of many values each, by group, so that no step keeps all of them exactly. */
function busy(values: (n: number) => number): Received[] {
  return Array.from({ length: 64 }, (_, n) => ({
    ...{ receivedAt: START + n * 1700, age: 0, key: '["a"]' },
    values: Array.from({ length: 140 }, (_, at) => values(n * 140 + at)),
  }));
}

test.each<[PlainFunction, Condition, (n: number) => number]>([
  ["p99", { kind: "threshold", value: 1700 }, (n) => ((n * 7919) % 2000) + (n % 3) / 8],
  ["p50", { kind: "change", direction: "rise", percent: 20, min: 1 }, (n) => (n % 100) * (n > 3000 ? 3 : 1) - 20],
  ["count_distinct", { kind: "threshold", value: 4500 }, (n) => n],
  ["count_distinct", { kind: "change", direction: "fall", percent: 40, min: 1 }, (n) => (n < 4500 ? n : n % 100)],
])("Estimates of %s follow from the entries, whatever restarts come between: %j", (measure, condition, values) => {
  const watch = { ...threshold, measure, condition };
  const entries = busy(values);
  const until = START + 64 * 1700 + MINUTE;
  const plain = entries.flatMap(({ receivedAt, key, values: all }) =>
    all.map((each) => ({
      ...{ receivedAt, at: receivedAt, key, seq: 0 },
      values: [measure === "count_distinct" ? JSON.stringify(each) : each],
    })),
  );
  const expected = recompute(
    plainRule(watch),
    plain.map((entry, index) => ({ ...entry, seq: index + 1 })),
    until,
  );
  expect(expected.some(({ isExact }) => !isExact)).toBe(true);
  for (const restarts of [[false], [true, false, false]]) {
    const found = evaluate(watch, entries, until, { restarts, ticks: [0, 1], maxDecisions: 100 });
    expect(inOrder(found)).toEqual(expected);
  }
});

/** Decides for one entry of one group at each of the times. */
function decisionsFor(watch: Watch, times: readonly number[], until: number, run: Partial<Run> = {}): RunDecision[] {
  const evaluator = new Evaluator();
  evaluator.begin({ ...runOf(watch), ...run });
  for (const [index, at] of times.entries()) evaluator.add(hitOf(watch, '["a"]', at, at, [1], index));
  evaluator.advance(until, 1000);
  evaluator.endRuns(until, times.length, 1000);
  return evaluator.takeDecisions();
}

describe("A window", () => {
  test("has its end and not its beginning", () => {
    const first = EVEN + 10 * SECOND;
    const startAt = EVEN;
    expect(decisionsFor(threshold, [first, first + MINUTE], EVEN + 10 * MINUTE, { startAt })).toEqual([]);
    const found = decisionsFor(threshold, [first + 1, first + MINUTE], EVEN + 10 * MINUTE, { startAt });
    expect(found.map(({ kind, at, value, seqRange }) => ({ kind, at, value, seqRange }))).toEqual([
      { kind: "firing", at: first + MINUTE, value: 2, seqRange: { from: 1, to: 2 } },
      { kind: "resolved", at: first + MINUTE + SECOND, value: 1, seqRange: { from: 2, to: 2 } },
    ]);
  });

  test("without an entry is absent as soon as it is whole", () => {
    const watch: Watch = { ...threshold, isGrouped: false, condition: { kind: "absence", value: 1 } };
    const found = decisionsFor(watch, [], EVEN + 10 * MINUTE, { startAt: EVEN });
    expect(found.map(({ kind, at, seqRange }) => [kind, at - EVEN, seqRange])).toEqual([["firing", MINUTE, null]]);
  });

  test("of a day is decided 60 times a day", () => {
    const watch: Watch = { ...threshold, windowMs: 24 * 60 * MINUTE, condition: { kind: "threshold", value: 1 } };
    const found = decisionsFor(watch, [EVEN + 1], EVEN + 48 * 60 * MINUTE, { startAt: EVEN });
    expect(found.map(({ at }) => (at - EVEN) / MINUTE)).toEqual([24, 24 * 60 + 24]);
  });
});

describe("A mute", () => {
  const muted = (to: number): Watch => ({ ...threshold, mutes: [{ from: EVEN, to: EVEN + to }] });
  const times = [EVEN + 1, EVEN + 2];
  const found = (watch: Watch) =>
    decisionsFor(watch, times, EVEN + 10 * MINUTE, { startAt: EVEN }).map(({ kind, at, isReported, isLate }) => [
      kind,
      at - EVEN,
      isReported,
      isLate,
    ]);

  test("delays the report of what still fires at its end", () => {
    expect(found(muted(30_500))).toEqual([
      ["firing", 1000, false, false],
      ["firing", 31_000, true, true],
      ["resolved", 61_000, true, false],
    ]);
  });

  test("leaves out what recovers in it", () => {
    expect(found(muted(2 * MINUTE))).toEqual([
      ["firing", 1000, false, false],
      ["resolved", 61_000, false, false],
    ]);
  });

  test("that ends earlier than before is noticed", () => {
    const evaluator = new Evaluator();
    evaluator.begin({ ...runOf(muted(10 * MINUTE)), startAt: EVEN });
    for (const at of times) evaluator.add(hitOf(threshold, "[]", at, at, [1], 0));
    evaluator.advance(EVEN + 20_000, 10);
    evaluator.update({ ...runOf(muted(15_000)), startAt: EVEN }, { from: 0, at: EVEN + 20_001 });
    expect(evaluator.checkMutes()).toBe(true);
    evaluator.advance(EVEN + 25_000, 10);
    expect(evaluator.takeDecisions().map(({ at, isReported, isLate }) => [at - EVEN, isReported, isLate])).toEqual([
      [1000, false, false],
      [21_000, true, true],
    ]);
  });

  test("that ends after windows whose entries are gone changes nothing that was decided", () => {
    const evaluator = new Evaluator();
    evaluator.begin({ ...runOf(muted(60 * MINUTE)), startAt: EVEN });
    for (let n = 0; n < 40; n++) {
      const at = EVEN + 1 + n * 5000;
      evaluator.advance(at - 1, 10);
      evaluator.add(hitOf(threshold, "[]", at, at, [1], n));
    }
    evaluator.update({ ...runOf(threshold), startAt: EVEN }, { from: 0, at: EVEN + 195_001 });
    expect(evaluator.checkMutes()).toBe(true);
    evaluator.advance(EVEN + 10 * MINUTE, 10);
    expect(evaluator.takeDecisions().map(({ kind, at, isReported }) => [kind, at - EVEN, isReported])).toEqual([
      ["firing", 6000, false],
      ["firing", 196_000, true],
      ["resolved", 251_000, true],
    ]);
  });
});

test("A rule that ends resolves the groups that fire, once, and decides nothing later", () => {
  const endAt = EVEN + 30_500;
  const run = { startAt: EVEN, endAt, endSeq: 2 };
  const found = decisionsFor(threshold, [EVEN + 1, EVEN + 2], EVEN + 10 * MINUTE, run);
  expect(found.map(({ kind, at, isEnded }) => [kind, at, isEnded])).toEqual([
    ["firing", EVEN + 1000, false],
    ["resolved", endAt, true],
  ]);
});

test("A group of an absence rule is forgotten a week after its last entry, as the plain count has it", () => {
  const watch: Watch = { ...threshold, windowMs: 60 * MINUTE, condition: { kind: "absence", value: 1 } };
  const until = START + 9 * 24 * 60 * MINUTE;
  const times = [START + 1000, START + 5000];
  const plain = times.map((at, index) => ({ receivedAt: at, at, values: [], key: '["a"]', seq: index + 1 }));
  const found = inOrder(decisionsFor(watch, times, until));
  expect(found).toEqual(recompute(plainRule(watch), plain, until));
  expect(found.map(({ kind }) => kind)).toEqual(["firing", "resolved"]);
});

test("An entry that is received when all windows with its time are decided begins no group of an absence rule", () => {
  const watch: Watch = { ...threshold, delayMs: 0, condition: { kind: "absence", value: 1 } };
  const until = START + 3 * MINUTE;
  // The last step that is decided before START is 123 ms earlier, and its window begins with this time.
  const edge = START - 123 - MINUTE + SECOND;
  const found = [edge, edge + 1].map((at) => {
    const entry = { receivedAt: START, key: '["a"]' };
    const plain = [{ ...entry, at, values: [], seq: 1 }];
    const received = [{ ...entry, age: START - at, values: [1] }];
    const decisions = inOrder(evaluate(watch, received, until, { restarts: [false], ticks: [0], maxDecisions: 10 }));
    expect(decisions).toEqual(recompute(plainRule(watch), plain, until));
    return decisions.map((decision) => [decision.kind, decision.at - START]);
  });
  expect(found).toEqual([[], [["firing", 2 * SECOND - 123]]]);
});

test("Groups beyond the bound are counted as such, and a group whose time is over makes room", () => {
  let limit = 2;
  const evaluator = new Evaluator(() => evaluator.groups < limit);
  evaluator.begin({ ...runOf(threshold), startAt: EVEN });
  const hit = (key: string, at: number) => evaluator.add(hitOf(threshold, key, at, at, [1, 1, 1], 0));
  for (const key of ["a", "b", "c"]) hit(key, EVEN + 1);
  const state = evaluator.runs.get(1);
  expect([evaluator.groups, state?.overflow]).toEqual([2, 3]);
  hit("c", EVEN + 3 * MINUTE);
  expect([[...(state?.groups.due(Number.POSITIVE_INFINITY) ?? [])].map(({ key }) => key), state?.overflow]).toEqual([
    ["b", "c"],
    3,
  ]);
  limit = 1;
  hit("d", EVEN + 3 * MINUTE);
  expect(state?.overflow).toBe(6);
});
