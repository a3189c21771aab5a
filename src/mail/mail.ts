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
