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
 * Advances the rules of a project, in the caller's transaction: counts, position, decisions and notifications are stored
 * together.
 * @param matched what was counted after the position; `null` if there are no further entries
 */
export function advanceRules(
  sql: SqlStorage,
  alerts: ProjectAlerts,
  matched: Matched | null,
  { place, lastSeq, now }: StepContext,
): Step {
  const { evaluator, position } = alerts;
  alerts.sync(sql);
  let { seq, through } = position;
  if (matched !== null) {
    for (const hit of matched.hits) evaluator.add(hit);
    for (const [run, count] of matched.late) evaluator.addLate(run, count);
    if (matched.missing > 0) recordGap(sql, alerts.project, seq + 1, matched.through, matched.missing, now);
    seq = matched.through;
    // More entries may have been received at the same time.
    through = Math.max(through, (matched.lastReceivedAt ?? 0) - 1);
  }
  const isCurrent = seq >= lastSeq;
  if (isCurrent) through = Math.max(through, now - 1);
  alerts.position = { seq, through };
  const isAdvanced = evaluator.advance(through, MAX_DECISIONS);
  const gone = isAdvanced ? evaluator.endRuns(through, seq, MAX_DECISIONS) : [];
  const decisions = evaluator.takeDecisions();
  for (const decision of decisions) storeAndNotify(sql, alerts, decision, place, now);
  if (decisions.length > 0) sweepDecisions(sql, now);
  alerts.save(sql, gone);
  if (gone.length > 0) forgetDeletedRules(sql, alerts.project);
  const isOver = gone.length > 0 && !exists(sql, "SELECT 1 FROM alert_runs WHERE project = ?", alerts.project);
  if (isOver) sql.exec("DELETE FROM alert_positions WHERE project = ?", alerts.project);
  return { decisions: decisions.length, isDone: isCurrent && isAdvanced && decisions.length < MAX_DECISIONS, isOver };
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
