import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { textsOf } from "../../../src/alerts/decisions.ts";
import { countedOf, watchOf } from "../../../src/alerts/definition.ts";
import {
  bounded,
  cut,
  NOTIFICATION_LIMITS,
  type Notification,
} from "../../../src/alerts/notifications/notification.ts";
import { seriesOf } from "../../../src/alerts/notifications/series.ts";
import { fillTemplate, groupText, shownGroup } from "../../../src/alerts/template.ts";

const PLACE = { origin: "https://logs.example.com", workspaceId: "ws_1", projectId: "proj_1" };
const NOTIFICATION: Notification = {
  id: "n1",
  projectId: "proj_1",
  ruleId: "rule_1",
  ruleVersion: 1,
  kind: "firing",
  group: { route: "/pay", host: "a" },
  value: 12,
  window: { from: "2026-11-01T00:00:00.000Z", to: "2026-11-01T00:05:00.000Z" },
  seqRange: { from: 1, to: 40 },
  title: "Errors",
  message: "12 errors",
  labels: { severity: "critical" },
  link: "https://logs.example.com/w/a/logs",
  destinationIds: ["dest_1"],
  decidedAt: "2026-11-01T00:05:00.000Z",
};

describe("the series of a notification", () => {
  it("is the same for the same rule and group, in any order of the fields", () => {
    const turned = { ...NOTIFICATION, id: "n2", kind: "resolved" as const, group: { host: "a", route: "/pay" } };
    expect(seriesOf(turned)).toBe(seriesOf(NOTIFICATION));
  });

  it("differs by rule and by any difference of the group", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), fc.dictionary(fc.string(), fc.string()), (a, b) => {
        const same = JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());
        const [one, two] = [a, b].map((group) => seriesOf({ ...NOTIFICATION, group }));
        expect(one === two).toBe(same);
      }),
    );
    expect(seriesOf({ ...NOTIFICATION, ruleId: "rule_2" })).not.toBe(seriesOf(NOTIFICATION));
  });

  it("is a test's or canary's own, so that none waits for another", () => {
    const canary = { ...NOTIFICATION, kind: "canary" as const };
    expect(seriesOf(canary)).not.toBe(seriesOf({ ...canary, id: "n2" }));
  });
});

describe("a group", () => {
  const rule = {
    ...{
      name: "Errors",
      query: "* | count by g",
      condition: { kind: "threshold", value: 1 } as const,
      windowMs: 60_000,
    },
    ...{ forMs: 0, recovery: null, labels: {}, message: "{{value}} of {{group.g}}", destinationIds: [], mutes: [] },
  };
  const counted = { run: 1, startSeq: 0, endSeq: null, ...countedOf(rule) };
  const said = (key: unknown, more: { isEnded?: boolean; isDeleted?: boolean } = {}) => {
    const { isEnded = false, isDeleted = false } = more;
    const watched = { startSeq: 0, startAt: 0, endSeq: null, endAt: null, watch: watchOf(rule) };
    const ids = {
      num: 1,
      rule: 1,
      ruleId: "alert_1",
      version: 1,
      isDeleted,
      definition: rule,
      counted,
      countedText: "",
    };
    const decision = { kind: "firing" as const, key: JSON.stringify([key]), at: 60_000, value: 3, isExact: true };
    const flags = { run: 1, seqRange: null, isReported: true, isLate: false, isEnded };
    return textsOf({ ...ids, ...watched }, { ...decision, ...flags }, PLACE);
  };

  it("tells a text from the value that has the same text, and leaves other texts as they are", () => {
    const values = [null, "null", 0, "0", true, "true", "", "1e3", "007", '"null"', "shop"];
    const texts = values.map((value) => shownGroup(said(value)).g);
    expect(texts).toEqual(["null", '"null"', "0", '"0"', "true", '"true"', "", "1e3", "007", '"\\"null\\""', "shop"]);
    expect(new Set(texts).size).toBe(values.length);
    expect(said("null")).toMatchObject({
      ...{ group: { g: "null" }, groupValues: { g: "null" }, title: 'Firing: Errors (g="null")', message: "3 of null" },
    });
    expect(said(null)).toMatchObject({
      group: { g: "null" },
      groupValues: { g: null },
      title: "Firing: Errors (g=null)",
    });
    const series = values.map((value) => seriesOf({ ...NOTIFICATION, ...said(value) }));
    expect(new Set(series).size).toBe(values.length);
  });

  it("of an earlier version, without values, has its texts", () => {
    expect(groupText({ group: { g: "null", h: "0" } })).toBe("g=null, h=0");
    expect(groupText({ group: null, groupValues: null })).toBe("");
    const { group, groupValues, ...rest } = said(null);
    expect(seriesOf({ ...NOTIFICATION, ...rest, group })).toBe(
      seriesOf({ ...NOTIFICATION, ...rest, group, groupValues }),
    );
  });

  it("says why it is not followed any more", () => {
    expect(said("a")).toMatchObject({ ended: false, reason: null, message: "3 of a" });
    const changed = said("a", { isEnded: true });
    expect([changed.ended, changed.reason, changed.message]).toEqual([
      true,
      "changed",
      "The alert was changed and counts again: the group is no longer followed.\n3 of a",
    ]);
    expect(said("a", { isEnded: true, isDeleted: true })).toMatchObject({ ended: true, reason: "deleted" });
  });
});

describe("bounds of a notification", () => {
  it("cut texts and members, and leave a notification within them as it is", () => {
    expect(bounded(NOTIFICATION)).toEqual(NOTIFICATION);
    const long = "x".repeat(10_000);
    const many = Object.fromEntries(Array.from({ length: 80 }, (_, n) => [`${n}`, long]));
    const cutDown = bounded({ ...NOTIFICATION, title: long, message: long, link: long, labels: many, group: many });
    expect(cutDown.title).toHaveLength(NOTIFICATION_LIMITS.title);
    expect(cutDown.message).toHaveLength(NOTIFICATION_LIMITS.message);
    expect(cutDown.link).toBe("");
    expect(Object.keys(cutDown.labels)).toHaveLength(NOTIFICATION_LIMITS.members);
    expect(JSON.stringify(cutDown).length).toBeLessThan(36_000);
  });

  it("never leave half of a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 2, max: 20 }), (text, most) => {
        const short = cut(text, most);
        expect(short.length).toBeLessThanOrEqual(most);
        expect(short.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe("a message", () => {
  it("that names a long value often does not grow beyond what is sent of it", () => {
    const values = { group: "x".repeat(16_000), value: "3" };
    expect(fillTemplate("{{value}} {{ group }}", values, 4000)).toBe(`3 ${values.group}`);
    const text = fillTemplate("{{group}}".repeat(222), values, 4000);
    expect([text.length, cut(text, 4000).endsWith("…")]).toEqual([16_000, true]);
  });
});
