import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { VIOLATION_SCHEMA, ViolationOutbox } from "../../../src/limits/violation-outbox.ts";
import { minuteOf, type RefusedRequest, type Violation } from "../../../src/limits/violations.ts";

/** The beginning of a minute. */
const START = 1_795_000_020_000;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const REQUEST = { identifier: "key:a", rule: "default", limit: 5, windowSeconds: 60 };

/** Runs `work` on the storage of a separate object. */
async function onStorage(name: string, work: (storage: DurableObjectStorage) => void): Promise<void> {
  const stub = env.ADDRESSES.get(env.ADDRESSES.idFromName(name));
  await runInDurableObject(stub, (_, { storage }) => work(storage));
}

function refuse(outbox: ViolationOutbox, at: number, times = 1, request: RefusedRequest = REQUEST): void {
  for (let i = 0; i < times; i++) {
    outbox.recordRefusal(request, at);
    outbox.flush();
  }
}

const rowsOf = (sql: SqlStorage) =>
  sql.exec("SELECT minute, identifier, rule, count, stored FROM violations").toArray();

describe("the outbox of violations", () => {
  test("writes a row for the first refusal of a minute, and for hardly any after it", () =>
    onStorage("rows", ({ sql }) => {
      const outbox = new ViolationOutbox(sql);
      expect(outbox.dueAt).toBeNull();
      refuse(outbox, START);
      expect(rowsOf(sql)).toMatchObject([{ count: 1, stored: 0 }]);
      expect(outbox.dueAt).toBe(START + 2 * SECOND);
      refuse(outbox, START + 1, 98);
      expect(rowsOf(sql)).toMatchObject([{ count: 1 }]);
      refuse(outbox, START + 1);
      expect(rowsOf(sql)).toMatchObject([{ count: 100 }]);
      refuse(outbox, START + 1, 9899);
      expect(rowsOf(sql)).toMatchObject([{ count: 100 }]);
      // One row for each rule, identifier and minute.
      refuse(outbox, START + 1, 1, { ...REQUEST, rule: "POST /logger/:id/log" });
      refuse(outbox, START + 1, 1, { ...REQUEST, identifier: "key:b" });
      refuse(outbox, START + MINUTE, 1);
      expect(rowsOf(sql)).toHaveLength(4);
    }));

  test("enqueues its counts when no refusal is recent, with the first and the last time", () =>
    onStorage("quiet", ({ sql }) => {
      const outbox = new ViolationOutbox(sql);
      refuse(outbox, START + 3, 5);
      refuse(outbox, START + 700, 2, { ...REQUEST, limit: 7 });
      const { violations } = outbox.take(START + 2 * SECOND + 3);
      const times = { minute: minuteOf(START), firstAt: START + 3, lastAt: START + 700 };
      // The limit is that of the last refusal.
      expect(violations).toEqual([{ ...REQUEST, limit: 7, ...times, count: 7 }]);
      expect(rowsOf(sql)).toMatchObject([{ count: 7, stored: 0 }]);
      // Not enqueued again while the message may still arrive.
      expect(outbox.take(START + 10 * SECOND).violations).toEqual([]);
    }));

  test("keeps counts until they are stored and their minute is over, and continues from them after a restart", () =>
    onStorage("kept", ({ sql }) => {
      let outbox = new ViolationOutbox(sql);
      refuse(outbox, START, 5);
      outbox.stored(outbox.take(START + 3 * SECOND).violations, START + 4 * SECOND);
      expect(rowsOf(sql)).toMatchObject([{ count: 5, stored: 5 }]);
      outbox = new ViolationOutbox(sql);
      refuse(outbox, START + 30 * SECOND, 2);
      const { violations } = outbox.take(START + 40 * SECOND);
      expect(violations).toMatchObject([{ count: 7, firstAt: START, lastAt: START + 30 * SECOND }]);
      outbox.stored(violations, START + 41 * SECOND);
      expect(rowsOf(sql)).toMatchObject([{ count: 7, stored: 7 }]);
      outbox = new ViolationOutbox(sql);
      expect(outbox.take(START + MINUTE)).toEqual({ violations: [], dropped: 0 });
      expect(rowsOf(sql)).toEqual([]);
      expect(outbox.dueAt).toBeNull();
    }));

  test("enqueues unconfirmed counts again with growing delays, for a day", () =>
    onStorage("again", ({ sql }) => {
      const outbox = new ViolationOutbox(sql);
      refuse(outbox, START, 5);
      const waits: number[] = [];
      let now = START;
      for (let last = now; outbox.dueAt !== null; ) {
        now = outbox.dueAt;
        const { violations, dropped } = outbox.take(now);
        expect(dropped).toBe(outbox.dueAt === null ? 1 : 0);
        if (violations.length > 0) {
          expect(violations).toMatchObject([{ count: 5 }]);
          waits.push(now - last);
          last = now;
        }
      }
      expect(waits.slice(0, 7).map((ms) => ms / SECOND)).toEqual([2, 60, 120, 240, 480, 900, 900]);
      expect(now - START).toBeGreaterThanOrEqual(24 * HOUR);
      expect(rowsOf(sql)).toEqual([]);
    }));

  test("discards rolled back counts only", () =>
    onStorage("rollback", (storage) => {
      const outbox = new ViolationOutbox(storage.sql);
      const undo = new Error("undo");
      const rolledBack = (flushed: boolean) => {
        try {
          storage.transactionSync(() => {
            outbox.recordRefusal(REQUEST, START);
            if (flushed) outbox.flush();
            throw undo;
          });
        } catch (error) {
          if (error !== undo) throw error;
        }
        outbox.forget();
      };
      rolledBack(false);
      expect(outbox.take(START + 2 * SECOND).violations).toEqual([]);
      refuse(outbox, START, 2);
      rolledBack(false);
      // Even the creation of the table may be rolled back.
      storage.sql.exec("DROP TABLE violations");
      outbox.forget();
      const { violations } = outbox.take(START + 3 * SECOND);
      expect(violations).toMatchObject([{ count: 2 }]);
      expect(rowsOf(storage.sql)).toMatchObject([{ count: 2 }]);
      outbox.stored(violations, START + MINUTE);
      expect(rowsOf(storage.sql)).toEqual([]);
    }));

  test("writes a few rows for a flood of any length", () =>
    onStorage("flood", ({ sql }) => {
      for (const statement of VIOLATION_SCHEMA) sql.exec(statement);
      const before = rowsWritten(sql);
      const outbox = new ViolationOutbox(sql);
      // 100,000 refusals over 50 s, with alarms when they are due.
      let [alarms, messages] = [0, 0];
      for (let at = START; at < START + 2 * HOUR; ) {
        const isFlood = at < START + 50 * SECOND;
        if (isFlood) refuse(outbox, at, 20);
        at += isFlood ? 10 : SECOND;
        if (outbox.dueAt === null || outbox.dueAt > at) continue;
        const { violations } = outbox.take(at);
        alarms++;
        if (violations.length > 0) messages++;
        if (violations.length > 0) outbox.stored(violations, at + 1);
      }
      expect(rowsOf(sql)).toEqual([]);
      expect(messages).toBe(2);
      expect(alarms).toBeLessThanOrEqual(10);
      // The first, the 100th, the 10,000th, the end, stored, deleted.
      expect(rowsWritten(sql) - before).toBeLessThanOrEqual(6);
    }));
});

/** Rows that statements have written to the table, counted by a trigger. */
function rowsWritten(sql: SqlStorage): number {
  sql.exec("CREATE TABLE IF NOT EXISTS written (n INTEGER)");
  for (const event of ["INSERT", "UPDATE", "DELETE"]) {
    sql.exec(
      `CREATE TRIGGER IF NOT EXISTS count_${event} AFTER ${event} ON violations
       BEGIN INSERT INTO written VALUES (1); END`,
    );
  }
  return Number(sql.exec("SELECT COUNT(*) AS n FROM written").one().n);
}

type Step =
  | { do: "refuse"; identifier: string; rule: string; times: number }
  | { do: "pass"; ms: number }
  | { do: "sleep" }
  | { do: "lose" }
  | { do: "repeat"; which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("refuse" as const),
      identifier: fc.constantFrom("key:a", "key:b"),
      rule: fc.constantFrom("default", "POST /logger/:id/log"),
      times: fc.integer({ min: 1, max: 150 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc
      .oneof(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 0, max: 90_000 }))
      .map((ms): Step => ({ do: "pass", ms })),
  },
  { weight: 2, arbitrary: fc.constant<Step>({ do: "sleep" }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: "lose" }) },
  { weight: 1, arbitrary: fc.nat().map((which): Step => ({ do: "repeat", which })) },
);

describe("violations in transit", () => {
  /** The receiver of the messages: counts only rise, as in D1. */
  class Store {
    readonly counts = new Map<string, number>();
    write(violations: readonly Violation[]): void {
      for (const { minute, identifier, rule, count } of violations) {
        const key = `${minute} ${identifier} ${rule}`;
        this.counts.set(key, Math.max(this.counts.get(key) ?? 0, count));
      }
    }
  }

  test("arrive with exact counts, through hibernation and lost, late and repeated messages", () =>
    onStorage("arrive", ({ sql }) => {
      fc.assert(
        fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
          sql.exec("DROP TABLE IF EXISTS violations");
          const store = new Store();
          const expected = new Map<string, number>();
          const sent: Violation[][] = [];
          let outbox = new ViolationOutbox(sql);
          let [now, lastRefusal, lost] = [START, START, false];
          const advance = (to: number) => {
            while (outbox.dueAt !== null && outbox.dueAt <= to) {
              now = Math.max(now, outbox.dueAt);
              const { violations, dropped } = outbox.take(now);
              expect(dropped).toBe(0);
              if (violations.length === 0) continue;
              sent.push(violations);
              if (!lost) deliver(violations);
              lost = false;
            }
            now = to;
          };
          const deliver = (violations: Violation[]) => {
            store.write(violations);
            outbox.stored(violations, now);
          };
          for (const each of steps) {
            if (each.do === "refuse") {
              const { identifier, rule, times } = each;
              refuse(outbox, now, times, { identifier, rule, limit: 5, windowSeconds: 60 });
              const key = `${minuteOf(now)} ${identifier} ${rule}`;
              expected.set(key, (expected.get(key) ?? 0) + times);
              lastRefusal = now;
            } else if (each.do === "pass") advance(now + each.ms);
            else if (each.do === "lose") lost = true;
            else if (each.do === "repeat") {
              const old = sent[each.which % Math.max(1, sent.length)];
              if (old) deliver(old);
            } else {
              // An object hibernates after ten idle seconds and loses its memory.
              advance(Math.max(now, lastRefusal + 10 * SECOND));
              outbox = new ViolationOutbox(sql);
            }
          }
          lost = false;
          advance(now + 4 * HOUR);
          expect(store.counts).toEqual(expected);
          expect(outbox.dueAt).toBeNull();
          const isTable = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'violations'").toArray().length > 0;
          expect(isTable ? rowsOf(sql) : []).toEqual([]);
        }),
        { numRuns: 300 },
      );
    }));
});
