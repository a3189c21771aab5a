/** The account and session of an access token. */
export interface AccessClaims {
  sub: string;
  sid: string;
}

/**
 * Decodes the claims of an access token without verification, which is up to the service. Returns `null` for anything
 * else.
 */
export function claimsOf(accessToken: string): AccessClaims | null {
  try {
    const [, payload = ""] = accessToken.split(".");
    const value: unknown = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
    if (typeof value !== "object" || value === null || !("sub" in value) || !("sid" in value)) return null;
    const { sub, sid } = value;
    return typeof sub === "string" && typeof sid === "string" ? { sub, sid } : null;
  } catch {
    return null;
  }
}

/** Whether two access tokens belong to one session of one account. */
export function isSameSession(one: string, other: string): boolean {
  const [a, b] = [claimsOf(one), claimsOf(other)];
  return a !== null && b !== null && a.sub === b.sub && a.sid === b.sid;
}
