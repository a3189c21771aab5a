import { readAccount } from "./account.ts";
import { isAlive, sessionEnd } from "./families.ts";

export interface SessionSubscription {
  sessionId: string;
  workspaceId: string;
}

/**
 * Notes who is to be told of a session's end, in the same turn in which it is found alive.
 * @returns when it ends unless it is used, epoch milliseconds; null where it is dead
 */
export function subscribeToSessionEnd(
  sql: SqlStorage,
  { sessionId, workspaceId }: SessionSubscription,
  now: number,
): number | null {
  const account = readAccount(sql);
  if (!account || !isAlive(sql, sessionId, account.epoch, now)) return null;
  sql.exec("INSERT OR IGNORE INTO session_watches (session, workspace) VALUES (?, ?)", sessionId, workspaceId);
  return sessionEnd(sql, sessionId);
}

/** Those whose session has ended, and who do not know yet. */
export function endedSubscriptions(sql: SqlStorage, epoch: number, now: number): SessionSubscription[] {
  return sql
    .exec<{ session: string; workspace: string }>("SELECT session, workspace FROM session_watches")
    .toArray()
    .filter(({ session }) => !isAlive(sql, session, epoch, now))
    .map(({ session, workspace }) => ({ sessionId: session, workspaceId: workspace }));
}

/** The workspace knows. */
export function forgetWatch(sql: SqlStorage, { sessionId, workspaceId }: SessionSubscription): void {
  sql.exec("DELETE FROM session_watches WHERE session = ? AND workspace = ?", sessionId, workspaceId);
}
