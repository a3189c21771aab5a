import { effect, signal } from "@preact/signals";
import { type ApiFailure, failureOf, isLimited, isOutage } from "../api/failure.ts";
import { recovery } from "../lib/retry.ts";
import { authorized, user } from "../session/session.ts";
import { listPagePath } from "./list-page.ts";
import type { Page, Project, Workspace } from "./types.ts";

/** The account's workspaces; `null` until they are loaded. Shared by the header and the pages. */
export const workspaces = signal<readonly Workspace[] | null>(null);
export const workspacesFailure = signal<ApiFailure | null>(null);

/** Days of retention assumed until the workspace is loaded: the default of the service. */
const RETENTION_DAYS = 30;

/** Returns a workspace of the account; `undefined` until it is loaded, and if there is none. A render subscribes to the list. */
export function knownWorkspace(workspaceId: string | null): Workspace | undefined {
  return workspaces.value?.find(({ id }) => id === workspaceId);
}

export function retentionDaysOf(workspaceId: string): number {
  return knownWorkspace(workspaceId)?.retentionDays ?? RETENTION_DAYS;
}

/** Milliseconds for which the loaded list counts as fresh. */
const FRESH_MS = 5000;

let owner: string | null = null;
/** Local epoch milliseconds at which the current list was requested. */
let askedAt = 0;
effect(() => {
  const id = user.value?.id ?? null;
  if (id === owner) return;
  owner = id;
  workspaces.value = null;
  if (id !== null) void loadWorkspaces();
});

/** Loads the list again, after a workspace was created, renamed, left or deleted. */
export async function loadWorkspaces(): Promise<void> {
  const asked = owner;
  try {
    await load();
  } catch (error) {
    if (asked !== owner) return;
    const failure = failureOf(error);
    workspacesFailure.value = failure;
    if (!isOutage(failure) && !isLimited(failure)) return;
    const again = (): void => {
      if (asked === owner) void loadWorkspaces();
    };
    recovery.add(again, (failure.retryAfter ?? 0) * 1000);
  }
}

/**
 * Loads the list again if it is no longer fresh, because roles and sessions change elsewhere. A failure keeps the
 * current list.
 */
export function refreshWorkspaces(): void {
  if (workspaces.peek() !== null && Date.now() - askedAt > FRESH_MS) load().catch(() => undefined);
}

// A tab that becomes visible again notices whether its session has ended.
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

/** Removes a workspace that was left or deleted, so that no page requests it while the list is loaded again. */
export function dropWorkspace(id: string): void {
  workspaces.value = workspaces.value?.filter((workspace) => workspace.id !== id) ?? null;
  void loadWorkspaces();
}

/** Loads all projects of a workspace, in the API's order. */
export function loadProjects(workspaceId: string, signal?: AbortSignal): Promise<Project[]> {
  return allOf<Project>("/projects", workspaceId, signal);
}

/** Loads every item of a list, page by page. */
export async function allOf<T>(path: string, workspaceId?: string, signal?: AbortSignal): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: string | null = null; ; ) {
    const { data }: { data: Page<T> } = await authorized<Page<T>>(listPagePath(path, cursor), {
      ...(workspaceId === undefined ? {} : { workspaceId }),
      ...(signal === undefined ? {} : { signal }),
    });
    items.push(...data.items);
    cursor = data.nextCursor;
    if (cursor === null) return items;
  }
}
