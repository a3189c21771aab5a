import { z } from "zod";

const NAME_MAX_LENGTH = 100;

/** No control character, and none that turns the direction of what stands around it (UAX #9): names stand in sentences of ours. */
const CHARACTER = "[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\u202A-\\u202E\\u2066-\\u2069]";

/** The text of a name; it begins and ends with no space. Each step has one way to match, so a long text costs one pass. */
const TEXT = `(?:${CHARACTER}{0,${NAME_MAX_LENGTH - 1}}(?!\\s)${CHARACTER})`;

const problem = `must be one line of at most ${NAME_MAX_LENGTH} characters, without control characters`;

/** A name that people read, trimmed. Empty means "not given". Published with the space around it that trimming takes. */
export const nameSchema = z
  .string()
  .regex(new RegExp(`^\\s*(?!\\s)${TEXT}?\\s*$`, "u"), problem)
  .trim();

/** The same where a name must be given. */
export const requiredNameSchema = z
  .string()
  .regex(/\S/, { abort: true, error: "must not be empty" })
  .regex(new RegExp(`^\\s*(?!\\s)${TEXT}\\s*$`, "u"), problem)
  .trim();
