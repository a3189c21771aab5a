import type { Range } from "../explorer/view/range.ts";
import { type View, viewSearch } from "../explorer/view/view.ts";
import type { TraceRef } from "./trace-ids.ts";

/** Pages that show the entries of a query in another way than as a list. */
export const TOOLS = ["patterns", "compare"] as const;
export type Tool = (typeof TOOLS)[number];

/** A view of the explorer with a query, newest entries first. */
export function viewOf(query: string, range: Range): View {
  const asked = query === "" || query === "*" ? {} : { query };
  return { ...asked, range, order: "desc", live: false };
}

/** Path of the explorer or of a tool, for a workspace or one of its projects. */
export function toolPath(workspaceId: string, projectId: string | null, tool: Tool | null): string {
  const project = projectId === null ? "" : `/p/${projectId}`;
  return `/w/${workspaceId}${project}${tool === null ? "" : `/${tool}`}`;
}

/** Address of the explorer or of a tool for the query and the range of a view. */
export function toolLink(workspaceId: string, projectId: string | null, tool: Tool | null, view: View): string {
  const { chart: _, ...shown } = view;
  return `${toolPath(workspaceId, projectId, tool)}${viewSearch({ ...shown, order: "desc", live: false })}`;
}

/** Address of the timeline of a trace, which has entries of all projects. */
export function traceLink(workspaceId: string, { id, field }: TraceRef, entryId?: string): string {
  const shown = new URLSearchParams({
    ...(field === null ? {} : { by: field }),
    ...(entryId === undefined ? {} : { entry: entryId }),
  });
  return `/w/${workspaceId}/trace/${encodeURIComponent(id)}${shown.size === 0 ? "" : `?${shown}`}`;
}
