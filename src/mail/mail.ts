/**
 * Kinds of mails with a token in their link. The token is derived from `seed` and never stored; see
 * `one-time-token.ts`.
 */
export type TokenMailKind = "verify-email" | "magic-link" | "reset-password";

/** Changes of an account that its owner is notified about. */
export type Notice =
  | { notice: "session-ended" }
  | { notice: "agent-ended" }
  | { notice: "password-changed" }
  | { notice: "provider-linked"; provider: "provider_a" | "provider_b" };

export type MailContent =
  | { kind: TokenMailKind; seed: Uint8Array }
  /** `role` and `inviterName` are absent in mails of older versions. */
  | { kind: "invite"; seed: Uint8Array; workspace: string; inviter: string; inviterName?: string | null; role?: string }
  | { kind: "confirm-address"; seed: Uint8Array; workspace: string; inviter: string; inviterName?: string | null }
  | ({ kind: "notice" } & Notice);

export type MailKind = MailContent["kind"];

export interface Mail {
  /** `mail_...`. Prevents that a mail is stored or sent twice. */
  id: string;
  to: string;
  content: MailContent;
  /** Epoch milliseconds after which the mail is dropped. */
  expiresAt: number;
  /** Id of the request that caused the mail; absent in mails of older versions. */
  requestId?: string | undefined;
}

/**
 * A message of the mail queue: the object that stores the pending mail (`usr_...`, or `email:<hash>` for an address
 * object), the mail's id, and the id of the request that caused it (absent in messages of older versions). The content
 * of the mail stays in the object until it is sent.
 */
export type MailMessage = readonly [owner: string, mailId: string, requestId?: string | null];

/** A mail as it is sent to a provider. */
export interface Letter {
  /** `mail_...`, the same for every attempt. */
  id: string;
  to: string;
  kind: string;
  subject: string;
  text: string;
  html: string;
  /** All links of the letter, for the local outbox. */
  links: string[];
}

/**
 * Result of an attempt. `refused`: the provider will never accept the letter, so it is not retried. `failed`: a retry
 * may succeed.
 */
export type Delivery = { ok: true } | { ok: false; reason: "refused" | "failed"; detail: string };

export interface Mailer {
  /** Sends a letter. If the provider supports idempotency keys, a repeated id sends nothing. */
  send(letter: Letter): Promise<Delivery>;
}
