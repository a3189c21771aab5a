import { effect, signal } from "@preact/signals";
import { type ApiFailure, failureOf, isOutage } from "../api/failure.ts";
import { recovery } from "../lib/retry.ts";
import { authorized, user } from "../session/session.ts";
import type { Page, Project, Workspace } from "./types.ts";

/** The account's workspaces; null until they are loaded. Shared by the header and the pages. */
export const workspaces = signal<readonly Workspace[] | null>(null);
export const workspacesFailure = signal<ApiFailure | null>(null);

/** Largest page that the API's lists have. */
const PAGE = 200;

/** Milliseconds within which the list is as good as new. */
const FRESH_MS = 5000;

let owner: string | null = null;
/** When the list that is there was asked for, in local milliseconds. */
let askedAt = 0;
effect(() => {
  const id = user.value?.id ?? null;
  if (id === owner) return;
  owner = id;
  workspaces.value = null;
  if (id !== null) void loadWorkspaces();
});

/** Loads them anew: after one was made, renamed, left or deleted. */
export async function loadWorkspaces(): Promise<void> {
  const asked = owner;
  try {
    await load();
  } catch (error) {
    if (asked !== owner) return;
    const failure = failureOf(error);
    workspacesFailure.value = failure;
    if (!isOutage(failure)) return;
    const again = (): void => {
      if (asked === owner) void loadWorkspaces();
    };
    recovery.add(again, (failure.retryAfter ?? 0) * 1000);
  }
}

/**
 * Loads them anew where they have been there for a while: others change one's roles, and end one's session. What was there
 * does where that fails.
 */
export function refreshWorkspaces(): void {
  if (workspaces.peek() !== null && Date.now() - askedAt > FRESH_MS) load().catch(() => undefined);
}

// A tab that was put aside learns when somebody looks at it again whether its session is still there.
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) refreshWorkspaces();
});

async function load(): Promise<void> {
  const asked = owner;
  const at = Date.now();
  const items = await allOf<Workspace>("/workspaces");
  if (asked !== owner) return;
  askedAt = at;
  workspaces.value = items;
  recovery.succeeded();
  workspacesFailure.value = null;
}

/** Takes out one that was left or deleted, so that nothing asks about it while the list is loaded anew. */
export function dropWorkspace(id: string): void {
  workspaces.value = workspaces.value?.filter((workspace) => workspace.id !== id) ?? null;
  void loadWorkspaces();
}

/** All projects of a workspace, in the API's order. */
export function loadProjects(workspaceId: string, signal?: AbortSignal): Promise<Project[]> {
  return allOf<Project>("/projects", workspaceId, signal);
}

/** Every item of a list, page by page. */
export async function allOf<T>(path: string, workspaceId?: string, signal?: AbortSignal): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: string | null = null; ; ) {
    const query = new URLSearchParams({ limit: String(PAGE), ...(cursor === null ? {} : { cursor }) });
    const { data } = await authorized<Page<T>>(`${path}?${query}`, {
      ...(workspaceId === undefined ? {} : { workspaceId }),
      ...(signal === undefined ? {} : { signal }),
    });
    items.push(...data.items);
    cursor = data.nextCursor;
    if (cursor === null) return items;
  }
}
