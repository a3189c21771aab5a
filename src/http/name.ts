import { z } from "zod";

const NAME_MAX_LENGTH = 100;

/** A name that people read: trimmed, one line, without control characters. Empty means "not given". */
export const nameSchema = z
  .string()
  .trim()
  .max(NAME_MAX_LENGTH, { abort: true })
  .regex(/^\P{Cc}*$/u, "must not contain control characters")
  .refine((text) => text.isWellFormed(), "must be well-formed Unicode");
