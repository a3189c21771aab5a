import { createHash } from "node:crypto";

/** Violations: their identity, their message to the queue, and their table in D1. */

/** One refused request, with the limit that refused it. */
export interface RefusedRequest {
  /** `key:<keyId>`, `user:<userId>` or `ip:<address>`. */
  identifier: string;
  /** Method and path of a rule as configured, `default`, or the name of a preset. */
  rule: string;
  limit: number;
  windowSeconds: number;
  /** Id of the request; absent in calls of older routers. */
  requestId?: string | undefined;
}

/**
 * All refusals of one identifier under one rule within one minute. The limit is that of the last refusal, the request
 * id that of the first. The request id is for events: it is kept in memory only and not written to D1.
 */
export interface Violation extends RefusedRequest {
  /** Minutes since the epoch. */
  minute: number;
  count: number;
  /** Epoch milliseconds of the first and the last refusal. */
  firstAt: number;
  lastAt: number;
}

const MINUTE_MS = 60_000;

export function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}

/** Returns when a minute ends, epoch milliseconds. */
export function minuteEnd(minute: number): number {
  return (minute + 1) * MINUTE_MS;
}

/**
 * A message of the violations queue: the object that refused (a workspace id, `usr_...` or `ip:<address>`), its
 * violations so far, and the id of the first refused request (absent in messages of older versions). Counts only rise,
 * so a repeated or late message changes nothing.
 */
export type ViolationMessage = readonly [object: string, violations: readonly Violation[], requestId?: string | null];

/** Milliseconds for which a violation is kept and shown: 30 days. */
export const VIOLATIONS_KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Rows that one step deletes at most. */
const DELETE_STEP = 500;

/** Base64url characters of SHA-256: 120 bits, enough to distinguish the violations of one minute. */
const ID_LENGTH = 20;

/**
 * Returns the id of a violation within its minute. The id is deterministic, so that repeated messages update one row.
 */
export function violationId(object: string, { identifier, rule }: Pick<Violation, "identifier" | "rule">): string {
  const text = JSON.stringify([object, identifier, rule]);
  return createHash("sha256").update(text).digest("base64url").slice(0, ID_LENGTH);
}

/**
 * Stores the violations of a message. Counts only rise: a repeated message, or an older one after a newer one, changes
 * nothing. `first_at` is part of an index and never changes, because the object saves it before it sends anything.
 */
export async function storeViolations(db: D1Database, [object, violations]: ViolationMessage): Promise<void> {
  const workspaceId = object.startsWith("ws_") ? object : null;
  const rows = violations.map((one) => [
    one.minute,
    violationId(object, one),
    one.identifier,
    one.rule,
    one.limit,
    one.windowSeconds,
    one.count,
    one.firstAt,
    one.lastAt,
  ]);
  // All rows in one parameter: D1 accepts at most a hundred.
  await db
    .prepare(
      `INSERT INTO violations (workspace_id, minute, id, identifier, rule, rate_limit, window_seconds, count, first_at, last_at)
       SELECT ?1, value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7, value->>8
       FROM json_each(?2) WHERE true
       ON CONFLICT (minute, id) DO UPDATE SET count = excluded.count, last_at = MAX(last_at, excluded.last_at),
         rate_limit = excluded.rate_limit, window_seconds = excluded.window_seconds
       WHERE excluded.count > count`,
    )
    .bind(workspaceId, JSON.stringify(rows))
    .run();
}

/** Position in the list: the page starts after this violation. */
export interface ViolationCursor {
  firstAt: number;
  id: string;
}

export interface ViolationPage {
  items: Violation[];
  next: ViolationCursor | null;
}

type Row = Violation & { id: string };

/** Returns a page of a workspace's violations by their first refusal, newest first. */
export async function listViolations(
  db: D1Database,
  workspaceId: string,
  after: ViolationCursor | null,
  limit: number,
  now: number,
): Promise<ViolationPage> {
  const { results } = await db
    .prepare(
      `SELECT minute, id, identifier, rule, rate_limit AS "limit", window_seconds AS windowSeconds, count,
         first_at AS firstAt, last_at AS lastAt
       FROM violations
       WHERE workspace_id = ?1 AND first_at > ?2 AND (first_at, id) < (?3, ?4)
       ORDER BY first_at DESC, id DESC LIMIT ?5`,
    )
    .bind(workspaceId, now - VIOLATIONS_KEPT_MS, after?.firstAt ?? Number.MAX_SAFE_INTEGER, after?.id ?? "", limit + 1)
    .all<Row>();
  const items = results.slice(0, limit);
  const last = items.at(-1);
  return { items, next: results.length > limit && last ? { firstAt: last.firstAt, id: last.id } : null };
}

/** Deletes one step of violations older than 30 days. The oldest rows are adjacent at the beginning of the table. */
export async function dropOldViolations(db: D1Database, now: number): Promise<void> {
  await db
    .prepare(
      `DELETE FROM violations WHERE (minute, id) IN
         (SELECT minute, id FROM violations WHERE minute < ? ORDER BY minute, id LIMIT ?)`,
    )
    .bind(minuteOf(now - VIOLATIONS_KEPT_MS), DELETE_STEP)
    .run();
}
