import type { NotificationContent } from "../../../src/alerts/notifications/request.ts";

/** A notification of a rule with a group. */
export function notificationOf(more: Partial<NotificationContent> = {}): NotificationContent {
  return {
    id: "ntf_rule1_7_firing",
    projectId: "proj_4fGh2Kq9RtXz",
    ruleId: "rule_1",
    ruleVersion: 3,
    kind: "firing",
    group: { "http.route": "/pay", host: "web-1" },
    value: 12,
    window: { from: "2026-11-20T14:00:00.000Z", to: "2026-11-20T14:05:00.000Z" },
    seqRange: { from: 41, to: 77 },
    title: "Payments fail",
    message: "12 errors in 5 minutes <!channel> & more",
    labels: { severity: "critical", team: "payments" },
    link: "https://logs.example.com/w/shop/logs?q=level%3Aerror",
    decidedAt: "2026-11-20T14:05:00.000Z",
    ...more,
  };
}
