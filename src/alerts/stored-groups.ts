import { mapRows, maybe } from "../platform/sql.ts";
import { type BucketCounts, type BucketStorage, randomSeed } from "./bucket.ts";
import type { Evaluator, StoredRun } from "./evaluator.ts";
import type { Group } from "./group.ts";

/** The stored buckets of a run's groups. A run without a seed gets one, in the caller's transaction. */
export function readStoredRun(
  sql: SqlStorage,
  project: number,
  { num, seed, overflow, late }: { num: number; seed: number; overflow: number; late: number },
): StoredRun {
  const chosen = seed === 0 ? randomSeed() || 1 : seed;
  if (seed === 0) sql.exec("UPDATE alert_runs SET seed = ? WHERE num = ?", chosen, num);
  const buckets = mapRows(
    sql,
    (row: Record<"live" | "pending" | "firing" | "cells" | "size", number> & { due: number | null }) => row,
    "SELECT live, pending, firing, cells, due, LENGTH(groups) AS size FROM alert_buckets WHERE project = ? AND run = ? ORDER BY bucket",
    project,
    num,
  );
  return { seed: chosen, storage: new StoredBuckets(sql, project, num), buckets, overflow, late };
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

/** Moves groups that an earlier version has stored to buckets, in the caller's transaction. */
export function importGroups(sql: SqlStorage, project: number, { runs }: Evaluator): void {
  const parts = sql.exec<{ groups: string }>("SELECT groups FROM alert_groups WHERE project = ?", project).toArray();
  if (parts.length === 0) return;
  for (const { groups } of parts) {
    // SAFETY: only earlier versions of this module have written parts.
    for (const place of JSON.parse(groups) as ([run: number, group: EarlierGroup] | null)[]) {
      if (place !== null) runs.get(place[0])?.groups.set(fromEarlier(place[1]));
    }
  }
  sql.exec("DELETE FROM alert_groups WHERE project = ?", project);
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
