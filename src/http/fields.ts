import { z } from "zod";

/** Text without lone surrogates, which UTF-8 cannot encode. A pattern, so that a published schema can contain it. */
export const WELL_FORMED = /^\P{Cs}*$/u;

const NAME_MAX_LENGTH = 100;

/**
 * No control characters, and none that changes the direction of surrounding text (UAX #9): names appear in sentences.
 */
const CHARACTER = "[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\u202A-\\u202E\\u2066-\\u2069]";

/** The text of a name, without space at its ends. Each step has one way to match, so a long text costs one pass. */
const TEXT = `(?:${CHARACTER}{0,${NAME_MAX_LENGTH - 1}}(?!\\s)${CHARACTER})`;

const problem = `must be one line of at most ${NAME_MAX_LENGTH} characters, without control characters`;

/** A display name, trimmed. Empty means "not given". The published pattern allows the space that is trimmed. */
export const nameSchema = z
  .string()
  .regex(new RegExp(`^\\s*(?!\\s)${TEXT}?\\s*$`, "u"), problem)
  .trim();

/** Like `nameSchema`, not empty. */
export const requiredNameSchema = z
  .string()
  .regex(/\S/, { abort: true, error: "must not be empty" })
  .regex(new RegExp(`^\\s*(?!\\s)${TEXT}\\s*$`, "u"), problem)
  .trim();
