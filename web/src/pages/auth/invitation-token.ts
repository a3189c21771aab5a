/**
 * The token of an invitation, from its link to the click that accepts it. Signing in, registering and confirming an address
 * lie between the two, some of it in other tabs: so it is in local storage.
 */
const KEY = "taffrail.invitation";

export function keepInvitation(token: string): void {
  localStorage.setItem(KEY, token);
}

export function keptInvitation(): string | null {
  return localStorage.getItem(KEY);
}

export function dropInvitation(): void {
  localStorage.removeItem(KEY);
}
