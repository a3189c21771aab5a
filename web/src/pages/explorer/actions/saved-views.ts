import { signal } from "@preact/signals";
import { toast } from "../../../ui/toasts.tsx";

/** A named view, stored in this browser. */
export interface SavedView {
  id: string;
  name: string;
  projectId: string | null;
  /** The query string of the view's link, with its "?" unless it is empty. */
  search: string;
}

const PREFIX = "taffrail.views.";

/** Increases whenever a list changes, in this tab or in another one. */
export const viewsVersion = signal(0);
addEventListener("storage", ({ key }) => {
  if (key === null || key.startsWith(PREFIX)) viewsVersion.value++;
});

export function savedViews(workspaceId: string): SavedView[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(PREFIX + workspaceId) ?? "[]");
    return Array.isArray(value) ? value.filter(isSavedView) : [];
  } catch {
    return [];
  }
}

/** Saves a view and replaces one of the same name. @returns whether the browser could store it */
export function saveView(workspaceId: string, view: Omit<SavedView, "id">): boolean {
  const others = savedViews(workspaceId).filter(({ name }) => name !== view.name);
  return write(workspaceId, [...others, { ...view, id: crypto.randomUUID() }]);
}

export function renameView(workspaceId: string, id: string, name: string): void {
  const views = savedViews(workspaceId).filter((view) => view.id === id || view.name !== name);
  write(
    workspaceId,
    views.map((view) => (view.id === id ? { ...view, name } : view)),
  );
}

export function deleteView(workspaceId: string, id: string): void {
  write(
    workspaceId,
    savedViews(workspaceId).filter((view) => view.id !== id),
  );
}

export function viewPath(workspaceId: string, { projectId, search }: SavedView): string {
  return `/w/${workspaceId}${projectId === null ? "" : `/p/${projectId}`}${search}`;
}

/** Fails if the browser's storage is full or disabled. */
function write(workspaceId: string, views: readonly SavedView[]): boolean {
  try {
    localStorage.setItem(PREFIX + workspaceId, JSON.stringify(views));
  } catch {
    toast("The browser's storage is full or disabled.", "error");
    return false;
  }
  viewsVersion.value++;
  return true;
}

function isSavedView(value: unknown): value is SavedView {
  if (typeof value !== "object" || value === null) return false;
  // SAFETY: every member is checked before it is used.
  const { id, name, projectId, search } = value as Record<string, unknown>;
  return (
    typeof id === "string" &&
    typeof name === "string" &&
    (projectId === null || typeof projectId === "string") &&
    typeof search === "string" &&
    (search === "" || search.startsWith("?"))
  );
}
