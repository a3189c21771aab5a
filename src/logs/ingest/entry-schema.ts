import { z } from "zod";
import { CATEGORY_TYPES, INGEST_LIMITS, LEVELS } from "../entry.ts";
import { REJECTION_CODES } from "./rejection.ts";

const name = z.string().min(1).max(INGEST_LIMITS.nameLength);

const categories = Object.entries(CATEGORY_TYPES)
  .map(([category, types]) => `${category}: ${types.join(", ")}`)
  .join("; ");

/**
 * An entry as clients send it. Documents what `EntryValidator` checks by hand on the hot path; a test holds both to the
 * same verdicts. What a schema cannot say (ages, depth, size, folding) is in the descriptions and in `rejected`.
 */
export const entrySchema = z
  .looseObject({
    message: z.string().min(1),
    level: z.enum(LEVELS).optional().describe("Default: info."),
    category: name.optional().describe("Default: custom."),
    type: name
      .optional()
      .describe(`In a built-in category one of its types, the first being the default. ${categories}.`),
    timestamp: z
      .union([z.string(), z.number().min(0)])
      .optional()
      .describe("ISO 8601 or epoch milliseconds; default: the time of receipt. At most 24 hours ahead."),
    session: z.string().optional(),
    traceId: z.string().optional(),
    spanId: z.string().optional(),
    data: z.record(z.string(), z.unknown()).optional().describe(`At most ${INGEST_LIMITS.dataDepth} levels deep.`),
  })
  .describe("Other members are kept in `data`; a name that stands in both rejects the entry.");

const rejectionSchema = z.object({
  index: z.int().describe("The entry's place in the request, from 0."),
  code: z.enum(REJECTION_CODES),
  message: z.string(),
});

export const receiptSchema = z.object({
  accepted: z.int(),
  rejected: z.array(rejectionSchema).describe(`At most ${INGEST_LIMITS.rejectedListed}; rejectedCount counts all.`),
  rejectedCount: z.int(),
  firstSeq: z.int(),
  lastSeq: z.int(),
  duplicate: z.boolean().describe("True when an earlier request with the same Idempotency-Key stored the entries."),
});
