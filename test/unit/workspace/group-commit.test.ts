import { describe, expect, test } from "vitest";
import { MemoryPool } from "../../../src/platform/memory-pool.ts";
import { GroupCommit } from "../../../src/workspace/group-commit.ts";

const MIB = 1024 * 1024;

/** Groups that the test commits. A call is represented by its size. */
function groupsOf(capacity: number, run = (calls: readonly number[]) => calls.map((call) => call * 2)) {
  const groups: (readonly number[])[] = [];
  const memory = new MemoryPool({ capacity, maxWaiting: 0 });
  const syncs: (() => void)[] = [];
  const commit = new GroupCommit<number, number>({
    run: (calls) => {
      groups.push(calls);
      return run(calls);
    },
    idle: () => new Promise((resolve) => syncs.push(resolve)),
    sizeOf: (call) => call,
    weightOf: (call) => call,
    memory,
  });
  const sync = async () => {
    for (const resolve of syncs.splice(0)) resolve();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { commit, groups, memory, sync };
}

describe("A3: a group of ingest calls", () => {
  test("holds at most 8 MiB; later calls form the next group, in their order", async () => {
    const { commit, groups, sync, memory } = groupsOf(64 * MIB);
    const sizes = [3, 4, 2, 1, 9, 1, 5].map((size) => size * MIB);
    const results = sizes.map((size) => commit.submit(size));
    while (groups.flat().length < sizes.length) await sync();
    expect(groups.map((group) => group.map((size) => size / MIB))).toEqual([[3, 4], [2, 1], [9], [1, 5]]);
    expect(await Promise.all(results)).toEqual(sizes.map((size) => size * 2));
    expect(memory.held).toBe(0);
  });

  test("takes no call that does not fit into the memory of those that wait, and takes it afterwards", async () => {
    const { commit, groups, sync, memory } = groupsOf(4 * MIB);
    const first = commit.submit(3 * MIB);
    expect(commit.submit(2 * MIB)).toBeNull();
    const second = commit.submit(MIB);
    await sync();
    expect(await Promise.all([first, second])).toEqual([6 * MIB, 2 * MIB]);
    expect(groups).toEqual([[3 * MIB, MIB]]);
    expect(memory.held).toBe(0);
    // A call larger than the limit forms a group alone.
    const large = commit.submit(5 * MIB);
    expect(large).not.toBeNull();
    await sync();
    expect(await large).toBe(10 * MIB);
  });

  test("returns the memory of calls that fail", async () => {
    const { commit, memory, sync } = groupsOf(4 * MIB, (calls) => {
      if (calls.includes(7)) throw new Error("bad call");
      return [...calls];
    });
    const good = commit.submit(1);
    const bad = commit.submit(7)?.catch(() => "failed");
    await sync();
    expect([await good, await bad]).toEqual([1, "failed"]);
    expect(memory.held).toBe(0);
  });
});
