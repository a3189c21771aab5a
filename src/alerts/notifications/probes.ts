import { randomBase62 } from "../../ids.ts";
import { type Notification, titleOf } from "./notification.ts";
import type { NotificationContent } from "./request.ts";

/** Characters of the random part of a test's id. */
const ID_LENGTH = 12;

/** A test of a destination, which a member has requested. */
export function testOf(name: string, consoleUrl: string, now: number): NotificationContent {
  const message = `A member tests the destination ${name}. No rule has fired.`;
  return probe("test", `test_${randomBase62(ID_LENGTH)}`, titleOf("test", name), message, consoleUrl, now);
}

/** The daily canary of a destination. A repeated step of the same due time makes the same id. */
export function canaryOf(
  { id, name, dueAt }: { id: string; name: string; dueAt: number },
  consoleUrl: string,
  now: number,
): Notification {
  const message = `The daily canary of the destination ${name}: notifications arrive. No rule has fired.`;
  const probeId = `canary_${id.slice("dest_".length)}_${dueAt}`;
  return { ...probe("canary", probeId, titleOf("canary", name), message, consoleUrl, now), destinationIds: [id] };
}

function probe(
  kind: "test" | "canary",
  id: string,
  title: string,
  message: string,
  consoleUrl: string,
  now: number,
): NotificationContent {
  const at = new Date(now).toISOString();
  return {
    id,
    projectId: null,
    ruleId: id,
    ruleVersion: 1,
    kind,
    group: null,
    value: null,
    window: { from: at, to: at },
    seqRange: null,
    title,
    message,
    labels: { severity: "info" },
    link: consoleUrl,
    decidedAt: at,
  };
}
