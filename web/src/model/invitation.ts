import { request } from "../api/request.ts";
import type { Role } from "./types.ts";

/** What the token of an invitation shows to its holder. */
export interface OpenInvitation {
  workspace: { name: string };
  /** Null where that account is gone. */
  inviter: { email: string; name?: string } | null;
  /** The address that was invited. */
  email: string;
  role: Role;
  expiresAt: string;
}

export async function openInvitation(token: string, signal: AbortSignal): Promise<OpenInvitation> {
  return (await request<OpenInvitation>("/invitations/open", { body: { token }, signal })).data;
}
