import { newId } from "../ids.ts";
import { exists, mapRows, maybe, one } from "../platform/sql.ts";
import { fail, ok, type Result } from "../rpc/result.ts";
import type { AuditNote } from "../workspace/audit.ts";
import { decidesAlike, type RuleDefinition } from "./definition.ts";
import { knownDestinations } from "./notifications/destinations.ts";
import { ALERT_LIMITS } from "./rule.ts";

/** A rule with its state. */
export interface AlertRule {
  id: string;
  version: number;
  definition: RuleDefinition;
  createdBy: string;
  /** Epoch milliseconds. */
  createdAt: number;
  updatedAt: number;
  /** Since when it counts: entries after `seq`, decisions for times after `at`. */
  since: { seq: number; at: number };
  /** Live groups, and how many of them are pending and firing. */
  groups: number;
  pending: number;
  firing: number;
  /** Entries that were not counted, because their group or its values had no room. */
  overflow: number;
  /** Entries that were received after a window with their time was decided. */
  late: number;
  /** How far the rules of the project have got. */
  position: { seq: number; through: number; lastSeq: number };
  /** Entries since then that were gone, or could not be read, before they were counted. */
  missing: number;
  /** The end of the window of its latest firing in the history, epoch milliseconds; absent from an older object. */
  lastFiredAt?: number | null;
  /** The project of a rule in a list of all projects. */
  projectId?: string;
  /** Its destinations that do not exist any more; absent from an older object. */
  missingDestinations?: string[];
}

/** The state of a rule: of its group that is worst off. */
export function stateOf({ firing, pending }: Pick<AlertRule, "firing" | "pending">): "ok" | "pending" | "firing" {
  if (firing > 0) return "firing";
  return pending > 0 ? "pending" : "ok";
}

/** A project, and the time of the workspace. */
export interface RuleScope {
  project: { num: number; lastSeq: number };
  /** Epoch milliseconds; see `WorkspaceState.now`. */
  now: number;
}

type Row = Omit<AlertRule, "definition" | "since" | "position" | "missingDestinations"> & {
  missingIds: string;
  num: number;
  content: string;
  startSeq: number;
  startAt: number;
  seq: number;
  through: number;
  lastSeq: number;
};

const SELECT = `SELECT r.num, r.id, r.version, v.content, r.created_by AS createdBy, r.created_at AS createdAt,
  r.updated_at AS updatedAt, n.start_seq AS startSeq, n.start_at AS startAt, n.groups, n.pending, n.firing, n.overflow, n.late,
  p.seq, p.through, j.last_seq AS lastSeq, j.id AS projectId,
  (SELECT json_group_array(value) FROM json_each(v.content, '$.destinationIds')
    WHERE value NOT IN (SELECT id FROM destinations)) AS missingIds,
  (SELECT d.at FROM alert_decisions d WHERE d.project = r.project AND d.rule = r.num AND d.kind = 'firing'
    ORDER BY d.num DESC LIMIT 1) AS lastFiredAt,
  (SELECT COALESCE(SUM(count), 0) FROM alert_gaps g WHERE g.project = r.project AND g.last_seq > n.start_seq) AS missing
  FROM alert_rules r JOIN alert_versions v ON v.rule = r.num AND v.version = r.version
  JOIN alert_runs n ON n.rule = r.num AND n.end_at IS NULL
  JOIN alert_positions p ON p.project = r.project JOIN projects j ON j.num = r.project
  WHERE r.deleted_at IS NULL`;

function fromRow({ num: _, content, startSeq, startAt, seq, through, lastSeq, missingIds, ...rule }: Row): AlertRule {
  return {
    ...rule,
    // SAFETY: only this module writes versions.
    definition: JSON.parse(content) as RuleDefinition,
    since: { seq: startSeq, at: startAt },
    position: { seq, through, lastSeq },
    // SAFETY: destinations of a rule are ids.
    missingDestinations: JSON.parse(missingIds) as string[],
  };
}

/** Returns the rules of a project in order of creation. */
export function listRules(sql: SqlStorage, project: number): AlertRule[] {
  return mapRows(sql, fromRow, `${SELECT} AND r.project = ? ORDER BY r.num`, project);
}

/** Returns the rules of all projects of the workspace: by project, then in order of creation. */
export function listAllRules(sql: SqlStorage): AlertRule[] {
  return mapRows(sql, fromRow, `${SELECT} ORDER BY j.num, r.num`);
}

export function getRule(sql: SqlStorage, project: number, id: string): Result<AlertRule> {
  const row = findRule(sql, project, id);
  return row ? ok(fromRow(row)) : fail("NOT_FOUND", "Alert not found.");
}

function findRule(sql: SqlStorage, project: number, id: string): Row | null {
  return maybe<Row>(sql, `${SELECT} AND r.project = ? AND r.id = ?`, project, id);
}

/** Creates a rule, in the caller's transaction. It counts from now on. */
export function createRule(
  sql: SqlStorage,
  scope: RuleScope,
  definition: RuleDefinition,
  userId: string,
  note: AuditNote,
): Result<AlertRule> {
  const { project, now } = scope;
  const live =
    "SELECT COUNT(*) AS n FROM alert_rules WHERE deleted_at IS NULL AND project IN (SELECT num FROM projects)";
  if (one<{ n: number }>(sql, live).n >= ALERT_LIMITS.rules)
    return fail("CONFLICT", `A workspace has at most ${ALERT_LIMITS.rules} alerts.`);
  if (isTaken(sql, project.num, definition.name)) return taken(definition.name);
  if (hasTooManyRuns(sql)) return fail("CONFLICT", TOO_MANY_RUNS);
  const known = knownDestinations(sql, definition.destinationIds);
  if (!known.ok) return known;
  const id = newId("alert");
  const { num } = one<{ num: number }>(
    sql,
    `INSERT INTO alert_rules (id, project, name, version, created_by, created_at, updated_at)
     VALUES (?1, ?2, ?3, 1, ?4, ?5, ?5) RETURNING num`,
    id,
    project.num,
    definition.name,
    userId,
    now,
  );
  writeVersion(sql, num, 1, definition, userId, now);
  beginRun(sql, scope, num, 1);
  note(id, { after: inAudit(definition) });
  return getRule(sql, project.num, id);
}

/**
 * Changes a rule, in the caller's transaction. A rule that decides otherwise than before begins again, and its firing
 * groups are resolved.
 * @param version the version that the caller has seen
 */
export function changeRule(
  sql: SqlStorage,
  scope: RuleScope,
  id: string,
  next: RuleDefinition,
  version: number,
  userId: string,
  note: AuditNote,
): Result<AlertRule> {
  const { project, now } = scope;
  const row = findRule(sql, project.num, id);
  if (row === null) return fail("NOT_FOUND", "Alert not found.");
  if (version !== row.version) {
    const message = `The alert has version ${row.version}, not ${version}. Read it again before you change it.`;
    return fail("CONFLICT", message);
  }
  const { definition: old } = fromRow(row);
  if (JSON.stringify(next) === JSON.stringify(old)) return ok(fromRow(row));
  if (next.name !== old.name && isTaken(sql, project.num, next.name)) return taken(next.name);
  // Versions before this one deleted destinations without a change of the rules that named them.
  const added = next.destinationIds.filter((destination) => !old.destinationIds.includes(destination));
  const known = knownDestinations(sql, added);
  if (!known.ok) return known;
  if (!decidesAlike(old, next) && hasTooManyRuns(sql)) return fail("CONFLICT", TOO_MANY_RUNS);
  const newest = row.version + 1;
  const update = "UPDATE alert_rules SET name = ?, version = ?, updated_at = ? WHERE num = ?";
  sql.exec(update, next.name, newest, now, row.num);
  writeVersion(sql, row.num, newest, next, userId, now);
  if (decidesAlike(old, next)) {
    const mutesFrom = JSON.stringify(next.mutes) === JSON.stringify(old.mutes) ? "mutes_from" : "0";
    const kept = `UPDATE alert_runs SET version = ?, mutes_from = ${mutesFrom} WHERE rule = ? AND end_at IS NULL`;
    sql.exec(kept, newest, row.num);
  } else {
    endRuns(sql, scope, row.num);
    beginRun(sql, scope, row.num, newest);
  }
  note(id, { before: inAudit(old), after: inAudit(next) });
  return getRule(sql, project.num, id);
}

/** Deletes a rule, in the caller's transaction. Its firing groups are resolved afterwards. */
export function deleteRule(sql: SqlStorage, scope: RuleScope, id: string, note: AuditNote): Result<true> {
  const row = findRule(sql, scope.project.num, id);
  if (row === null) return fail("NOT_FOUND", "Alert not found.");
  sql.exec("UPDATE alert_rules SET deleted_at = ? WHERE num = ?", scope.now, row.num);
  endRuns(sql, scope, row.num);
  note(id, { before: inAudit(fromRow(row).definition) });
  return ok(true);
}

/** Ends the alerts of a project that is being deleted. `deleteSomeOrphans` deletes what they have stored. */
export function endRulesOf(sql: SqlStorage, project: number): void {
  sql.exec("DELETE FROM alert_positions WHERE project = ?", project);
}

/** Deletes the rows of deleted rules that have no run any more. */
export function forgetDeletedRules(sql: SqlStorage, project: number): void {
  const gone = `SELECT num FROM alert_rules WHERE project = ? AND deleted_at IS NOT NULL
    AND num NOT IN (SELECT rule FROM alert_runs)`;
  sql.exec(`DELETE FROM alert_versions WHERE rule IN (${gone})`, project);
  sql.exec(`DELETE FROM alert_rules WHERE num IN (${gone})`, project);
}

export interface RuleVersion {
  version: number;
  definition: RuleDefinition;
  createdBy: string;
  /** Epoch milliseconds. */
  createdAt: number;
}

/** Versions that a rule keeps: the newest ones. */
export const KEPT_VERSIONS = 20;

/** Returns the versions of a rule, newest first. */
export function listVersions(sql: SqlStorage, project: number, id: string): Result<RuleVersion[]> {
  const row = findRule(sql, project, id);
  if (row === null) return fail("NOT_FOUND", "Alert not found.");
  return ok(
    mapRows(
      sql,
      ({ content, ...version }: Omit<RuleVersion, "definition"> & { content: string }) => {
        // SAFETY: only this module writes versions.
        return { ...version, definition: JSON.parse(content) as RuleDefinition };
      },
      `SELECT version, content, created_by AS createdBy, created_at AS createdAt FROM alert_versions
       WHERE rule = ? ORDER BY version DESC LIMIT ${KEPT_VERSIONS}`,
      row.num,
    ),
  );
}

/** Runs of a workspace that are counted at the same time, those of earlier versions and of deleted rules included. */
const MAX_RUNS = 300;
const TOO_MANY_RUNS = "Earlier versions of the workspace's alerts are still being counted. Try again later.";

function hasTooManyRuns(sql: SqlStorage): boolean {
  return one<{ n: number }>(sql, "SELECT COUNT(*) AS n FROM alert_runs").n >= MAX_RUNS;
}

function isTaken(sql: SqlStorage, project: number, name: string): boolean {
  return exists(sql, "SELECT 1 FROM alert_rules WHERE project = ? AND name = ? AND deleted_at IS NULL", project, name);
}

function taken(name: string): Result<never> {
  return fail("CONFLICT", `An alert of the project has the name ${JSON.stringify(name)} already.`);
}

function writeVersion(
  sql: SqlStorage,
  rule: number,
  version: number,
  definition: RuleDefinition,
  userId: string,
  now: number,
): void {
  const insert = "INSERT INTO alert_versions (rule, version, content, created_by, created_at) VALUES (?, ?, ?, ?, ?)";
  sql.exec(insert, rule, version, JSON.stringify(definition), userId, now);
  sql.exec(
    `DELETE FROM alert_versions WHERE rule = ?1 AND version <= ?2
       AND version NOT IN (SELECT version FROM alert_runs WHERE rule = ?1)`,
    rule,
    version - KEPT_VERSIONS,
  );
}

function beginRun(sql: SqlStorage, { project, now }: RuleScope, rule: number, version: number): void {
  const { num, lastSeq } = project;
  // Without rules, no position is kept: the entries until now are of no interest.
  if (!exists(sql, "SELECT 1 FROM alert_runs WHERE project = ?", num)) {
    const insert = "INSERT OR REPLACE INTO alert_positions (project, seq, through) VALUES (?, ?, ?)";
    sql.exec(insert, num, lastSeq, now - 1);
  }
  sql.exec(
    "INSERT INTO alert_runs (rule, project, version, start_seq, start_at) VALUES (?, ?, ?, ?, ?)",
    rule,
    num,
    version,
    lastSeq,
    now,
  );
}

function endRuns(sql: SqlStorage, { project, now }: RuleScope, rule: number): void {
  const end = "UPDATE alert_runs SET end_seq = ?, end_at = ? WHERE rule = ? AND end_at IS NULL";
  sql.exec(end, project.lastSeq, now, rule);
}

/** What the audit records of a rule. */
function inAudit({ name, query, condition, windowMs, destinationIds }: RuleDefinition) {
  return { name, query, condition: JSON.stringify(condition), windowMs, destinations: destinationIds.join(", ") };
}
