import { exists, mapRows, maybe } from "../platform/sql.ts";
import {
  type BucketCounts,
  type BucketStorage,
  type ChangedMutes,
  REMOVED_AT_ONCE,
  randomSeed,
  type StoredRun,
} from "./bucket.ts";
import type { Evaluator } from "./evaluator.ts";
import type { Group } from "./group.ts";
import type { RunRow } from "./project-alerts.ts";

/** Returns what is stored of a run with its buckets. A run without a seed gets one, in the caller's transaction. */
export function storedRunOf(
  sql: SqlStorage,
  project: number,
  row: RunRow,
  buckets: readonly BucketCounts[],
): StoredRun {
  const { num, overflow, late } = row;
  const seed = row.seed === 0 ? randomSeed() || 1 : row.seed;
  if (row.seed === 0) sql.exec("UPDATE alert_runs SET seed = ? WHERE num = ?", seed, num);
  const storage = new StoredBuckets(sql, project, num);
  return { seed, storage, buckets, overflow, late, changedMutes: changedMutesOf(row) };
}

export function changedMutesOf({ mutesFrom: from, changedAt: at }: RunRow): ChangedMutes | null {
  return from === null ? null : { from, at };
}

/** Buckets whose numbers one call of `readCounts` returns. SQLite reads a whole bucket for them. */
const COUNTS_AT_ONCE = 32;

/** Returns the numbers of some buckets of a run, in order. @param from the first one */
export function readCounts(sql: SqlStorage, project: number, run: number, from: number): BucketCounts[] {
  return mapRows(
    sql,
    (row: Record<"live" | "pending" | "firing" | "cells" | "size", number> & { due: number | null }) => row,
    `SELECT live, pending, firing, cells, due, LENGTH(groups) AS size FROM alert_buckets
     WHERE project = ? AND run = ? AND bucket >= ? ORDER BY bucket LIMIT ${COUNTS_AT_ONCE}`,
    ...[project, run, from],
  );
}

class StoredBuckets implements BucketStorage {
  readonly #sql: SqlStorage;
  readonly #project: number;
  readonly #run: number;

  constructor(sql: SqlStorage, project: number, run: number) {
    this.#sql = sql;
    this.#project = project;
    this.#run = run;
  }

  read(bucket: number): Uint8Array {
    const row = maybe<{ groups: ArrayBuffer }>(
      this.#sql,
      "SELECT groups FROM alert_buckets WHERE project = ? AND run = ? AND bucket = ?",
      ...[this.#project, this.#run, bucket],
    );
    if (row === null) throw new RangeError("A bucket of groups is not stored.");
    return new Uint8Array(row.groups);
  }

  write(bucket: number, groups: Uint8Array, { live, pending, firing, cells, due }: BucketCounts): void {
    this.#sql.exec(
      `INSERT OR REPLACE INTO alert_buckets (project, run, bucket, groups, live, pending, firing, cells, due)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[this.#project, this.#run, bucket, groups, live, pending, firing, cells, due],
    );
  }

  removeFrom(bucket: number): void {
    const from = "DELETE FROM alert_buckets WHERE project = ? AND run = ? AND bucket >= ?";
    this.#sql.exec(from, this.#project, this.#run, bucket);
  }
}

/** A group as versions before buckets stored it: triples of a step after `origin`, its entries and its first `seq`. */
type EarlierGroup = Omit<Group, "steps"> & { steps: number[]; origin: number; lastSeq: number };

/** Rows of 64 groups that one call of `importSome` moves. */
const PARTS_AT_ONCE = 8;

/**
 * Moves some of the groups that an earlier version has stored to buckets, in the caller's transaction.
 * @returns whether none is left
 */
export function importSome(sql: SqlStorage, project: number, evaluator: Evaluator): boolean {
  const parts = mapRows(
    sql,
    (row: { part: number; groups: string }) => row,
    `SELECT part, groups FROM alert_groups WHERE project = ? ORDER BY part LIMIT ${PARTS_AT_ONCE}`,
    project,
  );
  for (const { part, groups } of parts) {
    // SAFETY: only earlier versions of this module have written parts.
    for (const place of JSON.parse(groups) as ([run: number, group: EarlierGroup] | null)[]) {
      if (place !== null) evaluator.runs.get(place[0])?.groups.set(fromEarlier(place[1]));
    }
    sql.exec("DELETE FROM alert_groups WHERE project = ? AND part = ?", project, part);
  }
  if (parts.length > 0) evaluator.save();
  return parts.length < PARTS_AT_ONCE;
}

function fromEarlier({ steps, origin, lastSeq, ...group }: EarlierGroup): Group {
  const count = steps.length / 3;
  return {
    ...group,
    steps: Array.from({ length: count }, (_, index) => {
      const [after = 0, entries = 0, firstSeq = 0] = steps.slice(index * 3, index * 3 + 3);
      // Only the last `seq` of the group is known, which is that of its newest step.
      const last = index === count - 1 ? lastSeq : firstSeq;
      return { at: after + origin, count: entries, firstSeq, lastSeq: last, part: null };
    }),
  };
}

/** Rules of a deleted project that one call of `deleteSomeOrphans` deletes, each with at most 20 versions and its runs. */
const RULES_AT_ONCE = 5;

/**
 * Deletes some of what the alerts of deleted projects have stored, except decisions and notifications. The rules come
 * last: by them the projects are found.
 * @returns whether none is left
 */
export function deleteSomeOrphans(sql: SqlStorage): boolean {
  const orphans =
    "SELECT num, project FROM alert_rules WHERE project NOT IN (SELECT num FROM projects) ORDER BY project";
  const rules = mapRows(sql, (row: { num: number; project: number }) => row, `${orphans} LIMIT ${RULES_AT_ONCE}`);
  const [first] = rules;
  if (first === undefined) return true;
  const { project } = first;
  const buckets = `SELECT run, bucket FROM alert_buckets WHERE project = ?1 LIMIT ${REMOVED_AT_ONCE}`;
  const places = [
    `DELETE FROM alert_buckets WHERE project = ?1 AND (run, bucket) IN (${buckets}) RETURNING 1`,
    `DELETE FROM alert_groups WHERE project = ?1 AND part IN
       (SELECT part FROM alert_groups WHERE project = ?1 LIMIT ${PARTS_AT_ONCE}) RETURNING 1`,
  ];
  for (const statement of places) if (exists(sql, statement, project)) return false;
  sql.exec("DELETE FROM alert_gaps WHERE project = ?", project);
  for (const { num } of rules.filter((rule) => rule.project === project)) {
    sql.exec("DELETE FROM alert_versions WHERE rule = ?", num);
    sql.exec("DELETE FROM alert_runs WHERE project = ? AND rule = ?", project, num);
    sql.exec("DELETE FROM alert_rules WHERE num = ?", num);
  }
  return false;
}
