import { z } from "zod";
import { groupOf, type StoredDecision } from "../../alerts/decisions.ts";
import { type CountedQuery, countedQueryOf, type RuleDefinition } from "../../alerts/definition.ts";
import type { RunDecision } from "../../alerts/evaluator.ts";
import { ALERT_LIMITS } from "../../alerts/rule.ts";
import type { AlertRule, RuleVersion } from "../../alerts/rules.ts";
import { TEMPLATE_NAMES, unknownNames } from "../../alerts/template.ts";
import type { ErrorDetail } from "../../http/errors.ts";
import { requiredNameSchema, WELL_FORMED } from "../../http/fields.ts";
import { timeSchema } from "../../logs/ingest/timestamp.ts";
import { StoredQueryText } from "../../logs/search/query-text.ts";
import { InvalidQuery } from "../../logs/search/search-plan.ts";
import { printField } from "../../query-language/fields.ts";
import { parseDuration, printDuration } from "../../query-language/values.ts";

/** What requests and responses say of alert rules. */

const { mutes, labels, label, message, destinations } = ALERT_LIMITS;
const MAX_VALUE = 1_000_000_000_000;

const count = z.int().min(1).max(MAX_VALUE);
const positive = z.number().positive().max(MAX_VALUE);

const conditionBody = z
  .discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("threshold"), value: count.describe("At least so many entries.") }),
    z.strictObject({ kind: z.literal("rate"), value: positive.describe("At least so many entries a second.") }),
    z.strictObject({ kind: z.literal("absence"), value: count.describe("Fewer entries than that.") }),
    z.strictObject({
      kind: z.literal("change"),
      direction: z.enum(["rise", "fall"]),
      percent: positive.describe("Compared with the window before. A rise from nothing is larger than any percentage."),
      min: z.int().min(0).max(MAX_VALUE).default(1).describe("Entries that the larger of both windows must have."),
    }),
  ])
  .describe("When a window breaches.");

const MINUTES = String.raw`(?:[1-9]\d{0,2}|1[0-3]\d\d|14[0-3]\d|1440)m`;
const HOURS = String.raw`(?:[1-9]|1\d|2[0-4])h`;
const SECONDS = String.raw`(?:0|[1-9]\d{0,3}|[1-7]\d{4}|8[0-5]\d{3}|86[0-3]\d\d|86400)s`;

/** A duration in one unit, such as `5m`, as milliseconds. */
function duration(pattern: string, range: string) {
  return z
    .string()
    .regex(new RegExp(`^(?:${pattern})$`), `Must be ${range}, such as "5m".`)
    .meta({ examples: ["5m"] })
    .transform((written) => (written === "0s" ? 0 : (parseDuration(written) ?? 0)));
}

const text = (max: number) => z.string().max(max).regex(WELL_FORMED);

/** Members of a rule as requests have them. */
const members = {
  name: requiredNameSchema.describe("Unique in the project."),
  query: StoredQueryText.transform(({ text: query }, ctx): string => {
    try {
      countedQueryOf({ query });
      return query;
    } catch (error) {
      if (!(error instanceof InvalidQuery)) throw error;
      ctx.addIssue({ code: "custom", message: error.message });
      return z.NEVER;
    }
  }).describe(
    "A filter of the query language, then at most `count`, by up to two fields: `level:>=error | count by service`. Times that count from now are refused.",
  ),
  condition: conditionBody,
  window: duration(`${MINUTES}|${HOURS}`, "whole minutes from 1m to 24h").describe(
    "Whole minutes from 1m to 24h. A decision is due at each multiple of a sixtieth of it.",
  ),
  for: duration(`${SECONDS}|${MINUTES}|${HOURS}`, "seconds, minutes or hours up to 24h").describe(
    "How long a group must breach before it fires, up to 24h.",
  ),
  recovery: z
    .number()
    .min(0)
    .max(MAX_VALUE)
    .nullable()
    .describe(
      "The value below which a firing group recovers; for `absence`, from which on; for `change`, percent. `null`: as soon as it no longer breaches.",
    ),
  labels: z
    .record(text(label).min(1), text(label))
    .refine((all) => Object.keys(all).length <= labels, `Must have at most ${labels} labels.`),
  message: text(message).describe(
    `Text of notifications. {{name}} is replaced by the value: ${TEMPLATE_NAMES.join(", ")}, and group.FIELD of each grouping field. Empty: a usual text.`,
  ),
  destinations: z.array(z.string().max(64)).max(destinations).describe("`dest_...`: where notifications are sent."),
  mutes: z
    .array(z.strictObject({ from: timeSchema, to: timeSchema }))
    .max(mutes)
    .describe(
      "Times without notifications. A group that still fires at the end is reported then; a recovery is always reported.",
    ),
};

/** A rule without its name: what a replay needs, and more. */
const ruleMembers = {
  query: members.query,
  condition: members.condition,
  window: members.window,
  for: members.for.default(0).meta({ default: "0s" }),
  recovery: members.recovery.default(null),
};

export const previewBody = z.strictObject(ruleMembers);

export const alertBody = z.strictObject({
  name: members.name,
  ...ruleMembers,
  labels: members.labels.default({}),
  message: members.message.default(""),
  destinations: members.destinations.default([]),
  mutes: members.mutes.default([]),
});

export const alertChange = z.strictObject({
  version: z.int().min(1).describe("The version that the change was made from. 409 if the alert has another one."),
  name: members.name.optional(),
  query: members.query.optional(),
  condition: members.condition.optional(),
  window: members.window.optional(),
  for: members.for.optional(),
  recovery: members.recovery.optional(),
  labels: members.labels.optional(),
  message: members.message.optional(),
  destinations: members.destinations.optional(),
  mutes: members.mutes.optional(),
});

type Body = z.output<typeof alertBody>;

export function definitionOf({
  window: windowMs,
  for: forMs,
  destinations: destinationIds,
  ...body
}: Body): RuleDefinition {
  return { ...body, windowMs, forMs, destinationIds };
}

/** Applies a change to a definition. */
export function changedDefinition(
  old: RuleDefinition,
  { version: _, window: windowMs, for: forMs, destinations: destinationIds, ...change }: z.output<typeof alertChange>,
): RuleDefinition {
  const given = Object.entries({ ...change, windowMs, forMs, destinationIds }).filter(
    ([, value]) => value !== undefined,
  );
  // SAFETY: members of a definition by their names.
  return { ...old, ...(Object.fromEntries(given) as Partial<RuleDefinition>) };
}

/** Returns what is wrong with members of a definition together. */
export function problemsOf(definition: RuleDefinition): ErrorDetail[] {
  const { condition, recovery, query, message: template } = definition;
  const problems: ErrorDetail[] = [];
  const add = (path: string, problem: string) => problems.push({ path, code: "custom", message: problem });
  if (condition.kind === "change" && condition.direction === "fall" && condition.percent > 100)
    add("condition.percent", "A fall is at most 100 percent.");
  const limit = condition.kind === "change" ? condition.percent : condition.value;
  if (recovery !== null && (condition.kind === "absence" ? recovery < limit : recovery > limit)) {
    const side = condition.kind === "absence" ? "at least" : "at most";
    add("recovery", `Must be ${side} the ${condition.kind === "change" ? "percentage" : "value"} of the condition.`);
  }
  const fields = countedQueryOf({ query }).by.map(printField);
  const [unknown] = unknownNames(template, fields);
  if (unknown !== undefined) {
    const known = [...TEMPLATE_NAMES, ...fields.map((field) => `group.${field}`)].join(", ");
    add("message", `{{${unknown}}} has no value. The names are ${known}.`);
  }
  for (const [index, { from, to }] of definition.mutes.entries())
    if (to <= from) add(`mutes.${index}.to`, "Must be after `from`.");
  return problems;
}

const conditionShape = z.union([
  z.object({ kind: z.enum(["threshold", "rate", "absence"]), value: z.number() }),
  z.object({ kind: z.literal("change"), direction: z.enum(["rise", "fall"]), percent: z.number(), min: z.int() }),
]);

const time = z.iso.datetime();

const definitionShape = {
  name: z.string(),
  query: z.string(),
  condition: conditionShape,
  window: z.string(),
  for: z.string(),
  recovery: z.number().nullable(),
  labels: z.record(z.string(), z.string()),
  message: z.string(),
  destinations: z.array(z.string()),
  mutes: z.array(z.object({ from: time, to: time })),
};

export const alertShape = z.object({
  id: z.string(),
  projectId: z.string(),
  version: z.int().describe("Rises by 1 with each change."),
  ...definitionShape,
  createdBy: z.string().describe("A user id."),
  createdAt: time,
  updatedAt: time,
  state: z.enum(["ok", "pending", "firing"]).describe("Of the group that is worst off."),
  groups: z.object({ live: z.int(), pending: z.int(), firing: z.int() }),
  notCounted: z.int().describe("Entries whose group had no room among the live groups."),
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

function definitionData(definition: RuleDefinition) {
  const { windowMs, forMs, destinationIds, mutes: list, ...rest } = definition;
  return {
    ...rest,
    window: printDuration(windowMs),
    for: forMs === 0 ? "0s" : printDuration(forMs),
    destinations: [...destinationIds],
    mutes: list.map(({ from, to }) => ({ from: iso(from), to: iso(to) })),
    labels: { ...rest.labels },
  };
}

const iso = (ms: number) => new Date(ms).toISOString();

export function alertData(rule: AlertRule, projectId: string): z.output<typeof alertShape> {
  const { definition, createdAt, updatedAt, since, position, groups: live, pending, firing, overflow, ...rest } = rule;
  const { seq, through, lastSeq } = position;
  return {
    ...rest,
    projectId,
    ...definitionData(definition),
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
    state: firing > 0 ? "firing" : pending > 0 ? "pending" : "ok",
    groups: { live, pending, firing },
    notCounted: overflow,
    since: { seq: since.seq, receivedAt: iso(since.at) },
    position: { seq, through: iso(through), behind: lastSeq - seq },
  };
}

export const versionShape = z.object({
  version: z.int(),
  ...definitionShape,
  createdBy: z.string().describe("A user id."),
  createdAt: time,
});

export function versionData({ definition, createdAt, ...version }: RuleVersion): z.output<typeof versionShape> {
  return { ...version, ...definitionData(definition), createdAt: iso(createdAt) };
}

const madeShape = {
  kind: z.enum(["firing", "resolved"]),
  group: z
    .record(z.string(), z.string())
    .nullable()
    .describe("Value of each grouping field; `null` for a rule without groups."),
  at: time.describe("The end of the window `(at - window, at]` of times of receipt."),
  value: z.number().nullable().describe("What the condition compares; `null`: a rise from nothing."),
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
});

export const replayedShape = z.object(madeShape);

export function decisionData(decision: StoredDecision): z.output<typeof decisionShape> {
  const { num: _, at, decidedAt, isReported: reported, isLate: late, isEnded: ended, ...rest } = decision;
  return { ...rest, at: iso(at), decidedAt: iso(decidedAt), reported, late, ended };
}

export function replayedData({ kind, key, at, value, seqRange }: RunDecision, fields: Pick<CountedQuery, "by">) {
  return { kind, group: groupOf(fields, key), at: iso(at), value: Number.isFinite(value) ? value : null, seqRange };
}
