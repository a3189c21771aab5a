import { z } from "zod";
import { WELL_FORMED } from "../../http/fields.ts";
import { CATEGORY_TYPES, INGEST_LIMITS, LEVELS } from "../entry.ts";
import { REJECTION_CODES } from "./rejection.ts";
import { ISO_TIME, MAX_TIME_MS } from "./timestamp.ts";

const name = z.string().min(1).max(INGEST_LIMITS.nameLength).regex(WELL_FORMED);

const categories = Object.entries(CATEGORY_TYPES)
  .map(([category, types]) => `${category}: ${types.join(", ")}`)
  .join("; ");

/**
 * An entry as clients send it. Documents the rules that `EntryValidator` applies on the hot path; a test compares the
 * verdicts of both. Rules that a schema cannot express (ages, depth, size, folding) are in the descriptions and in
 * `rejected`.
 */
export const entrySchema = z
  .looseObject({
    message: z.string().min(1),
    level: z.enum(LEVELS).optional().describe("Default: info."),
    category: name.optional().describe("Default: custom."),
    type: name
      .optional()
      .describe(`In a built-in category, one of its types; the first one is the default. ${categories}.`),
    timestamp: z
      .union([z.string().regex(ISO_TIME), z.number().min(0).max(MAX_TIME_MS)])
      .optional()
      .describe("ISO 8601 or epoch milliseconds; default: the time of receipt. At most 24 hours ahead."),
    session: z.string().optional(),
    traceId: z.string().optional(),
    spanId: z.string().optional(),
    service: z
      .unknown()
      .optional()
      .describe(
        `The program: a string of 1 to ${INGEST_LIMITS.ownLength} characters. Any other value is moved to \`data\`.`,
      ),
    host: z.unknown().optional().describe("The machine, likewise."),
    data: z.record(z.string(), z.unknown()).optional().describe(`At most ${INGEST_LIMITS.dataDepth} levels deep.`),
  })
  .refine(hasTypeOfItsCategory, { path: ["type"], error: "must be a type of the category" })
  .meta({
    description: "Other members are moved to `data`; an entry with the same name in both is rejected.",
    allOf: Object.entries(CATEGORY_TYPES).map(([category, types]) => ({
      if: { properties: { category: { const: category } }, required: ["category"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { type: { enum: types } } },
    })),
  });

const TYPES = new Map<unknown, readonly string[]>(Object.entries(CATEGORY_TYPES));

/** Whether a type belongs to its category. A category that is not built in accepts every type. */
function hasTypeOfItsCategory({
  category,
  type,
}: {
  category?: string | undefined;
  type?: string | undefined;
}): boolean {
  return type === undefined || (TYPES.get(category)?.includes(type) ?? true);
}

/**
 * A JSON body: one entry, several, or several in `logs`. Valid entries are stored; the others are listed in `rejected`.
 */
export const entriesSchema = z.union([
  entrySchema,
  z.array(entrySchema).min(1).max(INGEST_LIMITS.entries),
  z.strictObject({ logs: z.array(entrySchema).min(1).max(INGEST_LIMITS.entries) }),
]);

const rejectionSchema = z.object({
  index: z.int().describe("The entry's index in the request, from 0."),
  code: z.enum(REJECTION_CODES),
  message: z.string(),
});

export const receiptSchema = z.object({
  accepted: z.int(),
  rejected: z.array(rejectionSchema).describe(`At most ${INGEST_LIMITS.rejectedListed}; rejectedCount counts all.`),
  rejectedCount: z.int(),
  firstSeq: z.int(),
  lastSeq: z.int(),
  duplicate: z.boolean().describe("`true` if an earlier request with the same Idempotency-Key stored the entries."),
});
