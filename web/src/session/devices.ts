import { keep } from "../lib/keep.ts";

/**
 * Device tokens of this browser, one for each account that has signed in here. A login with a device token is not
 * delayed by failed logins of others. Device tokens are no credentials, so signing out keeps them. Stored by a hash of
 * the address, so that other users of the browser cannot read it.
 */
const KEY = "taffrail.devices";
/** Accounts whose device token is kept; the oldest is evicted. */
const MOST = 20;

/** The device token for an address, or `null`. */
export async function deviceTokenOf(email: string): Promise<string | null> {
  const name = await nameOf(email);
  return read().find(([kept]) => kept === name)?.[1] ?? null;
}

export async function keepDeviceToken(email: string, token: string): Promise<void> {
  const name = await nameOf(email);
  const others = read().filter(([kept]) => kept !== name);
  keep(KEY, JSON.stringify([[name, token], ...others].slice(0, MOST)));
}

async function nameOf(email: string): Promise<string> {
  const bytes = new TextEncoder().encode(email.trim().toLowerCase());
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function read(): [name: string, token: string][] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    if (!Array.isArray(value)) return [];
    return value.filter(
      (each): each is [string, string] =>
        Array.isArray(each) && typeof each[0] === "string" && typeof each[1] === "string",
    );
  } catch {
    return [];
  }
}
