import type { ErrorCode } from "../http/errors.ts";

/** On whose behalf a tail reads: it lives no longer than this may read. Each is a `Caller` of the workspace object. */
export type TailAuthority =
  /** Hex SHA-256 of the whole API key. */
  | { kind: "key"; hash: string }
  /** A user, by the session that the tail was opened in. */
  | { kind: "user"; userId: string; sessionId: string };

/** Whether an authority may still read a project: until when, or why not. */
export type AuthorityCheck = { ok: true; expiresAt: number | null } | { ok: false; code: AuthorityEnd };

type AuthorityEnd = Extract<
  ErrorCode,
  | "API_KEY_EXPIRED"
  | "API_KEY_REVOKED"
  | "FORBIDDEN"
  | "INSUFFICIENT_SCOPE"
  | "INVALID_API_KEY"
  | "NOT_FOUND"
  | "SESSION_REVOKED"
>;

/** One text per authority: what holds for one tail of it holds for all. */
export function authorityText(authority: TailAuthority): string {
  return authority.kind === "key" ? `k:${authority.hash}` : `u:${authority.userId}:${authority.sessionId}`;
}

/** @param text as `authorityText` wrote it */
export function readAuthority(text: string): TailAuthority {
  const [kind = "", first = "", second = ""] = text.split(":");
  return kind === "k" ? { kind: "key", hash: first } : { kind: "user", userId: first, sessionId: second };
}
