import { maybe } from "../../platform/sql.ts";
import { fail, ok, type Result } from "../../rpc/result.ts";
import type { Answer, DestinationKind, DestinationSettings, DisabledReason, Target } from "./destination.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** Milliseconds between two tests of a destination. */
const TEST_EVERY_MS = 3000;

/** The columns that a delivery needs. */
export type TargetRow = {
  kind: DestinationKind;
  name: string;
  settings: string;
  secret: string | null;
  previous_secret: string | null;
  previous_until: number | null;
};

/** Counts a test of a destination, and returns what a test needs. */
export function beginTest(sql: SqlStorage, id: string, now: number): Result<Target> {
  const found = maybe<{ tested_at: number; confirm_until: number | null }>(
    sql,
    "SELECT tested_at, confirm_until FROM destinations WHERE id = ?",
    id,
  );
  const target = targetOf(sql, id, now);
  if (!found || !target) return fail("NOT_FOUND", "Destination not found.");
  if (found.confirm_until !== null) return fail("CONFLICT", "The address is not confirmed yet.");
  const retryAfter = found.tested_at + TEST_EVERY_MS - now;
  if (retryAfter > 0 && retryAfter <= TEST_EVERY_MS) {
    const quota = `One test of a destination in ${TEST_EVERY_MS / 1000} seconds.`;
    return fail("RATE_LIMITED", "Too many requests", { retryAfter, quota });
  }
  sql.exec("UPDATE destinations SET tested_at = ? WHERE id = ?", now, id);
  return ok(target);
}

/** Returns a destination with its secrets; `null` if it does not exist. */
export function targetOf(sql: SqlStorage, id: string, now: number): Target | null {
  const row = maybe<TargetRow>(
    sql,
    "SELECT kind, name, settings, secret, previous_secret, previous_until FROM destinations WHERE id = ?",
    id,
  );
  if (!row) return null;
  const { kind, name, settings, secret, previous_secret, previous_until } = row;
  return {
    id,
    kind,
    name,
    // SAFETY: `createDestination` and `changeDestination` are the only writers.
    settings: JSON.parse(settings) as DestinationSettings,
    secret,
    previousSecret: previous_until !== null && previous_until > now ? previous_secret : null,
  };
}

/** Records the answer to an attempt or a test. */
export function recordAnswer(sql: SqlStorage, id: string, answer: Answer, now: number): void {
  const column = answer.error === null ? "last_delivered_at" : "last_failed_at";
  const text = JSON.stringify(answer);
  sql.exec(`UPDATE destinations SET ${column} = ?, last_answer = ? WHERE id = ?`, now, text, id);
}

export function disableDestination(sql: SqlStorage, id: string, reason: DisabledReason, now: number): void {
  sql.exec(
    "UPDATE destinations SET disabled = ?, version = version + 1, updated_at = ? WHERE id = ? AND disabled IS NULL",
    reason,
    now,
    id,
  );
}

/** Returns the destinations whose canary is due, and sets the next one a day later. */
export function takeCanaries(sql: SqlStorage, now: number): { id: string; name: string; dueAt: number }[] {
  const due = sql
    .exec<{ id: string; name: string; dueAt: number }>(
      "SELECT id, name, canary_at AS dueAt FROM destinations WHERE canary_at <= ? AND disabled IS NULL AND confirm_until IS NULL",
      now,
    )
    .toArray();
  for (const { id } of due) sql.exec("UPDATE destinations SET canary_at = ? WHERE id = ?", now + DAY_MS, id);
  return due;
}
