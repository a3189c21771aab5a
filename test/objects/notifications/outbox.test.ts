import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { enqueueNotification } from "../../../src/alerts/notifications/enqueue.ts";
import { redeliver, sweepNotifications } from "../../../src/alerts/notifications/history.ts";
import { seriesOf } from "../../../src/alerts/notifications/series.ts";
import { deleteProject } from "../../../src/workspace/projects.ts";
import { contentOf, deliveries, inWorkspace, URL_A, URL_B } from "./support.ts";

/** Ahead of the machine's clock, so that no alarm runs unless the test runs it. */
const START = Math.floor(Date.now() / 1000) * 1000 + 10 * 24 * 3_600_000;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const failing = () => new Response("no", { status: 500 });
const note = () => {};

beforeEach(() => vi.useFakeTimers({ toFake: ["Date"], now: START }));
afterEach(() => vi.useRealTimers());

describe("a notification", () => {
  it("is delivered once to each of its destinations and its id is stored once", () =>
    inWorkspace(async ({ sql, got, webhook, notify, at }) => {
      const [a, b] = [webhook(URL_A), webhook(URL_B)];
      for (let n = 0; n < 2; n++) notify({ id: "n1" }, [a, b, a, "dest_000000000000"]);
      await at(START);
      await at(START + DAY);
      expect(got.map(({ url, id }) => [url, id]).sort()).toEqual([
        [URL_A, "n1"],
        [URL_B, "n1"],
      ]);
      expect(deliveries(sql)).toMatchObject([{ state: "delivered" }, { state: "delivered" }]);
      expect(sql.exec("SELECT last_delivered_at AS at FROM destinations").toArray()).toEqual([
        { at: START },
        { at: START },
      ]);
    }));

  it("of a transaction that is rolled back is not delivered", () =>
    inWorkspace(async ({ core, sql, got, projectId, webhook, at }) => {
      const destinationIds = [webhook()];
      const rollBack = () =>
        core.state.transaction(() => {
          enqueueNotification(sql, { ...contentOf(projectId), destinationIds }, START);
          throw new Error("rolled back");
        });
      expect(rollBack).toThrow("rolled back");
      await at(START);
      expect(got).toEqual([]);
    }));

  it("sets the alarm for its next attempt", () =>
    inWorkspace(async ({ core, answers, webhook, notify, at }) => {
      answers.set(URL_A, failing);
      notify({}, [webhook()]);
      expect(core.deliveries.dueAt()).toBe(START);
      await at(START);
      expect(core.deliveries.dueAt()).toBe(START + 10_000);
    }));

  it("is attempted again after a crash between sending and recording, with the same id, and not before its lease ends", () =>
    inWorkspace(async ({ core, restarted, sql, got, answers, webhook, notify, at }) => {
      answers.set(URL_A, () => new Promise<Response>(() => {}));
      notify({ id: "n1" }, [webhook()]);
      core.deliveries.start(START, { requestId: "r", address: null });
      expect(got).toHaveLength(1);
      answers.delete(URL_A);
      const second = restarted();
      await at(START + 14_000, second);
      expect(got).toHaveLength(1);
      await at(START + 15_000, second);
      expect(got.map(({ id }) => id)).toEqual(["n1", "n1"]);
      expect(deliveries(sql)).toMatchObject([{ state: "delivered", attempts: 2 }]);
    }));

  it("that waits for a free place is attempted after a crash, without a request", () =>
    inWorkspace(async ({ core, restarted, sql, got, answers, webhook, notify, at }) => {
      const destinations = [URL_A, URL_B].map((url) => webhook(url));
      for (const url of [URL_A, URL_B]) answers.set(url, () => new Promise<Response>(() => {}));
      for (let n = 0; n < 5; n++) notify({ id: `n${n}`, ruleId: `rule_${n}` }, destinations);
      core.deliveries.start(START, { requestId: "r", address: null });
      expect(got).toHaveLength(6);
      expect(core.deliveries.dueAt()).toBe(START + 15_000);
      await core.deliveries.run(START + 1000, { requestId: "r", address: null });
      expect(got).toHaveLength(6);
      const second = restarted();
      expect(await second.state.alarm.load()).toBeLessThanOrEqual(START + 15_000);
      answers.clear();
      vi.setSystemTime(START + 15_000);
      await at(START + 15_000, second);
      expect(new Set(got.slice(6).map(({ url, id }) => `${url}${id}`)).size).toBe(10);
      expect(deliveries(sql).every(({ state }) => state === "delivered")).toBe(true);
    }));

  it("is attempted soon after the object starts, also if a version before has set no alarm for it", () =>
    inWorkspace(async ({ restarted, storage, webhook, notify }) => {
      notify({}, [webhook()]);
      await storage.setAlarm(START + DAY);
      restarted();
      await vi.waitFor(async () => expect(await storage.getAlarm()).toBeLessThan(START + MINUTE));
    }));

  it("is attempted about 20 times in three days, then it is dead, and can be delivered again with the same id", () =>
    inWorkspace(async ({ core, sql, got, answers, webhook, notify, at }) => {
      answers.set(URL_A, failing);
      notify({ id: "n1" }, [webhook()]);
      let now = START;
      for (let next: number | null = now; next !== null; next = core.deliveries.dueAt()) {
        now = next;
        vi.setSystemTime(now);
        await at(now);
      }
      expect(got.length).toBeGreaterThan(15);
      expect(got.length).toBeLessThan(30);
      expect(now - START).toBeGreaterThan(2.7 * DAY);
      expect(now - START).toBeLessThan(3 * DAY);
      expect(deliveries(sql)).toMatchObject([{ state: "dead", next_at: null }]);
      expect(JSON.parse(deliveries(sql)[0]?.answer ?? "")).toMatchObject({ status: 500, text: "no" });
      answers.delete(URL_A);
      const id = String(sql.exec("SELECT id FROM deliveries").one().id);
      expect(redeliver(sql, id, note, now)).toMatchObject({ ok: true, value: { state: "pending", attempts: 0 } });
      await at(now);
      expect([got.at(-1)?.id, deliveries(sql)[0]?.state]).toEqual(["n1", "delivered"]);
    }));

  it("waits as long as the receiver asks", () =>
    inWorkspace(async ({ core, answers, webhook, notify, at }) => {
      answers.set(URL_A, () => new Response("", { status: 429, headers: { "Retry-After": "3600" } }));
      notify({}, [webhook()]);
      await at(START);
      expect(core.deliveries.dueAt()).toBe(START + 60 * MINUTE);
    }));

  it("is dead after 410, whose destination gets nothing more until a member enables it", () =>
    inWorkspace(async ({ core, sql, got, answers, webhook, notify, at }) => {
      answers.set(URL_A, () => new Response("", { status: 410 }));
      const id = webhook();
      notify({ id: "n1" }, [id]);
      await at(START);
      expect(sql.exec("SELECT disabled FROM destinations").one().disabled).toBe("gone");
      notify({ id: "n2", ruleId: "rule_2" }, [id]);
      expect(core.deliveries.dueAt()).toBeNull();
      await at(START);
      expect(got).toHaveLength(1);
      answers.delete(URL_A);
      sql.exec("UPDATE destinations SET disabled = NULL");
      await at(START);
      expect(got.map((each) => each.id)).toEqual(["n1", "n2"]);
      expect(deliveries(sql)).toMatchObject([{ state: "dead" }, { state: "delivered" }]);
    }));

  it("of a project that is deleted is not delivered any more, and its rows go with the project", () =>
    inWorkspace(async ({ core, sql, got, webhook, notify, at }) => {
      const id = webhook();
      notify({}, [id]);
      notify({}, [id]);
      core.state.transaction(() => deleteProject(sql, Number(sql.exec("SELECT num FROM projects").one().num), START));
      await at(START);
      expect([got, deliveries(sql), core.deliveries.dueAt()]).toEqual([[], [], null]);
      notify({}, [id]);
      expect(deliveries(sql)).toEqual([]);
      core.housekeeping.startNow();
      for (let n = 0; n < 5; n++) core.housekeeping.run(START + n, { requestId: "r", address: null }, new Set());
      expect(sql.exec("SELECT COUNT(*) AS n FROM notifications").one().n).toBe(0);
    }));

  it("to a destination that is deleted is not delivered any more", () =>
    inWorkspace(async ({ core, sql, got, webhook, notify, at }) => {
      notify({}, [webhook()]);
      sql.exec("DELETE FROM destinations");
      await at(START);
      expect([got, core.deliveries.dueAt()]).toEqual([[], null]);
    }));

  it("is kept for 30 days", () =>
    inWorkspace(async ({ sql, webhook, notify }) => {
      notify({}, [webhook()]);
      sweepNotifications(sql, START + 30 * DAY - 1);
      expect(deliveries(sql)).toHaveLength(1);
      expect(sweepNotifications(sql, START + 30 * DAY)).toBe(false);
      expect([deliveries(sql), sql.exec("SELECT * FROM notifications").toArray()]).toEqual([[], []]);
    }));
});

describe("the order of deliveries", () => {
  it("holds a recovery until its alert is delivered, and nothing of other groups or destinations", () =>
    inWorkspace(async ({ got, answers, webhook, notify, at }) => {
      const [a, b] = [webhook(URL_A), webhook(URL_B)];
      answers.set(URL_A, failing);
      notify({ id: "fires", group: { host: "1" } }, [a, b]);
      await at(START);
      notify({ id: "recovers", kind: "resolved", group: { host: "1" } }, [a, b]);
      notify({ id: "other", group: { host: "2" } }, [a]);
      answers.set(URL_A, () => new Response("ok"));
      await at(START + 1000);
      const of = (url: string) => got.filter((each) => each.url === url).map(({ id }) => id);
      expect([of(URL_A), of(URL_B)]).toEqual([
        ["fires", "other"],
        ["fires", "recovers"],
      ]);
      await at(START + 10_000);
      expect(of(URL_A)).toEqual(["fires", "other", "fires", "recovers"]);
    }));

  it("refuses to deliver an alert again whose recovery has been delivered", () =>
    inWorkspace(async ({ sql, got, webhook, notify, at }) => {
      const id = webhook();
      notify({ id: "fires" }, [id]);
      notify({ id: "recovers", kind: "resolved" }, [id]);
      await at(START);
      const idOf = (notification: string) =>
        String(
          sql
            .exec(
              "SELECT d.id FROM deliveries d JOIN notifications n ON n.num = d.notification WHERE n.id = ?",
              notification,
            )
            .one().id,
        );
      expect(redeliver(sql, idOf("fires"), note, START)).toMatchObject({ ok: false, code: "CONFLICT" });
      expect(redeliver(sql, idOf("recovers"), note, START)).toMatchObject({ ok: true });
      await at(START);
      expect(got.map((each) => each.id)).toEqual(["fires", "recovers", "recovers"]);
      expect(redeliver(sql, "dlv_000000000000", note, START)).toMatchObject({ ok: false, code: "NOT_FOUND" });
    }));

  it("is that of the decisions in each rule and group, whatever receivers answer and wherever the object ends", async () => {
    const step = fc.record({
      rule: fc.integer({ min: 0, max: 2 }),
      status: fc.constantFrom(200, 500, 429, "crash" as const),
      minutes: fc.integer({ min: 0, max: 90 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) =>
        inWorkspace(async ({ core, restarted, sql, got, answers, webhook, notify, at }) => {
          const [a, b] = [webhook(URL_A), webhook(URL_B)];
          const delivered: string[] = [];
          let [now, current] = [START, core];
          for (const [n, { rule, status, minutes }] of steps.entries()) {
            answers.set(URL_A, () => {
              if (status === "crash") return new Promise<Response>(() => {});
              if (status === 200) delivered.push(got.at(-1)?.id ?? "");
              return new Response("", { status });
            });
            notify({ id: `${rule}-${n}`, ruleId: `rule_${rule}`, kind: n % 2 === 0 ? "firing" : "resolved" }, [a, b]);
            current.deliveries.start(now, { requestId: "r", address: null });
            if (status === "crash") current = restarted();
            else await current.deliveries.settled();
            now += minutes * MINUTE;
            vi.setSystemTime(now);
          }
          answers.set(URL_A, () => {
            delivered.push(got.at(-1)?.id ?? "");
            return new Response("ok");
          });
          current = restarted();
          for (let next = current.deliveries.dueAt(); next !== null; next = current.deliveries.dueAt()) {
            now = Math.max(now, next);
            vi.setSystemTime(now);
            await at(now, current);
          }
          expect(deliveries(sql).every(({ state }) => state === "delivered")).toBe(true);
          for (const rule of [0, 1, 2]) {
            const decided = steps.flatMap((each, n) => (each.rule === rule ? [`${rule}-${n}`] : []));
            expect(delivered.filter((id) => id.startsWith(`${rule}-`))).toEqual(decided);
          }
          vi.setSystemTime(START);
        }),
      ),
      { numRuns: 15 },
    );
  });
});

describe("slow receivers", () => {
  it("do not hold the deliveries of others", () =>
    inWorkspace(async ({ core, got, answers, webhook, notify }) => {
      const [slow, quick] = [webhook(URL_A), webhook(URL_B)];
      answers.set(URL_A, () => new Promise<Response>(() => {}));
      for (let n = 0; n < 20; n++) notify({ id: `s${n}`, ruleId: `rule_${n}` }, [slow]);
      core.deliveries.start(START, { requestId: "r", address: null });
      expect(got).toHaveLength(3);
      for (let n = 0; n < 20; n++) notify({ id: `q${n}`, ruleId: `rule_${n}` }, [quick]);
      core.deliveries.start(START, { requestId: "r", address: null });
      await vi.waitFor(() => expect(got.filter(({ url }) => url === URL_B)).toHaveLength(20));
      expect(got.filter(({ url }) => url === URL_A)).toHaveLength(3);
    }));

  it.each([null, START - 1000])(
    "and many deliveries of two destinations do not hold those of a third, whose last attempt failed at %s",
    (failedAt) =>
      inWorkspace(async ({ core, sql, got, answers, webhook, notify }) => {
        const all = ["https://c.example.com/", URL_A, URL_B].map((url) => ({ url, id: webhook(url) }));
        // The order of ids decides nothing.
        const [third, ...busy] = all.sort((a, b) => (a.id < b.id ? 1 : -1));
        sql.exec("UPDATE destinations SET last_failed_at = ? WHERE id = ?", failedAt, third?.id ?? "");
        for (const each of busy)
          for (let n = 0; n < 20; n++) notify({ id: `${each.id}${n}`, ruleId: `r${n}` }, [each.id]);
        for (let n = 0; n < 20; n++) notify({ id: `c${n}`, ruleId: `c${n}` }, [third?.id ?? ""]);
        const open: (() => void)[] = [];
        for (const { url } of busy)
          answers.set(url, () => new Promise((resolve) => open.push(() => resolve(new Response("ok")))));
        core.deliveries.start(START, { requestId: "r", address: null });
        await vi.waitFor(() => expect(got.filter(({ url }) => url === third?.url)).toHaveLength(20));
        // Places that the third leaves are theirs.
        await vi.waitFor(() => expect(open).toHaveLength(6));
        open[0]?.();
        await vi.waitFor(() => expect(open).toHaveLength(7));
      }),
  );

  it("that fail are behind others with as many attempts until they answer again", () =>
    inWorkspace(async ({ core, sql, got, webhook, notify, at }) => {
      const [failed, recovered, quick] = [URL_A, URL_B, "https://c.example.com/"].map((url) => webhook(url));
      const since = (id = "", failedAt: number, deliveredAt: number | null) =>
        sql.exec(
          "UPDATE destinations SET last_failed_at = ?, last_delivered_at = ? WHERE id = ?",
          failedAt,
          deliveredAt,
          id,
        );
      since(failed, START - 2000, null);
      since(recovered, START - 3000, START - 1000);
      for (let n = 0; n < 3; n++)
        notify({ id: `n${n}`, ruleId: `rule_${n}` }, [failed ?? "", recovered ?? "", quick ?? ""]);
      core.deliveries.start(START, { requestId: "r", address: null });
      expect(got.map(({ url }) => url.slice(8, 9)).join("")).toBe("cbacba");
      await at(START);
      expect(got).toHaveLength(9);
    }));
});

describe("an alert at Alertmanager", () => {
  it("is sent again every 5 minutes until its recovery", () =>
    inWorkspace(async ({ core, sql, got, webhook, notify, at }) => {
      const id = webhook();
      sql.exec("UPDATE destinations SET kind = 'alertmanager', secret = NULL");
      notify({ id: "fires" }, [id]);
      await at(START);
      expect([deliveries(sql)[0]?.state, core.deliveries.dueAt()]).toEqual(["repeating", START + 5 * MINUTE]);
      vi.setSystemTime(START + 5 * MINUTE);
      await at(START + 5 * MINUTE);
      expect(got).toHaveLength(2);
      notify({ id: "recovers", kind: "resolved" }, [id]);
      await at(START + 5 * MINUTE);
      expect([got.length, core.deliveries.dueAt()]).toEqual([3, null]);
      expect(deliveries(sql)).toMatchObject([{ state: "delivered" }, { state: "delivered" }]);
    }));
});

describe("a recovery of a group whose text reads as another type", () => {
  it("ends the alert that fired in the version before, which stored no types", () =>
    inWorkspace(async ({ core, sql, webhook, notify, at }) => {
      const id = webhook();
      sql.exec("UPDATE destinations SET kind = 'alertmanager', secret = NULL");
      const group = { g: "500" };
      const groupValues = { g: "500" };
      const stored = () =>
        sql
          .exec<{ series: string; content: string }>("SELECT series, content FROM notifications ORDER BY num")
          .toArray()
          .map(({ series, content }) => ({ series, ...JSON.parse(content) }));
      notify({ id: "fires", group }, [id]);
      await at(START);
      notify({ id: "recovers", kind: "resolved", group, groupValues }, [id]);
      await at(START);
      expect(deliveries(sql)).toMatchObject([{ state: "delivered" }, { state: "delivered" }]);
      expect(core.deliveries.dueAt()).toBeNull();
      const [before, recovery] = stored();
      // PagerDuty's key is made of the stored notification.
      expect([recovery?.series, seriesOf(recovery), recovery?.groupValues]).toEqual([
        before?.series,
        before?.series,
        null,
      ]);

      // The next firing has types, and so has its recovery.
      notify({ id: "fires again", group, groupValues }, [id]);
      notify({ id: "recovers again", kind: "resolved", group, groupValues }, [id]);
      const [, , typed, last] = stored();
      expect(typed?.series).not.toBe(before?.series);
      expect([last?.series, last?.groupValues]).toEqual([typed?.series, groupValues]);
    }));
});

describe("a canary", () => {
  it("is delivered when it is due and once a day, also if the alarm fires more often", () =>
    inWorkspace(async ({ core, sql, got, webhook }) => {
      webhook();
      sql.exec("UPDATE destinations SET canary_at = ?", START);
      for (const now of [START, START, START + DAY - 1, START + DAY]) {
        vi.setSystemTime(now);
        core.deliveries.run(now, { requestId: "r", address: null });
        await core.deliveries.settled();
      }
      expect(got.map(({ type }) => type)).toEqual(["alert.canary", "alert.canary"]);
      expect(new Set(got.map(({ id }) => id)).size).toBe(2);
    }));
});
