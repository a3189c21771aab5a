import { openOneTimeToken } from "../accounts/one-time-token.ts";

/** Which workspace made the invitation that a token accepts, and as what it knows it; null for what is no such token. */
export function openInvitationToken(token: string): { workspaceId: string; hash: Uint8Array } | null {
  const opened = openOneTimeToken(token);
  // The locator is the random part of the id of whose object knows the token: here a workspace's.
  if (!opened || opened.userId === null) return null;
  return { workspaceId: opened.userId.replace(/^usr_/, "ws_"), hash: opened.hash };
}
