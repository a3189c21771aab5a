import { expect, it } from "vitest";
import { foundZones, offsetText, zoneItems } from "../../../../web/src/pages/explorer/toolbar/zone-list.ts";

const NOW = Date.parse("2026-11-27T12:00:00Z");
const ZONES = zoneItems(["Europe/Berlin", "UTC", "Asia/Tokyo", "UTC", ...Intl.supportedValuesOf("timeZone")], NOW);
const found = (text: string) => foundZones(ZONES, text).map(({ name }) => name);

it("has each zone once, the first ones first", () => {
  const names = found("");
  expect(names.slice(0, 3)).toEqual(["Europe/Berlin", "UTC", "Asia/Tokyo"]);
  expect(new Set(names).size).toBe(names.length);
});

it("is found by any part of a name, starts of words first", () => {
  expect(found("tok")).toEqual(["Asia/Tokyo", "Antarctica/Vostok", "Asia/Vladivostok"]);
  expect(found("asia/tok")).toEqual(["Asia/Tokyo"]);
  expect(found("New York")).toContain("America/New_York");
  expect(found("kyo")).toEqual(["Asia/Tokyo"]);
  // Not Asia/Bangkok and others, which have it inside.
  expect(found("ko")[0]).toMatch(/[/_]ko/i);
  expect(found("atlantis")).toEqual([]);
});

it("is found by its offset", () => {
  for (const text of ["+9", "UTC+9", "gmt +09:00", "+0900"]) expect(found(text), text).toContain("Asia/Tokyo");
  expect(found("+1")).not.toContain("Asia/Tokyo");
  expect(found("-3:30")).toContain("America/St_Johns");
  expect(found("+3:30")).not.toContain("America/St_Johns");
  expect(found("+0")).toContain("UTC");
  expect(found("-0")).toContain("UTC");
});

it("shows its offset", () => {
  expect([540, -210, 0].map(offsetText)).toEqual(["+09:00", "-03:30", "+00:00"]);
});
