/**
 * What a user typed, as it may stand in a mail to somebody else. Mail programs make links of addresses, hosts, telephone
 * numbers and the like, in plain text as well: so an invitation must not carry anything they could take for one.
 */

/** Characters of a typed text in a mail; a link has no use for more, and neither has a name. */
const KEPT_LENGTH = 64;

/** Letters, their marks, digits and the signs that names have. No dot, slash, colon or @, in whatever script or width. */
const OTHER = /[^\p{L}\p{M}\p{Nd} '’,&()!_–—-]+/gu;

/** Digits that make a telephone number, with what people put between them. */
const NUMBER = /[(\p{Nd}](?:[ ()–—-]*\p{Nd}){6,}\)?/gu;

/** A name without anything that a mail program makes a link of; empty where nothing is left. */
export function unlinkable(text: string): string {
  const plain = text
    // Compatibility forms first: `℀` is a/c, and `⒈` a digit and a dot.
    .normalize("NFKC")
    .replace(OTHER, " ")
    .replace(NUMBER, "…")
    .replace(/\s+/g, " ")
    .trim();
  const characters = [...plain];
  return characters.length > KEPT_LENGTH ? `${characters.slice(0, KEPT_LENGTH).join("").trimEnd()}…` : plain;
}

/** An e-mail address to be read by people alone: `ada at example dot com`. */
export function spelledAddress(address: string): string {
  return unlinkable(address.replaceAll("@", " at ").replaceAll(".", " dot "));
}
