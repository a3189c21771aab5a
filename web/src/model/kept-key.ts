import { effect } from "@preact/signals";
import { user } from "../session/session.ts";
import type { MadeKey } from "./types.ts";

/** Kept in memory only, so that the way to the outbox and back does not lose the key, and a reload does. */
let kept: { key: MadeKey; userId: string } | null = null;

// The secret ends with the session, also with that of another tab.
effect(() => {
  if (user.value?.id !== kept?.userId) kept = null;
});

/** Keeps the first key of a project for its start page, until its first entry is there. */
export function keepKey(key: MadeKey | null): void {
  const userId = user.peek()?.id;
  kept = key === null || userId === undefined ? null : { key, userId };
}

/** The key that this tab made last, if the same user is signed in. */
export function keptKey(): MadeKey | null {
  return kept?.key ?? null;
}

/** Call once a key, or a project with its keys, is no longer valid: its secret must not be shown as one to use. */
export function dropKept(id: string): void {
  if (kept?.key.id === id || kept?.key.projectId === id) kept = null;
}
