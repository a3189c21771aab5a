import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UnreadableItem } from "../../../src/logs/batch.ts";
import type { PagerSelection } from "../../../src/logs/cold/store/selection.ts";
import { levelBit } from "../../../src/logs/entry.ts";
import { ColdFeed } from "../../../src/logs/query/cold-feed.ts";
import { boundOf } from "../../../src/logs/query/feed.ts";
import { ALL_CATEGORIES_MASK, ALL_LEVELS_MASK } from "../../../src/logs/query/filter.ts";
import { entryAt, time } from "./arbitraries.ts";
import { SEGMENT_KINDS, TestStore } from "./store.ts";

const PROJECTS = ["proj_00000000000a", "proj_00000000000b"];

function everything(order: "asc" | "desc", asOf: number): PagerSelection {
  return {
    workspaceId: "ws_000000000001",
    projects: new Map(PROJECTS.map((id) => [id, Number.MAX_SAFE_INTEGER])),
    from: null,
    to: null,
    levelMask: ALL_LEVELS_MASK,
    categoryMask: ALL_CATEGORIES_MASK,
    asOf,
    tests: [],
    order,
  };
}

describe("the cold feed", () => {
  it("returns every entry of the snapshot once, in scan order, however few segments a page has", async () => {
    const batch = fc.record({
      project: fc.constantFrom(...PROJECTS),
      entries: fc.array(entryAt(time), { minLength: 1, maxLength: 4 }),
      isLastOfRange: fc.boolean(),
      kind: fc.constantFrom(...SEGMENT_KINDS),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(batch, { maxLength: 10 }),
        fc.constantFrom("asc" as const, "desc" as const),
        fc.integer({ min: 1, max: 3 }),
        fc.nat({ max: 10 }),
        async (batches, order, segments, asOf) => {
          const store = new TestStore();
          for (const { project, entries, isLastOfRange, kind } of batches) {
            store.add(project, entries);
            if (isLastOfRange) store.flush(project, batches.length, kind);
          }
          for (const project of PROJECTS) store.flush(project, batches.length);
          const feed = await ColdFeed.open(store.cold(), everything(order, asOf), segments);
          const seen: string[] = [];
          let place = order === "asc" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
          for (let bound = feed.bound(); bound !== null; bound = feed.bound()) {
            expect(order === "asc" ? bound >= place : bound <= place).toBe(true);
            place = bound;
            const item = await feed.take();
            expect(boundOf(order, item)).toBe(bound);
            if (item.count === 0) continue;
            const unit = await item.open();
            const lines: string[] = [];
            for (const piece of unit?.pieces() ?? []) {
              if (piece.length > 0) lines.push(...new TextDecoder().decode(piece).split("\n"));
            }
            // A row group leaves out what is not in the snapshot.
            expect(lines.length).toBeLessThanOrEqual(item.count);
            lines.forEach((line, index) => {
              if (unit?.isVisible(index)) {
                seen.push(`${unit.projectId} ${unit.seqAt(index)} ${JSON.parse(line).message}`);
              } else expect(item.isWhole).toBe(false);
            });
          }
          const wanted = store.rows.filter(({ commit }) => commit <= asOf);
          expect(seen.sort()).toEqual(wanted.map((row) => `${row.projectId} ${row.seq} ${row.entry.message}`).sort());
        },
      ),
      { numRuns: 500 },
    );
  });

  it("reports a block that does not decode, and continues with the others", async () => {
    const store = new TestStore();
    for (const message of ["a", "b"]) {
      store.add(PROJECTS[0] ?? "", [{ timestamp: 1, level: "info", category: "custom", type: "log", message }]);
      store.flush(PROJECTS[0] ?? "", 1);
    }
    const source = store.cold();
    const broken: typeof source = {
      ...source,
      readBodies: async (id, ranges) =>
        (await source.readBodies(id, ranges)).map((body, index) =>
          ranges[index]?.key.firstSeq === 1 && body ? { ...body, bytes: body.bytes.map((byte) => byte ^ 255) } : body,
        ),
    };
    const feed = await ColdFeed.open(broken, everything("asc", 2));
    const opened = [await feed.take(), await feed.take()].map((item) => item.open());
    const [first, second] = await Promise.allSettled(opened);
    expect(first).toMatchObject({ status: "rejected", reason: expect.any(UnreadableItem) });
    expect(second).toMatchObject({ status: "fulfilled", value: { projectId: PROJECTS[0] } });
    expect(feed.bound()).toBeNull();
  });

  it("reads the few blocks that filters leave of many segments at once, and little at a time if they leave all", async () => {
    const project = PROJECTS[0] ?? "";
    const store = new TestStore();
    // Nine segments of at least 5 blocks, because 2,000 lines have 700 KB.
    for (let range = 0; range < 9; range++) {
      const entries = Array.from({ length: 2000 }, (_, index) => ({
        timestamp: range * 2000 + index,
        level: index === 0 ? ("error" as const) : ("info" as const),
        category: "custom",
        type: "log",
        message: `${"m".repeat(250)}${index}`,
      }));
      store.add(project, entries.slice(0, 1000));
      store.add(project, entries.slice(1000));
      store.flush(project, 2);
    }
    const source = store.cold();
    const reads: number[] = [];
    const bodies = store.bodies(Number.POSITIVE_INFINITY);
    const counting: typeof source = {
      ...source,
      readBodies: (id, ranges) => {
        reads.push(ranges.length);
        return bodies(id, ranges);
      },
    };
    const readAll = async (levelMask: number) => {
      reads.length = 0;
      const feed = await ColdFeed.open(counting, { ...everything("asc", 100), levelMask });
      let lines = 0;
      while (feed.bound() !== null) {
        const item = await feed.take();
        if ((await item.open()) !== null) lines += item.count;
      }
      return lines;
    };
    await readAll(levelBit("error"));
    expect(reads).toEqual([9]);
    expect(await readAll(ALL_LEVELS_MASK)).toBe(18_000);
    // Ranges of the first segment only: the next ones are needed after it was scanned.
    expect(reads[0]).toBe(1);
    expect(reads.length).toBeGreaterThan(2);
  });
});
