import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  bounded,
  cut,
  NOTIFICATION_LIMITS,
  type Notification,
} from "../../../src/alerts/notifications/notification.ts";
import { seriesOf } from "../../../src/alerts/notifications/series.ts";
import { fillTemplate } from "../../../src/alerts/template.ts";

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
