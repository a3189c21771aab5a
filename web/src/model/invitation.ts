import { request } from "../api/request.ts";
import type { Role } from "./types.ts";

/** The invitation that a token opens. */
export interface OpenInvitation {
  workspace: { name: string };
  /** `null` if the inviter's account was deleted. */
  inviter: { email: string; name?: string } | null;
  /** The invited address. */
  email: string;
  role: Role;
  expiresAt: string;
}

export async function openInvitation(token: string, signal: AbortSignal): Promise<OpenInvitation> {
  return (await request<OpenInvitation>("/invitations/open", { body: { token }, signal })).data;
}
