import { mutedUntil as endOfMutes } from "../../../../src/alerts/mutes.ts";
import type { Alert, Mute, MutedSpan } from "../../model/alerts.ts";
import { BATCH } from "../boards/board-query.ts";

/** Milliseconds that a position may lag: entries are counted about once a second. */
const LAG_MS = 10_000;

/** What a list says of an alert beside its state. */
export interface AlertNotes {
  /** End of the mutes that hold, epoch milliseconds; `null` without any. */
  mutedUntil: number | null;
  /** Entries that wait to be counted; 0 if the alert keeps up. */
  behind: number;
  /** Entries that are missing from its counts. */
  missing: number;
}

export function notesOf({ mutes, position, missing, notCounted }: Alert, now: number): AlertNotes {
  const lags = now - Date.parse(position.through) > LAG_MS;
  return { mutedUntil: mutedUntil(mutes, now), behind: lags ? position.behind : 0, missing: missing + notCounted };
}

/** Returns the end of the mutes that hold at a time, epoch milliseconds; `null` without any. */
export function mutedUntil(mutes: readonly Mute[], now: number): number | null {
  return endOfMutes(mutes.map(stored), now);
}

/** Returns a mute as the service stores it. */
function stored(mute: Mute): Parameters<typeof endOfMutes>[0][number] {
  if (isSpan(mute)) return { from: Date.parse(mute.from), to: Date.parse(mute.to) };
  return { ...mute, start: minutesOf(mute.start), end: minutesOf(mute.end) };
}

export function isSpan(mute: Mute): mute is MutedSpan {
  return "from" in mute;
}

/** Minutes since midnight of a time such as `22:00`. */
function minutesOf(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(":").map(Number);
  return hours * 60 + minutes;
}

/** Whether an alert notifies a destination; `deleted`: those that it names do not exist any more. */
export function reachOf({ destinations, missingDestinations }: Alert): "some" | "none" | "deleted" {
  if (destinations.length === 0) return "none";
  return missingDestinations.length < destinations.length ? "some" : "deleted";
}

/** Whether all entries are counted, and none has made a decision due for a while. */
export function isIdle({ position }: Pick<Alert, "position">, now: number): boolean {
  return position.behind === 0 && now - Date.parse(position.through) > LAG_MS;
}

const RANKS: Readonly<Record<Alert["state"], number>> = { firing: 0, pending: 1, ok: 2 };

/** Firing alerts first, then by the latest firing, then by name. */
export function inOrder(alerts: readonly Alert[]): Alert[] {
  const firedAt = ({ lastFiredAt }: Alert) => (lastFiredAt === null ? 0 : Date.parse(lastFiredAt));
  return alerts.toSorted(
    (a, b) => RANKS[a.state] - RANKS[b.state] || firedAt(b) - firedAt(a) || a.name.localeCompare(b.name),
  );
}

/** Splits a list into parts of as many alerts as one request has queries. */
export function inBatches(alerts: readonly Alert[]): Alert[][] {
  return Array.from({ length: Math.ceil(alerts.length / BATCH) }, (_, at) =>
    alerts.slice(at * BATCH, (at + 1) * BATCH),
  );
}
