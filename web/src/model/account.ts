import { authorized, updateUser, user } from "../session/session.ts";
import type { StoredUser } from "../session/storage.ts";

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
  /** Whether this session is the one of this browser. */
  current: boolean;
}

/** One item of the account's activity. */
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

/** Milliseconds for which sign-in methods are cached: the window of the limit on `/auth`. */
const METHODS_MS = 60_000;

let kept: { userId: string; at: number; methods: Methods } | null = null;

/** Loads the account's sign-in methods, at most once a minute. */
export async function loadMethods(signal?: AbortSignal): Promise<Methods> {
  const userId = user.peek()?.id ?? "";
  if (kept?.userId === userId && kept.at + METHODS_MS > Date.now()) return kept.methods;
  const { data } = await authorized<Methods>("/auth/methods", signal ? { signal } : {});
  keepMethods(data);
  return data;
}

/** Caches the methods after a change in this tab. */
export function keepMethods(methods: Methods | null): void {
  kept = methods && { userId: user.peek()?.id ?? "", at: Date.now(), methods };
}

/**
 * Loads the profile of the signed-in user. A confirmed address stays confirmed, so a profile that has one is not loaded
 * again.
 */
export async function loadProfile(signal?: AbortSignal): Promise<void> {
  if (user.peek()?.emailVerified) return;
  const { data } = await authorized<{ user: StoredUser }>("/auth/me", signal ? { signal } : {});
  await updateUser(data.user);
}

/** Changes the name that other members see; an empty one removes it. */
export async function renameUser(name: string): Promise<void> {
  const { data } = await authorized<{ user: StoredUser }>("/auth/me", { method: "PATCH", body: { name } });
  await updateUser(data.user);
}
