import { authorized } from "../session/session.ts";
import type { ProviderName } from "./account.ts";

/** What was added to the account in the last 30 days. */
export interface Recovery {
  since: string;
  otherSessions: number;
  providers: { provider: ProviderName; linkedAt: string }[];
  keys: RecentKey[];
  /** False where there are more keys. */
  complete: boolean;
}

export interface RecentKey {
  id: string;
  name: string;
  prefix: string;
  scopes: string[];
  projectId: string;
  projectName: string;
  workspaceId: string;
  workspaceName: string;
  createdAt: string;
  lastUsedAt: string | null;
}

export async function loadRecovery(signal: AbortSignal): Promise<Recovery> {
  return (await authorized<Recovery>("/auth/recovery", { signal })).data;
}

/** Ends all other sessions, and unlinks what was linked in the last 30 days. */
export async function recover(shown: { password?: string }): Promise<{ revoked: number; unlinked: ProviderName[] }> {
  return (await authorized<{ revoked: number; unlinked: ProviderName[] }>("/auth/recovery", { body: shown })).data;
}
