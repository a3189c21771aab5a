import { describe, expect, it } from "vitest";
import { ApiFailure, isOutage, OFFLINE } from "../../../web/src/api/failure.ts";
import { Recovery } from "../../../web/src/lib/recovery.ts";

/** Ports with a manual clock. */
function page(random = 0) {
  const timers = new Set<{ at: number; call: () => void }>();
  const state = { now: 0, isHidden: false, waits: [] as number[] };
  const recovery = new Recovery({
    later(milliseconds, call) {
      const timer = { at: state.now + milliseconds, call };
      timers.add(timer);
      state.waits.push(milliseconds);
      return () => timers.delete(timer);
    },
    random: () => random,
    isHidden: () => state.isHidden,
  });
  const pass = (milliseconds: number): void => {
    const end = state.now + milliseconds;
    for (;;) {
      const due = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      timers.delete(due);
      state.now = due.at;
      due.call();
    }
    state.now = end;
  };
  return { recovery, state, pass, timers };
}

describe("3: recovery from an outage", () => {
  it("retries with growing waits of up to 15 s", () => {
    const { recovery, state, pass } = page();
    let tries = 0;
    const fail = (): void => {
      tries++;
      recovery.add(fail);
    };
    recovery.add(fail);
    pass(120_000);
    expect(state.waits.slice(0, 9)).toEqual([250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
    expect(tries).toBe(12);
  });

  it("reduces each wait by a random part of up to half, so that pages do not retry together", () => {
    const { recovery, state } = page(1);
    recovery.add(() => undefined);
    expect(state.waits).toEqual([125]);
  });

  it("retries all failed calls together, with one timer", () => {
    const { recovery, pass, timers } = page();
    const done: string[] = [];
    recovery.add(() => done.push("entries"));
    pass(200);
    recovery.add(() => done.push("histogram"));
    recovery.add(() => done.push("counts"))();
    expect(timers.size).toBe(1);
    pass(50);
    expect(done).toEqual(["entries", "histogram"]);
    pass(60_000);
    expect(done).toHaveLength(2);
  });

  it("retries immediately when the network is back, then with short waits again", () => {
    const { recovery, state, pass } = page();
    let tries = 0;
    const fail = (): void => {
      tries++;
      recovery.add(fail);
    };
    recovery.add(fail);
    pass(10_000);
    const before = tries;
    recovery.now();
    expect(tries).toBe(before + 1);
    expect(state.waits.at(-1)).toBe(250);
  });

  it("waits for the Retry-After of a response", () => {
    const { recovery, state } = page();
    recovery.add(() => undefined, 7000);
    expect(state.waits).toEqual([7000]);
  });

  it("does not retry while the page is hidden, and retries everything when it becomes visible", () => {
    const { recovery, state, pass } = page();
    let tries = 0;
    recovery.add(() => tries++);
    state.isHidden = true;
    pass(60_000);
    expect(tries).toBe(0);
    state.isHidden = false;
    recovery.now();
    expect(tries).toBe(1);
  });

  it("leaves no timer for cancelled retries", () => {
    const { recovery, timers } = page();
    recovery.add(() => undefined)();
    expect(timers.size).toBe(0);
  });

  it("notifies listeners when a call succeeds", () => {
    const { recovery } = page();
    let told = 0;
    const end = recovery.onSuccess(() => told++);
    recovery.succeeded();
    end();
    recovery.succeeded();
    expect(told).toBe(1);
  });

  it("retries only outages, not refusals or limits", () => {
    const of = (status: number, code: string) => isOutage(new ApiFailure("", { status, code }));
    expect([
      of(0, OFFLINE),
      of(503, "SERVICE_UNAVAILABLE"),
      of(502, "UNEXPECTED"),
      of(408, "REQUEST_TIMEOUT"),
      of(200, "UNEXPECTED"),
    ]).toEqual([true, true, true, true, true]);
    expect([
      of(0, "UNEXPECTED"),
      of(400, "VALIDATION_ERROR"),
      of(401, "UNAUTHORIZED"),
      of(429, "RATE_LIMITED"),
    ]).toEqual([false, false, false, false]);
  });
});
