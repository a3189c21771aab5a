import type { LimitConfiguration } from "../../../../../src/limits/cascade.ts";
import { type Draft, isChanged, renumbered } from "./draft.ts";

/** What is being edited, and what it was made from. */
export interface Edited {
  base: LimitConfiguration;
  draft: Draft;
}

/** In session storage: unsaved changes outlive a look at another page, and go with the tab. */
function keyOf(userId: string, workspaceId: string): string {
  return `taffrail.limits.${userId}.${workspaceId}`;
}

/** Keeps changes that are not saved; what says the same as its base is nothing to keep. */
export function keepEdited(userId: string, workspaceId: string, { base, draft }: Edited): void {
  const key = keyOf(userId, workspaceId);
  if (isChanged(draft, base)) sessionStorage.setItem(key, JSON.stringify({ base, draft }));
  else sessionStorage.removeItem(key);
}

export function readEdited(userId: string, workspaceId: string): Edited | null {
  const text = sessionStorage.getItem(keyOf(userId, workspaceId));
  if (text === null) return null;
  // SAFETY: only `keepEdited` writes it, in this very tab.
  const { base, draft } = JSON.parse(text) as Edited;
  return { base, draft: renumbered(draft) };
}
