import { timeFormat } from "../../lib/zone.ts";
import type { Alert } from "../../model/alerts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Time } from "../../ui/time.tsx";
import { number } from "../explorer/view/format.ts";
import { notesOf, reachOf } from "./state.ts";

const STATES = {
  firing: { label: "Firing", tone: "bad" },
  pending: { label: "Pending", tone: "warn" },
  ok: { label: "OK", tone: "good" },
} as const;

const REACHES = {
  some: null,
  none: <Badge>No destination</Badge>,
  deleted: <Badge tone="bad">Destination deleted</Badge>,
} as const;

const UNTIL = timeFormat({
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});

/** The state of an alert as badges: what it decided, and what else holds. */
export function AlertState({ alert, now }: { alert: Alert; now: number }) {
  const { label, tone } = STATES[alert.state];
  const { mutedUntil, behind, missing } = notesOf(alert, now);
  const { firing, live } = alert.groups;
  return (
    <>
      <Badge tone={tone}>
        {alert.state === "firing" && live > 1 ? `${label}: ${number(firing)} of ${number(live)}` : label}
      </Badge>
      {mutedUntil === null ? null : (
        <Badge>
          Muted until <Time at={mutedUntil} format={UNTIL} />
        </Badge>
      )}
      {REACHES[reachOf(alert)]}
      {behind > 0 ? <Badge tone="warn">{`${number(behind)} behind`}</Badge> : null}
      {missing > 0 ? <Badge tone="bad">{`${number(missing)} not counted`}</Badge> : null}
    </>
  );
}
