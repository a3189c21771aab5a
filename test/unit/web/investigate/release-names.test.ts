import { expect, it } from "vitest";
import type { Release } from "../../../../web/src/charts/releases.ts";
import { listedNames } from "../../../../web/src/charts/releases.ts";
import { zone } from "../../../../web/src/lib/zone.ts";
import type { MemberChange, ReleaseChanges } from "../../../../web/src/pages/investigate/releases/release-changes.ts";
import {
  changingFirst,
  firstChange,
  markDescription,
  markLabel,
  markTooltip,
} from "../../../../web/src/pages/investigate/releases/release-names.ts";

zone.value = "UTC";

const AT = Date.UTC(2026, 10, 27, 14, 23, 28);
const HOUR = 3_600_000;

function release(version: string, at = AT): Release {
  return { service: "payments", version, at, previous: null };
}

function changed(...members: MemberChange[]): ReleaseChanges {
  return { previous: "5.7.3", members };
}

/** The lines of a tooltip, without the times, which depend on the locale. */
function lines(releases: readonly Release[], changes: readonly ReleaseChanges[] | null): string[] {
  return markTooltip(releases, changes)
    .replaceAll(/, [^\n]*?14:23:28/g, "")
    .split("\n");
}

const TIMEOUT = { name: "timeoutMs.nordpay", before: "3000", now: "300" };

it("19: a mark shows what its release changed once that is known, and what a click does", () => {
  const one = [release("5.8.0")];
  const click = "Click for a menu: compare before and after, show its first entries";
  expect(lines(one, null)).toEqual(["Release payments 5.8.0", click]);
  expect(lines(one, [changed(TIMEOUT)])).toEqual([
    "Release payments 5.8.0",
    "timeoutMs.nordpay\u00a03000\u00a0\u2192\u00a0300",
    click,
  ]);
  const many = Array.from({ length: 5 }, (_, n) => ({ name: `m${n}`, before: null, now: "x".repeat(99) }));
  const told = lines(one, [changed(...many)]);
  expect(told.slice(1)).toEqual(
    [..."012"].map((n) => `m${n} none \u2192 ${"x".repeat(60)}\u2026`).concat("2 more", click),
  );
  expect(lines(one, [changed()])).toEqual(["Release payments 5.8.0", "No changed setting found", click]);
  expect(lines(one, [{ previous: null, members: null }])).toEqual([
    "Release payments 5.8.0",
    "No version before it in the last 30 days",
    click,
  ]);
  expect(markDescription(one, null)).toBeUndefined();
  expect(markDescription(one, [changed(TIMEOUT)])).toBe("timeoutMs.nordpay\u00a03000\u00a0\u2192\u00a0300");
  expect(markDescription(one, [changed()])).toBe("No changed setting found");
  expect(markDescription(one, [{ previous: null, members: null }])).toBe("No version before it in the last 30 days");
});

it("19: a mark of several releases shows the first change of each, those that changed a setting first", () => {
  const click = "Click for a menu: compare before and after, show their first entries";
  const two = [release("5.8.0"), release("5.8.1")];
  expect(lines(two, null)).toEqual(["payments 5.8.0", "payments 5.8.1", click]);
  expect(lines(two, [changed(TIMEOUT, TIMEOUT), changed()])).toEqual([
    "\u25c6 payments 5.8.0: timeoutMs.nordpay\u00a03000\u00a0\u2192\u00a0300, 1 more",
    "\u25cf payments 5.8.1",
    click,
  ]);
  expect(markDescription(two, [changed(TIMEOUT, TIMEOUT), changed()])).toMatch(
    /^\u25c6 payments 5\.8\.0, .*: timeoutMs\.nordpay\u00a03000\u00a0\u2192\u00a0300, 1 more; \u25cf payments 5\.8\.1, [^;]*$/,
  );
  // The culprit comes before an innocent release, and is not among those that are only counted.
  expect(lines(two, [changed(), changed(TIMEOUT)])).toEqual([
    "\u25c6 payments 5.8.1: timeoutMs.nordpay\u00a03000\u00a0\u2192\u00a0300",
    "\u25cf payments 5.8.0",
    click,
  ]);
  const six = Array.from({ length: 6 }, (_, n) => release(`1.${n}`));
  expect(lines(six, null).slice(3)).toEqual(["payments 1.3", "2 more", click]);
  const last = six.map((_, n) => changed(...(n === 5 ? [TIMEOUT] : [])));
  expect(lines(six, last).slice(0, 2)).toEqual([
    "\u25c6 payments 1.5: timeoutMs.nordpay\u00a03000\u00a0\u2192\u00a0300",
    "\u25cf payments 1.0",
  ]);
  // The box lists them in the same order, and the label names those that changed a setting.
  const changesIn = (all: readonly ReleaseChanges[]) => (each: Release) => all[six.indexOf(each)];
  expect(changingFirst(six, changesIn(last)).map(({ version }) => version)).toEqual([
    "1.5",
    "1.0",
    "1.1",
    "1.2",
    "1.3",
    "1.4",
  ]);
  expect(markLabel(six, changesIn(last))).toBe("payments 1.5");
  expect(markLabel(six, changesIn([changed(TIMEOUT), changed(), changed(TIMEOUT)]))).toBe("payments 1.0 +1");
  expect(markLabel(six, () => undefined)).toBe("");
});

it("19: a chart lists its newest releases with their times, with the day if they are of several", () => {
  const times = (...hours: number[]) => hours.map((each, n) => release(`1.${n}`, AT + each * HOUR));
  expect(listedNames(times(0, 1))).toEqual({
    names: ["payments 1.0 14:23", "payments 1.1 15:23"],
    earlier: 0,
  });
  const { names, earlier } = listedNames(times(0, 1, 2, 3, 4, 5, 6, 7, 8, 20));
  expect(earlier).toBe(2);
  expect(names).toHaveLength(8);
  expect(names[0]).toMatch(/^payments 1\.2 .*27.*16:23$/);
  expect(names.at(-1)).toMatch(/^payments 1\.9 .*28.*10:23$/);
});

it("19: an old value, an arrow and a new value are in one line, unless they are too long for it", () => {
  const NBSP = "\u00a0";
  const text = (name: string, before: string, now: string) => firstChange(changed({ name, before, now }));
  const values = `3000${NBSP}\u2192${NBSP}300`;
  expect(text("timeoutMs.nordpay", "3000", "300")).toBe(`timeoutMs.nordpay${NBSP}${values}`);
  expect(text("n".repeat(30), "3000", "300")).toBe(`${"n".repeat(30)} ${values}`);
  expect(text("n", "b".repeat(40), "300")).toBe(`n ${"b".repeat(40)} \u2192 300`);
});
