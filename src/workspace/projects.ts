import { endRulesOf } from "../alerts/rules.ts";
import { dropProjectFromGrants } from "../grants/store.ts";
import { newId } from "../ids.ts";
import { mapRows, maybe, one } from "../platform/sql.ts";
import { type FlushedRange, flushedRangesAfter, quarantinedOf, recordProjectDeletion } from "./flush/flushed-ranges.ts";
import { deleteSavedOf } from "./saved-items.ts";
import { keepIngestedOf, readUsage, type Usage } from "./usage.ts";

/** A project as the object stores it. `num` is its id in every other table. */
export interface ProjectRow {
  num: number;
  id: string;
  name: string;
  createdAt: number;
  /** The `seq` of its newest entry; 0 while it has none. */
  lastSeq: number;
  /** The watermark: entries up to this `seq` are in the cold tier; 0 if none is. */
  flushedSeq: number;
  /** Unflushed batches, their entries, and their stored bytes. */
  unflushedBatches: number;
  unflushedEntries: number;
  unflushedBytes: number;
  /** The UTC day, since the epoch, of the newest entry's arrival; and the `lastSeq` that it began with. */
  day: number;
  daySeq: number;
}

type Row = Record<string, SqlStorageValue>;

function fromRow(row: Row): ProjectRow {
  return {
    num: Number(row.num),
    id: String(row.id),
    name: String(row.name),
    createdAt: Number(row.created_at),
    lastSeq: Number(row.last_seq),
    flushedSeq: Number(row.flushed_seq),
    unflushedBatches: Number(row.waiting_batches),
    unflushedEntries: Number(row.waiting_entries),
    unflushedBytes: Number(row.waiting_bytes),
    day: Number(row.day),
    daySeq: Number(row.day_seq),
  };
}

/** Maximum projects of a workspace. A query sends the id and watermark of each to D1; see `docs/limits.md`. */
export const MAX_PROJECTS = 1000;

export function hasRoomForProject(sql: SqlStorage): boolean {
  return one<{ count: number }>(sql, "SELECT COUNT(*) AS count FROM projects").count < MAX_PROJECTS;
}

export function createProject(sql: SqlStorage, name: string, now: number): ProjectRow {
  const insert = "INSERT INTO projects (id, name, created_at) VALUES (?, ?, ?) RETURNING *";
  return fromRow(one(sql, insert, newId("proj"), name, now));
}

export function findProject(sql: SqlStorage, id: string): ProjectRow | null {
  const row = maybe(sql, "SELECT * FROM projects WHERE id = ?", id);
  return row ? fromRow(row) : null;
}

export function findProjectByNum(sql: SqlStorage, num: number): ProjectRow | null {
  const row = maybe(sql, "SELECT * FROM projects WHERE num = ?", num);
  return row ? fromRow(row) : null;
}

/** Projects in order of creation, after `cursor` (a `num`). */
export function listProjects(sql: SqlStorage, cursor: number, limit: number): ProjectRow[] {
  return mapRows(sql, fromRow, "SELECT * FROM projects WHERE num > ? ORDER BY num LIMIT ?", cursor, limit);
}

export function renameProject(sql: SqlStorage, num: number, name: string): void {
  sql.exec("UPDATE projects SET name = ? WHERE num = ?", name, num);
}

/**
 * Deletes a project, its keys, views, boards and alerts, and removes it from the grants of agents. Queries no longer return its entries, and the alarm deletes its receipts and entries in
 * bounded steps. `num` is never reused.
 */
export function deleteProject(sql: SqlStorage, num: number, now: number): void {
  keepIngestedOf(sql, num, now);
  sql.exec("DELETE FROM keys WHERE project = ?", num);
  deleteSavedOf(sql, num);
  endRulesOf(sql, num);
  dropProjectFromGrants(sql, num);
  recordProjectDeletion(sql, num, now);
  sql.exec("DELETE FROM projects WHERE num = ?", num);
}

/** The projects that an admitted caller reads: the one of the request, or some, or all. */
export interface Readable {
  project: ProjectRow | null;
  /** `num`s of the projects of a grant, if the request names none of several. */
  granted?: readonly number[];
}

/** Returns the projects that a read searches. From storage: a flush changes cached rows. */
export function readableProjects(sql: SqlStorage, { project, granted }: Readable): ProjectRow[] {
  const nums = project === null ? granted : [project.num];
  if (nums === undefined) return listProjects(sql, 0, Number.MAX_SAFE_INTEGER);
  return nums.flatMap((num) => findProjectByNum(sql, num) ?? []);
}

/** The operator's view of a project: its last `seq`, and its watermark. */
export interface InspectedProject {
  num: number;
  id: string;
  lastSeq: number;
  flushedSeq: number;
}

export interface Inspection {
  usage: Usage;
  /** Some of the projects, in order of creation. */
  projects: InspectedProject[];
}

/** @param cursor `num` of the last project of the page before */
export function inspect(sql: SqlStorage, now: number, cursor: number, limit: number): Inspection {
  const projects = listProjects(sql, cursor, limit).map(({ num, id, lastSeq, flushedSeq }) => {
    return { num, id, lastSeq, flushedSeq };
  });
  return { usage: readUsage(sql, now), projects };
}

export interface FlushedRanges {
  flushedSeq: number;
  ranges: FlushedRange[];
  /** Quarantined batches, in order of `seq`. Absent from objects of an older version. */
  quarantined?: { firstSeq: number; count: number }[];
}

/** Returns a page of a project's flushed ranges, in order of `seq`; `null` if the project does not exist. */
export function flushedRanges(sql: SqlStorage, projectId: string, after: number, limit: number): FlushedRanges | null {
  const project = findProject(sql, projectId);
  if (project === null) return null;
  const { num, flushedSeq } = project;
  return { flushedSeq, ranges: flushedRangesAfter(sql, num, after, limit), quarantined: quarantinedOf(sql, num) };
}
