import { keep } from "../../lib/keep.ts";

/**
 * Stores the token of an invitation from its link until the click that accepts it. Local storage, because signing in,
 * registering and confirming the address may happen in other tabs.
 */
const KEY = "taffrail.invitation";

export function keepInvitation(token: string): void {
  keep(KEY, token);
}

export function keptInvitation(): string | null {
  return localStorage.getItem(KEY);
}

export function dropInvitation(): void {
  localStorage.removeItem(KEY);
}
