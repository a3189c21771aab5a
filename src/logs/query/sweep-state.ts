import { z } from "zod";
import type { SegmentPosition } from "../cold/selection.ts";
import type { ScanPosition } from "./recent-scan.ts";
import type { RowKey } from "./row-order.ts";

/** Keys in a cursor at most: as many as any version may write. */
const MAX_KEYS = 200;

/** A row that a sweep has found. */
export interface FoundKey extends RowKey {
  /** The recent batch that it was found in; null where that was a segment. */
  batch: ScanPosition | null;
}

/** What a sweep looks at next. The recent tier comes first: a batch leaves it only once it is in the cold one. */
export type ResumableScanPosition =
  /** This batch; null: the first one. */
  | { tier: "recent"; position: ScanPosition | null }
  /** The segment behind this one; null: the first one. */
  | { tier: "stored"; after: SegmentPosition | null };

/** How far a sweep has come; see `sweep.ts`. */
export interface ResumableScanState {
  /** Null: all has been looked at. */
  place: ResumableScanPosition | null;
  /** The first rows behind the cursor's position of what has been looked at, in order. */
  keys: readonly FoundKey[];
  /** All has been looked at, and there are no further rows than these. */
  isLast: boolean;
}

/** A sweep that is to begin. */
export const SWEEP_BEGIN: ResumableScanState = { place: { tier: "recent", position: null }, keys: [], isLast: false };

const Count = z.int().min(0);
const ProjectId = z.string().max(64);

const Place = z.union([
  z.null(),
  z.tuple([z.literal("r")]),
  z.tuple([z.literal("r"), z.int(), Count]),
  z.tuple([z.literal("s")]),
  z.tuple([z.literal("s"), z.int(), z.int(), ProjectId, Count, Count]),
]);
const Key = z.union([z.tuple([z.int(), Count, Count]), z.tuple([z.int(), Count, Count, z.int(), Count])]);

/** As it stands in a cursor: place, whether it is the last, projects, and keys with their times after the one before. */
export const SweepShape = z.tuple([Place, z.boolean(), z.array(ProjectId).max(MAX_KEYS), z.array(Key).max(MAX_KEYS)]);
type Packed = z.output<typeof SweepShape>;

/** @param from the timestamp of the cursor's position */
export function packSweep({ place, keys, isLast }: ResumableScanState, from: number): Packed {
  const projects = [...new Set(keys.map(({ projectId }) => projectId))];
  let time = from;
  const packed = keys.map(({ timestamp, seq, projectId, batch }): Packed[3][number] => {
    const passed = timestamp - time;
    time = timestamp;
    const project = projects.indexOf(projectId);
    return batch === null ? [passed, seq, project] : [passed, seq, project, batch.timestamp - timestamp, batch.commit];
  });
  return [packPlace(place), isLast, projects, packed];
}

function packPlace(place: ResumableScanPosition | null): Packed[0] {
  if (place === null) return null;
  if (place.tier === "recent") {
    return place.position === null ? ["r"] : ["r", place.position.timestamp, place.position.commit];
  }
  if (place.after === null) return ["s"];
  const { minTimestamp, maxTimestamp, projectId, firstSeq, part } = place.after;
  return ["s", minTimestamp, maxTimestamp, projectId, firstSeq, part];
}

export function unpackSweep([place, isLast, projects, packed]: Packed, from: number): ResumableScanState {
  let time = from;
  const keys = packed.map(([passed, seq, project, ahead, commit]): FoundKey => {
    time += passed;
    const batch = ahead === undefined || commit === undefined ? null : { timestamp: time + ahead, commit };
    // An id that names no project has no rows.
    return { timestamp: time, seq, projectId: projects[project] ?? "", batch };
  });
  return { place: unpackPlace(place), keys, isLast };
}

function unpackPlace(place: Packed[0]): ResumableScanPosition | null {
  if (place === null) return null;
  if (place[0] === "r") {
    const [, timestamp, commit] = place;
    const position = timestamp === undefined || commit === undefined ? null : { timestamp, commit };
    return { tier: "recent", position };
  }
  if (place.length === 1) return { tier: "stored", after: null };
  const [, minTimestamp, maxTimestamp, projectId, firstSeq, part] = place;
  return { tier: "stored", after: { minTimestamp, maxTimestamp, projectId, firstSeq, part } };
}
