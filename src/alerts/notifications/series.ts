import { createHash } from "node:crypto";
import { type SaidGroup, shownGroup } from "../template.ts";
import type { Notification } from "./notification.ts";

/** Hexadecimal characters of the hash of a group: 128 bits. */
const HASH_LENGTH = 32;

/**
 * Returns the series of a notification: all notifications of one rule and group. Deliveries of a series to a destination
 * are in order. A test or a canary is a series of its own.
 */
export function seriesOf({
  id,
  kind,
  ruleId,
  ...said
}: Pick<Notification, "id" | "kind" | "ruleId"> & SaidGroup): string {
  if (kind === "test" || kind === "canary") return id;
  const members = Object.entries(shownGroup(said)).sort(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash("sha256").update(JSON.stringify(members)).digest("hex").slice(0, HASH_LENGTH);
  return `${ruleId}.${hash}`;
}
