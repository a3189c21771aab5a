import { mapRows, maybe } from "../platform/sql.ts";
import { countedOf, type RuleDefinition, watchOf } from "./definition.ts";
import { Evaluator, type HasRoom, type Run } from "./evaluator.ts";
import type { Counted } from "./matcher.ts";
import { importGroups, readStoredRun } from "./stored-groups.ts";

/** A run with the rule that it reports. */
export interface RunRule extends Run {
  /** `num` and id of the rule. */
  rule: number;
  ruleId: string;
  version: number;
  definition: RuleDefinition;
  counted: Counted;
}

/** Work units of storing a decision, its notification, and a delivery of it. */
const DECISION_WORK = 80;
const NOTIFICATION_WORK = 100;
const DELIVERY_WORK = 100;

/** How far the rules of a project have got. */
export interface Position {
  /** All entries up to this `seq` have been counted. */
  seq: number;
  /** Epoch milliseconds. All entries received until then have been counted, and none will be received then. */
  through: number;
}

export type RunRow = {
  num: number;
  rule: number;
  ruleId: string;
  version: number;
  startSeq: number;
  startAt: number;
  endSeq: number | null;
  endAt: number | null;
  overflow: number;
  late: number;
  seed: number;
};

/** The rules of a project in memory, as they are on disk. After a rollback it must be loaded again. */
export class ProjectAlerts {
  readonly project: number;
  readonly evaluator: Evaluator;
  readonly runs = new Map<number, RunRule>();
  position: Position;

  /**
   * Reads the rules of a project, in the caller's transaction; `null` if it has none.
   * @param hasRoom whether the workspace may have another group, and further values
   */
  static load(sql: SqlStorage, project: number, hasRoom: HasRoom): ProjectAlerts | null {
    const position = readPosition(sql, project);
    return position === null ? null : new ProjectAlerts(sql, project, position, hasRoom);
  }

  private constructor(sql: SqlStorage, project: number, position: Position, hasRoom: HasRoom) {
    this.project = project;
    this.position = position;
    this.evaluator = new Evaluator(hasRoom, (run) => this.#decisionWork(run));
    for (const row of readRuns(sql, project)) {
      const rule = readRule(sql, row);
      const stored = readStoredRun(sql, project, row);
      this.runs.set(row.num, rule);
      if (stored.buckets.length === 0 && row.overflow === 0 && isNew(rule, position))
        this.evaluator.begin(rule, stored);
      else this.evaluator.restore(rule, stored);
    }
    importGroups(sql, project, this.evaluator);
    this.evaluator.save();
  }

  /** Takes what members have changed since the last call: new, changed and ended rules. */
  sync(sql: SqlStorage): void {
    for (const row of readRuns(sql, this.project)) {
      const known = this.runs.get(row.num);
      if (known?.version === row.version && known.endAt === row.endAt) continue;
      const rule = readRule(sql, row);
      this.runs.set(row.num, rule);
      if (known === undefined) this.evaluator.begin(rule, readStoredRun(sql, this.project, row));
      else this.evaluator.update(rule);
    }
  }

  /** Writes what has changed since the last call, and removes runs that are gone. */
  save(sql: SqlStorage, gone: readonly number[]): void {
    this.evaluator.save();
    for (const num of gone) {
      this.runs.delete(num);
      sql.exec("DELETE FROM alert_runs WHERE num = ?", num);
      sql.exec("DELETE FROM alert_buckets WHERE project = ? AND run = ?", this.project, num);
    }
    this.#writeCounts(sql);
    const { seq, through } = this.position;
    sql.exec("UPDATE alert_positions SET seq = ?, through = ? WHERE project = ?", seq, through, this.project);
  }

  /** Returns the work units of storing a decision, with a delivery for each destination. */
  #decisionWork(run: number): number {
    const destinations = this.runs.get(run)?.definition.destinationIds.length ?? 0;
    return DECISION_WORK + (destinations === 0 ? 0 : NOTIFICATION_WORK + destinations * DELIVERY_WORK);
  }

  /** What matching must count. */
  counted(): Counted[] {
    return [...this.runs.values()].map(({ counted }) => counted);
  }

  /** Numbers of groups by run as they are on disk, so that an unchanged one is not written. */
  readonly #written = new Map<number, string>();

  #writeCounts(sql: SqlStorage): void {
    for (const [num, { groups, overflow, late }] of this.evaluator.runs) {
      const { live, pending, firing } = groups.counts();
      const counts = [live, pending, firing, overflow, late] as const;
      const text = counts.join(" ");
      if (this.#written.get(num) === text) continue;
      this.#written.set(num, text);
      const update = "UPDATE alert_runs SET groups = ?, pending = ?, firing = ?, overflow = ?, late = ? WHERE num = ?";
      sql.exec(update, ...counts, num);
    }
  }
}

/** Whether no step has been made since a run began. */
function isNew({ startAt }: Run, { through }: Position): boolean {
  return through < startAt;
}

export function readPosition(sql: SqlStorage, project: number): Position | null {
  return maybe<{ seq: number; through: number }>(
    sql,
    "SELECT seq, through FROM alert_positions WHERE project = ?",
    project,
  );
}

function readRuns(sql: SqlStorage, project: number): RunRow[] {
  return mapRows(
    sql,
    (row: RunRow) => row,
    `SELECT n.num, n.rule, r.id AS ruleId, n.version, n.start_seq AS startSeq, n.start_at AS startAt, n.end_seq AS endSeq,
       n.end_at AS endAt, n.overflow, n.late, n.seed
     FROM alert_runs n JOIN alert_rules r ON r.num = n.rule WHERE n.project = ? ORDER BY n.num`,
    project,
  );
}

function readRule(sql: SqlStorage, { num, rule, ruleId, version, startSeq, startAt, endSeq, endAt }: RunRow): RunRule {
  const row = maybe<{ content: string }>(
    sql,
    "SELECT content FROM alert_versions WHERE rule = ? AND version = ?",
    rule,
    version,
  );
  if (row === null) throw new RangeError("A run has no version of its rule.");
  // SAFETY: only `rules.ts` writes versions.
  const definition = JSON.parse(row.content) as RuleDefinition;
  const watch = watchOf(definition);
  const counted = { run: num, startSeq, endSeq, ...countedOf(definition) };
  return { num, rule, ruleId, version, startSeq, startAt, endSeq, endAt, watch, definition, counted };
}
