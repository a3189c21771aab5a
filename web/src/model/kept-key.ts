import { effect } from "@preact/signals";
import { user } from "../session/session.ts";
import type { MadeKey } from "./types.ts";

/** Kept in memory only, so that the way to the outbox and back does not lose the key, and a reload does. */
let kept: { key: MadeKey; userId: string; isStored: boolean } | null = null;

// The secret ends with the session, also with that of another tab.
effect(() => {
  if (user.value?.id !== kept?.userId) kept = null;
});

/** Keeps the first key of a project for its start page, until its first entry is there. */
export function keepKey(key: MadeKey | null): void {
  const userId = user.peek()?.id;
  kept = key === null || userId === undefined ? null : { key, userId, isStored: false };
}

/** The key that this tab made last, if the same user is signed in. */
export function keptKey(): MadeKey | null {
  return kept?.key ?? null;
}

/** Whether the user has copied the kept key, or left it behind on purpose. */
export function isKeptStored(): boolean {
  return kept?.isStored ?? false;
}

/** Call once the user has the kept key, or has decided to do without it. */
export function keptIsStored(): void {
  if (kept !== null) kept.isStored = true;
}

/** Call once a key, or a project with its keys, is no longer valid: its secret must not be shown as one to use. */
export function dropKept(id: string): void {
  if (kept?.key.id === id || kept?.key.projectId === id) kept = null;
}
