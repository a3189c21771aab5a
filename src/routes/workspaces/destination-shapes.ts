import { z } from "zod";
import { emailSchema } from "../../accounts/email.ts";
import { DESTINATION_KINDS } from "../../alerts/notifications/destination.ts";
import type { Destination } from "../../alerts/notifications/destinations.ts";
import { requiredNameSchema } from "../../http/fields.ts";
import { MAX_URL_LENGTH } from "../../platform/outbound-url.ts";
import { EXAMPLE } from "../examples.ts";

export const NOTIFICATIONS_TAG = "Notifications";

/** Seconds for which a signing secret stays valid beside its successor: at most 30 days, one day by default. */
export const OVERLAP_SECONDS = { max: 2_592_000, default: 86_400 } as const;

export const answerShape = z.object({
  status: z.int().nullable().describe("HTTP status; `null` without a response, and for mails."),
  text: z.string().describe("The start of the response's body: at most 1,000 characters."),
  ms: z.number().describe("Milliseconds of the attempt."),
  error: z.string().nullable().describe("Why the attempt failed; `null` for a delivered one."),
});

export const destinationShape = z.object({
  id: z.string(),
  kind: z.enum(DESTINATION_KINDS),
  name: z.string(),
  url: z.string().nullable().describe("`null` for e-mail, and for Slack, whose URL is a secret."),
  email: z.string().nullable().describe("The member's address when the destination was created, or a confirmed one."),
  userId: z.string().nullable().describe("The member who gets the mails; `null` for another address."),
  hasSecret: z.boolean(),
  previousSecretUntil: z.iso.datetime().nullable().describe("End of the overlap after a rotation."),
  canary: z.boolean().describe("Whether a notification is delivered every day."),
  enabled: z.boolean(),
  disabledReason: z
    .enum(["paused", "gone", "left", "unconfirmed"])
    .nullable()
    .describe(
      "`paused` by a member; `gone`: the receiver answered 410; `left`: the recipient is no longer a member, or has stopped the mails; `unconfirmed`: the address must be confirmed by a mailed link.",
    ),
  version: z.int(),
  createdBy: z.string(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  lastDeliveredAt: z.iso.datetime().nullable(),
  lastFailedAt: z.iso.datetime().nullable(),
  lastAnswer: answerShape.nullable(),
});

export const createdShape = destinationShape.extend({
  secret: z
    .string()
    .nullable()
    .describe(
      "The signing secret of a webhook, `whsec_...`. It is shown only in this response. `null` for other kinds.",
    ),
});

const urlSchema = z
  .string()
  .min(1)
  .max(MAX_URL_LENGTH)
  .regex(/^https?:\/\/[^\s]+$/)
  .meta({ examples: [EXAMPLE.destination.url] })
  .describe("https, a public host, no user name, no fragment.");
const routingKeySchema = z
  .string()
  .min(32)
  .max(32)
  .regex(/^[0-9A-Za-z]*$/)
  .describe("Integration key of a service of PagerDuty.");
const authorizationSchema = z
  .string()
  .min(1)
  .max(1000)
  .regex(/^[!-~](?:[ -~]*[!-~])?$/)
  .describe("Value of the `Authorization` header.");
const canarySchema = z.boolean().default(false).describe("Deliver a notification every day, as proof that it works.");

const name = requiredNameSchema;

export const createBody = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("webhook"), name, url: urlSchema, canary: canarySchema }),
  z.strictObject({
    kind: z.literal("email"),
    name,
    email: emailSchema.describe(
      "Of a member of the workspace, or another one, whose holder confirms it by a mailed link.",
    ),
    canary: canarySchema,
  }),
  z.strictObject({
    kind: z.literal("slack"),
    name,
    url: urlSchema.describe("URL of an incoming webhook of Slack, or of a service that accepts the same."),
    canary: canarySchema,
  }),
  z.strictObject({
    kind: z.literal("pagerduty"),
    name,
    routingKey: routingKeySchema,
    url: urlSchema.optional().describe("Default: `https://events.pagerduty.com/v2/enqueue`."),
  }),
  z.strictObject({
    kind: z.literal("alertmanager"),
    name,
    url: urlSchema.describe("Address of the Alertmanager, without `/api/v2/alerts`."),
    authorization: authorizationSchema.optional(),
    canary: canarySchema,
  }),
]);

export const changeBody = z.strictObject({
  version: z
    .int()
    .min(1)
    .describe("The version that the change was made from. 409 if the destination has another one."),
  name: name.optional(),
  url: urlSchema.optional(),
  routingKey: routingKeySchema.optional(),
  authorization: authorizationSchema.nullable().optional().describe("`null` removes it."),
  canary: z.boolean().optional(),
  enabled: z.boolean().optional().describe("Deliveries to a destination that is not enabled wait, for three days."),
});

export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

export function destinationData(destination: Destination): z.output<typeof destinationShape> {
  const { settings, disabled, previousSecretUntil, createdAt, updatedAt, ...more } = destination;
  return {
    ...more,
    url: settings.url ?? null,
    email: settings.email ?? null,
    userId: settings.userId ?? null,
    previousSecretUntil: isoOrNull(previousSecretUntil),
    enabled: disabled === null,
    disabledReason: disabled,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
    lastDeliveredAt: isoOrNull(destination.lastDeliveredAt),
    lastFailedAt: isoOrNull(destination.lastFailedAt),
  };
}

/** An alert that named a deleted destination. */
export const releasedShape = z.object({
  projectId: z.string(),
  id: z.string(),
  name: z.string(),
  version: z.int().describe("The version without the destination."),
});
