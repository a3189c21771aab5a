import { createHash } from "node:crypto";
import { z } from "zod";
import { refuse } from "./errors.ts";

/** Text without lone surrogates: what UTF-8 can carry. As a pattern, so that a published schema can say it, too. */
export const WELL_FORMED = /^\P{Cs}*$/u;

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

const KEY_MAX_LENGTH = 128;
const KEY = /^[\x20-\x7e]{1,128}$/;

/** The header, as the document of the API has it: 1 to 128 printable ASCII characters. */
export const idempotencyKeySchema = z.string().regex(KEY);

/** SHA-256 of a request's `Idempotency-Key`, null without one; ends the request with 400 for one that is none. */
export function idempotencyKeyHash(headers: Headers): Uint8Array | null {
  const key = headers.get("Idempotency-Key");
  if (key === null) return null;
  if (KEY.test(key)) return Uint8Array.from(createHash("sha256").update(key).digest());
  const message = `must be 1 to ${KEY_MAX_LENGTH} printable ASCII characters.`;
  const details = [{ path: "Idempotency-Key", code: "invalid_format", message }];
  return refuse("VALIDATION_ERROR", `Idempotency-Key ${message}`, { details });
}
