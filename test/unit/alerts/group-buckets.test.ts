import { expect, test } from "vitest";
import type { BucketCounts, BucketStorage } from "../../../src/alerts/bucket.ts";
import { newGroup } from "../../../src/alerts/group.ts";
import { GroupBuckets } from "../../../src/alerts/group-buckets.ts";
import type { Watch } from "../../../src/alerts/rule.ts";
import { addToSteps } from "../../../src/alerts/window-steps.ts";

const watch: Watch = {
  ...{ condition: { kind: "threshold", value: 2 }, measure: null, windowMs: 60_000, delayMs: null, forMs: 0 },
  ...{ recovery: null, isGrouped: true, mutes: [] },
};
const START = 1_790_000_000_000;

class Disk implements BucketStorage {
  readonly rows: { groups: Uint8Array; counts: BucketCounts }[] = [];
  reads = 0;
  writes = 0;

  read(bucket: number): Uint8Array {
    this.reads++;
    return this.rows[bucket]?.groups ?? new Uint8Array();
  }

  write(bucket: number, groups: Uint8Array, counts: BucketCounts): void {
    this.writes++;
    this.rows[bucket] = { groups, counts };
  }

  removeFrom(bucket: number): void {
    this.rows.splice(bucket);
  }

  open(): GroupBuckets {
    const counts = this.rows.map((row) => row.counts);
    return new GroupBuckets(() => watch, START, 5, this, counts);
  }
}

function group(name: number) {
  const made = newGroup(watch, JSON.stringify([`group ${name}`]), START);
  const step = Math.ceil(START / 1000) + (name % 60) + 1;
  const at = step * 1000;
  addToSteps(watch, made.steps, {
    ...{ step, undecided: step, count: 1, firstSeq: name, lastSeq: name, firstAt: at, lastAt: at, part: null },
  });
  return { ...made, lastAt: at, due: step };
}

test("Buckets stay small as groups are added, and are read and written one by one", () => {
  const disk = new Disk();
  const buckets = disk.open();
  for (let name = 0; name < 10_000; name++) buckets.set(group(name));
  buckets.save();
  buckets.close();
  const sizes = disk.rows.map(({ groups }) => groups.length);
  expect(disk.rows.reduce((sum, { counts }) => sum + counts.live, 0)).toBe(10_000);
  expect(Math.max(...sizes)).toBeLessThan(20_000);
  // A group without many entries takes little more than its key.
  expect(sizes.reduce((a, b) => a + b) / 10_000).toBeLessThan(45);
  disk.reads = 0;
  disk.writes = 0;
  const opened = disk.open();
  expect([opened.size, opened.get('["group 77"]')?.steps, disk.reads]).toEqual([10_000, group(77).steps, 1]);
  opened.set(group(77));
  opened.save();
  expect(disk.writes).toBe(1);
  for (let name = 0; name < 10_000; name++) expect(opened.get(JSON.stringify([`group ${name}`]))).toEqual(group(name));
  opened.save();
  const due = [...opened.due(Math.ceil(START / 1000) + 2)];
  expect(due.map(({ key }) => key).sort()).toEqual(
    Array.from({ length: 10_000 }, (_, name) => name)
      .filter((name) => name % 60 < 2)
      .map((name) => JSON.stringify([`group ${name}`]))
      .sort(),
  );
});

test("A run without groups has one bucket again", () => {
  const disk = new Disk();
  const buckets = disk.open();
  for (let name = 0; name < 500; name++) buckets.set(group(name));
  buckets.save();
  expect(disk.rows.length).toBeGreaterThan(5);
  for (const each of buckets.due(Number.POSITIVE_INFINITY)) buckets.delete(each);
  buckets.save();
  expect([buckets.size, disk.rows.length, buckets.dueAt()]).toEqual([0, 1, null]);
  buckets.set(group(1));
  buckets.save();
  expect(disk.open().get('["group 1"]')).toEqual(group(1));
});
