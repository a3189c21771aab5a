import { localPart } from "./email.ts";

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
