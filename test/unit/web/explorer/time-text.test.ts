import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { timeAt, wallTime } from "../../../../web/src/lib/wall-time.ts";
import { withPlainDate } from "../../../../web/src/pages/explorer/view/named-date.ts";
import { lastLabel, lastOf, lastRange, zoomedOut } from "../../../../web/src/pages/explorer/view/range.ts";
import { readMoment, readTimeText, weekdayOf, writtenTime } from "../../../../web/src/pages/explorer/view/time-text.ts";

/** The form of a time in the label of a range. */
const SHOWN = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" } as const;
/** A Sunday. */
const NOW = Date.parse("2026-11-22T16:30:00Z");

describe("one time", () => {
  it("is read as it is written", () => {
    for (const zone of ["UTC", "Asia/Kathmandu"]) expect(readMoment(writtenTime(NOW, zone), NOW, zone)).toBe(NOW);
    expect(writtenTime(NOW, "Europe/Berlin")).toBe("2026-11-22 17:30");
    expect(readMoment("24:00", NOW, "UTC")).toBe(Date.parse("2026-11-23T00:00:00Z"));
    // A mute may begin later today, or on the next day of a name.
    expect(readMoment("22:00", NOW, "UTC")).toBe(Date.parse("2026-11-22T22:00:00Z"));
    expect(readMoment("mon 9:00", NOW, "UTC")).toBe(Date.parse("2026-11-23T09:00:00Z"));
    for (const text of ["", "ten", "2026-11-31", "22:61"]) expect(readMoment(text, NOW, "UTC")).toBeNull();
  });

  it.each([
    ["nov 30 9:00", "2026-11-30T09:00"],
    ["nov 23", "2026-11-23T00:00"],
    ["jan 2", "2027-01-02T00:00"],
    ["nov 20 2026", "2026-11-20T00:00"],
    ["2026-11-20 22:00", "2026-11-20T22:00"],
    ["monday 9:00", "2026-11-30T09:00"],
    ["monday 11:00", "2026-11-23T11:00"],
    ["monday", "2026-11-30T00:00"],
    ["sunday", "2026-11-29T00:00"],
    ["tuesday 9:00", "2026-11-24T09:00"],
    ["today 9:00", "2026-11-23T09:00"],
    ["tomorrow", "2026-11-24T00:00"],
    ["tomorrow 9:00", "2026-11-24T09:00"],
    ["yesterday 22:00", "2026-11-22T22:00"],
  ])("is the next one without a year or a date: on a Monday at 10:00 %s", (text, expected) => {
    const now = Date.parse("2026-11-23T10:00:00Z");
    expect(readMoment(text, now, "UTC")).toBe(Date.parse(`${expected}Z`));
  });
});

function read(text: string, zone = "UTC", now = NOW): unknown {
  const found = readTimeText(text, now, zone);
  if (!found.ok) return found.message;
  const { range } = found;
  if (range.kind === "last") return range.preset;
  return range.kind === "all" ? "all" : [range.from, range.to].map((time) => time?.replace(":00.000Z", "") ?? null);
}

describe("a typed time range", () => {
  it.each([
    ["last 90m", "90m"],
    ["90m", "90m"],
    ["last 90 minutes", "90m"],
    ["Past 2 Days", "2d"],
    ["last hour", "1h"],
    ["all", "all"],
    ["yesterday 14:00..15:00", ["2026-11-21T14:00", "2026-11-21T15:00"]],
    ["14:00..15:00", ["2026-11-22T14:00", "2026-11-22T15:00"]],
    ["2pm..3:15pm", ["2026-11-22T14:00", "2026-11-22T15:15"]],
    ["yesterday", ["2026-11-21T00:00", "2026-11-22T00:00"]],
    ["today", ["2026-11-22T00:00", null]],
    ["2026-11-20", ["2026-11-20T00:00", "2026-11-21T00:00"]],
    ["2026-11-20..2026-11-21", ["2026-11-20T00:00", "2026-11-22T00:00"]],
    ["2026-11-20 22:00..2026-11-21 02:00", ["2026-11-20T22:00", "2026-11-21T02:00"]],
    ["2026-11-20T22:00 to 2026-11-21T02:00", ["2026-11-20T22:00", "2026-11-21T02:00"]],
    ["since 9:30", ["2026-11-22T09:30", null]],
    ["before yesterday", [null, "2026-11-21T00:00"]],
    ["14:00..now", ["2026-11-22T14:00", "2026-11-22T16:30"]],
    ["Nov 21, 08:00 – 10:30", ["2026-11-21T08:00", "2026-11-21T10:30"]],
    ["Nov 21, 08:00–10:30", ["2026-11-21T08:00", "2026-11-21T10:30"]],
    ["21 November 08:00 - 10:30", ["2026-11-21T08:00", "2026-11-21T10:30"]],
    ["Nov 21 8:00-10:30", ["2026-11-21T08:00", "2026-11-21T10:30"]],
    ["Nov 21, 08:00 AM – 02:30 PM", ["2026-11-21T08:00", "2026-11-21T14:30"]],
    ["Before Nov 21, 08:00", [null, "2026-11-21T08:00"]],
    ["dec 31..jan 1", ["2025-12-31T00:00", "2026-01-02T00:00"]],
    ["Nov 20 – Nov 30", ["2026-11-20T00:00", "2026-12-01T00:00"]],
    ["Sep 3 2025", ["2025-09-03T00:00", "2025-09-04T00:00"]],
    ["2026-11-20T22:00-05:00..2026-11-21T02:00-05:00", ["2026-11-21T03:00", "2026-11-21T07:00"]],
    ["2pm..3pm", ["2026-11-22T14:00", "2026-11-22T15:00"]],
    ["monday", ["2026-11-16T00:00", "2026-11-17T00:00"]],
    ["since Monday", ["2026-11-16T00:00", null]],
    ["mon 14:00..15:00", ["2026-11-16T14:00", "2026-11-16T15:00"]],
    ["tues 2pm – 3pm", ["2026-11-17T14:00", "2026-11-17T15:00"]],
    ["mon..wed", ["2026-11-16T00:00", "2026-11-19T00:00"]],
    ["fri 22:00..sat 02:00", ["2026-11-20T22:00", "2026-11-21T02:00"]],
    ["sunday", ["2026-11-22T00:00", null]],
    // After midnight.
    ["22:00..02:00", ["2026-11-21T22:00", "2026-11-22T02:00"]],
    ["23:30..00:30", ["2026-11-21T23:30", "2026-11-22T00:30"]],
    ["2026-11-20 22:00..22:00", ["2026-11-20T22:00", "2026-11-21T22:00"]],
    ["fri 10pm..2am", ["2026-11-20T22:00", "2026-11-21T02:00"]],
    // Later than now on this day of the week: a week ago.
    ["sun 17:00..18:00", ["2026-11-15T17:00", "2026-11-15T18:00"]],
  ])("%s", (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it.each([
    "",
    "soon",
    "14",
    "25:00",
    "14:60",
    "2026-02-30",
    "Feb 30",
    "Nov 275",
    "Nov 21 2026 7",
    // Not into the future.
    "15:00..14:00",
    "2026-11-20 15:00..2026-11-20 14:00",
    "a..b..c",
    "last 5 parsecs",
    "13pm",
    "9999999d",
    "..",
    "since ",
  ])("says what is wrong with %j", (text) => {
    expect(read(text)).toEqual(expect.any(String));
    expect(String(read(text))).toMatch(/\.$/);
  });

  it.each([
    ["19:00..20:15", ["2026-11-27T19:00", "2026-11-27T20:15"]],
    ["since 19:00", ["2026-11-27T19:00", null]],
    ["before 19:00", [null, "2026-11-27T19:00"]],
    ["19:00", ["2026-11-27T19:00", "2026-11-27T19:01"]],
    ["22:00..now", ["2026-11-27T22:00", "2026-11-28T00:46"]],
    ["00:30..00:45", ["2026-11-28T00:30", "2026-11-28T00:45"]],
    // It has begun, so it goes on.
    ["00:30..02:00", ["2026-11-28T00:30", "2026-11-28T02:00"]],
    ["00:46", ["2026-11-28T00:46", null]],
    ["today 19:00..20:15", ["2026-11-28T19:00", "2026-11-28T20:15"]],
    ["2026-11-28 19:00..20:15", ["2026-11-28T19:00", "2026-11-28T20:15"]],
  ])("begins with the last time that the clock showed it: at 00:46 %s", (text, expected) => {
    expect(read(text, "UTC", Date.parse("2026-11-28T00:46:00Z"))).toEqual(expected);
  });

  it("begins with the last time also by the clock of another zone, and across its changes", () => {
    const now = Date.parse("2026-11-27T23:30:00Z");
    expect(read("19:00..20:15", "Europe/Berlin", now)).toEqual(["2026-11-27T18:00", "2026-11-27T19:15"]);
    expect(read("0:15..0:20", "Europe/Berlin", now)).toEqual(["2026-11-27T23:15", "2026-11-27T23:20"]);
    expect(read("saturday", "Europe/Berlin", now)).toEqual(["2026-11-27T23:00", null]);
    expect(read("saturday", "UTC", now)).toEqual(["2026-11-21T00:00", "2026-11-22T00:00"]);
    expect(read("8:00..9:00", "America/Los_Angeles", Date.parse("2026-11-27T09:00:00Z"))).toEqual([
      "2026-11-26T16:00",
      "2026-11-26T17:00",
    ]);
    // The clock was put back at 03:00 of the 25th: the evening before was at +02:00.
    const changed = Date.parse("2026-10-25T02:30:00Z");
    expect(read("19:00..20:00", "Europe/Berlin", changed)).toEqual(["2026-10-24T17:00", "2026-10-24T18:00"]);
  });

  it.each(["en-US", "en-GB", "de", "fr", "es", "it", "pl", "ja"])(
    "reads days of the week as %s writes them",
    (locale) => {
      for (const weekday of ["long", "short"] as const) {
        const format = new Intl.DateTimeFormat(locale, { weekday, timeZone: "UTC" });
        for (let day = 0; day < 7; day++) {
          const text = format.format(Date.UTC(2026, 10, 22 + day)).toLowerCase();
          expect(weekdayOf(text, [locale]), text).toBe(day);
        }
      }
    },
  );

  it("is one of the chosen zone", () => {
    expect(read("yesterday 14:00..15:00", "Europe/Berlin")).toEqual(["2026-11-21T13:00", "2026-11-21T14:00"]);
    expect(read("today", "Pacific/Auckland")).toEqual(["2026-11-22T11:00", null]);
    // The day on which the clock is put back has 25 hours.
    expect(read("2026-10-25", "Europe/Berlin")).toEqual(["2026-10-24T22:00", "2026-10-25T23:00"]);
  });

  it.each(["en-US", "en-GB", "de", "fr", "es", "it", "ja", "pt-BR", "pl"])(
    "reads dates as %s writes them",
    (locale) => {
      for (const month of [1, 2, 3, 5, 7, 9, 11, 12]) {
        const time = Date.UTC(2026, month - 1, 9, 8, 5);
        const today = { year: 2026, month: 12, day: 31 };
        for (const date of [{ dateStyle: "medium", timeStyle: "short" }, SHOWN] as const) {
          const format = new Intl.DateTimeFormat(locale, { ...date, hourCycle: "h23", timeZone: "UTC" });
          const text = format.format(time).toLowerCase().replaceAll(/\s+/g, " ");
          const read = withPlainDate(text, today, null, [locale]);
          expect(read, text).toMatch(new RegExp(`^2026-${String(month).padStart(2, "0")}-09 0?8:05$`));
        }
      }
    },
  );

  it("never fails", () => {
    const unit = fc.constantFrom(
      "today",
      "yesterday",
      "..",
      " ",
      "14:00",
      "2026-11-20",
      "last",
      "9",
      "m",
      "pm",
      "-",
      "since",
      "nov",
      "Nov 21",
      "mon",
      ", ",
      "–",
      "z",
      "t",
    );
    fc.assert(fc.property(fc.string({ unit, maxLength: 8 }), (text) => void read(text, "Asia/Kolkata")));
  });
});

describe("the clock of a zone", () => {
  it("is read back as the time that it shows", () => {
    const zone = fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe");
    fc.assert(
      fc.property(zone, fc.integer({ min: 0, max: 4_000_000_000 }), (name, seconds) => {
        const wall = wallTime(seconds * 1000, name);
        // An hour that occurs twice is one of its two times.
        expect(wallTime(timeAt(wall, name), name)).toEqual(wall);
      }),
    );
  });
});

describe("a relative range", () => {
  it("has any length up to a year, and a label", () => {
    expect(lastRange("90m")).toEqual({ kind: "last", preset: "90m" });
    for (const text of ["0m", "m", "400d", "1y", "12345s", " 5m"]) expect(lastRange(text)).toBeNull();
    expect(["90m", "1h", "24h", "2w", "1s"].map(lastLabel)).toEqual([
      "Last 90 minutes",
      "Last hour",
      "Last 24 hours",
      "Last 2 weeks",
      "Last second",
    ]);
  });

  it("doubles and ends now, until it is all time", () => {
    const times = { start: 0, end: 1 };
    const seen: string[] = [];
    for (let range = lastOf(900_000); range.kind === "last"; range = zoomedOut(range, times, NOW)) {
      seen.push(range.preset);
      expect(lastRange(range.preset)).toEqual(range);
    }
    expect(seen.slice(0, 8)).toEqual(["15m", "30m", "1h", "2h", "4h", "8h", "16h", "32h"]);
  });
});
