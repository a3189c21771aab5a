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
