import { Ajv } from "ajv";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { alertmanagerRequest } from "../../../src/alerts/notifications/alertmanager.ts";
import { pagerdutyRequest } from "../../../src/alerts/notifications/pagerduty.ts";
import type { NotificationContent } from "../../../src/alerts/notifications/request.ts";
import { slackRequest } from "../../../src/alerts/notifications/slack.ts";
import { notificationOf } from "./support.ts";

const NOW = Date.parse("2026-11-20T14:05:02.000Z");
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** `postableAlerts` of Alertmanager's `api/v2/openapi.yaml`; names of labels as its code checks them. */
const LABELS = {
  type: "object",
  propertyNames: { pattern: "^[a-zA-Z_][a-zA-Z0-9_]*$" },
  additionalProperties: { type: "string", minLength: 1 },
};
const POSTABLE_ALERTS = {
  type: "array",
  items: {
    type: "object",
    required: ["labels"],
    properties: {
      labels: { ...LABELS, minProperties: 1 },
      annotations: LABELS,
      startsAt: { type: "string", format: "date-time" },
      endsAt: { type: "string", format: "date-time" },
      generatorURL: { type: "string", format: "uri" },
    },
  },
};
const isPostable = new Ajv({ formats: { "date-time": TIME, uri: (text: string) => URL.canParse(text) } }).compile(
  POSTABLE_ALERTS,
);

const alertsOf = (notification: NotificationContent, alert: NotificationContent | null = null) =>
  JSON.parse(alertmanagerRequest("https://alerts.example.com/am/", null, notification, alert, NOW).body);

describe("a request to Alertmanager", () => {
  it("has labels, times and a link as its API requires them", () => {
    const { url, headers, body } = alertmanagerRequest(
      "https://alerts.example.com/am/",
      "Bearer x",
      notificationOf(),
      null,
      NOW,
    );
    expect([url, headers]).toEqual(["https://alerts.example.com/am/api/v2/alerts", { authorization: "Bearer x" }]);
    expect(JSON.parse(body)).toEqual([
      {
        labels: {
          alertname: "Payments fail",
          rule_id: "rule_1",
          project_id: "proj_4fGh2Kq9RtXz",
          severity: "critical",
          team: "payments",
          http_route: "/pay",
          host: "web-1",
        },
        annotations: {
          summary: "Payments fail",
          description: "12 errors in 5 minutes <!channel> & more",
          value: "12",
        },
        startsAt: "2026-11-20T14:05:00.000Z",
        endsAt: "2026-11-20T14:25:02.000Z",
        generatorURL: "https://logs.example.com/w/shop/logs?q=level%3Aerror",
      },
    ]);
  });

  it("ends an alert under the labels under which it fired, even if the rule has another title by then", () => {
    const firing = notificationOf();
    const resolved = notificationOf({
      kind: "resolved",
      title: "Payments fail again",
      labels: {},
      decidedAt: "2026-11-20T14:09:00.000Z",
    });
    const [alert] = alertsOf(resolved, firing);
    expect(alert.labels).toEqual(alertsOf(firing)[0].labels);
    expect([alert.startsAt, alert.endsAt]).toEqual([firing.decidedAt, resolved.decidedAt]);
  });

  it("has the plain texts of a group, and names the fields whose text another value has, too", () => {
    const labelsOf = (said: Pick<NotificationContent, "group" | "groupValues">) => {
      const { g, h, group_texts } = alertsOf(notificationOf(said))[0].labels;
      return [g, h, group_texts];
    };
    const label = (value: string | number | boolean | null) =>
      labelsOf({ group: { g: String(value) }, groupValues: { g: value } });
    expect([null, "null", 500, "500", true, "true", "shop", '"a"'].map(label)).toEqual([
      ["null", undefined, undefined],
      ["null", undefined, "g"],
      ["500", undefined, undefined],
      ["500", undefined, "g"],
      ["true", undefined, undefined],
      ["true", undefined, "g"],
      ["shop", undefined, undefined],
      ['"a"', undefined, undefined],
    ]);
    const group = { g: "500", h: "null" };
    expect(labelsOf({ group, groupValues: group })).toEqual(["500", "null", "g,h"]);
    // Of an earlier version.
    expect(labelsOf({ group })).toEqual(["500", "null", undefined]);
  });

  it("fits the schema of its API, whatever names and values a rule has", () => {
    const members = fc.dictionary(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }));
    const kinds = fc.constantFrom("firing" as const, "resolved" as const, "test" as const);
    fc.assert(
      fc.property(members, members, kinds, fc.string(), (labels, group, kind, link) => {
        const alerts = alertsOf(notificationOf({ labels, group, kind, link }));
        expect([isPostable(alerts), isPostable.errors]).toEqual([true, null]);
        expect(Date.parse(alerts[0].endsAt)).toBeGreaterThanOrEqual(Date.parse(alerts[0].startsAt));
      }),
    );
    expect(isPostable([{ labels: { "http.route": "/" } }])).toBe(false);
  });
});

describe("an event of PagerDuty", () => {
  const eventOf = (notification: NotificationContent) =>
    JSON.parse(pagerdutyRequest("https://events.example.com/", "k".repeat(32), notification, "logs.example.com").body);

  it("triggers an incident, and a recovery of the same rule and group resolves it", () => {
    const trigger = eventOf(notificationOf());
    expect(trigger).toMatchObject({
      routing_key: "k".repeat(32),
      event_action: "trigger",
      payload: {
        summary: "Payments fail (http.route=/pay, host=web-1)",
        source: "logs.example.com",
        severity: "critical",
      },
      links: [{ href: "https://logs.example.com/w/shop/logs?q=level%3Aerror" }],
    });
    const resolve = eventOf(notificationOf({ id: "other", kind: "resolved" }));
    expect([resolve.event_action, resolve.dedup_key]).toEqual(["resolve", trigger.dedup_key]);
    expect(eventOf(notificationOf({ group: { host: "web-2" } })).dedup_key).not.toBe(trigger.dedup_key);
  });

  it("has the title as its summary, which names the group once", () => {
    const title = "Firing: Payments fail (http.route=/pay, host=web-1)";
    expect(eventOf(notificationOf({ title })).payload.summary).toBe(title);
    const group = { g: "a\nb" };
    expect(eventOf(notificationOf({ title: "Firing: Errors (g=a\nb)", group })).payload.summary).toBe(
      "Firing: Errors (g=a b)",
    );
    const long = { host: "h".repeat(300) };
    const cutTitle = `Firing: Errors (host=${"h".repeat(178)}…`;
    expect(eventOf(notificationOf({ title: cutTitle, group: long })).payload.summary).toBe(
      `${cutTitle} (host=${"h".repeat(300)})`,
    );
  });

  it("stays within PagerDuty's limits, and knows no severity but PagerDuty's", () => {
    const event = eventOf(
      notificationOf({ title: "x".repeat(2000), ruleId: "rule_x", labels: { severity: "urgent" } }),
    );
    expect(event.payload.summary.length).toBeLessThanOrEqual(1024);
    expect(event.dedup_key.length).toBeLessThanOrEqual(255);
    expect(event.payload.severity).toBe("error");
  });
});

describe("a message of Slack", () => {
  const messageOf = (more: Partial<NotificationContent> = {}) =>
    JSON.parse(slackRequest("https://hooks.example.com/", notificationOf(more)).body);

  it("says state, message, group and link, and no text of it mentions anybody", () => {
    const { text, blocks } = messageOf();
    expect(text).toBe("🔴 Firing: Payments fail");
    expect(JSON.stringify(blocks)).toContain("12 errors in 5 minutes &lt;!channel&gt; &amp; more");
    expect(JSON.stringify(blocks)).toContain("<https://logs.example.com/w/shop/logs?q=level%3Aerror|Show entries>");
  });

  it("says the state once, and no value of an entry breaks its line or turns it", () => {
    expect(messageOf({ title: "Firing: Errors (service=api)" }).text).toBe("🔴 Firing: Errors (service=api)");
    expect(messageOf({ kind: "resolved", title: "Resolved: Errors" }).text).toBe("🟢 Resolved: Errors");
    expect(messageOf({ kind: "test", title: "Test of ops" }).text).toBe("⚪ Test: ops");
    const { text, blocks } = messageOf({ title: "Firing: Errors (g=a\nb\u2028c\u202ed\ud800)" });
    expect([text, blocks[0].text.text]).toEqual(Array(2).fill("🔴 Firing: Errors (g=a b c d\ufffd)"));
  });

  it("stays within Slack's limits", () => {
    const group = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`f${n}`, "&".repeat(1000)]));
    const { blocks } = messageOf({ title: "t".repeat(500), message: "<".repeat(4000), group });
    expect(blocks[0].text.text.length).toBeLessThanOrEqual(150);
    expect(blocks[1].text.text.length).toBeLessThanOrEqual(3000);
    expect(blocks[2].fields.length).toBeLessThanOrEqual(10);
    for (const field of blocks[2].fields) expect(field.text.length).toBeLessThanOrEqual(2000);
  });
});
