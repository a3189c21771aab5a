import { createHash } from "node:crypto";
import { z } from "zod";
import { fromBase62, toBase62 } from "../../ids.ts";
import type { SegmentPosition } from "../cold/store/selection.ts";
import { QUERY_LIMITS } from "./budget.ts";
import type { Order, RowKey, RowPosition } from "./feed.ts";
import type { LogFilter } from "./filter.ts";
import type { ScanPosition } from "./recent-feed.ts";

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

/** Where a query goes on, and what it must be the same query by. */
export interface Cursor {
  /** The snapshot of the first page, a commit number. */
  asOf: number;
  order: Order;
  /** `fingerprint` of the query that began it. */
  fingerprint: string;
  position: RowPosition;
  /** Rows of the first page's `offset` that are still to be passed over; only a partial answer leaves any. */
  skip: number;
  /** Where the next rows take several requests to find; else null. */
  sweep: ResumableScanState | null;
}

const FIELDS = [
  z.int().min(0),
  z.enum(["asc", "desc"]),
  z.string().length(11),
  z.int(),
  z.int().min(0).nullable(),
  z.string().max(64),
  z.int().min(0).max(QUERY_LIMITS.offset),
] as const;
/** Earlier versions know the first form alone, so it is written wherever it says enough. */
const Shape = z.union([z.tuple([z.literal(1), ...FIELDS]), z.tuple([z.literal(2), ...FIELDS, SweepShape])]);

export function encodeCursor({ asOf, order, fingerprint, position, skip, sweep }: Cursor): string {
  const { timestamp, seq } = position;
  const projectId = position.seq === null ? "" : position.projectId;
  const common = [asOf, order, fingerprint, timestamp, seq, projectId, skip] as const;
  const fields: z.input<typeof Shape> = sweep ? [2, ...common, packSweep(sweep, timestamp)] : [1, ...common];
  return Buffer.from(JSON.stringify(fields)).toString("base64url");
}

/** Null for anything that `encodeCursor` cannot have written. */
export function decodeCursor(text: string): Cursor | null {
  const json = Buffer.from(text, "base64url");
  if (json.toString("base64url") !== text) return null;
  const shape = Shape.safeParse(parsed(json.toString("utf8")));
  if (!shape.success) return null;
  const [, asOf, order, fingerprint, timestamp, seq, projectId, skip, packed] = shape.data;
  const position = seq === null ? { timestamp, seq } : { timestamp, seq, projectId };
  return { asOf, order, fingerprint, position, skip, sweep: packed ? unpackSweep(packed, timestamp) : null };
}

/**
 * 64 bits of SHA-256 over everything that decides which rows a query has.
 *
 * @param scope the workspace or projects searched
 */
export function fingerprint(filter: LogFilter, scope: string): string {
  const sorted = (names: readonly string[] | null) => (names === null ? null : [...new Set(names)].sort());
  const data = filter.data.map((condition) => JSON.stringify([condition.path, condition.op, condition.value])).sort();
  const { levelMask, session, traceId, from, to, search } = filter;
  const fields = [
    scope,
    levelMask,
    sorted(filter.categories),
    sorted(filter.types),
    session,
    traceId,
    from,
    to,
    search,
  ];
  return createHash("sha256")
    .update(JSON.stringify([...fields, data]))
    .digest()
    .subarray(0, 8)
    .toString("base64url");
}

/** A snapshot's name towards clients. */
export function encodeAsOf(commit: number): string {
  return toBase62(commit);
}

/** Null for anything that `encodeAsOf` cannot have written. */
export function decodeAsOf(text: string): number | null {
  return fromBase62(text);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
