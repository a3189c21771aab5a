import { mapRows, maybe } from "../platform/sql.ts";
import { type BucketCounts, workOf } from "./bucket.ts";
import { countedOf, countedQueryOf, type RuleDefinition, watchOf } from "./definition.ts";
import { Evaluator, type HasRoom } from "./evaluator.ts";
import type { Counted } from "./matcher.ts";
import type { Run } from "./rule.ts";
import { changedMutesOf, importSome, readCounts, storedRunOf } from "./stored-groups.ts";

/** A run with the rule that it reports. */
export interface RunRule extends Run {
  /** `num` and id of the rule. */
  rule: number;
  ruleId: string;
  version: number;
  /** Whether it ended because the rule was deleted. */
  isDeleted: boolean;
  definition: RuleDefinition;
  counted: Counted;
  /** The same as JSON. */
  countedText: string;
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

/** How far a part was added. Its hits are in order of their runs. */
export interface InPart {
  /** The run of the last hit that was added. */
  run: number | null;
  /** Whether the next hit is of another run. */
  isBetween: boolean;
  /** Runs whose hits were added, and that are not recorded as such. */
  counted: number[];
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
  mutesFrom: number | null;
  /** The run has counted all entries up to this `seq`; `null`: as many as the others. */
  countedSeq: number | null;
  changedAt: number;
  /** 1: it ended because the rule was deleted. */
  isDeleted: number;
};

/** Work units of loading a rule, whose query may have 200 tests, and of one turn of loading. */
const RULE_WORK = 800;
const LOAD_WORK = 15_000;

/** The rules of a project in memory, as they are on disk. After a rollback it must be loaded again. */
export class ProjectAlerts {
  readonly project: number;
  readonly evaluator: Evaluator;
  readonly runs = new Map<number, RunRule>();
  position: Position;
  /** `null`: all hits of the last part are added. */
  inPart: InPart | null = null;
  /** Of a turn that has left writing to the next one: whether nothing else is left to do. `null`: it has not. */
  leftDone: boolean | null = null;

  /** Buckets of the run that is being loaded. */
  #loaded: BucketCounts[] = [];

  /**
   * Begins to read the rules of a project; `null` if it has none. Nothing else may be called before `loadSome` has returned
   * `true`.
   * @param hasRoom whether the workspace may have another group, and further values
   */
  static open(sql: SqlStorage, project: number, hasRoom: HasRoom): ProjectAlerts | null {
    const position = readPosition(sql, project);
    return position === null ? null : new ProjectAlerts(project, position, hasRoom);
  }

  private constructor(project: number, position: Position, hasRoom: HasRoom) {
    this.project = project;
    this.position = position;
    this.evaluator = new Evaluator(hasRoom, (run) => this.#decisionWork(run));
  }

  /**
   * Reads as much as one turn should, in the caller's transaction. Between two calls only members may change the rules.
   * @returns whether all is read; `null` if the project has no rules any more
   */
  loadSome(sql: SqlStorage): boolean | null {
    if (readPosition(sql, this.project) === null) return null;
    let work = 0;
    for (const row of readRuns(sql, this.project)) {
      if (this.runs.has(row.num)) continue;
      for (let isWhole = false; !isWhole; ) {
        if (work > LOAD_WORK) return false;
        const counts = readCounts(sql, this.project, row.num, this.#loaded.length);
        work += counts.reduce((sum, { size }) => sum + workOf(size), 0);
        this.#loaded.push(...counts);
        isWhole = counts.length === 0;
      }
      work += RULE_WORK;
      this.#restore(sql, row, this.#loaded.splice(0));
    }
    return importSome(sql, this.project, this.evaluator);
  }

  #restore(sql: SqlStorage, row: RunRow, buckets: readonly BucketCounts[]): void {
    const rule = readRule(sql, row);
    const stored = storedRunOf(sql, this.project, row, buckets);
    this.runs.set(row.num, rule);
    if (buckets.length === 0 && row.overflow === 0 && isNew(rule, this.position)) this.evaluator.begin(rule, stored);
    else this.evaluator.restore(rule, stored);
  }

  /**
   * Takes what members have changed since the last call: new, changed and ended rules, as many as one turn should. Nothing
   * may be counted before it has returned `true`.
   * @returns whether all are taken
   */
  sync(sql: SqlStorage): boolean {
    let work = 0;
    for (const row of readRuns(sql, this.project)) {
      const known = this.runs.get(row.num);
      if (known?.version === row.version && known.endAt === row.endAt) continue;
      if (work > LOAD_WORK) return false;
      work += RULE_WORK;
      const rule = readRule(sql, row);
      this.runs.set(row.num, rule);
      if (known === undefined) this.evaluator.begin(rule, storedRunOf(sql, this.project, row, []));
      else this.evaluator.update(rule, changedMutesOf(row));
    }
    return true;
  }

  /**
   * Checks groups that fire for changed mutes, as much as one turn should, in the caller's transaction.
   * @returns whether all are checked
   */
  checkMutes(sql: SqlStorage): boolean {
    const changed = [...this.evaluator.runs.values()].filter(({ changedMutes }) => changedMutes !== null);
    const isDone = changed.length === 0 || this.evaluator.checkMutes();
    for (const { run, changedMutes } of changed)
      sql.exec("UPDATE alert_runs SET mutes_from = ? WHERE num = ?", changedMutes?.from ?? null, run.num);
    return isDone;
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

  /** What matching must count: see `TextMatchCall.rules`. */
  get counted(): string {
    return `[${[...this.runs.values()].map(({ countedText }) => countedText).join()}]`;
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
       n.end_at AS endAt, n.overflow, n.late, n.seed, n.mutes_from AS mutesFrom, n.counted_seq AS countedSeq,
       r.updated_at AS changedAt, COALESCE(r.deleted_at = n.end_at, 0) AS isDeleted
     FROM alert_runs n JOIN alert_rules r ON r.num = n.rule WHERE n.project = ? ORDER BY n.num`,
    project,
  );
}

function readRule(sql: SqlStorage, row: RunRow): RunRule {
  const { num, rule, ruleId, version, startSeq, startAt, endSeq, endAt, countedSeq } = row;
  const written = maybe<{ content: string }>(
    sql,
    "SELECT content FROM alert_versions WHERE rule = ? AND version = ?",
    rule,
    version,
  );
  if (written === null) throw new RangeError("A run has no version of its rule.");
  // SAFETY: only `rules.ts` writes versions.
  const definition = JSON.parse(written.content) as RuleDefinition;
  const query = countedQueryOf(definition);
  const watch = watchOf(definition, query);
  const counted = { run: num, startSeq: Math.max(startSeq, countedSeq ?? 0), endSeq, ...countedOf(definition, query) };
  const run = { num, startSeq, startAt, endSeq, endAt, watch };
  const isDeleted = row.isDeleted === 1;
  return { ...run, rule, ruleId, version, isDeleted, definition, counted, countedText: JSON.stringify(counted) };
}
