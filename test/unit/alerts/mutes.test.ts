import fc from "fast-check";
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

/** Whether a mute is in effect, by what the clock of its time zone shows. */
function isMutedBy({ days, start, end, timeZone }: MutedHours, time: number): boolean {
  const shown = (wanted: Intl.DateTimeFormatOptions, when: number) =>
    new Intl.DateTimeFormat("en-GB", { timeZone, ...wanted }).format(when);
  const [hour = 0, minute = 0] = shown({ hour: "2-digit", minute: "2-digit" }, time).split(":").map(Number);
  const clock = hour * 60 + minute;
  const begun = clock >= start ? time : time - (clock + 180) * 60_000;
  const isDay = days.some((day) => day === shown({ weekday: "short" }, begun).toLowerCase());
  return isDay && (end > start ? clock >= start && clock < end : clock >= start || clock < end);
}

const hours = fc.record({
  days: fc.subarray([...WEEKDAYS], { minLength: 1 }),
  // Outside of the hours in which clocks are changed.
  start: fc.integer({ min: 5 * 60, max: 22 * 60 }),
  end: fc.integer({ min: 5 * 60, max: 22 * 60 }),
  timeZone: fc.constantFrom(
    "Europe/Berlin",
    "America/St_Johns",
    "Australia/Lord_Howe",
    "Pacific/Chatham",
    "Asia/Kolkata",
  ),
});

test("Whether a mute is in effect is what the clock of its time zone shows, on days of its changes, too", () => {
  const near = fc
    .record({
      // Changes of the clocks of Berlin, St John's and Lord Howe, and a day without one.
      day: fc.constantFrom("2026-03-29", "2026-03-08", "2026-04-04", "2026-10-03", "2026-11-01", "2026-07-15"),
      minutes: fc.integer({ min: -1440, max: 2880 }),
    })
    .map(({ day, minutes }) => at(`${day}T00:00:00.000Z`) + minutes * 60_000);
  fc.assert(
    fc.property(hours, near, (mute, time) => {
      expect(mutedUntil([mute], time) !== null).toBe(isMutedBy(mute, time));
    }),
    { numRuns: 300 },
  );
});

test("A search among mutes that follow each other for a week is made once", () => {
  const length = 72;
  const mutes = Array.from({ length: 20 }, (_, n): MutedHours => {
    return { days: WEEKDAYS, start: n * length, end: ((n + 1) * length) % 1440, timeZone: "UTC" };
  });
  let reads = 0;
  const counted = mutes.map((mute) => {
    const get = () => {
      reads++;
      return mute.days;
    };
    return Object.defineProperty({ ...mute }, "days", { get });
  });
  const now = at("2026-11-27T12:00:00.000Z");
  const first = mutedUntil(counted, now);
  const readsOfOne = reads;
  for (let after = 0; after < 1000; after++) expect(mutedUntil(counted, now + after * 1000)).toBe(first);
  expect(reads).toBe(readsOfOne);
});

test("Time zones are those of the runtime", () => {
  expect(["Europe/Berlin", "UTC", "America/New_York", "Mars/Base", ""].map(isTimeZone)).toEqual([
    ...[true, true, true, false, false],
  ]);
});
