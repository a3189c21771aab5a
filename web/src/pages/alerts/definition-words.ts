import type { Weekday } from "../../../../src/alerts/mutes.ts";
import { clockText } from "../../lib/clock-text.ts";
import { timeFormat } from "../../lib/zone.ts";
import type { AlertDefinition, Mute } from "../../model/alerts.ts";
import { number } from "../explorer/view/format.ts";
import { isSpan } from "./state.ts";
import { conditionPhrase, durationText } from "./words.ts";

const MOMENT = timeFormat({ dateStyle: "medium", timeStyle: "short" });

/** Writes a member of a rule as a text. @param nameOf name of a destination by its id */
export function memberText(
  member: keyof AlertDefinition,
  definition: AlertDefinition,
  nameOf: (destinationId: string) => string,
): string {
  switch (member) {
    case "name":
    case "query":
    case "message":
      return definition[member];
    case "condition":
      return conditionPhrase(definition.condition);
    case "window":
      return durationText(definition.window);
    case "delay":
      return definition.delay === null ? "" : durationText(definition.delay);
    case "for":
      return definition.for === "0s" ? "" : durationText(definition.for);
    case "recovery":
      return definition.recovery === null ? "" : number(definition.recovery);
    case "labels":
      return Object.entries(definition.labels)
        .map((pair) => pair.join("="))
        .join(", ");
    case "destinations":
      return definition.destinations.map(nameOf).join(", ");
    case "mutes":
      return definition.mutes.map(muteText).join(", ");
  }
}

/** Names of the days of the week. */
export const DAYS: Readonly<Record<Weekday, string>> = {
  mon: "Mon",
  tue: "Tue",
  wed: "Wed",
  thu: "Thu",
  fri: "Fri",
  sat: "Sat",
  sun: "Sun",
};

export function muteText(mute: Mute): string {
  if (isSpan(mute)) return `${MOMENT(Date.parse(mute.from))} – ${MOMENT(Date.parse(mute.to))}`;
  return `${mute.days.map((day) => DAYS[day]).join(" ")} ${clockText(mute.start)} – ${clockText(mute.end)} (${mute.timeZone})`;
}
