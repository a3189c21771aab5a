import { expect, test } from "vitest";
import type { BucketCounts, BucketStorage } from "../../../src/alerts/bucket.ts";
import { Evaluator } from "../../../src/alerts/evaluator.ts";
import { HIT_WEIGHT, weightOfHit } from "../../../src/alerts/matcher.ts";
import type { Run, Watch } from "../../../src/alerts/rule.ts";

const START = 1_790_000_000_000;
const RUNS = [1, 2, 3, 4, 5];
const GROUPS_OF_RUN = 1000;
/** Rows and bytes that one turn writes. */
const MOST_ROWS = 400;
const MOST_BYTES = 2 * 1024 * 1024;
/** As if a rule had a destination. */
const DECISION_WORK = 200;

const watch: Watch = {
  ...{ condition: { kind: "threshold", value: 1 }, measure: null, windowMs: 60_000, delayMs: null, forMs: 0 },
  ...{ recovery: null, isGrouped: true, mutes: [] },
};

class Disk {
  readonly rows = new Map<string, { groups: Uint8Array; counts: BucketCounts }>();
  written = { rows: 0, bytes: 0 };
  reads = 0;

  of(run: number): BucketStorage {
    return {
      read: (bucket) => {
        this.reads++;
        return this.rows.get(`${run} ${bucket}`)?.groups ?? new Uint8Array();
      },
      write: (bucket, groups, counts) => {
        this.written.rows++;
        this.written.bytes += groups.length;
        this.rows.set(`${run} ${bucket}`, { groups, counts });
      },
      removeFrom: (bucket) => {
        for (const name of [...this.rows.keys()]) {
          const [of, index] = name.split(" ");
          if (Number(of) === run && Number(index) >= bucket) this.rows.delete(name);
        }
      },
    };
  }

  stored(run: number): BucketCounts[] {
    const indexes = Array.from(this.rows.keys()).filter((name) => name.startsWith(`${run} `));
    return indexes.flatMap((_, index) => this.rows.get(`${run} ${index}`)?.counts ?? []);
  }
}

function opened(disk: Disk, endAt: number | null): Evaluator {
  const most = RUNS.length * GROUPS_OF_RUN;
  const evaluator: Evaluator = new Evaluator(
    () => evaluator.groups < most,
    () => DECISION_WORK,
  );
  for (const num of RUNS) {
    const run: Run = { num, watch, startSeq: 0, startAt: START, endSeq: null, endAt };
    const buckets = disk.stored(num);
    const stored = { seed: num, storage: disk.of(num), buckets, overflow: 0, late: 0, changedMutes: null };
    evaluator.restore(run, stored);
  }
  return evaluator;
}

/** Characters that JSON escapes. */
const LONG = "\u0001".repeat(200);

test("No turn of many groups with long keys writes much, and what has no room is counted", () => {
  const disk = new Disk();
  let evaluator = opened(disk, null);
  const step = Math.ceil(START / 1000) + 1;
  const counted = { step, undecided: step, count: 1, firstAt: START + 1, lastAt: START + 1, part: null };
  const endTurn = () => {
    const decisions = evaluator.takeDecisions();
    evaluator.save();
    expect(disk.written.rows).toBeLessThan(MOST_ROWS);
    expect(disk.written.bytes).toBeLessThan(MOST_BYTES);
    disk.written = { rows: 0, bytes: 0 };
    return decisions;
  };
  let inTurn = 0;
  for (let name = 0; name <= GROUPS_OF_RUN; name++) {
    for (const run of RUNS) {
      const key = JSON.stringify([LONG, `${name}`]);
      evaluator.add({ ...counted, run, key, firstSeq: name, lastSeq: name });
      inTurn += weightOfHit(key);
      if (inTurn < evaluator.hitsAtOnce * HIT_WEIGHT) continue;
      endTurn();
      inTurn = 0;
    }
  }
  endTurn();
  const overflow = [...evaluator.runs.values()].reduce((sum, state) => sum + state.overflow, 0);
  expect([evaluator.groups, overflow]).toEqual([RUNS.length * GROUPS_OF_RUN, RUNS.length]);
  expect(Math.max(...[...disk.rows.values()].map(({ groups }) => groups.length))).toBeLessThan(128 * 1024);
  evaluator.close();

  // Of a full workspace, no more groups whose time is over are looked for than make room.
  evaluator = opened(disk, null);
  disk.reads = 0;
  for (const run of RUNS) {
    const later = {
      ...counted,
      step: step + 200,
      undecided: step + 200,
      firstAt: START + 200_001,
      lastAt: START + 200_001,
    };
    evaluator.add({ ...later, run, key: JSON.stringify(["new"]), firstSeq: 9999, lastSeq: 9999 });
  }
  expect([...evaluator.runs.values()].map((state) => state.overflow)).toEqual(RUNS.map(() => 0));
  expect(disk.reads).toBeLessThanOrEqual(3 * RUNS.length);
  evaluator.close();

  evaluator = opened(disk, null);
  expect(firedIn(() => evaluator.advance(START + 2000, 500))).toBe(RUNS.length * GROUPS_OF_RUN);
  evaluator.close();

  evaluator = opened(disk, START + 2500);
  expect(firedIn(() => evaluator.endRuns(START + 3000, 2000, 500).length > 0 && evaluator.runs.size === 0)).toBe(
    RUNS.length * GROUPS_OF_RUN,
  );
  expect(disk.rows.size).toBe(0);

  /** Makes turns until all is decided. @returns the decisions, of which no turn may make many */
  function firedIn(turn: () => boolean): number {
    let sum = 0;
    for (let isOver = false; !isOver; ) {
      isOver = turn();
      const { length } = endTurn();
      expect(length).toBeLessThanOrEqual(1 + 20_000 / DECISION_WORK);
      sum += length;
    }
    return sum;
  }
});
