import { createHash } from "node:crypto";
import { z } from "zod";
import { fromBase62, toBase62 } from "../../ids.ts";
import type { SegmentPosition } from "../cold/store/selection.ts";
import { QUERY_LIMITS } from "./budget.ts";
import type { Order, RowKey, RowPosition } from "./feed.ts";
import { canonicalValues, type LogFilter } from "./filter.ts";
import type { ScanPosition } from "./recent-feed.ts";

/** Maximum number of keys in a cursor of any version. */
const MAX_KEYS = 200;

/** A row that a resumable scan has found. */
export interface FoundKey extends RowKey {
  /** The recent batch in which it was found; `null` if it was a segment. */
  batch: ScanPosition | null;
}

/** Position of a resumable scan. The recent tier comes first: a batch leaves it only after it is in the cold tier. */
export type ResumableScanPosition =
  /** At this batch; `null`: at the first one. */
  | { tier: "recent"; position: ScanPosition | null }
  /**
   * After this segment; `null`: at the first one.
   * `readAt`: epoch milliseconds; the segments are those that were current then. `null` in cursors of earlier versions
   */
  | { tier: "cold"; after: SegmentPosition | null; readAt: number | null };

/** State of a resumable scan; see `resumable-scan.ts`. */
export interface ResumableScanState {
  /** `null` if the scan has finished. */
  resumeAt: ResumableScanPosition | null;
  /** The first rows after the cursor's position that the scan has found so far, in order. */
  keys: readonly FoundKey[];
  /** Whether the scan has finished and there are no further rows than these. */
  isLast: boolean;
}

/** The state in which a resumable scan starts. */
export const RESUMABLE_SCAN_START: ResumableScanState = {
  resumeAt: { tier: "recent", position: null },
  keys: [],
  isLast: false,
};

const Count = z.int().min(0);
/** The last time that a `Date` has, epoch milliseconds. */
const LAST_INSTANT = 8_640_000_000_000_000;
const ProjectId = z.string().max(64);

const Position = z.union([
  z.null(),
  z.tuple([z.literal("r")]),
  z.tuple([z.literal("r"), z.int(), Count]),
  z.tuple([z.literal("s")]),
  z.tuple([z.literal("s"), z.int(), z.int(), ProjectId, Count, Count]),
  z.tuple([z.literal("s"), z.int(), z.int(), ProjectId, Count, Count, Count]),
]);
const Key = z.union([z.tuple([z.int(), Count, Count]), z.tuple([z.int(), Count, Count, z.int(), Count])]);

/** Form in a cursor: position, `isLast`, projects, and keys with their times as differences to the key before. */
export const ScanStateShape = z.tuple([
  Position,
  z.boolean(),
  z.array(ProjectId).max(MAX_KEYS),
  z.array(Key).max(MAX_KEYS),
]);
type Packed = z.output<typeof ScanStateShape>;

/** @param from the timestamp of the cursor's position */
export function packScanState({ resumeAt, keys, isLast }: ResumableScanState, from: number): Packed {
  const projects = [...new Set(keys.map(({ projectId }) => projectId))];
  let time = from;
  const packed = keys.map(({ timestamp, seq, projectId, batch }): Packed[3][number] => {
    const passed = timestamp - time;
    time = timestamp;
    const project = projects.indexOf(projectId);
    return batch === null ? [passed, seq, project] : [passed, seq, project, batch.timestamp - timestamp, batch.commit];
  });
  return [packPosition(resumeAt), isLast, projects, packed];
}

function packPosition(scan: ResumableScanPosition | null): Packed[0] {
  if (scan === null) return null;
  if (scan.tier === "recent") {
    return scan.position === null ? ["r"] : ["r", scan.position.timestamp, scan.position.commit];
  }
  if (scan.after === null) return ["s"];
  const { minTimestamp, maxTimestamp, projectId, firstSeq, part } = scan.after;
  const packed = ["s", minTimestamp, maxTimestamp, projectId, firstSeq, part] as const;
  return scan.readAt === null ? [...packed] : [...packed, scan.readAt];
}

export function unpackScanState([position, isLast, projects, packed]: Packed, from: number): ResumableScanState {
  let time = from;
  const keys = packed.map(([passed, seq, project, ahead, commit]): FoundKey => {
    time += passed;
    const batch = ahead === undefined || commit === undefined ? null : { timestamp: time + ahead, commit };
    // An id that names no project has no rows.
    return { timestamp: time, seq, projectId: projects[project] ?? "", batch };
  });
  return { resumeAt: unpackPosition(position), keys, isLast };
}

function unpackPosition(packed: Packed[0]): ResumableScanPosition | null {
  if (packed === null) return null;
  if (packed[0] === "r") {
    const [, timestamp, commit] = packed;
    const position = timestamp === undefined || commit === undefined ? null : { timestamp, commit };
    return { tier: "recent", position };
  }
  if (packed.length === 1) return { tier: "cold", after: null, readAt: null };
  const [, minTimestamp, maxTimestamp, projectId, firstSeq, part, readAt = null] = packed;
  return { tier: "cold", after: { minTimestamp, maxTimestamp, projectId, firstSeq, part }, readAt };
}

/** The position of the next page, with the properties of the query that it belongs to. */
export interface Cursor {
  /** The snapshot of the first page, a commit number. */
  asOf: number;
  order: Order;
  /** `fingerprint` of the query that started it. */
  fingerprint: string;
  position: RowPosition;
  /** Rows of the first page's `offset` that are still to be skipped. Above 0 only after a partial answer. */
  skip: number;
  /** Set if finding the next rows takes several requests, otherwise `null`. */
  resume: ResumableScanState | null;
  /** Set if the cursor belongs to a search. */
  search?: SearchProgress;
}

/** What the pages of a search share, and how far they are. */
export interface SearchProgress {
  /** The time from which relative times count, epoch milliseconds. */
  instant: number;
  /** Entries on the pages before. */
  taken: number;
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
/** Earlier versions accept the first form only, so it is used whenever it suffices. */
const Shape = z.union([
  z.tuple([z.literal(1), ...FIELDS]),
  z.tuple([z.literal(2), ...FIELDS, ScanStateShape]),
  z.tuple([z.literal(3), ...FIELDS, ScanStateShape.nullable(), Count.max(LAST_INSTANT), Count]),
]);

export function encodeCursor({ asOf, order, fingerprint, position, skip, resume, search }: Cursor): string {
  const { timestamp, seq } = position;
  const projectId = position.seq === null ? "" : position.projectId;
  const common = [asOf, order, fingerprint, timestamp, seq, projectId, skip] as const;
  const state = resume && packScanState(resume, timestamp);
  let fields: z.input<typeof Shape> = state ? [2, ...common, state] : [1, ...common];
  if (search) fields = [3, ...common, state, search.instant, search.taken];
  return Buffer.from(JSON.stringify(fields)).toString("base64url");
}

/** Returns `null` if `encodeCursor` cannot have written the text. */
export function decodeCursor(text: string): Cursor | null {
  const json = Buffer.from(text, "base64url");
  if (json.toString("base64url") !== text) return null;
  const shape = Shape.safeParse(parsed(json.toString("utf8")));
  if (!shape.success) return null;
  const [, asOf, order, fingerprint, timestamp, seq, projectId, skip, packed, instant, taken] = shape.data;
  const position = seq === null ? { timestamp, seq } : { timestamp, seq, projectId };
  const resume = packed ? unpackScanState(packed, timestamp) : null;
  const cursor = { asOf, order, fingerprint, position, skip, resume };
  return instant === undefined || taken === undefined ? cursor : { ...cursor, search: { instant, taken } };
}

/**
 * Returns 64 bits of SHA-256 over everything that determines the rows of a query.
 *
 * @param scope the workspace or projects searched
 */
export function fingerprint(filter: LogFilter, scope: string): string {
  const fields = JSON.stringify([scope, ...canonicalValues(filter)]);
  return createHash("sha256").update(fields).digest().subarray(0, 8).toString("base64url");
}

/** What an answer was read from. */
export interface Snapshot {
  /** Commit number. */
  commit: number;
  /** The time from which relative times of a search count, epoch milliseconds; `null` if it was no search. */
  instant: number | null;
}

const SNAPSHOT_PARTS = "-";

/** Returns the name of a snapshot in the API. @param instant of a search; epoch milliseconds from 0 on */
export function encodeAsOf(commit: number, instant: number | null = null): string {
  return [commit, ...(instant === null ? [] : [instant])].map(toBase62).join(SNAPSHOT_PARTS);
}

/** Returns `null` if `encodeAsOf` cannot have written the text. */
export function decodeSnapshot(text: string): Snapshot | null {
  const [commit = null, instant, ...more] = text.split(SNAPSHOT_PARTS).map(fromBase62);
  if (commit === null || instant === null || more.length > 0 || (instant ?? 0) > LAST_INSTANT) return null;
  return { commit, instant: instant ?? null };
}

/** Returns the commit number of a snapshot, be it of a search or not; `null` if `encodeAsOf` cannot have written the text. */
export function decodeAsOf(text: string): number | null {
  return decodeSnapshot(text)?.commit ?? null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
