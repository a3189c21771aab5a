/** A link in a mail carries a token, which is derived from `seed` and never stored (see `one-time-token.ts`). */
export type TokenMailKind = "verify-email" | "magic-link" | "reset-password";

/** What an account's owner is told about after the fact. */
export type Notice =
  | { notice: "session-ended" }
  | { notice: "password-changed" }
  | { notice: "provider-linked"; provider: "provider_a" | "provider_b" };

export type MailContent =
  | { kind: TokenMailKind; seed: Uint8Array }
  | { kind: "invite"; seed: Uint8Array; workspace: string; inviter: string }
  | ({ kind: "notice" } & Notice);

export type MailKind = MailContent["kind"];

export interface Mail {
  /** `mail_...`: what keeps it from being promised or sent twice. */
  id: string;
  to: string;
  content: MailContent;
  /** Epoch milliseconds after which it is not worth sending any more. */
  expiresAt: number;
  /** The request that caused it; absent where none is known, as in what an older version promised. */
  requestId?: string | undefined;
}

/**
 * A message of the mail queue: who promised the mail (`usr_...`, or `email:<hash>` for an address object), its id, and the
 * request that caused it (absent in a message of an older version). Nothing of the mail itself: that stays in the object
 * until it is sent.
 */
export type MailMessage = readonly [owner: string, mailId: string, requestId?: string | null];

/** A mail as a provider gets it. */
export interface Letter {
  /** `mail_...`: the same for every try of one mail. */
  id: string;
  to: string;
  kind: string;
  subject: string;
  text: string;
  html: string;
  /** Every link in it, for the local outbox. */
  links: string[];
}

/** `refused`: this letter will never be taken, so trying again is useless. `failed`: it may be taken later. */
export type Delivery = { ok: true } | { ok: false; reason: "refused" | "failed"; detail: string };

export interface Mailer {
  /** Hands a letter over. Sending the same id again sends nothing, where the provider can tell. */
  send(letter: Letter): Promise<Delivery>;
}
