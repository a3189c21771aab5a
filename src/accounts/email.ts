import { createHmac } from "node:crypto";
import { z } from "zod";

/** Longest address that SMTP can carry: RFC 5321 section 4.5.3.1.3, less the angle brackets (RFC 3696 erratum 1690). */
const EMAIL_MAX_LENGTH = 254;

/** One address with space around it. The length is decided before the address is looked at: no long text gets further. */
const ADDRESS = new RegExp(
  `^\\s*(?=\\S{1,${EMAIL_MAX_LENGTH}}\\s*$)(?:${z.regexes.email.source.replace(/^\^|\$$/g, "")})\\s*$`,
);

/**
 * An e-mail address as stored and compared: trimmed and in lowercase. Nothing but ASCII is lowercased: of other letters
 * some become ASCII ones by it (U+212A, the Kelvin sign), and somebody else's address the owner's.
 */
export const emailSchema = z
  .string()
  .regex(ADDRESS, "must be an e-mail address")
  .trim()
  .toLowerCase()
  .meta({ format: "email" });

/** What stands before the `@`, without a `+tag`: the readable part of an address. */
export function localPart(email: string): string {
  const local = email.slice(0, email.lastIndexOf("@"));
  const tag = local.indexOf("+");
  return tag > 0 ? local.slice(0, tag) : local;
}

/** The address object of an e-mail address: named by a keyed hash, so that no name or log line tells the address. */
export function emailObjectName(email: string, pepper: string): string {
  return `email:${createHmac("sha256", pepper).update("taffrail e-mail object").update(email).digest("base64url")}`;
}

const SLUG_MAX_LENGTH = 40;

/** The slug of a person whose name and address have no letter or digit that a slug could keep. */
const FALLBACK_SLUG = "user";

/** The slug a personal workspace should get: from the name, else from the address's local part. */
export function personalSlug(name: string | null, email: string): string {
  return slugify(name ?? "") || slugify(localPart(email)) || FALLBACK_SLUG;
}

/** What the workspace gets where that slug is taken; `suffix` is random, so the second try does not collide either. */
export function suffixedSlug(slug: string, suffix: string): string {
  return `${slug}-${suffix.toLowerCase()}`;
}

/** Lowercase ASCII letters, digits and single hyphens, at most 40 characters; accents are dropped. May be empty. */
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
