import type { PANEL_KINDS, Panel, SavedRange } from "../../../src/workspace/panels.ts";
import { authorized, user } from "../session/session.ts";
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

/** What is known of a board: of one in a list its name alone. */
export type KnownBoard = Pick<Board, "name"> & Partial<Pick<Board, "panels">>;

/** By account, as another one may sign in, and board. */
const known = new Map<string, KnownBoard>();

function keyOf(id: string): string {
  return `${user.peek()?.id} ${id}`;
}

/** Returns what is known of a board from a list or from an earlier call. Its page shows it until the board is loaded. */
export function knownBoard(id: string): KnownBoard | undefined {
  return known.get(keyOf(id));
}

function remembered<Item extends { id: string } & KnownBoard>(item: Item): Item {
  const { id, name, panels = knownBoard(id)?.panels } = item;
  known.set(keyOf(id), { name, ...(panels !== undefined && { panels }) });
  return item;
}

const calls = savedItems<Board>("boards");

export const boardCalls: typeof calls = {
  ...calls,
  list: async (...of) => (await calls.list(...of)).map(remembered),
  get: async (...of) => remembered(await calls.get(...of)),
  create: async (...of) => remembered(await calls.create(...of)),
  change: async (...of) => remembered(await calls.change(...of)),
  remove: async (workspaceId, id) => {
    await calls.remove(workspaceId, id);
    known.delete(keyOf(id));
  },
};
export const viewCalls = savedItems<WorkspaceView>("views");
