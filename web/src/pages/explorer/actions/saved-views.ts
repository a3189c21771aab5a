import { failureOf } from "../../../api/failure.ts";
import { viewCalls, type WorkspaceView } from "../../../model/boards.ts";
import { savedRange, viewRange } from "../../boards/board-query.ts";
import { columnsText, readColumns } from "../view/columns.ts";
import { LANGUAGE } from "../view/load-language.ts";
import { readView, viewSearch, withQuery } from "../view/view.ts";

/** A named view that an earlier version of the console stored in this browser. */
export interface BrowserView {
  id: string;
  name: string;
  projectId: string | null;
  /** The query string of the view's link, with its "?" unless it is empty. */
  search: string;
}

const PREFIX = "taffrail.views.";

/** Returns the views of a workspace that are in this browser. */
export function browserViews(workspaceId: string): BrowserView[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(PREFIX + workspaceId) ?? "[]");
    return Array.isArray(value) ? value.filter(isBrowserView) : [];
  } catch {
    return [];
  }
}

/** Keeps only these views of a workspace in this browser. */
export function keepBrowserViews(workspaceId: string, views: readonly BrowserView[]): void {
  try {
    if (views.length === 0) localStorage.removeItem(PREFIX + workspaceId);
    else localStorage.setItem(PREFIX + workspaceId, JSON.stringify(views));
  } catch {
    // Without storage there was no view.
  }
}

/** Returns a view as the workspace stores it. */
export function viewBody(search: string): Pick<WorkspaceView, "query" | "range" | "columns"> {
  const { view } = readView(search);
  const columns = view.columns?.map((column) => columnsText([column])) ?? [];
  return { query: view.query ?? "*", range: savedRange(view.range), columns };
}

export function viewPath(workspaceId: string, { projectId, query, range, columns }: WorkspaceView): string {
  const of = { range: viewRange(range, Date.now()), order: "desc" as const, live: false };
  // A column that another client has named otherwise is left out.
  const shown = columns.flatMap((text) => readColumns(text) ?? []);
  const search = viewSearch(withQuery({ ...of, columns: shown }, query));
  return `/w/${workspaceId}${projectId === null ? "" : `/p/${projectId}`}${search}`;
}

/** Numbers that are tried after a name that another view has. */
const NUMBERED = [2, 3, 4, 5] as const;

/**
 * Moves the views of this browser to the workspace, one by one. A view leaves the browser when the workspace has it, so an
 * interrupted move continues. A name that is taken gets a number.
 * @param projects ids of the workspace's projects; a view of a deleted one is moved as one of all projects
 * @throws ApiFailure of the first view that the workspace refuses
 */
export async function moveBrowserViews(workspaceId: string, projects: ReadonlySet<string>): Promise<void> {
  // Their filters become tests of the query.
  await LANGUAGE.load();
  for (let views = browserViews(workspaceId); views.length > 0; views = browserViews(workspaceId)) {
    const [{ name, projectId, search } = { name: "", projectId: null, search: "" }, ...others] = views;
    const known = projectId !== null && projects.has(projectId) ? projectId : null;
    await createNumbered(workspaceId, { name, projectId: known, ...viewBody(search) });
    keepBrowserViews(workspaceId, others);
  }
}

async function createNumbered(
  workspaceId: string,
  view: Pick<WorkspaceView, "name" | "projectId" | "query" | "range" | "columns">,
): Promise<void> {
  const names = [view.name, ...NUMBERED.map((n) => `${view.name} ${n}`)];
  for (const [at, name] of names.entries()) {
    try {
      await viewCalls.create(workspaceId, { ...view, name });
      return;
    } catch (error) {
      if (failureOf(error).code !== "CONFLICT" || at === names.length - 1) throw error;
    }
  }
}

function isBrowserView(value: unknown): value is BrowserView {
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
