import { notifyOwner } from "../../accounts/account-mails.ts";
import { truncateUserAgent } from "../../accounts/families.ts";
import { type RefreshAttempt, type Rotation, rotate } from "../../accounts/refresh.ts";
import type { Origin } from "../../platform/origin.ts";
import type { UserCore } from "./core.ts";

/** A rotation with what must be said about it: reuse is logged and mailed, a replay from elsewhere is logged (R11, R2). */
export function refresh(core: UserCore, presented: RefreshAttempt, origin: Origin): Rotation {
  const { REFRESH_PEPPER: pepper, REFRESH_LEEWAY_SECONDS } = core.settings;
  const { familyId: sessionId, userId } = presented.token;
  const rotation = core.change(origin, (sql, now, note) => {
    const result = rotate(sql, presented, { pepper, leewayMs: REFRESH_LEEWAY_SECONDS * 1000 }, now);
    if ("ended" in result && result.ended) {
      const userAgent = truncateUserAgent(presented.userAgent);
      note({ action: "session.reuse", session: sessionId, userAgent });
      notifyOwner(sql, { notice: "session-ended" }, origin, now);
    }
    return result;
  });
  if ("sameAddress" in rotation && !rotation.sameAddress) {
    core.line("warn", origin, { event: "user.refresh.replayed", outcome: "other_address", userId, sessionId });
  }
  if ("ended" in rotation) {
    const outcome = rotation.ended ? "session_ended" : "refused";
    core.line("warn", origin, { event: "user.refresh.reused", outcome, userId, sessionId });
  }
  return rotation;
}
