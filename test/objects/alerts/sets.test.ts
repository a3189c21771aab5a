import { describe, expect, it } from "vitest";
import { onSql } from "../ingest/support.ts";
import { type Alert, ask, done, errors, newWatched, type Watched } from "./support.ts";

interface Plan {
  changes: { kind: string; id: string | null; name: string; before: object | null; after: object | null }[];
  unchanged: number;
  others: string[];
  revision: string;
}

const plan = (watched: Watched, alerts: object[], prune = false) =>
  done<Plan>(watched, "alert-plan", { body: { alerts, prune } });
const apply = (watched: Watched, alerts: object[], prune = false) =>
  done<Plan>(watched, "", { method: "PUT", body: { alerts, prune } });
const listed = async (watched: Watched) => (await done<{ items: Alert[] }>(watched)).items;
const kinds = ({ changes }: Plan) => changes.map(({ kind, name }) => [kind, name]);

const silence = { ...errors, name: "Silence", condition: { kind: "absence", value: 1 } };

describe("20.6: a list of rules", () => {
  it("is compared by names, applied, and then changes nothing", async () => {
    const watched = await newWatched();
    await done(watched, "", { body: { ...errors, name: "Old" } });
    const first = [errors, silence];
    expect(kinds(await plan(watched, first))).toEqual([
      ["create", "Errors"],
      ["create", "Silence"],
    ]);
    expect((await listed(watched)).map(({ name }) => name)).toEqual(["Old"]);
    const applied = await apply(watched, first);
    expect([kinds(applied).length, applied.others]).toEqual([2, ["Old"]]);
    expect(await apply(watched, first)).toMatchObject({ changes: [], unchanged: 2, others: ["Old"] });

    const next = [{ ...errors, window: "2m" }, silence];
    const planned = await plan(watched, next, true);
    expect(kinds(planned)).toEqual([
      ["delete", "Old"],
      ["change", "Errors"],
    ]);
    expect(planned.changes[1]).toMatchObject({ before: { window: "1m" }, after: { window: "2m" } });
    await apply(watched, next, true);
    expect((await listed(watched)).map(({ name, version }) => [name, version])).toEqual([
      ["Errors", 2],
      ["Silence", 1],
    ]);
    const audited = await onSql(watched.workspaceId, (sql) =>
      sql.exec("SELECT action FROM audit WHERE action LIKE 'alert.%' ORDER BY num").toArray(),
    );
    const actions = ["create", "create", "create", "delete", "update"].map((what) => ({ action: `alert.${what}` }));
    expect(audited).toEqual(actions);
  });

  it("keeps mutes until a time unless it has some, and replaces those that recur", async () => {
    const watched = await newWatched();
    const span = { from: "2026-01-01T00:00:00.000Z", to: "2026-01-02T00:00:00.000Z" };
    const nights = { days: ["mon"], start: "22:00", end: "06:00", timeZone: "Europe/Berlin" };
    await done(watched, "", { body: { ...errors, mutes: [span, nights] } });
    const planned = async (mutes?: object[]) => {
      const { changes } = await plan(watched, [{ ...errors, for: "1m", ...(mutes === undefined ? {} : { mutes }) }]);
      return Reflect.get(Object(changes[0]?.after), "mutes");
    };
    expect(await planned()).toEqual([span, nights]);
    expect(await planned([])).toEqual([span]);
    const mornings = { ...nights, start: "06:00", end: "08:00" };
    expect(await planned([mornings])).toEqual([mornings, span]);
    const other = { ...span, to: "2026-01-03T00:00:00.000Z" };
    expect(await planned([other])).toEqual([other]);
  });

  it("a rule of an earlier version, without members that came later, is the same", async () => {
    const watched = await newWatched();
    await apply(watched, [errors]);
    await onSql(watched.workspaceId, (sql) => {
      sql.exec("UPDATE alert_versions SET content = json_remove(content, '$.delayMs', '$.condition.direction')");
    });
    expect(await plan(watched, [errors])).toMatchObject({ changes: [], unchanged: 1 });
  });

  it("is checked as a whole, with the place of each problem", async () => {
    const watched = await newWatched();
    const alerts = [errors, { ...errors, recovery: 5 }, { ...silence, query: "* | top 3 by a", windw: "1m" }];
    const refused = await ask(watched, "alert-plan", { body: { alerts } });
    expect(refused.details.map((detail) => Reflect.get(Object(detail), "path")).sort()).toEqual([
      "alerts.2.query",
      "alerts.2.windw",
    ]);
    const together = await ask(watched, "", { method: "PUT", body: { alerts: alerts.slice(0, 2) } });
    expect(together.details.map((detail) => Reflect.get(Object(detail), "path"))).toEqual([
      "alerts.1.recovery",
      "alerts.1.name",
    ]);
    expect(await listed(watched)).toEqual([]);
  });

  it("is applied to the rules of its revision alone", async () => {
    const watched = await newWatched();
    const applyAt = (revision: string, alerts: object[]) =>
      ask(watched, "", { method: "PUT", body: { alerts, revision } });
    const { revision } = await plan(watched, [errors]);
    expect((await done<{ revision: string }>(watched)).revision).toBe(revision);
    const applied = await done<Plan>(watched, "", { method: "PUT", body: { alerts: [errors], revision } });
    expect(applied.changes).toHaveLength(1);
    expect(applied.revision).not.toBe(revision);
    const stale = await applyAt(revision, [errors, silence]);
    expect([stale.status, stale.code]).toEqual([409, "CONFLICT"]);
    expect((await listed(watched)).map(({ name }) => name)).toEqual(["Errors"]);
    expect((await plan(watched, [errors])).revision).toBe(applied.revision);
    expect((await applyAt(applied.revision, [errors, silence])).status).toBe(200);
  });

  it("names every destination that does not exist, with all else that is wrong", async () => {
    const watched = await newWatched();
    const unknown = { ...errors, destinations: ["dest_000000000009"] };
    for (const [path, method] of [["alert-plan", "POST"] as const, ["", "PUT"] as const]) {
      const answerTo = async (alerts: object[]) => {
        const { status, details } = await ask(watched, path, { method, body: { alerts } });
        return [status, details.map((detail) => Reflect.get(Object(detail), "path"))];
      };
      expect(await answerTo([unknown])).toEqual([409, ["alerts.0.destinations.0"]]);
      const places = ["alerts.1.recovery", "alerts.0.destinations.0"];
      expect(await answerTo([unknown, { ...silence, recovery: 0 }])).toEqual([400, places]);
    }
  });

  it("changes nothing if one change is refused, and the request counts", async () => {
    const watched = await newWatched();
    await done(watched, "", { body: { ...errors, name: "Old" } });
    const remaining = (headers: Headers) => Number(headers.get("X-RateLimit-Remaining"));
    const before = await ask(watched);
    const alerts = Array.from({ length: 100 }, (_, n) => ({ ...errors, name: `rule ${n}` }));
    const refused = await ask(watched, "", { method: "PUT", body: { alerts } });
    expect([refused.status, refused.code]).toEqual([409, "CONFLICT"]);
    expect(remaining(refused.headers)).toBe(remaining(before.headers) - 1);
    expect((await listed(watched)).map(({ name }) => name)).toEqual(["Old"]);
    expect(await apply(watched, alerts, true)).toMatchObject({ unchanged: 0, others: [] });
    expect(await listed(watched)).toHaveLength(100);
  });
});
