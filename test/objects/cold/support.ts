import type { EncodedSegment } from "../../../src/logs/cold/format/segment.ts";
import type { SegmentSelection } from "../../../src/logs/cold/store/selection.ts";
import type { FoundSegment } from "../../../src/logs/cold/store/store.ts";
import { ALL_CATEGORIES_MASK, ALL_LEVELS_MASK } from "../../../src/logs/query/filter.ts";
import { encodeSegments } from "../../support/line-blocks.ts";
import { slices } from "../../unit/cold/support.ts";
import type { TestEntry } from "../../unit/query/store.ts";

export const START = 1_795_183_200_000;

export function entry(index: number, more: Partial<TestEntry> = {}): TestEntry {
  return {
    timestamp: START + index * 1000,
    level: "info",
    category: "custom",
    type: "log",
    message: `entry ${index}`,
    ...more,
  };
}

/** Segments of one project: each list of batches becomes one range. */
export function segmentsOf(
  projectId: string,
  ranges: readonly (readonly (readonly TestEntry[])[])[],
): EncodedSegment[][] {
  const batches = slices(ranges.flat());
  let firstSeq = 1;
  return ranges.map((range) => {
    const lastSeq = firstSeq + range.flat().length - 1;
    const segments = [...encodeSegments(projectId, batches, { firstSeq, lastSeq })];
    firstSeq = lastSeq + 1;
    return segments;
  });
}

export function selection(
  workspaceId: string,
  projects: readonly string[],
  more: Partial<SegmentSelection> = {},
): SegmentSelection {
  return {
    workspaceId,
    projects: new Map(projects.map((project) => [project, Number.MAX_SAFE_INTEGER])),
    from: null,
    to: null,
    levelMask: ALL_LEVELS_MASK,
    categoryMask: ALL_CATEGORIES_MASK,
    asOf: null,
    tests: [],
    order: "desc",
    after: null,
    limit: 100,
    maxScanned: 10_000,
    ...more,
  };
}

/** The metadata of a segment as the store returns it for a selection without a token test. */
export function metaOf(segment: EncodedSegment): FoundSegment {
  const { levels: _1, summary: _2, batchTable: _3, filterKinds: _4, filter: _5, blockFilter: _6, ...rest } = segment;
  const { body: _7, format: _8, file: _9, ...meta } = rest;
  return { ...meta, blocks: Uint8Array.from(meta.blocks), slots: "" };
}
