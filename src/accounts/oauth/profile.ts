import { nameSchema } from "../../http/name.ts";
import { emailSchema } from "../email.ts";

/** Longest subject that is taken: OpenID Connect Core section 2 allows 255 characters. */
export const SUBJECT_MAX_LENGTH = 255;

/** A provider's address as stored here; null for what is none. */
export function providerEmail(text: string | null | undefined): string | null {
  return emailSchema.safeParse(text).data ?? null;
}

/** A provider's name of a person, if it is one that could have been given here. */
export function providerName(text: string | null | undefined): string | null {
  return nameSchema.safeParse(text).data || null;
}
