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
  /** The same when the step began: what has arrived since then is for the next one. */
  stepSeq: number;
  /** The time of the workspace, epoch milliseconds: nothing is received before it any more. */
  now: number;
  /** Whether what has changed may stay in memory, so that a later turn writes it. */
  mayHold: boolean;
}

/** What a step has done. */
export interface Step {
  /** Decisions that were stored. */
  decisions: number;
  /** Whether all that has changed is written. */
  isWritten: boolean;
  /** Whether nothing is left to do before further time passes, or for entries that have arrived since the step began. */
  isDone: boolean;
  /** Whether the project has no rule any more. */
  isOver: boolean;
}

/**
 * Advances the rules of a project by the work of one turn, in the caller's transaction. Counts, position, decisions and
 * notifications are stored together, by this turn or a later one. Until then they are in memory alone, and a crash
 * repeats them.
 * @param parts what was counted after the position, in order. What was added is removed from it
 */
export function advanceRules(sql: SqlStorage, alerts: ProjectAlerts, parts: Matched[], context: StepContext): Step {
  const { evaluator, leftDone } = alerts;
  if (leftDone !== null) return { ...writeTurn(sql, alerts, [], context), isDone: leftDone };
  evaluator.turn.mayHold = context.mayHold;
  const isAdvanced = addParts(sql, alerts, parts, context);
  const { seq, through } = alerts.position;
  const isCurrent = isAdvanced && seq >= context.stepSeq;
  const { inPart } = alerts;
  if (evaluator.turn.holds) {
    const mayGoOn = inPart === null ? parts.length > 0 && evaluator.turn.isSpent : true;
    const isOpen = (mayGoOn && !evaluator.turn.isFull) || inPart?.isBetween === false;
    if (isOpen || evaluator.turn.isTooMuch) {
      if (!isOpen && inPart === null) alerts.leftDone = isCurrent && !evaluator.isEnding;
      evaluator.endTurn();
      return { decisions: 0, isWritten: false, isDone: false, isOver: false };
    }
  }
  recordCounted(sql, alerts, parts[0]);
  const gone = isAdvanced ? evaluator.endRuns(through, seq, MAX_DECISIONS) : [];
  const isDone = isCurrent && !evaluator.turn.isSpent && !evaluator.turn.isFull;
  return { ...writeTurn(sql, alerts, gone, context), isDone };
}

/** @returns whether all is added, and all decided that is due */
function addParts(sql: SqlStorage, alerts: ProjectAlerts, parts: Matched[], { lastSeq, now }: StepContext): boolean {
  const { evaluator } = alerts;
  // Until mutes are checked no time passes: what changed ones report is decided at the first time after the change.
  const isReady = alerts.inPart !== null || (alerts.sync(sql) && alerts.checkMutes(sql));
  if (!isReady || !(alerts.inPart !== null || advanceThrough(alerts, alerts.position.through))) return false;
  for (let [part] = parts; part !== undefined; [part] = parts) {
    if (alerts.inPart === null) {
      // What is due before is decided first: adding entries makes no decisions then.
      if (!advanceThrough(alerts, (part.firstReceivedAt ?? 0) - 1)) return false;
      if (evaluator.turn.isSpent || evaluator.turn.isFull) return false;
    }
    if (!addHits(alerts, part)) return false;
    parts.shift();
    if (!endPart(sql, alerts, part, now)) return false;
  }
  return alerts.position.seq < lastSeq || advanceThrough(alerts, now - 1);
}

/** @param through epoch milliseconds; all entries received until then have been added */
function advanceThrough(alerts: ProjectAlerts, through: number): boolean {
  alerts.position = { ...alerts.position, through: Math.max(alerts.position.through, through) };
  return alerts.evaluator.advance(alerts.position.through, MAX_DECISIONS);
}

/**
 * Adds the hits of a part run by run, and removes them from it. What has changed can be written between two runs, and within one
 * only if a later turn may write it.
 * @returns whether all are added
 */
function addHits(alerts: ProjectAlerts, { hits }: Matched): boolean {
  const { turn } = alerts.evaluator;
  if (alerts.inPart === null) hits.sort((a, b) => a.run - b.run);
  const inPart = alerts.inPart ?? { run: null, isBetween: true, counted: [] };
  let added = 0;
  for (const hit of hits) {
    inPart.isBetween = hit.run !== inPart.run;
    if (inPart.isBetween ? turn.isSpent || turn.isFull : turn.isSpent && turn.holds) break;
    if (inPart.isBetween) inPart.counted.push(hit.run);
    inPart.run = hit.run;
    alerts.evaluator.add(hit);
    added++;
  }
  hits.splice(0, added);
  alerts.inPart = hits.length > 0 ? inPart : null;
  return alerts.inPart === null;
}

/** Records between two runs, in the caller's transaction, which runs have counted a part: a crash does not repeat it for them. */
function recordCounted(sql: SqlStorage, { evaluator, inPart }: ProjectAlerts, part: Matched | undefined): void {
  if (inPart === null || part === undefined) return;
  if (!inPart.isBetween) throw new RangeError("A run has counted a part only to some extent.");
  const counted = new Set(inPart.counted.splice(0));
  for (const num of counted) sql.exec("UPDATE alert_runs SET counted_seq = ? WHERE num = ?", part.through, num);
  for (const [run, count] of part.late) if (counted.has(run)) evaluator.addLate(run, count);
  part.late = part.late.filter(([run]) => !counted.has(run));
}

function endPart(sql: SqlStorage, alerts: ProjectAlerts, part: Matched, now: number): boolean {
  const { evaluator, project, position } = alerts;
  for (const [run, count] of part.late) evaluator.addLate(run, count);
  if (part.missing > 0) {
    recordGap(sql, project, position.seq + 1, part.through, part.missing, now);
    evaluator.turn.isPartlyWritten = true;
  }
  alerts.position = { ...position, seq: part.through };
  // More entries may have been received at the same time.
  return advanceThrough(alerts, (part.lastReceivedAt ?? 0) - 1);
}

/** Stores what has changed since the last time, and removes runs that are gone. */
function writeTurn(
  sql: SqlStorage,
  alerts: ProjectAlerts,
  gone: readonly number[],
  { place, now }: StepContext,
): Omit<Step, "isDone"> {
  const decisions = alerts.evaluator.takeDecisions();
  for (const decision of decisions) storeAndNotify(sql, alerts, decision, place, now);
  if (decisions.length > 0) sweepDecisions(sql, now);
  alerts.save(sql, gone);
  alerts.leftDone = null;
  if (gone.length > 0) forgetDeletedRules(sql, alerts.project);
  const isOver = gone.length > 0 && !exists(sql, "SELECT 1 FROM alert_runs WHERE project = ?", alerts.project);
  if (isOver) sql.exec("DELETE FROM alert_positions WHERE project = ?", alerts.project);
  return { decisions: decisions.length, isWritten: true, isOver };
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
