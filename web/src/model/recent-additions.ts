import { authorized } from "../session/session.ts";
import type { ProviderName } from "./account.ts";

/** What was added to the account in the last 30 days. */
export interface RecentAdditions {
  since: string;
  otherSessions: number;
  providers: { provider: ProviderName; linkedAt: string }[];
  keys: RecentKey[];
  /** `false` if there are more keys. */
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

export async function loadRecentAdditions(signal: AbortSignal): Promise<RecentAdditions> {
  return (await authorized<RecentAdditions>("/auth/recovery", { signal })).data;
}

/** Ends all other sessions and unlinks the providers that were linked in the last 30 days. */
export async function recover(shown: { password?: string }): Promise<{ revoked: number; unlinked: ProviderName[] }> {
  return (await authorized<{ revoked: number; unlinked: ProviderName[] }>("/auth/recovery", { body: shown })).data;
}
