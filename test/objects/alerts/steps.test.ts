import { describe, expect, it } from "vitest";
import type { RuleDefinition } from "../../../src/alerts/definition.ts";
import type { Matched } from "../../../src/alerts/match-range.ts";
import { takeDeliveries } from "../../../src/alerts/notifications/deliveries.ts";
import { ProjectAlerts } from "../../../src/alerts/project-alerts.ts";
import { changeRule, createRule, listAllRules } from "../../../src/alerts/rules.ts";
import { advanceRules, type Step } from "../../../src/alerts/step.ts";
import { newId } from "../../../src/ids.ts";
import { Limiter } from "../../../src/limits/limiter.ts";
import { runHousekeeping } from "../../../src/objects/workspace/cleanup.ts";
import { migrate } from "../../../src/platform/sql.ts";
import { createProject, deleteProject, type ProjectRow } from "../../../src/workspace/projects.ts";
import { WORKSPACE_SCHEMA } from "../../../src/workspace/schema.ts";
import { onStorage } from "../ingest/support.ts";

const NOW = 1_790_000_100_000;
const GROUPS = 1200;
/** Hits of a part. */
const PART = 100;
const RULES = 12;
/** Rules that count the same entries, each in another step. */
const COUNTING = 40;
const ENTRIES = 250;
const DESTINATION = "dest_000000000001";
/** Characters that JSON escapes, so that a group takes a kilobyte. */
const LONG = "\u0001".repeat(200);
/** Rows that one turn reads and writes, of which those of buckets have 16 KB. */
const MOST_ROWS = 700;

const always = { from: NOW - 1000, to: NOW + 24 * 3_600_000 };
const definition: RuleDefinition = {
  ...{ name: "r0", query: "* | count by id", condition: { kind: "threshold", value: 1 }, windowMs: 60 * 60_000 },
  ...{ forMs: 0, recovery: null, labels: {}, message: "", destinationIds: [DESTINATION], mutes: [always] },
};

const noted = () => {};

/** The SQL of an object, and how many rows it has read and written since the last call of `taken`. */
function metered(sql: SqlStorage): { sql: SqlStorage; taken: () => number } {
  let cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
  const counting = new Proxy(sql, {
    get: (target, name) => {
      if (name !== "exec") return Reflect.get(target, name, target);
      return (query: string, ...parameters: unknown[]) => {
        const cursor = target.exec(query, ...parameters);
        cursors.push(cursor);
        return cursor;
      };
    },
  });
  const taken = () => {
    const rows = cursors.reduce((sum, { rowsRead, rowsWritten }) => sum + rowsRead + rowsWritten, 0);
    cursors = [];
    return rows;
  };
  return { sql: counting, taken };
}

/** A workspace's object in which a test makes the turns, at times of its own. */
class Turns {
  readonly storage: DurableObjectStorage;
  readonly project: ProjectRow;
  readonly rows: () => number;
  readonly sql: SqlStorage;
  now = NOW;
  #alerts: ProjectAlerts | null = null;

  constructor(storage: DurableObjectStorage) {
    const { sql, taken } = metered(storage.sql);
    this.storage = storage;
    this.sql = sql;
    this.rows = taken;
    storage.transactionSync(() => migrate(sql, WORKSPACE_SCHEMA));
    this.project = createProject(sql, "shop", NOW);
    sql.exec(
      `INSERT INTO destinations (id, kind, name, settings, version, created_by, created_at, updated_at)
       VALUES (?, 'webhook', 'hook', '{"url":"https://a.example.com/"}', 1, 'usr', 0, 0)`,
      DESTINATION,
    );
  }

  get scope() {
    return { project: { num: this.project.num, lastSeq: this.project.lastSeq }, now: this.now };
  }

  /** Loads the rules, as after a crash. @returns the number of turns */
  restart(): number {
    this.#alerts?.evaluator.close();
    const alerts = ProjectAlerts.open(this.sql, this.project.num, () => true);
    if (alerts === null) throw new Error("The project has no rules.");
    for (let turn = 1; ; turn++) {
      this.rows();
      const isLoaded = this.storage.transactionSync(() => alerts.loadSome(this.sql));
      expect(this.rows()).toBeLessThan(MOST_ROWS);
      if (isLoaded === false) continue;
      this.#alerts = alerts;
      return turn;
    }
  }

  /** The rules, once they are loaded. */
  get rules(): ProjectAlerts {
    if (this.#alerts === null) throw new Error("Nothing is loaded.");
    return this.#alerts;
  }

  /** Makes one turn. @returns whether nothing is left to do */
  turn(parts: Matched[] = []): boolean {
    return this.step(parts, false).isDone;
  }

  /** @param mayHold whether a later turn may write what this one changes */
  step(parts: Matched[], mayHold: boolean): Step {
    const { project, storage, sql, now } = this;
    const place = { origin: "https://logs.example.com", workspaceId: "ws_1", projectId: project.id };
    const context = { place, lastSeq: project.lastSeq, stepSeq: project.lastSeq, now, mayHold };
    return storage.transactionSync(() => advanceRules(sql, this.rules, parts, context));
  }

  count(table: string): number {
    return Number(this.storage.sql.exec(`SELECT COUNT(*) AS n FROM ${table}`).one().n);
  }

  /** Creates the rules, of which the first one fires in many groups, muted. */
  begin(): { rule: string } {
    const ids = Array.from({ length: RULES }, (_, n) => {
      const created = createRule(this.sql, this.scope, { ...definition, name: `r${n}` }, "usr_1", noted);
      if (!created.ok) throw new Error(created.message);
      return created.value.id;
    });
    this.restart();
    this.now += 60_000;
    const parts = this.partsAfter(0);
    this.project.lastSeq = GROUPS;
    while (!this.turn(parts));
    this.now += 60_000;
    while (!this.turn());
    expect([this.count("alert_decisions"), this.count("notifications")]).toEqual([GROUPS, 0]);
    return { rule: ids[0] ?? "" };
  }

  /** Returns an entry for each group of the first rule, as matching counts them. */
  partsAfter(after: number): Matched[] {
    const receivedAt = this.now - 1;
    const step = Math.ceil(receivedAt / 60_000);
    return Array.from({ length: (GROUPS - after) / PART }, (_, part): Matched => {
      const hits = Array.from({ length: PART }, (_, n) => {
        const seq = after + part * PART + n + 1;
        const counted = { step, undecided: step, count: 1, firstSeq: seq, lastSeq: seq, part: null };
        return { ...counted, run: 1, key: JSON.stringify([`${LONG}${seq}`]), firstAt: receivedAt, lastAt: receivedAt };
      });
      const times = { firstReceivedAt: receivedAt, lastReceivedAt: receivedAt };
      return { hits, late: [], through: after + (part + 1) * PART, missing: 0, ...times };
    });
  }
}

function inTurns(work: (turns: Turns) => void): Promise<void> {
  return onStorage(newId("ws"), (storage) => work(new Turns(storage)));
}

describe("20.2: what concerns many groups is done in turns that are bounded", () => {
  it("a change of mutes reports each group that fires once, at one time, whatever crashes come between", () =>
    inTurns((turns) => {
      const { rule } = turns.begin();
      expect(turns.restart()).toBeGreaterThan(1);
      // Not a time at which a decision is due.
      turns.now += 90_500;
      const changedAt = turns.now;
      const changed = changeRule(turns.sql, turns.scope, rule, { ...definition, mutes: [] }, 1, "usr_1", noted);
      expect(changed.ok).toBe(true);
      let checking = 0;
      for (let isDone = false; !isDone; turns.now += 20_000) {
        checking++;
        turns.restart();
        turns.rows();
        isDone = turns.turn();
        expect(turns.rows()).toBeLessThan(10 * MOST_ROWS);
      }
      expect(checking).toBeGreaterThan(5);
      const reports = turns.sql.exec("SELECT at, COUNT(*) AS n FROM alert_decisions WHERE is_late = 1 GROUP BY at");
      expect(reports.toArray()).toEqual([{ at: Math.ceil(changedAt / 60_000) * 60_000, n: GROUPS }]);
      expect([turns.count("notifications"), turns.count("deliveries")]).toEqual([GROUPS, GROUPS]);
      // Nothing more is to be reported.
      turns.restart();
      turns.now += 600_000;
      while (!turns.turn());
      expect(turns.count("alert_decisions")).toBe(2 * GROUPS);
    }));

  it("several turns write together, and a crash between them repeats what none has written", () =>
    inTurns((turns) => {
      expect(createRule(turns.sql, turns.scope, definition, "usr_1", noted).ok).toBe(true);
      turns.project.lastSeq = GROUPS;
      turns.now += 60_000;
      const seen = { turns: 0, written: 0, crashes: 0 };
      const position = () => Number(turns.sql.exec("SELECT seq FROM alert_positions").one().seq);
      for (let [parts, isDone, last] = [[] as Matched[], false, -1]; !isDone; ) {
        // Each crash comes one turn later than the one before, so each kind of turn is the last one of some life.
        if (last < 0) {
          turns.restart();
          parts = turns.partsAfter(position());
          last = ++seen.crashes;
        }
        turns.rows();
        const step = turns.step(parts, true);
        expect(turns.rows()).toBeLessThan(10 * MOST_ROWS);
        seen.turns++;
        if (step.isWritten) seen.written++;
        isDone = step.isDone;
        last--;
      }
      expect([position(), seen.written > 1, seen.turns - seen.crashes > seen.written]).toEqual([GROUPS, true, true]);
      turns.now += 60_000;
      while (!turns.turn());
      const made =
        "SELECT COUNT(*) AS n, COUNT(DISTINCT group_values) AS groups, MAX(value) AS most FROM alert_decisions";
      expect(turns.sql.exec(made).one()).toEqual({ n: GROUPS, groups: GROUPS, most: 1 });
    }));

  it.each([
    { query: "*", mayHold: [false], crashes: 1 },
    { query: "*", mayHold: [true, true, false], crashes: 2 },
    { query: "* | count by id", mayHold: [false], crashes: 2 },
    { query: "* | count by id", mayHold: [true], crashes: 7 },
  ])(
    "a part of $query with more hits than a turn adds is counted run by run, and a crash repeats none: $mayHold",
    (as) =>
      inTurns((turns) => {
        const hour = 3_600_000;
        const byOwnTime = { ...definition, query: as.query, windowMs: hour, delayMs: 5 * hour, destinationIds: [] };
        for (let n = 0; n < COUNTING; n++)
          expect(createRule(turns.sql, turns.scope, { ...byOwnTime, name: `r${n}` }, "usr_1", noted).ok).toBe(true);
        turns.project.lastSeq = ENTRIES;
        turns.now += 7 * hour;
        const at = turns.now - 1;
        const undecided = Math.floor((at - 1 - 5 * hour) / 60_000) + 1;
        const keyOf = (n: number) => (as.query === "*" ? "[]" : JSON.stringify([`${LONG}${n % 50}`]));
        /** Returns what matching counts: each entry has another step, and each run has two late ones. */
        const part = (): Matched => {
          const runs = [...turns.rules.runs.values()].filter(({ counted }) => counted.startSeq < ENTRIES);
          const hits = Array.from({ length: ENTRIES }, (_, n) =>
            runs.map(({ num }) => {
              const seqs = { firstSeq: n + 1, lastSeq: n + 1, firstAt: at, lastAt: at };
              return { run: num, key: keyOf(n), step: undecided + n, undecided, count: 1, part: null, ...seqs };
            }),
          ).flat();
          const late = runs.map(({ num }): [number, number] => [num, 2]);
          return { hits, late, through: ENTRIES, missing: 0, firstReceivedAt: at, lastReceivedAt: at };
        };
        const seen = { turns: 0, most: 0, repeated: 0 };
        let parts: Matched[] = [];
        for (let isDone = false; !isDone; seen.turns++) {
          if (seen.turns % as.crashes === 0) {
            turns.restart();
            parts = turns.rules.position.seq < ENTRIES ? [part()] : [];
            seen.repeated++;
          }
          const before = parts[0]?.hits.length ?? 0;
          isDone = turns.step(parts, as.mayHold[seen.turns % as.mayHold.length] === true).isDone;
          seen.most = Math.max(seen.most, before - (parts[0]?.hits.length ?? 0));
        }
        expect(seen.repeated).toBeGreaterThan(1);
        // Those of a run, and what a turn may add.
        expect(seen.most).toBeLessThan(4100);
        turns.restart();
        const { evaluator, position } = turns.rules;
        const counts = [...evaluator.runs.values()].map(({ groups, late }) => {
          const keys = new Set(Array.from({ length: ENTRIES }, (_, n) => keyOf(n)));
          const steps = [...keys].flatMap((key) => groups.get(key)?.steps ?? []);
          return [late, groups.size, steps.length, steps.reduce((sum, { count }) => sum + count, 0)];
        });
        expect(position.seq).toBe(ENTRIES);
        const groups = as.query === "*" ? 1 : 50;
        expect(counts).toEqual(Array.from({ length: COUNTING }, () => [2, groups, ENTRIES, ENTRIES]));
      }),
  );

  it("a deleted project has no rules and sends nothing from then on, and what it has stored is deleted little by little", () =>
    inTurns((turns) => {
      const { rule } = turns.begin();
      const { sql, project } = turns;
      expect(changeRule(sql, turns.scope, rule, { ...definition, mutes: [] }, 1, "usr_1", noted).ok).toBe(true);
      turns.now += 60_000;
      while (turns.count("notifications") === 0) turns.turn();
      expect(takeDeliveries(sql, new Map(), turns.now)).not.toEqual([]);
      turns.rows();
      turns.storage.transactionSync(() => deleteProject(sql, project.num, turns.now));
      expect(turns.rows()).toBeLessThan(100);
      expect(listAllRules(sql)).toEqual([]);
      expect(ProjectAlerts.open(sql, project.num, () => true)).toBe(null);
      const pending = turns.count("deliveries");
      expect(takeDeliveries(sql, new Map(), turns.now + 60_000)).toEqual([]);
      expect(pending - turns.count("deliveries")).toBe(Math.min(pending, 60));
      // Its rules do not count.
      const other = { project: { num: createProject(sql, "other", NOW).num, lastSeq: 0 }, now: turns.now };
      for (let n = 0; n < 100; n++)
        expect(createRule(sql, other, { ...definition, name: `r${n}` }, "usr_1", noted).ok).toBe(true);
      const of = (table: string) =>
        Number(turns.storage.sql.exec(`SELECT COUNT(*) AS n FROM ${table} WHERE project = ?`, project.num).one().n);
      const limiter = new Limiter(turns.storage.sql);
      let steps = 0;
      for (; of("alert_rules") > 0; steps++) {
        const [buckets, rules] = [of("alert_buckets"), of("alert_rules")];
        turns.storage.transactionSync(() => runHousekeeping(turns.storage.sql, limiter, null, turns.now));
        expect(buckets - of("alert_buckets")).toBeLessThanOrEqual(64);
        expect(rules - of("alert_rules")).toBeLessThanOrEqual(5);
        if (buckets > 0) expect(of("alert_rules")).toBe(RULES);
      }
      expect(steps).toBeGreaterThan(4);
      const left = ["alert_rules", "alert_runs", "alert_buckets", "alert_gaps", "alert_decisions"].map(of);
      expect([...left, turns.count("alert_versions")]).toEqual([0, 0, 0, 0, 0, 100]);
    }));
});
