import { z } from "zod";
import { finite, groupOf, type StoredDecision } from "../../alerts/decisions.ts";
import type { CountedQuery, RuleDefinition } from "../../alerts/definition.ts";
import type { RunDecision } from "../../alerts/evaluator.ts";
import { type Mute, WEEKDAYS } from "../../alerts/mutes.ts";
import { type AlertRule, type RuleVersion, stateOf } from "../../alerts/rules.ts";
import { printDuration } from "../../query-language/values.ts";

/** What responses say of alert rules. */

const time = z.iso.datetime();

const muteShape = z.union([
  z.object({ from: time, to: time }),
  z.object({ days: z.array(z.enum(WEEKDAYS)), start: z.string(), end: z.string(), timeZone: z.string() }),
]);

const conditionShape = z.union([
  z.object({
    kind: z.enum(["threshold", "rate", "absence"]),
    value: z.number(),
    direction: z.enum(["above", "below"]).optional().describe("Of a threshold."),
  }),
  z.object({ kind: z.literal("new-pattern") }),
  z.object({ kind: z.literal("change"), direction: z.enum(["rise", "fall"]), percent: z.number(), min: z.int() }),
]);

export const definitionShape = {
  name: z.string(),
  query: z.string(),
  condition: conditionShape,
  window: z.string(),
  delay: z.string().nullable().describe("`null`: windows by time of receipt."),
  for: z.string(),
  recovery: z.number().nullable(),
  labels: z.record(z.string(), z.string()),
  message: z.string(),
  destinations: z.array(z.string()),
  mutes: z.array(muteShape),
};

export const alertShape = z.object({
  id: z.string(),
  projectId: z.string(),
  version: z.int().describe("Rises by 1 with each change."),
  ...definitionShape,
  missingDestinations: z
    .array(z.string())
    .describe("Those of `destinations` that were deleted by an earlier version: nothing is sent there."),
  createdBy: z.string().describe("The id of a user or a key."),
  createdAt: time,
  updatedAt: time,
  lastFiredAt: time.nullable().describe("The end of the window of its latest firing in the last 30 days."),
  state: z.enum(["ok", "pending", "firing"]).describe("Of the group that is worst off."),
  groups: z.object({ live: z.int(), pending: z.int(), firing: z.int() }),
  notCounted: z.int().describe("Entries whose group, or its values, had no room."),
  late: z.int().describe("Entries that were received after a window with their time was decided; 0 without a delay."),
  missing: z.int().describe("Entries that retention deleted, or that were damaged, before they could be counted."),
  since: z
    .object({ seq: z.int(), receivedAt: time })
    .describe("The rule counts entries after this `seq`, and decides for times after this one."),
  position: z
    .object({
      seq: z.int().describe("All entries up to this `seq` have been counted."),
      through: time.describe("All times up to this one have been decided."),
      behind: z.int().describe("Entries that wait to be counted."),
    })
    .describe("How far the alerts of the project have got."),
});

export function definitionData(definition: RuleDefinition) {
  const { windowMs, delayMs = null, forMs, destinationIds, mutes: list, ...rest } = definition;
  return {
    ...rest,
    window: printDuration(windowMs),
    delay: delayMs === null ? null : printed(delayMs),
    for: printed(forMs),
    destinations: [...destinationIds],
    mutes: list.map(muteData),
    labels: { ...rest.labels },
  };
}

function muteData(mute: Mute): z.output<typeof muteShape> {
  if ("from" in mute) return { from: iso(mute.from), to: iso(mute.to) };
  const clock = (minutes: number) => new Date(minutes * 60_000).toISOString().slice(11, 16);
  return { ...mute, days: [...mute.days], start: clock(mute.start), end: clock(mute.end) };
}

const printed = (ms: number) => (ms === 0 ? "0s" : printDuration(ms));
const iso = (ms: number) => new Date(ms).toISOString();

export function alertData(rule: AlertRule, projectId: string): z.output<typeof alertShape> {
  const {
    definition,
    createdAt,
    updatedAt,
    lastFiredAt,
    since,
    position,
    groups: live,
    pending,
    firing,
    overflow,
    missingDestinations = [],
    ...rest
  } = rule;
  const { seq, through, lastSeq } = position;
  return {
    ...rest,
    projectId,
    ...definitionData(definition),
    missingDestinations,
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
    lastFiredAt: lastFiredAt == null ? null : iso(lastFiredAt),
    state: stateOf(rule),
    groups: { live, pending, firing },
    notCounted: overflow,
    since: { seq: since.seq, receivedAt: iso(since.at) },
    position: { seq, through: iso(through), behind: lastSeq - seq },
  };
}

export const versionShape = z.object({
  version: z.int(),
  ...definitionShape,
  createdBy: z.string().describe("The id of a user or a key."),
  createdAt: time,
});

export function versionData({ definition, createdAt, ...version }: RuleVersion): z.output<typeof versionShape> {
  return { ...version, ...definitionData(definition), createdAt: iso(createdAt) };
}

/** What decisions and notifications say of a group. */
export const groupShape = {
  group: z
    .record(z.string(), z.string())
    .nullable()
    .describe("Text of each grouping field's value; `null` for a rule without groups."),
  groupValues: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .nullable()
    .describe(
      'The values themselves, of which `null` and `"null"`, or `0` and `"0"`, have the same text. `null` without groups, and if an earlier version decided.',
    ),
};

const madeShape = {
  kind: z.enum(["firing", "resolved"]),
  ...groupShape,
  at: time.describe("The end of the window `(at - window, at]`."),
  value: z.number().nullable().describe("What the condition compares; `null`: a rise from nothing, or no value."),
  exact: z.boolean().describe("`false`: a percentile or distinct count of many values, an estimate."),
  seqRange: z
    .object({ from: z.int(), to: z.int() })
    .nullable()
    .describe("First and last entry that decided; `null` without any."),
};

export const decisionShape = z.object({
  id: z.string().describe("The id of its notification."),
  version: z.int().describe("Of the rule."),
  ...madeShape,
  decidedAt: time,
  reported: z.boolean().describe("`false`: no notification, because of a mute."),
  late: z.boolean().describe("Whether it reports after a mute what fired in it."),
  ended: z.boolean().describe("Whether the group recovers because the rule was changed or deleted."),
  link: z
    .string()
    .nullable()
    .describe("The page that shows exactly the entries that decided; `null` without a notification."),
});

export const replayedShape = z.object(madeShape);

export function decisionData(decision: StoredDecision): z.output<typeof decisionShape> {
  const {
    num: _,
    at,
    decidedAt,
    isReported: reported,
    isLate: late,
    isEnded: ended,
    isExact: exact,
    link = null,
    groupValues = null,
    ...rest
  } = decision;
  return { ...rest, groupValues, exact, at: iso(at), decidedAt: iso(decidedAt), reported, late, ended, link };
}

export function replayedData({ kind, key, at, value, isExact, seqRange }: RunDecision, by: Pick<CountedQuery, "by">) {
  return { kind, ...groupOf(by, key), at: iso(at), value: finite(value), exact: isExact, seqRange };
}
