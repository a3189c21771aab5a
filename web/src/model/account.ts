import { authorized, updateUser, user } from "../session/session.ts";
import type { StoredUser } from "../session/stored.ts";

export const PROVIDERS = ["provider_a", "provider_b"] as const;
export type ProviderName = (typeof PROVIDERS)[number];

export interface Methods {
  hasPassword: boolean;
  providers: ProviderName[];
}

export interface SessionInfo {
  id: string;
  method: "password" | "magic_link" | ProviderName;
  userAgent: string | null;
  ip: string;
  createdAt: string;
  lastUsedAt: string;
  expiresAt: string;
  /** Whether it is this browser's. */
  current: boolean;
}

/** One item of the account's own activity. */
export interface ActivityItem {
  id: string;
  at: string;
  action: string;
  sessionId: string | null;
  address: string | null;
  userAgent: string | null;
  requestId: string;
  details: Record<string, string | number>;
}

/** Milliseconds for which the ways to sign in are taken as known: as long as one call of /auth counts against its limit. */
const METHODS_MS = 60_000;

let kept: { userId: string; at: number; methods: Methods } | null = null;

/** The account's ways to sign in. Asked for once a minute at most, however often the page is visited. */
export async function loadMethods(signal?: AbortSignal): Promise<Methods> {
  const userId = user.peek()?.id ?? "";
  if (kept?.userId === userId && kept.at + METHODS_MS > Date.now()) return kept.methods;
  const { data } = await authorized<Methods>("/auth/methods", signal ? { signal } : {});
  keepMethods(data);
  return data;
}

/** After a change that was made here. */
export function keepMethods(methods: Methods | null): void {
  kept = methods && { userId: user.peek()?.id ?? "", at: Date.now(), methods };
}

/** Who is signed in, as the service knows it. A confirmed address stays so: for one that is, nobody is asked. */
export async function loadProfile(signal?: AbortSignal): Promise<void> {
  if (user.peek()?.emailVerified) return;
  const { data } = await authorized<{ user: StoredUser }>("/auth/me", signal ? { signal } : {});
  await updateUser(data.user);
}
