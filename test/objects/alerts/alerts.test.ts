import { exports } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { type CheckedAlert, checkAlert } from "../../../scripts/alerts/check.ts";
import { bearer } from "../accounts/support.ts";
import { evict, onSql, send } from "../ingest/support.ts";
import { by } from "../workspaces/support.ts";
import {
  type Alert,
  ask,
  decided,
  decisionsOf,
  done,
  error,
  errors,
  flushNow,
  groupsOf,
  newWatched,
  rowsOf,
  type Watched,
} from "./support.ts";

/** Makes the rules of a workspace begin before all entries, as if they lagged that far. */
function lagBehind(workspaceId: string): Promise<void> {
  return onSql(workspaceId, (sql) => {
    sql.exec("UPDATE alert_positions SET seq = 0, through = 0");
    sql.exec("UPDATE alert_runs SET start_seq = 0, start_at = start_at - 3600000");
  });
}

/** A destination whose deliveries wait. @returns its id */
function pausedDestination({ workspaceId }: Watched): Promise<string> {
  return onSql(workspaceId, (sql) => {
    sql.exec(
      `INSERT INTO destinations (id, kind, name, settings, version, created_by, created_at, updated_at, disabled)
       VALUES ('dest_000000000001', 'webhook', 'hook', '{"url":"https://a.example.com/"}', 1, 'usr', 0, 0, 'paused')`,
    );
    return "dest_000000000001";
  });
}

/** What the notifications of a workspace say of the end of a rule, in order. */
async function endsOf({ workspaceId }: Watched): Promise<unknown[]> {
  const rows = await onSql(workspaceId, (sql) => sql.exec("SELECT content FROM notifications ORDER BY num").toArray());
  return rows.map(({ content }) => {
    // SAFETY: a notification is stored as an object.
    const { kind, ended, reason } = JSON.parse(String(content)) as Record<string, unknown>;
    return [kind, ended, reason];
  });
}

describe("20.2: evaluation", () => {
  it("decides by group, says what it decided from, and stores the notification with the decision, once", async () => {
    const watched = await newWatched();
    const { projectId, workspaceId } = watched;
    const destination = await pausedDestination(watched);
    await send(watched, [error("before")]);
    const message = "{{group.service}}: {{value}} ({{condition}})";
    const absent = "dest_000000000002";
    const refused = await ask(watched, "", { body: { ...errors, destinations: [destination, absent] } });
    expect(refused.code).toBe("CONFLICT");
    const rule = await done(watched, "", { body: { ...errors, message, destinations: [destination] } });
    expect(rule).toMatchObject({ version: 1, window: "1m", for: "0s", state: "ok", since: { seq: 1 } });
    await send(watched, [error("a"), { level: "info", message: "m", service: "a" }, error("b")]);
    await send(watched, [error("a")]);
    const [firing] = await decided(watched, rule.id, 1);
    expect(firing).toMatchObject({
      ...{ version: 1, kind: "firing", group: { service: "a" }, value: 2, seqRange: { from: 2, to: 5 } },
      groupValues: { service: "a" },
      ...{ reported: true, late: false, ended: false },
    });
    await evict(workspaceId);
    expect(await done(watched, `/${rule.id}`)).toMatchObject({
      state: "firing",
      groups: { live: 2, pending: 0, firing: 1 },
      position: { seq: 5, behind: 0 },
    });
    const stored = await onSql(workspaceId, (sql) => sql.exec("SELECT id, content FROM notifications").toArray());
    expect(stored.map(({ id }) => id)).toEqual([firing?.id]);
    const content = JSON.parse(String(stored[0]?.content));
    expect(content).toMatchObject({
      projectId,
      ruleId: rule.id,
      ruleVersion: 1,
      kind: "firing",
      message: "a: 2 (>= 2)",
    });
    const link = new URL(content.link);
    expect([link.pathname, link.searchParams.get("q")]).toEqual([
      `/w/${workspaceId}/p/${projectId}`,
      "level:>=error service:=a seq:2..5",
    ]);
    const found = await by(watched.owner, "/logger/search", {
      body: { query: link.searchParams.get("q"), projectId },
      headers: { "X-Workspace-Id": workspaceId },
    });
    expect(Object(found.data).logs.map(({ seq }: { seq: number }) => seq)).toEqual([5, 2]);
  });

  it("continues at its position after crashes: an independent count of the export finds nothing missed or doubled", async () => {
    const watched = await newWatched();
    const { workspaceId, projectId, owner } = watched;
    const conditions = [
      { query: "level:error", condition: { kind: "threshold", value: 12 } },
      { query: "level:error | count by service", condition: { kind: "threshold", value: 4 } },
      { query: "level:error service:a | count by tags", condition: { kind: "rate", value: 0.05 }, for: "1s" },
      { query: "* | stats sum(ms) by service", condition: { kind: "threshold", value: 30.25 } },
      { query: "* | stats p90(ms)", condition: { kind: "threshold", value: 12 } },
      { query: "* | stats count_distinct(service)", condition: { kind: "threshold", value: 3 } },
      { query: "* | stats min(ms) by service", condition: { kind: "threshold", value: 2, direction: "below" } },
      { query: "* | count by service", condition: { kind: "threshold", value: 3 }, delay: "1s" },
    ];
    const rules: Alert[] = [];
    for (const [n, body] of conditions.entries())
      rules.push(await done(watched, "", { body: { name: `r${n}`, window: "1m", ...body } }));
    for (let n = 0; n < 20; n++) {
      const timestamp = Date.now() - (n % 3) * 700;
      await send(watched, [{ ...error("abc"[n % 3] ?? ""), tags: ["x", n % 2], ms: n + 0.25, timestamp }]);
      if (n % 4 === 1) await evict(workspaceId);
      if (n % 5 === 2) await new Promise((resolve) => setTimeout(resolve, 700));
    }
    await decided(watched, rules[0]?.id ?? "", 1);
    await decided(watched, rules[1]?.id ?? "", 3);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    const headers = { ...bearer(owner.accessToken), "X-Workspace-Id": workspaceId };
    for (const { id } of rules) {
      // SAFETY: the response of the route.
      const alert = (await done(watched, `/${id}`)) as unknown as CheckedAlert;
      const decisions = await decisionsOf(watched, id);
      const request = new Request(`http://taffrail.test/logger/${projectId}/export`, { headers });
      const exported = await (await exports.default.fetch(request)).arrayBuffer();
      const lines = new TextDecoder()
        .decode(exported)
        .split("\n")
        .filter((line) => line.includes('"seq":'));
      const found = checkAlert(
        alert,
        decisions,
        lines.map((line) => JSON.parse(line)),
      );
      expect(found).toMatchObject({ missed: [], doubled: [], wrong: [] });
      expect(found.expected).toBeGreaterThan(0);
      // The check finds what it looks for.
      const [first] = decisions;
      expect(
        checkAlert(
          alert,
          decisions.slice(1),
          lines.map((line) => JSON.parse(line)),
        ).missed,
      ).toHaveLength(1);
      const twice = first === undefined ? [] : [first, ...decisions];
      expect(
        checkAlert(
          alert,
          twice,
          lines.map((line) => JSON.parse(line)),
        ).doubled,
      ).toHaveLength(1);
    }
  });

  it("takes the groups that an earlier version has stored", async () => {
    const watched = await newWatched();
    const rule = await done(watched, "", { body: errors });
    await send(watched, [error("a")]);
    await vi.waitFor(async () => expect(await groupsOf(watched)).toHaveLength(1), { timeout: 10_000 });
    const [group] = await groupsOf(watched);
    const [step] = group?.steps ?? [];
    await onSql(watched.workspaceId, (sql) => {
      const { project, run } = sql.exec("SELECT project, run FROM alert_buckets").one();
      const earlier = { ...group, origin: (step?.at ?? 0) - 3, steps: [3, step?.count, step?.firstSeq], lastSeq: 1 };
      const places = JSON.stringify([[run, earlier], null]);
      sql.exec("INSERT INTO alert_groups (project, part, groups) VALUES (?, 0, ?)", project, places);
      sql.exec("DELETE FROM alert_buckets");
    });
    await evict(watched.workspaceId);
    await send(watched, [error("a")]);
    const [firing] = await decided(watched, rule.id, 1);
    expect(firing).toMatchObject({ kind: "firing", value: 2, seqRange: { from: 1, to: 2 } });
    const left = await onSql(watched.workspaceId, (sql) => sql.exec("SELECT COUNT(*) AS n FROM alert_groups").one().n);
    expect(left).toBe(0);
  });

  it("a position that lags reads the cold tier, and records what retention has removed", async () => {
    const watched = await newWatched();
    const { workspaceId } = watched;
    await send(watched, [error("a"), error("a"), error("b")]);
    await flushNow(watched);
    await send(watched, [error("b")]);
    const rule = await done(watched, "", { body: { ...errors, window: "24h" } });
    await evict(workspaceId);
    await lagBehind(workspaceId);
    await evict(workspaceId);
    const position = () => done(watched, `/${rule.id}`).then((alert) => alert.position);
    await send(watched, [error("c")]);
    await vi.waitFor(async () => expect(await position()).toMatchObject({ seq: 5, behind: 0 }), { timeout: 20_000 });
    // Entries of the same time count in the step that ends up to 24 minutes later.
    const groups = await groupsOf(watched);
    expect(groups.map(({ key, steps }) => [key, steps[0]?.count])).toEqual([
      ['["a"]', 2],
      ['["b"]', 2],
      ['["c"]', 1],
    ]);
    await onSql(workspaceId, (sql) => sql.exec("DELETE FROM batches WHERE first_seq = 4"));
    await evict(workspaceId);
    await lagBehind(workspaceId);
    await onSql(workspaceId, (sql) => sql.exec("DELETE FROM alert_buckets"));
    await evict(workspaceId);
    await send(watched, [error("c")]);
    await vi.waitFor(async () => expect(await position()).toMatchObject({ seq: 6, behind: 0 }), { timeout: 20_000 });
    const gaps = await onSql(workspaceId, (sql) =>
      sql.exec("SELECT first_seq, last_seq, count FROM alert_gaps").toArray(),
    );
    expect(gaps.map(({ first_seq: first, count }) => [first, count])).toEqual([[4, 1]]);
    expect(await done(watched, `/${rule.id}`)).toMatchObject({ missing: 1 });
  });
});

const night = { days: ["mon"], start: "22:00", end: "06:00", timeZone: "Europe/Berlin" };

describe("20.1: rules", () => {
  it("are changed by version; a change of what is decided begins again and resolves what fires", async () => {
    const watched = await newWatched();
    const rule = await done(watched, "", { body: { ...errors, destinations: [await pausedDestination(watched)] } });
    await send(watched, [error("a"), error("a")]);
    await decided(watched, rule.id, 1);
    const renamed = await done(watched, `/${rule.id}`, { method: "PATCH", body: { version: 1, name: "Other" } });
    expect(renamed).toMatchObject({ version: 2, name: "Other", state: "firing", since: rule.since });
    const stale = await ask(watched, `/${rule.id}`, { method: "PATCH", body: { version: 1, window: "2m" } });
    expect([stale.status, stale.code]).toEqual([409, "CONFLICT"]);
    const changed = await done(watched, `/${rule.id}`, { method: "PATCH", body: { version: 2, window: "2m" } });
    expect(changed).toMatchObject({ version: 3, state: "ok", since: { seq: 2 } });
    const decisions = await decided(watched, rule.id, 2);
    expect(decisions.map(({ kind, version, ended }) => [kind, version, ended])).toEqual([
      ["firing", 1, false],
      ["resolved", 2, true],
    ]);
    const changedEnds = [
      ["firing", false, null],
      ["resolved", true, "changed"],
    ];
    expect(await endsOf(watched)).toEqual(changedEnds);
    const { items } = await done<{ items: { version: number; window: string }[] }>(watched, `/${rule.id}/versions`);
    expect(items.map(({ version, window }) => [version, window])).toEqual([
      [3, "2m"],
      [2, "1m"],
      [1, "1m"],
    ]);
    await send(watched, [error("a"), error("a")]);
    await decided(watched, rule.id, 3);
    await done(watched, `/${rule.id}`, { method: "DELETE" });
    expect((await ask(watched, `/${rule.id}`)).status).toBe(404);
    const nothing = { rules: 0, versions: 0, runs: 0, positions: 0, buckets: 0 };
    await vi.waitFor(async () => expect(await rowsOf(watched)).toMatchObject(nothing), { timeout: 10_000 });
    const deletedEnds = [
      ["firing", false, null],
      ["resolved", true, "deleted"],
    ];
    expect(await endsOf(watched)).toEqual([...changedEnds, ...deletedEnds]);
  });

  it("refuse what is not evaluated, by field", async () => {
    const watched = await newWatched();
    const problem = async (more: object) => {
      const answer = await ask(watched, "", { body: { ...errors, ...more } });
      const [detail] = answer.details as { path: string; message: string }[];
      return [answer.status, detail?.path, detail?.message];
    };
    const cases: [object, string, RegExp][] = [
      [{ query: "* | stats first(ms)" }, "query", /`count_distinct`, `sum`/],
      [{ query: "* | stats sum(level)" }, "query", /field with numbers/],
      [{ query: "* | stats count(), sum(ms)" }, "query", /one aggregation/],
      [{ query: "* | stats avg(ms)", condition: { kind: "absence", value: 1 } }, "condition.kind", /below/],
      [{ query: "* | stats p99(ms)", condition: { kind: "rate", value: 1 } }, "condition.kind", /not of `p99`/],
      [{ condition: { kind: "threshold", value: 2, direction: "below" } }, "condition.direction", /absence/],
      [{ condition: { kind: "threshold", value: 0 } }, "condition.value", /whole number/],
      [{ condition: { kind: "new-pattern" } }, "query", /filter alone/],
      [{ query: "*", for: "5s", condition: { kind: "new-pattern" } }, "for", /at once/],
      [{ delay: "6m" }, "delay", /5 windows/],
      [{ query: "*", delay: "1s", condition: { kind: "new-pattern" } }, "delay", /time of receipt/],
      [{ mutes: [{ ...night, timeZone: "Mars/Base" }] }, "mutes.0.timeZone", /Europe\/Berlin/],
      [{ mutes: [{ ...night, start: "24:00" }] }, "mutes.0.start", /22:00/],
      [{ query: "* | patterns" }, "query", /no `patterns`/],
      [{ query: "* | count by bin(1m)" }, "query", /window of its own/],
      [{ query: "* | count by a, b, c" }, "query", /at most 2 fields/],
      [{ query: "* | count by a | limit 3" }, "query", /nothing may follow/],
      [{ query: "time:1h" }, "query", /count from now/],
      [{ query: "level:>=" }, "query", /./],
      [{ window: "30s" }, "window", /whole minutes/],
      [{ window: "25h" }, "window", /whole minutes/],
      [{ condition: { kind: "pattern" } }, "condition.kind", /./],
      [{ recovery: 3 }, "recovery", /at most/],
      [{ message: "{{group.host}}" }, "message", /group\.host.* has no value/],
      [{ message: "\ud800" }, "message", /well-formed/],
      [{ mutes: [{ from: 2, to: 1 }] }, "mutes.0.to", /after/],
      [{ for: "2d" }, "for", /up to 24h/],
    ];
    for (const [more, path, message] of cases)
      expect([more, await problem(more)]).toEqual([more, [400, path, expect.stringMatching(message)]]);
    expect(await rowsOf(watched)).toMatchObject({ rules: 0, positions: 0 });
  });

  it("end with their project, with their decisions", async () => {
    const watched = await newWatched();
    const rule = await done(watched, "", { body: errors });
    await send(watched, [error("a"), error("a")]);
    await decided(watched, rule.id, 1);
    const headers = { "X-Workspace-Id": watched.workspaceId };
    await by(watched.owner, `/projects/${watched.projectId}`, { method: "DELETE", headers });
    expect(await rowsOf(watched)).toMatchObject({ positions: 0 });
    const nothing = { rules: 0, versions: 0, runs: 0, positions: 0, buckets: 0, gaps: 0, decisions: 0 };
    await vi.waitFor(async () => expect(await rowsOf(watched)).toEqual(nothing), { timeout: 10_000 });
  });
});

describe("20.5: a preview", () => {
  it("says what the rule would have decided, from both tiers, and stores nothing", async () => {
    const watched = await newWatched();
    await send(watched, [error("a"), error("a")]);
    await flushNow(watched);
    await send(watched, [error("b"), error("b"), error("c")]);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const { query, condition, window } = errors;
    const body = { query, condition, window };
    const found = await done<Record<string, unknown>>(watched, "alert-preview", { body });
    expect(found).toMatchObject({ firings: 2, complete: true, entries: 5, notCounted: 0 });
    const decisions = found.decisions as { group: object; seqRange: object }[];
    expect(decisions.map(({ group, seqRange }) => [group, seqRange])).toEqual([
      [{ service: "a" }, { from: 1, to: 2 }],
      [{ service: "b" }, { from: 3, to: 4 }],
    ]);
    expect(found.notes).toEqual([]);
    // A text that a search accepts, too, and probably not what is meant.
    const text = await done<Record<string, unknown>>(watched, "alert-preview", { body: { ...body, query: "level:" } });
    expect([text.firings, text.notes]).toEqual([0, [expect.stringContaining("`level:error`")]]);
    expect(await rowsOf(watched)).toMatchObject({ rules: 0, decisions: 0 });
  });
});

describe("20.2: the time of receipt", () => {
  it("never falls within a workspace, whatever the clock does and what is deleted meanwhile", async () => {
    const watched = await newWatched();
    const times = () =>
      onSql(watched.workspaceId, (sql) =>
        sql
          .exec("SELECT received_at AS at FROM batches ORDER BY commit_no")
          .toArray()
          .map(({ at }) => Number(at)),
      );
    await send(watched, [error("a")]);
    const [first = 0] = await times();
    const clock = vi.spyOn(Date, "now");
    try {
      clock.mockImplementation(() => first - 3_600_000);
      await send(watched, [error("a")]);
      await evict(watched.workspaceId);
      await send(watched, [error("a")]);
      expect(await times()).toEqual([first, first, first]);
    } finally {
      clock.mockRestore();
    }
  });
});
