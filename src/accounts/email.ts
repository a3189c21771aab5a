import { createHmac } from "node:crypto";
import { z } from "zod";

/** Longest address that SMTP can carry: RFC 5321 section 4.5.3.1.3, less the angle brackets (RFC 3696 erratum 1690). */
const EMAIL_MAX_LENGTH = 254;

/** Matches one address with space around it. Limits the length before anything else is checked. */
const ADDRESS = new RegExp(
  `^\\s*(?=\\S{1,${EMAIL_MAX_LENGTH}}\\s*$)(?:${z.regexes.email.source.replace(/^\^|\$$/g, "")})\\s*$`,
);

/**
 * Normalizes an e-mail address as it is stored and compared: trims it and lowercases ASCII letters only. Some other
 * letters become ASCII in lowercase (U+212A, the Kelvin sign), and would turn one person's address into another's.
 */
export const emailSchema = z
  .string()
  .regex(ADDRESS, "must be an e-mail address")
  .trim()
  .toLowerCase()
  .meta({ format: "email" });

/** Returns the part before the `@`, without a `+tag`. */
export function localPart(email: string): string {
  const local = email.slice(0, email.lastIndexOf("@"));
  const tag = local.indexOf("+");
  return tag > 0 ? local.slice(0, tag) : local;
}

/** Name of the address object of an e-mail address. A keyed hash, so that no name or log line reveals the address. */
export function emailObjectName(email: string, pepper: string): string {
  return `email:${createHmac("sha256", pepper).update("taffrail e-mail object").update(email).digest("base64url")}`;
}

const SLUG_MAX_LENGTH = 40;

/** The slug for a user whose name and address have no letter or digit that a slug may contain. */
const FALLBACK_SLUG = "user";

/** Returns the slug that a personal workspace should get: from the name, else from the address's local part. */
export function personalSlug(name: string | null, email: string): string {
  return slugify(name ?? "") || slugify(localPart(email)) || FALLBACK_SLUG;
}

/** Returns the slug to use if the wanted one is taken. `suffix` is random, so the second attempt does not collide. */
export function suffixedSlug(slug: string, suffix: string): string {
  return `${slug}-${suffix.toLowerCase()}`;
}

/**
 * Reduces a text to lowercase ASCII letters, digits and single hyphens, at most 40 characters, without accents. May
 * return "".
 */
export function slugify(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, SLUG_MAX_LENGTH + 1)
    .replace(/^-/, "")
    .slice(0, SLUG_MAX_LENGTH)
    .replace(/-$/, "");
}
