import { z } from "zod";

const NAME_MAX_LENGTH = 100;

/**
 * A name that people read: trimmed, one line, without control characters. Nor with those that turn the direction of what
 * stands around it (UAX #9: embeddings, overrides, isolates): names stand in sentences of ours. Empty means "not given".
 */
export const nameSchema = z
  .string()
  .trim()
  .max(NAME_MAX_LENGTH, { abort: true })
  .regex(/^[^\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]*$/u, "must not contain control characters")
  .refine((text) => text.isWellFormed(), "must be well-formed Unicode");
