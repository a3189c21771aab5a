import { mapRows, maybe } from "../platform/sql.ts";
import { countedQueryOf, type RuleDefinition, watchOf } from "./definition.ts";
import { Evaluator, type Run } from "./evaluator.ts";
import type { Group } from "./group.ts";
import type { Counted } from "./matcher.ts";

/** A run with the rule that it reports. */
export interface RunRule extends Run {
  /** `num` and id of the rule. */
  rule: number;
  ruleId: string;
  version: number;
  definition: RuleDefinition;
  counted: Counted;
}

/** How far the rules of a project have got. */
export interface Position {
  /** All entries up to this `seq` have been counted. */
  seq: number;
  /** Epoch milliseconds. All entries received until then have been counted, and none will be received then. */
  through: number;
}

/** Groups of a row: at most 6 KB each, so that a row stays below 400 KB. */
const PART_GROUPS = 64;

type Place = [run: number, group: Group] | null;

type RunRow = {
  num: number;
  rule: number;
  ruleId: string;
  version: number;
  startSeq: number;
  startAt: number;
  endSeq: number | null;
  endAt: number | null;
  overflow: number;
};

/** The rules of a project in memory, as they are on disk. After a rollback it must be loaded again. */
export class ProjectAlerts {
  readonly project: number;
  readonly evaluator: Evaluator;
  readonly runs = new Map<number, RunRule>();
  position: Position;
  readonly #places: Place[] = [];
  readonly #placeOf = new Map<Group, number>();
  readonly #free: number[] = [];

  /**
   * Reads the rules of a project; `null` if it has none.
   * @param hasRoom whether the workspace may have another group
   */
  static load(sql: SqlStorage, project: number, hasRoom: () => boolean): ProjectAlerts | null {
    const position = readPosition(sql, project);
    return position === null ? null : new ProjectAlerts(sql, project, position, hasRoom);
  }

  private constructor(sql: SqlStorage, project: number, position: Position, hasRoom: () => boolean) {
    this.project = project;
    this.position = position;
    this.evaluator = new Evaluator(hasRoom);
    const groups = new Map<number, Group[]>();
    const parts = sql.exec<{ part: number; groups: string }>(
      "SELECT part, groups FROM alert_groups WHERE project = ? ORDER BY part",
      project,
    );
    for (const { part, groups: text } of parts) {
      // SAFETY: only `save` writes parts.
      for (const [index, place] of (JSON.parse(text) as Place[]).entries()) {
        const at = part * PART_GROUPS + index;
        this.#places[at] = place;
        if (place === null) continue;
        const [run, group] = place;
        this.#placeOf.set(group, at);
        const of = groups.get(run);
        if (of) of.push(group);
        else groups.set(run, [group]);
      }
    }
    for (let at = 0; at < this.#places.length; at++) {
      this.#places[at] ??= null;
      if (this.#places[at] === null) this.#free.push(at);
    }
    for (const row of readRuns(sql, project)) {
      const of = groups.get(row.num);
      const rule = readRule(sql, row);
      this.runs.set(row.num, rule);
      if (of === undefined && row.overflow === 0 && isNew(rule, position)) this.evaluator.begin(rule);
      else this.evaluator.restore(rule, of ?? [], row.overflow);
    }
  }

  /** Takes what members have changed since the last call: new, changed and ended rules. */
  sync(sql: SqlStorage): void {
    for (const row of readRuns(sql, this.project)) {
      const known = this.runs.get(row.num);
      if (known?.version === row.version && known.endAt === row.endAt) continue;
      const rule = readRule(sql, row);
      this.runs.set(row.num, rule);
      if (known === undefined) this.evaluator.begin(rule);
      else this.evaluator.update(rule);
    }
  }

  /** Writes what has changed since the last call, and removes runs that are gone. */
  save(sql: SqlStorage, gone: readonly number[]): void {
    const { changed, gone: removed } = this.evaluator.takeChanged();
    const parts = new Set<number>();
    for (const group of removed) {
      const at = this.#placeOf.get(group);
      if (at === undefined) continue;
      this.#placeOf.delete(group);
      this.#places[at] = null;
      this.#free.push(at);
      parts.add(Math.floor(at / PART_GROUPS));
    }
    for (const [group, run] of changed) {
      let at = this.#placeOf.get(group);
      if (at === undefined) {
        at = this.#free.pop() ?? this.#places.length;
        this.#placeOf.set(group, at);
        this.#places[at] = [run, group];
      }
      parts.add(Math.floor(at / PART_GROUPS));
    }
    for (const part of parts) this.#writePart(sql, part);
    for (const num of gone) {
      this.runs.delete(num);
      sql.exec("DELETE FROM alert_runs WHERE num = ?", num);
    }
    this.#writeCounts(sql);
    const { seq, through } = this.position;
    sql.exec("UPDATE alert_positions SET seq = ?, through = ? WHERE project = ?", seq, through, this.project);
  }

  /** What matching must count. */
  counted(): Counted[] {
    return [...this.runs.values()].map(({ counted }) => counted);
  }

  #writePart(sql: SqlStorage, part: number): void {
    const places = this.#places.slice(part * PART_GROUPS, (part + 1) * PART_GROUPS);
    if (places.every((place) => place === null)) {
      sql.exec("DELETE FROM alert_groups WHERE project = ? AND part = ?", this.project, part);
      return;
    }
    sql.exec(
      "INSERT OR REPLACE INTO alert_groups (project, part, groups) VALUES (?, ?, ?)",
      this.project,
      part,
      JSON.stringify(places),
    );
  }

  /** Numbers of groups by run as they are on disk, so that an unchanged one is not written. */
  readonly #written = new Map<number, string>();

  #writeCounts(sql: SqlStorage): void {
    for (const [num, { groups, overflow }] of this.evaluator.runs) {
      let [pending, firing] = [0, 0];
      for (const { status } of groups.values()) {
        if (status === "pending") pending++;
        else if (status === "firing") firing++;
      }
      const counts = [groups.size, pending, firing, overflow] as const;
      const text = counts.join(" ");
      if (this.#written.get(num) === text) continue;
      this.#written.set(num, text);
      const update = "UPDATE alert_runs SET groups = ?, pending = ?, firing = ?, overflow = ? WHERE num = ?";
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
       n.end_at AS endAt, n.overflow
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
  const query = countedQueryOf(definition);
  const watch = watchOf(definition, query.by.length > 0);
  const counted = { run: num, startSeq, endSeq, ...query };
  return { num, rule, ruleId, version, startSeq, startAt, endSeq, endAt, watch, definition, counted };
}
