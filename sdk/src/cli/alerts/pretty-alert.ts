import { type Condition, conditionText } from "../../../../src/alerts/condition.ts";
import { type Mute, mutedUntil, WEEKDAYS } from "../../../../src/alerts/mutes.ts";
import { type SaidGroup, shownGroup } from "../../../../src/alerts/template.ts";
import { paint, shown } from "../pretty.ts";
import { record } from "../record.ts";
import type { Table } from "../table.ts";
import { formatTime } from "../time.ts";
import type { Alert } from "./alerts-api.ts";

const STATE_COLORS: Readonly<Record<string, string>> = { firing: "31", pending: "33", ok: "32", resolved: "32" };

/** Alerts as a table. @param now epoch milliseconds */
export function alertTable(alerts: readonly Alert[], now: number): Table {
  const names = ["name", "state", "firing", "condition", "window"];
  return {
    columns: [...names.map((name) => ({ name, type: "string" })), { name: "last fired", type: "time" }],
    rows: alerts.map((alert) => [
      alert.name,
      stateText(alert, now),
      groupsText(alert),
      conditionOf(alert.condition),
      alert.window,
      alert.lastFiredAt,
    ]),
  };
}

/** The state, and what else holds: `firing, muted until ..., 120 behind`. */
export function stateText(alert: Alert, now: number): string {
  const until = mutesEnd(alert, now);
  const behind = Number(record(alert.position)?.behind ?? 0);
  return [
    String(alert.state),
    ...(until === null ? [] : [`muted until ${formatTime(new Date(until).toISOString()).slice(0, 16)}`]),
    ...(behind > 0 ? [`${behind} entries behind`] : []),
    ...(Number(alert.missing ?? 0) > 0 ? [`${alert.missing} entries missing`] : []),
    ...(Number(alert.notCounted ?? 0) > 0 ? [`${alert.notCounted} entries not counted`] : []),
    ...reachText(alert),
  ].join(", ");
}

/** Says that an alert notifies no destination, or that some of them were deleted. */
function reachText({ destinations, missingDestinations: missing }: Alert): string[] {
  const [all, gone] = [destinations, missing].map((ids) => (Array.isArray(ids) ? ids.length : 0));
  if (all === gone) return [all === 0 ? "no destination" : "no destination that exists"];
  return gone === 0 ? [] : [`${gone} of ${all} destinations deleted`];
}

/** Returns the end of the mutes that hold now; `null` without any. */
function mutesEnd({ mutes }: Alert, now: number): number | null {
  return mutedUntil(
    (Array.isArray(mutes) ? mutes : []).flatMap((mute) => muteOf(record(mute) ?? {}) ?? []),
    now,
  );
}

/** Reads a mute of the API; `null` for one of a later version. */
function muteOf({ from, to, days, start, end, timeZone }: Record<string, unknown>): Mute | null {
  if (typeof from === "string") return { from: Date.parse(from), to: Date.parse(String(to)) };
  const begins = WEEKDAYS.filter((day) => Array.isArray(days) && days.includes(day));
  if (begins.length === 0 || typeof timeZone !== "string") return null;
  return { days: begins, start: minutesOf(start), end: minutesOf(end), timeZone };
}

/** Minutes since midnight of a time such as `22:00`. */
function minutesOf(clock: unknown): number {
  const [hours = 0, minutes = 0] = String(clock).split(":").map(Number);
  return hours * 60 + minutes;
}

function groupsText({ groups }: Alert): string {
  const { firing, live } = record(groups) ?? {};
  return `${firing ?? 0} of ${live ?? 0}`;
}

function conditionOf(condition: unknown): string {
  const kind = record(condition)?.kind;
  // SAFETY: the service sends conditions of this shape. One of a later version has another kind, and is shown by it.
  return conditionText(condition as Condition) ?? String(kind);
}

/** A decision in one line. `seq 4..9`: the entries that decided. */
export function decisionLine(decision: Record<string, unknown>, colors: boolean): string {
  const { at, kind, value, version, reported, late, ended } = decision;
  const range = record(decision.seqRange);
  // SAFETY: the service sends groups of this shape.
  const group = shownGroup(decision as Pick<SaidGroup, "group">);
  const notes = [
    ...(range === null ? [] : [`seq ${range.from}..${range.to}`]),
    ...(version === undefined ? [] : [`version ${version}`]),
    ...(reported === false ? ["not reported: muted"] : []),
    ...(late === true ? ["reported after a mute"] : []),
    ...(ended === true ? ["the alert was changed or deleted"] : []),
  ];
  return [
    paint(formatTime(String(at)), "2", colors),
    paint(String(kind).padEnd(8), STATE_COLORS[String(kind)] ?? "0", colors),
    typeof value === "number" ? `${decision.exact === false ? "~" : ""}${Math.round(value * 100) / 100}` : "-",
    ...Object.entries(group).map((pair) => shown(pair.join("="))),
    paint(shown(notes.join(", ")), "2", colors),
  ].join(" ");
}
