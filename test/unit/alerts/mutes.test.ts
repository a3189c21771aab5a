import { describe, expect, test } from "vitest";
import { isTimeZone, type MutedHours, mutedUntil, WEEKDAYS } from "../../../src/alerts/mutes.ts";

const at = (text: string) => Date.parse(text);
const until = (mute: MutedHours, time: string) => {
  const end = mutedUntil([mute], at(time));
  return end === null ? null : new Date(end).toISOString();
};
const night: MutedHours = { days: ["fri"], start: 22 * 60, end: 6 * 60, timeZone: "Europe/Berlin" };

describe("Hours of days of the week", () => {
  test("are those of the time zone's clock, and may end on the next day", () => {
    // 2026-11-27 is a Friday. Berlin is an hour ahead of UTC.
    expect(until(night, "2026-11-27T20:59:59.999Z")).toBe(null);
    expect(until(night, "2026-11-27T21:00:00.000Z")).toBe("2026-11-28T05:00:00.000Z");
    expect(until(night, "2026-11-28T04:59:59.999Z")).toBe("2026-11-28T05:00:00.000Z");
    expect(until(night, "2026-11-28T05:00:00.000Z")).toBe(null);
    expect(until(night, "2026-11-28T21:30:00.000Z")).toBe(null);
  });

  test("follow the clock through a change to and from summer time", () => {
    const sunday: MutedHours = { ...night, days: ["sat"], start: 23 * 60, end: 5 * 60 };
    expect(until(sunday, "2026-03-29T00:00:00.000Z")).toBe("2026-03-29T03:00:00.000Z");
    expect(until(sunday, "2026-10-25T00:00:00.000Z")).toBe("2026-10-25T04:00:00.000Z");
  });

  test("of each day without a gap last for days, and no search for their end is endless", () => {
    const always: MutedHours = { days: WEEKDAYS, start: 0, end: 0, timeZone: "UTC" };
    const now = at("2026-11-27T12:00:00.000Z");
    expect(mutedUntil([always], now)).toBeGreaterThan(now + 7 * 24 * 3_600_000);
  });

  test("continue with a mute until a time that begins in them", () => {
    const span = { from: at("2026-11-28T05:00:00.000Z"), to: at("2026-11-28T09:00:00.000Z") };
    expect(mutedUntil([span, night], at("2026-11-27T23:00:00.000Z"))).toBe(span.to);
  });
});

test("Time zones are those of the runtime", () => {
  expect(["Europe/Berlin", "UTC", "America/New_York", "Mars/Base", ""].map(isTimeZone)).toEqual([
    ...[true, true, true, false, false],
  ]);
});
