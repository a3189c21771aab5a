import { afterEach, describe, expect, it } from "vitest";
import { clockText, readClock } from "../../../web/src/lib/clock-text.ts";
import { isTwelveHour } from "../../../web/src/lib/zone.ts";

afterEach(() => {
  isTwelveHour.value = false;
});

describe("a time of day", () => {
  it("is written by the reader's clock, and read again", () => {
    for (const [time, half] of [
      ["00:00", "12:00 AM"],
      ["00:05", "12:05 AM"],
      ["09:30", "9:30 AM"],
      ["12:00", "12:00 PM"],
      ["23:59", "11:59 PM"],
    ] as const) {
      isTwelveHour.value = false;
      expect(clockText(time)).toBe(time);
      isTwelveHour.value = true;
      expect([clockText(time), readClock(half)]).toEqual([half, time]);
    }
  });

  it.each([
    ["22:30", "22:30"],
    [" 9:30 ", "09:30"],
    ["22", "22:00"],
    ["2230", "22:30"],
    ["930", "09:30"],
    ["22.30", "22:30"],
    ["24:00", "00:00"],
    ["10pm", "22:00"],
    ["10:30 p.m.", "22:30"],
    ["10:30\u202fPM", "22:30"],
    ["12 am", "00:00"],
  ])("is read from %j", (text, time) => expect(readClock(text)).toBe(time));

  it.each(["", "x", "25:00", "24:01", "9:3", "9:60", "13 pm", "0 am", "22:30:10", "-1"])(
    "is not read from %j",
    (text) => expect(readClock(text)).toBeNull(),
  );
});
