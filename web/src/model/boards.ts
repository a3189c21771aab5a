import type { PANEL_KINDS, Panel, SavedRange } from "../../../src/workspace/panels.ts";
import { authorized } from "../session/session.ts";
import { allOf } from "./workspaces.ts";

export type { Panel, SavedRange };
export type PanelKind = (typeof PANEL_KINDS)[number];

/** Names of the kinds, in the order of a choice. */
export const KIND_LABELS: Readonly<Record<PanelKind, string>> = {
  line: "Line",
  bars: "Bars",
  area: "Area",
  number: "Number",
  table: "Table",
};

interface Saved {
  id: string;
  name: string;
  projectId: string | null;
  version: number;
  createdBy: string;
  createdAt: string;
  updatedAt: string;
}

/** A board in a list. */
export type BoardSummary = Saved;
export type Board = Saved & { panels: Panel[] };

/** A saved view of the workspace. */
export type WorkspaceView = Saved & { query: string; range: SavedRange; columns: string[] };

/** Members of an item that a member sets. `version`: 409 unless it is the current one. */
type Change<T extends Saved> = Partial<Omit<T, "id" | "createdBy" | "createdAt" | "updatedAt">>;

/** The calls of one kind of saved item. */
export function savedItems<T extends Saved>(kind: "boards" | "views") {
  const path = (workspaceId: string, id?: string) =>
    `/workspaces/${workspaceId}/${kind}${id === undefined ? "" : `/${id}`}`;
  return {
    list: (workspaceId: string, signal?: AbortSignal) => allOf<T>(path(workspaceId), workspaceId, signal),
    get: async (workspaceId: string, id: string, signal?: AbortSignal) =>
      (await authorized<T>(path(workspaceId, id), signal === undefined ? {} : { signal })).data,
    create: async (workspaceId: string, body: Change<T>) => (await authorized<T>(path(workspaceId), { body })).data,
    change: async (workspaceId: string, id: string, body: Change<T>) =>
      (await authorized<T>(path(workspaceId, id), { method: "PATCH", body })).data,
    remove: async (workspaceId: string, id: string): Promise<void> => {
      await authorized(path(workspaceId, id), { method: "DELETE" });
    },
  };
}

export const boardCalls = savedItems<Board>("boards");
export const viewCalls = savedItems<WorkspaceView>("views");
