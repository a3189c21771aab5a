import { useEffect, useState } from "preact/hooks";
import { loadAlerts } from "../../model/alerts.ts";
import { boardCalls, viewCalls } from "../../model/boards.ts";
import type { Member } from "../../model/types.ts";
import { allOf, loadProjects } from "../../model/workspaces.ts";
import { viewPath } from "../../pages/explorer/actions/saved-views.ts";
import { visible } from "../../pages/explorer/view/visible.ts";
import type { Command } from "./commands.ts";

/** Something with a name that a member gave it, and its page. */
interface Named {
  id: string;
  group: "Boards" | "Views" | "Projects" | "Alerts" | "Members";
  name: string;
  to: string;
}

/** Milliseconds for which a list counts as fresh. */
const FRESH_MS = 60_000;

let last: { workspaceId: string; at: number; items: readonly Named[] } | null = null;

/**
 * Commands that open boards, views, projects, alerts and members by their names. They are loaded when `isWanted`, each kind for itself:
 * one that cannot be loaded is left out.
 */
export function useNamedCommands(
  workspaceId: string | null,
  isWanted: boolean,
  route: (path: string) => void,
): Command[] {
  const known = last?.workspaceId === workspaceId ? last.items : [];
  const [items, setItems] = useState(known);
  useEffect(() => {
    if (!isWanted || workspaceId === null) return;
    if (last?.workspaceId === workspaceId && Date.now() - last.at < FRESH_MS) return;
    const work = new AbortController();
    let found: readonly Named[] = [];
    const kinds = loads(workspaceId, work.signal).map(async (kind) => {
      const loaded = await kind.catch((): Named[] => []);
      if (work.signal.aborted) return;
      found = [...found, ...loaded];
      setItems(found);
    });
    void Promise.all(kinds).then(() => {
      if (!work.signal.aborted) last = { workspaceId, at: Date.now(), items: found };
    });
    return () => work.abort();
  }, [workspaceId, isWanted]);
  return items.map(({ id, group, name, to }) => ({ id, group, label: visible(name), run: () => route(to) }));
}

function loads(workspaceId: string, signal: AbortSignal): Promise<Named[]>[] {
  const base = `/w/${workspaceId}`;
  const boards = async (): Promise<Named[]> =>
    (await boardCalls.list(workspaceId, signal)).map(({ id, name }) => {
      return { id, group: "Boards", name, to: `${base}/boards/${id}` };
    });
  const views = async (): Promise<Named[]> =>
    (await viewCalls.list(workspaceId, signal)).map((view) => {
      return { id: view.id, group: "Views", name: view.name, to: viewPath(workspaceId, view) };
    });
  const projects = async (): Promise<Named[]> =>
    (await loadProjects(workspaceId, signal)).map(({ id, name }) => {
      return { id, group: "Projects", name, to: `${base}/p/${id}` };
    });
  const alerts = async (): Promise<Named[]> =>
    (await loadAlerts(workspaceId, signal)).map(({ id, projectId, name }) => {
      return { id, group: "Alerts", name, to: `${base}/alerts/${projectId}/${id}` };
    });
  const members = async (): Promise<Named[]> =>
    (await allOf<Member>(`/workspaces/${workspaceId}/members`, undefined, signal)).flatMap(({ userId, email }) =>
      email === null ? [] : [{ id: userId, group: "Members" as const, name: email, to: `${base}/settings/members` }],
    );
  return [boards(), views(), projects(), alerts(), members()];
}
