import { exists } from "../platform/sql.ts";
import { type ConsolePlace, finite, storeDecision, sweepDecisions, textsOf } from "./decisions.ts";
import type { RunDecision } from "./evaluator.ts";
import type { Matched } from "./match-range.ts";
import { enqueueNotification } from "./notifications/enqueue.ts";
import type { ProjectAlerts } from "./project-alerts.ts";
import { forgetDeletedRules } from "./rules.ts";

/** Decisions after which a step ends. The rest is made in the next one. */
const MAX_DECISIONS = 500;
/** Gaps that are kept: the newest ones. */
const MAX_GAPS = 1000;

/** Where and when a step is made. */
export interface StepContext {
  place: ConsolePlace;
  /** The project's newest `seq`. */
  lastSeq: number;
  /** The time of the workspace, epoch milliseconds: nothing is received before it any more. */
  now: number;
}

/** What a step has done. */
export interface Step {
  decisions: number;
  /** Whether nothing is left to do before further time passes or further entries arrive. */
  isDone: boolean;
  /** Whether the project has no rule any more. */
  isOver: boolean;
}

/**
 * Advances the rules of a project by the work of one turn, in the caller's transaction: counts, position, decisions and
 * notifications are stored together.
 * @param parts what was counted after the position, in order. Those that were added are removed from it
 */
export function advanceRules(
  sql: SqlStorage,
  alerts: ProjectAlerts,
  parts: Matched[],
  { place, lastSeq, now }: StepContext,
): Step {
  const { evaluator } = alerts;
  if (!alerts.sync(sql)) return { decisions: 0, isDone: false, isOver: false };
  // Until then no time passes: what changed mutes report is decided at the first time after the change.
  let isAdvanced = alerts.checkMutes(sql) && advanceThrough(alerts, alerts.position.through);
  while (isAdvanced && !evaluator.isSpent) {
    const [part] = parts;
    if (part === undefined) break;
    // What is due before is decided first, in turns of its own: adding entries makes no decisions then.
    isAdvanced = advanceThrough(alerts, (part.firstReceivedAt ?? 0) - 1);
    if (!isAdvanced || evaluator.isSpent) break;
    parts.shift();
    isAdvanced = addPart(sql, alerts, part, now);
  }
  const isCurrent = parts.length === 0 && alerts.position.seq >= lastSeq;
  if (isCurrent && isAdvanced) isAdvanced = advanceThrough(alerts, now - 1);
  const { seq, through } = alerts.position;
  const gone = isAdvanced ? evaluator.endRuns(through, seq, MAX_DECISIONS) : [];
  const { isSpent } = evaluator;
  const decisions = evaluator.takeDecisions();
  for (const decision of decisions) storeAndNotify(sql, alerts, decision, place, now);
  if (decisions.length > 0) sweepDecisions(sql, now);
  alerts.save(sql, gone);
  if (gone.length > 0) forgetDeletedRules(sql, alerts.project);
  const isOver = gone.length > 0 && !exists(sql, "SELECT 1 FROM alert_runs WHERE project = ?", alerts.project);
  if (isOver) sql.exec("DELETE FROM alert_positions WHERE project = ?", alerts.project);
  const isDone = isCurrent && isAdvanced && !isSpent && decisions.length < MAX_DECISIONS;
  return { decisions: decisions.length, isDone, isOver };
}

/** @param through epoch milliseconds; all entries received until then have been added */
function advanceThrough(alerts: ProjectAlerts, through: number): boolean {
  alerts.position = { ...alerts.position, through: Math.max(alerts.position.through, through) };
  return alerts.evaluator.advance(alerts.position.through, MAX_DECISIONS);
}

function addPart(sql: SqlStorage, alerts: ProjectAlerts, part: Matched, now: number): boolean {
  const { evaluator, project, position } = alerts;
  for (const hit of part.hits) evaluator.add(hit);
  for (const [run, count] of part.late) evaluator.addLate(run, count);
  if (part.missing > 0) recordGap(sql, project, position.seq + 1, part.through, part.missing, now);
  alerts.position = { ...position, seq: part.through };
  // More entries may have been received at the same time.
  return advanceThrough(alerts, (part.lastReceivedAt ?? 0) - 1);
}

function storeAndNotify(
  sql: SqlStorage,
  { project, runs }: ProjectAlerts,
  decision: RunDecision,
  place: ConsolePlace,
  now: number,
): void {
  const rule = runs.get(decision.run);
  if (rule === undefined) throw new RangeError("A decision has no rule.");
  const id = storeDecision(sql, project, rule, decision, now);
  if (id === null || !decision.isReported || rule.definition.destinationIds.length === 0) return;
  const { ruleId, version: ruleVersion, definition } = rule;
  const { kind, value, isExact, seqRange } = decision;
  const { labels, destinationIds } = definition;
  const decidedAt = new Date(now).toISOString();
  enqueueNotification(
    sql,
    {
      ...{ id, projectId: place.projectId, ruleId, ruleVersion, kind, ...textsOf(rule, decision, place) },
      ...{ value: finite(value), exact: isExact, seqRange, labels, destinationIds, decidedAt },
    },
    now,
  );
}

function recordGap(sql: SqlStorage, project: number, first: number, last: number, count: number, now: number): void {
  const { rowsWritten } = sql.exec(
    "UPDATE alert_gaps SET last_seq = ?, count = count + ?, at = ? WHERE project = ? AND last_seq = ?",
    ...[last, count, now, project, first - 1],
  );
  if (rowsWritten > 0) return;
  const insert = "INSERT OR REPLACE INTO alert_gaps (project, first_seq, last_seq, count, at) VALUES (?, ?, ?, ?, ?)";
  sql.exec(insert, project, first, last, count, now);
  sql.exec(
    `DELETE FROM alert_gaps WHERE project = ?1 AND first_seq NOT IN
       (SELECT first_seq FROM alert_gaps WHERE project = ?1 ORDER BY first_seq DESC LIMIT ${MAX_GAPS})`,
    project,
  );
}
