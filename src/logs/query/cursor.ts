import { createHash } from "node:crypto";
import { z } from "zod";
import { fromBase62, toBase62 } from "../../ids.ts";
import type { LogFilter } from "./filter.ts";
import { QUERY_LIMITS } from "./limits.ts";
import type { Order, RowPosition } from "./row-order.ts";
import { packSweep, type ResumableScanState, SweepShape, unpackSweep } from "./sweep-state.ts";

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
