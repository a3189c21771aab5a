/** Whom an access token is of. */
export interface AccessClaims {
  sub: string;
  sid: string;
}

/** What an access token says, unchecked: the service checks it. Null for anything else. */
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

/** Whether two access tokens are of one session of one account. */
export function isSameSession(one: string, other: string): boolean {
  const [a, b] = [claimsOf(one), claimsOf(other)];
  return a !== null && b !== null && a.sub === b.sub && a.sid === b.sid;
}
