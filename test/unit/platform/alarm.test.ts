import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Duties, type Duty, type DutyPorts, SharedAlarm } from "../../../src/platform/alarm.ts";
import { newAlarmOrigin } from "../../../src/platform/origin.ts";

const START = 1_800_000_000_000;
const origin = newAlarmOrigin();

beforeEach(() => vi.useFakeTimers({ now: START }));
afterEach(() => vi.useRealTimers());

/** An alarm whose storage records the times that are written. */
function newAlarm(at: number | null = null) {
  const written: number[] = [];
  const setAlarm = async (time: number | Date) => void written.push(Number(time) - START);
  return { alarm: new SharedAlarm({ getAlarm: async () => at, setAlarm }), written };
}

interface Setup {
  written: number[];
  ran: string[];
  failed: string[];
  duties: Duties;
}

/** Duties that record when they run. A step that returns a time makes its duty due again after that number of milliseconds. */
function newDuties(
  steps: Record<string, () => number | null | Promise<number | null>>,
  ports: Partial<DutyPorts> = {},
) {
  const { alarm, written } = newAlarm();
  const ran: string[] = [];
  const failed: string[] = [];
  const list = Object.entries(steps).map(([name, step]): Duty => {
    let dueAt: number | null = START;
    const done = (ms: number | null) => {
      ran.push(name);
      dueAt = ms === null ? null : Date.now() + ms;
    };
    return {
      name,
      dueAt: () => dueAt,
      run: () => {
        const result = step();
        return result instanceof Promise ? result.then(done) : done(result);
      },
    };
  });
  const duties = new Duties(alarm, list, {
    applies: () => true,
    failed: ({ name }) => void failed.push(name),
    ...ports,
  });
  return { written, ran, failed, duties } satisfies Setup;
}

describe("an alarm shared by duties", () => {
  it("is written only for an earlier time", () => {
    const { alarm, written } = newAlarm();
    for (const at of [500, 500, 900, 400, 400]) alarm.by(START + at);
    expect(written).toEqual([500, 400]);
  });

  it("is written at any time after it has fired", () => {
    const { alarm, written } = newAlarm();
    alarm.by(START + 100);
    alarm.forget();
    alarm.by(START + 900);
    expect(written).toEqual([100, 900]);
  });

  it("keeps an earlier time that an instance before has set", async () => {
    const { alarm, written } = newAlarm(START + 100);
    await alarm.load();
    alarm.by(START + 200);
    expect(written).toEqual([]);
  });
});

describe("duties", () => {
  it("run in order, and set the alarm once, for the earliest of them", async () => {
    const { duties, ran, written } = newDuties({ a: () => 3000, b: () => null, c: () => 2000 });
    expect(await duties.fire(origin)).toBe(true);
    expect([ran, written]).toEqual([["a", "b", "c"], [2000]]);
  });

  it("need no alarm if none of them is due", async () => {
    const { duties, written } = newDuties({ a: () => null, b: async () => null });
    expect(await duties.fire(origin)).toBe(false);
    expect(written).toEqual([]);
  });

  it("run only if the object has them, also if one of them ends the object", async () => {
    let isDeleted = false;
    const destroy = async () => {
      isDeleted = true;
      return null;
    };
    const applies = () => !isDeleted;
    const { duties, ran } = newDuties({ a: () => 1000, b: destroy, c: () => 1000 }, { applies });
    expect(await duties.fire(origin)).toBe(false);
    expect(ran).toEqual(["a", "b"]);
  });

  it("that are done have an alarm before another one waits", async () => {
    let end = () => {};
    const wait = () => new Promise<null>((resolve) => (end = () => resolve(null)));
    const { duties, written } = newDuties({ a: () => 3000, b: wait, c: () => 2000 });
    const fired = duties.fire(origin);
    expect(written).toEqual([3000]);
    end();
    await fired;
    expect(written).toEqual([3000, 2000]);
  });

  it("run although another one throws, which is repeated ever later", async () => {
    let throws = true;
    const fails = () => {
      if (throws) throw new Error("broken");
      return null;
    };
    const { duties, ran, failed, written } = newDuties({ sync: fails, async: async () => fails(), last: () => null });
    for (const at of [0, 30_000, 90_000]) {
      vi.setSystemTime(START + at);
      await duties.fire(origin);
    }
    expect(ran).toEqual(["last", "last", "last"]);
    expect(failed).toEqual(["sync", "async", "sync", "async", "sync", "async"]);
    expect(written).toEqual([30_000, 90_000, 210_000]);
    throws = false;
    vi.setSystemTime(START + 210_000);
    expect(await duties.fire(origin)).toBe(false);
  });

  it("get the duties that the alarm fired for", async () => {
    const fired: string[][] = [];
    const { alarm } = newAlarm();
    const duty = (name: string, at: number | null): Duty => {
      return { name, dueAt: () => at, run: (_now, _origin, due) => void fired.push([...due].map((one) => one.name)) };
    };
    const list = [duty("past", START - 1), duty("now", START), duty("later", START + 1), duty("never", null)];
    await new Duties(alarm, list, { applies: () => true, failed: () => {} }).fire(origin);
    expect(fired[0]).toEqual(["past", "now"]);
  });

  it("never set an alarm in the past", () => {
    const { duties, written } = newDuties({ a: () => null });
    vi.setSystemTime(START + 5000);
    duties.arm(Date.now());
    duties.arm(Date.now());
    expect(written).toEqual([5000]);
  });
});
