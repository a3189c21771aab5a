import type { LimitConfiguration } from "../../../../../src/limits/cascade.ts";
import { type Draft, isChanged, renumbered } from "./draft.ts";

/** A draft and the configuration it started from. */
export interface Edited {
  base: LimitConfiguration;
  draft: Draft;
}

/** Session storage key: unsaved changes survive navigation and end with the tab. */
function keyOf(userId: string, workspaceId: string): string {
  return `taffrail.limits.${userId}.${workspaceId}`;
}

/** Stores unsaved changes. A draft equal to its base is deleted. */
export function keepEdited(userId: string, workspaceId: string, { base, draft }: Edited): void {
  const key = keyOf(userId, workspaceId);
  if (isChanged(draft, base)) sessionStorage.setItem(key, JSON.stringify({ base, draft }));
  else sessionStorage.removeItem(key);
}

export function readEdited(userId: string, workspaceId: string): Edited | null {
  const text = sessionStorage.getItem(keyOf(userId, workspaceId));
  if (text === null) return null;
  // SAFETY: only `keepEdited` writes this key, in this tab.
  const { base, draft } = JSON.parse(text) as Edited;
  return { base, draft: renumbered(draft) };
}
