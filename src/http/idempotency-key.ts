import { createHash } from "node:crypto";
import { z } from "zod";
import { refuse } from "./errors.ts";

const KEY_MAX_LENGTH = 128;
const KEY = /^[\x20-\x7e]{1,128}$/;

/** The header, as the document of the API has it: 1 to 128 printable ASCII characters. */
export const idempotencyKeySchema = z.string().regex(KEY);

/** Whether a request has no `Idempotency-Key`, or one that may be used. */
export function hasGoodIdempotencyKey(headers: Headers): boolean {
  const key = headers.get("Idempotency-Key");
  return key === null || KEY.test(key);
}

/** SHA-256 of a request's `Idempotency-Key`, null without one; ends the request with 400 for one that is none. */
export function idempotencyKeyHash(headers: Headers): Uint8Array | null {
  const key = headers.get("Idempotency-Key");
  if (key === null) return null;
  if (KEY.test(key)) return Uint8Array.from(createHash("sha256").update(key).digest());
  const message = `must be 1 to ${KEY_MAX_LENGTH} printable ASCII characters.`;
  const details = [{ path: "Idempotency-Key", code: "invalid_format", message }];
  return refuse("VALIDATION_ERROR", `Idempotency-Key ${message}`, { details });
}
