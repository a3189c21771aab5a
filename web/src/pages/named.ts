import { visible } from "../lib/visible.ts";
import { loadAlerts } from "../model/alerts.ts";
import { boardCalls, viewCalls } from "../model/boards.ts";
import type { Member } from "../model/types.ts";
import { allOf, loadProjects } from "../model/workspaces.ts";
import type { Named } from "../ui/palette/named.ts";
import { viewPath } from "./explorer/actions/saved-views.ts";

/** Loads what members gave names, for the palette: each kind for itself. */
export function namedOf(workspaceId: string, signal: AbortSignal): Promise<Named[]>[] {
  const base = `/w/${workspaceId}`;
  const boards = async (): Promise<Named[]> =>
    (await boardCalls.list(workspaceId, signal)).map(({ id, name }) => {
      return { id, group: "Boards", name: visible(name), to: `${base}/boards/${id}` };
    });
  const views = async (): Promise<Named[]> =>
    (await viewCalls.list(workspaceId, signal)).map((view) => {
      return { id: view.id, group: "Views", name: visible(view.name), to: viewPath(workspaceId, view) };
    });
  const projects = async (): Promise<Named[]> =>
    (await loadProjects(workspaceId, signal)).map(({ id, name }) => {
      return { id, group: "Projects", name: visible(name), to: `${base}/p/${id}` };
    });
  const alerts = async (): Promise<Named[]> =>
    (await loadAlerts(workspaceId, signal)).map(({ id, projectId, name }) => {
      return { id, group: "Alerts", name: visible(name), to: `${base}/alerts/${projectId}/${id}` };
    });
  const members = async (): Promise<Named[]> =>
    (await allOf<Member>(`/workspaces/${workspaceId}/members`, undefined, signal)).flatMap(({ userId, email }) =>
      email === null
        ? []
        : [{ id: userId, group: "Members" as const, name: visible(email), to: `${base}/settings/members` }],
    );
  return [boards(), views(), projects(), alerts(), members()];
}
