import { keep } from "../lib/keep.ts";
import { user } from "../session/session.ts";
import { workspaces } from "./workspaces.ts";

/** Local storage key: the account, and the workspace whose page was shown last. */
const KEY = "taffrail.workspace";

/**
 * Returns the part of a page's path that names its project, such as `/p/proj_1`; empty on a page of all projects or of no workspace.
 */
export function shownProject(path: string): string {
  return /^\/w\/[^/]+(\/p\/[^/]+)/.exec(path)?.[1] ?? "";
}

/**
 * Returns the workspace whose pages the navigation offers on the page at `path`: the one in the path; on a page that belongs to no
 * workspace, such as the account, the last one, or the only one. `null` on the page that lists all of them, and for a workspace
 * of which the user is no member. Until the list is loaded, every id counts as one of it.
 */
export function shownWorkspace(path: string): string | null {
  const userId = user.value?.id;
  if (userId === undefined || path === "/") return null;
  const known = workspaces.value;
  const isKnown = (id: string): boolean => known === null || known.some((workspace) => workspace.id === id);
  const named = /^\/w\/([^/]+)/.exec(path)?.[1];
  if (named !== undefined && isKnown(named)) {
    // Not before the list is loaded, because the id may be none of it.
    if (known !== null) keep(KEY, `${userId} ${named}`);
    return named;
  }
  const [owner, last] = (localStorage.getItem(KEY) ?? "").split(" ");
  if (owner === userId && last !== undefined && isKnown(last)) return last;
  return known?.length === 1 ? (known[0]?.id ?? null) : null;
}
