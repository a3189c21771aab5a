import { timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { WELL_FORMED } from "../http/fields.ts";

/**
 * The parameters that the interface names, and the most that production workerd derives; local workerd accepts more.
 */
export const PBKDF2_ITERATIONS = 100_000;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Length of a password in code points. The upper bound limits the cost of a derivation (NIST 800-63B: at least 64). */
const PASSWORD_LENGTH = { min: 8, max: 256 } as const;

/**
 * No composition rules and no truncation. Ill-formed Unicode is refused: encoding would turn each lone surrogate into
 * the same replacement character, and different passwords into one.
 */
export const passwordSchema = z
  .string()
  .regex(WELL_FORMED, { abort: true, error: "must be well-formed Unicode" })
  .refine((text) => [...text].length >= PASSWORD_LENGTH.min, `must have at least ${PASSWORD_LENGTH.min} characters`)
  .refine((text) => [...text].length <= PASSWORD_LENGTH.max, `must have at most ${PASSWORD_LENGTH.max} characters`)
  .meta({ minLength: PASSWORD_LENGTH.min, maxLength: PASSWORD_LENGTH.max, format: "password" });

/** `pbkdf2:100000:<salt>:<hash>`, both base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  const hash = await derive(password, salt);
  return `pbkdf2:${PBKDF2_ITERATIONS}:${encode(salt)}:${encode(hash)}`;
}

/**
 * Whether the password matches `stored`. Derives exactly once for any `stored`, including `null`, so that the response
 * time does not reveal whether an account or a password exists.
 */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const known = parse(stored);
  const hash = await derive(password, known?.salt ?? new Uint8Array(SALT_BYTES));
  return timingSafeEqual(hash, known?.hash ?? new Uint8Array(HASH_BYTES)) && known !== null;
}

/**
 * Normalizes to NFC, as RFC 8265 (section 4.2.2) and NIST 800-63B require: another keyboard may produce other code
 * points for the same letters. NFKC would also unify texts that look different.
 */
async function derive(password: string, salt: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const bytes = new TextEncoder().encode(password.normalize("NFC"));
  const key = await crypto.subtle.importKey("raw", bytes, "PBKDF2", false, ["deriveBits"]);
  const algorithm = { name: "PBKDF2", hash: "SHA-256", salt, iterations: PBKDF2_ITERATIONS };
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, HASH_BYTES * 8));
}

function parse(stored: string | null): { salt: Uint8Array<ArrayBuffer>; hash: Uint8Array<ArrayBuffer> } | null {
  const [scheme, iterations, salt, hash, ...rest] = stored?.split(":") ?? [];
  if (scheme !== "pbkdf2" || iterations !== String(PBKDF2_ITERATIONS) || rest.length > 0) return null;
  const parsed = { salt: decode(salt ?? ""), hash: decode(hash ?? "") };
  return parsed.salt.length === SALT_BYTES && parsed.hash.length === HASH_BYTES ? parsed : null;
}

function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

function decode(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(text, "base64url"));
}
