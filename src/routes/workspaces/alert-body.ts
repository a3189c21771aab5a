import { z } from "zod";
import { countedQueryOf, type RuleDefinition } from "../../alerts/definition.ts";
import { type Mute, WEEKDAYS } from "../../alerts/mutes.ts";
import { ALERT_LIMITS } from "../../alerts/rule.ts";
import { TEMPLATE_NAMES } from "../../alerts/template.ts";
import { requiredNameSchema, WELL_FORMED } from "../../http/fields.ts";
import { timeSchema } from "../../logs/ingest/timestamp.ts";
import { isRecord } from "../../logs/query/data-path.ts";
import { StoredQueryText } from "../../logs/search/query-text.ts";
import { InvalidQuery } from "../../logs/search/search-plan.ts";
import { parseDuration } from "../../query-language/values.ts";

/** What requests say of alert rules. */

const { mutes, labels, label, message, destinations, delayWindows } = ALERT_LIMITS;
const MAX_VALUE = 1_000_000_000_000;

const text = (max: number) => z.string().max(max).regex(WELL_FORMED, "Must be well-formed Unicode.");
const number = z.number().min(-MAX_VALUE).max(MAX_VALUE);
const positive = z.number().positive().max(MAX_VALUE);

const conditionBody = z
  .discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("threshold"),
      value: number.describe("At least so many entries, or a value of the aggregation of at least that."),
      direction: z
        .enum(["above", "below"])
        .default("above")
        .describe("`below`: less than the value, in windows that have one. Entries are counted by `absence` instead."),
    }),
    z.strictObject({
      kind: z.literal("rate"),
      value: positive.describe("At least so many entries a second; with `sum`, at least so much a second."),
    }),
    z.strictObject({
      kind: z.literal("absence"),
      value: positive.describe("Fewer entries than that; with `count_distinct` and `sum`, less than that."),
    }),
    z.strictObject({
      kind: z.literal("change"),
      direction: z.enum(["rise", "fall"]),
      percent: positive.describe("Compared with the window before. A rise from nothing is larger than any percentage."),
      min: z.int().min(0).max(MAX_VALUE).default(1).describe("Entries that the larger of both windows must have."),
    }),
    z
      .strictObject({ kind: z.literal("new-pattern") })
      .describe(
        "A pattern of messages that the rule has not seen. It learns for one window, and fires once per pattern.",
      ),
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

const clockSchema = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'Must be a time of day, such as "22:00".')
  .transform((written) => Number(written.slice(0, 2)) * 60 + Number(written.slice(3)));

const mute = z.union(
  [
    z.strictObject({
      from: timeSchema.optional().describe("Default: now."),
      to: timeSchema,
    }),
    z.strictObject({
      days: z.array(z.enum(WEEKDAYS)).min(1).max(7).describe("Days on which it begins."),
      start: clockSchema.describe("By the clock of the time zone."),
      end: clockSchema.describe("On the next day if it is not after `start`."),
      timeZone: text(64).describe("IANA name, such as `Europe/Berlin`."),
    }),
  ],
  'Must have a time `to`, or `days`, `start` and `end` such as "22:00", and `timeZone`.',
);

/** A mute without a beginning begins now. */
const mutesSchema = z
  .array(mute)
  .max(mutes)
  .transform((all): Mute[] =>
    all.map((each) => ("to" in each ? { from: each.from ?? Date.now(), to: each.to } : each)),
  );

const PROTO_REFUSED = 'A label cannot have the name "__proto__".';

/** The pattern is for the document: a record leaves such a member out before its names are checked. */
const labelName = text(label)
  .min(1)
  .regex(/^(?!__proto__$)/, PROTO_REFUSED);

/** A zod record leaves out a member named `__proto__`. */
function refuseProto(value: unknown, ctx: z.core.$RefinementCtx): unknown {
  if (isRecord(value) && Object.hasOwn(value, "__proto__")) ctx.addIssue(PROTO_REFUSED);
  return value;
}

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
    "A filter of the query language, then at most one aggregation, by up to two fields: `level:>=error | count by service`, `* | stats p99(ms) by route`. Times that count from now are refused.",
  ),
  condition: conditionBody,
  window: duration(`${MINUTES}|${HOURS}`, "whole minutes from 1m to 24h").describe(
    "Whole minutes from 1m to 24h. A decision is due at each multiple of a sixtieth of it.",
  ),
  delay: duration(`${SECONDS}|${MINUTES}|${HOURS}`, "seconds, minutes or hours up to 24h")
    .nullable()
    .describe(
      `Windows by the entries' own \`timestamp\`, decided so much later: at most ${delayWindows} windows. Entries that are received later than that are counted in \`late\`. \`null\`: windows by time of receipt.`,
    ),
  for: duration(`${SECONDS}|${MINUTES}|${HOURS}`, "seconds, minutes or hours up to 24h").describe(
    "How long a group must breach before it fires, up to 24h.",
  ),
  recovery: number
    .nullable()
    .describe(
      "The value below which a firing group recovers; for `absence` and `below`, from which on; for `change`, percent. `null`: as soon as it no longer breaches.",
    ),
  labels: z.preprocess(
    refuseProto,
    z
      .record(labelName, text(label))
      .refine((all) => Object.keys(all).length <= labels, `Must have at most ${labels} labels.`),
  ),
  message: text(message).describe(
    `Text of notifications. {{name}} is replaced by the value: ${TEMPLATE_NAMES.join(", ")}, and group.FIELD of each grouping field. Empty: a usual text.`,
  ),
  destinations: z.array(text(64)).max(destinations).describe("`dest_...`: where notifications are sent."),
  mutes: mutesSchema.describe(
    "Times without notifications: until a time, or hours of days of the week. A group that still fires at the end is reported then. A recovery is reported if its firing was, also during a mute.",
  ),
};

/** A rule without its name: what a replay needs, and more. */
const ruleMembers = {
  query: members.query,
  condition: members.condition,
  window: members.window,
  delay: members.delay.default(null),
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
  delay: members.delay.optional(),
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
  delay: delayMs,
  for: forMs,
  destinations: destinationIds,
  ...body
}: Body): RuleDefinition {
  return { ...body, windowMs, delayMs, forMs, destinationIds };
}

/** Applies a change to a definition. */
export function changedDefinition(
  old: RuleDefinition,
  {
    version: _,
    window: windowMs,
    delay: delayMs,
    for: forMs,
    destinations: destinationIds,
    ...change
  }: z.output<typeof alertChange>,
): RuleDefinition {
  const given = Object.entries({ ...change, windowMs, delayMs, forMs, destinationIds }).filter(
    ([, value]) => value !== undefined,
  );
  // SAFETY: members of a definition by their names.
  return { ...old, ...(Object.fromEntries(given) as Partial<RuleDefinition>) };
}
