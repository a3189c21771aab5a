import { newId } from "../ids.ts";
import { maybe, one } from "../platform/sql.ts";
import { fail, ok, type Result } from "../rpc/result.ts";
import type { AuditNote, AuditState } from "./audit.ts";

/** Saved views and boards: what members keep of a workspace for each other. */
export const SAVED_ITEMS_SCHEMA = [
  `CREATE TABLE saved_items (
     -- Row: a saved view or a board.
     -- \`view_...\` or \`board_...\`
     id TEXT PRIMARY KEY,
     kind TEXT NOT NULL CHECK (kind IN ('view', 'board')),
     -- Unique among the items of a kind.
     name TEXT NOT NULL,
     -- \`num\` of the project; null for the whole workspace.
     project INTEGER,
     -- 1 for the board that was created with its project, until it is moved.
     is_first INTEGER NOT NULL CHECK (is_first IN (0, 1)),
     -- Rises by 1 with each change.
     version INTEGER NOT NULL,
     -- A user id.
     created_by TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL,
     -- A JSON object: \`query\`, \`range\` and \`columns\` of a view, \`panels\` of a board.
     content TEXT NOT NULL,
     UNIQUE (kind, name)
   ) STRICT`,
] as const;

export type SavedKind = "view" | "board";

/** Maximum items of a workspace by kind. Boards that were created with their projects do not count. */
export const MAX_SAVED: Readonly<Record<SavedKind, number>> = { view: 200, board: 50 };

/** Characters of content after which a page of a list ends, so that a page takes a bounded part of memory. */
const PAGE_CHARACTERS = 256 * 1024;

/** A saved view or a board. */
export interface SavedItem {
  id: string;
  name: string;
  projectId: string | null;
  version: number;
  createdBy: string;
  /** Epoch milliseconds. */
  createdAt: number;
  updatedAt: number;
  /** A JSON object; `null` in a list of boards. */
  content: string | null;
}

/** Members of an item that a request sets. A router has validated them. */
export interface SavedChange {
  name?: string | undefined;
  projectId?: string | null | undefined;
  /** Members of `content`, which replace those of the same names. */
  content?: Readonly<Record<string, unknown>> | undefined;
}

export interface SavedPage {
  items: SavedItem[];
  /** Whether more items follow the last one. */
  hasMore: boolean;
}

type Row = {
  id: string;
  name: string;
  projectId: string | null;
  version: number;
  createdBy: string;
  createdAt: number;
  updatedAt: number;
  content: string | null;
};

/** @param content the expression of the content */
function selectItems(content: string): string {
  return `SELECT s.id, s.name, p.id AS projectId, s.version, s.created_by AS createdBy, s.created_at AS createdAt,
    s.updated_at AS updatedAt, ${content} AS content FROM saved_items s LEFT JOIN projects p ON p.num = s.project`;
}

/** Items in order of creation, after the (createdAt, id) of `cursor`. Boards are listed without their content. */
export function listSaved(
  sql: SqlStorage,
  kind: SavedKind,
  cursor: readonly [number, string],
  limit: number,
): SavedPage {
  const items: SavedItem[] = [];
  let characters = 0;
  const rows = sql.exec<Row>(
    `${selectItems(kind === "board" ? "NULL" : "s.content")}
     WHERE s.kind = ? AND (s.created_at, s.id) > (?, ?) ORDER BY s.created_at, s.id LIMIT ?`,
    kind,
    ...cursor,
    limit + 1,
  );
  for (const row of rows) {
    characters += row.content?.length ?? 0;
    if (items.length === limit || (items.length > 0 && characters > PAGE_CHARACTERS)) return { items, hasMore: true };
    items.push({ ...row });
  }
  return { items, hasMore: false };
}

export function getSaved(sql: SqlStorage, kind: SavedKind, id: string): Result<SavedItem> {
  const item = maybe<Row>(sql, `${selectItems("s.content")} WHERE s.kind = ? AND s.id = ?`, kind, id);
  return item ? ok({ ...item }) : fail("NOT_FOUND", `${TITLES[kind]} not found.`);
}

const TITLES: Readonly<Record<SavedKind, string>> = { view: "View", board: "Board" };

/** An item to be created. */
export interface NewSaved {
  name: string;
  projectId: string | null;
  content: Readonly<Record<string, unknown>>;
}

/** Creates an item, in the caller's transaction. */
export function createSaved(
  sql: SqlStorage,
  kind: SavedKind,
  { name, projectId, content }: NewSaved,
  userId: string,
  note: AuditNote,
  now: number,
): Result<SavedItem> {
  const project = projectOf(sql, projectId);
  if (!project.ok) return project;
  if (isTaken(sql, kind, name)) return taken(kind, name);
  if (isFull(sql, kind)) return full(kind);
  const id = insertSaved(sql, { kind, name, project: project.value, isFirst: false, content }, userId, now);
  note(id, { after: { name, projectId, ...inAudit(content) } });
  return getSaved(sql, kind, id);
}

/**
 * Changes an item, in the caller's transaction. A change to what is stored already has no effect.
 * @param version the version that the caller has seen; `null` to change any
 */
export function changeSaved(
  sql: SqlStorage,
  kind: SavedKind,
  id: string,
  change: SavedChange,
  version: number | null,
  note: AuditNote,
  now: number,
): Result<SavedItem> {
  const found = getSaved(sql, kind, id);
  if (!found.ok) return found;
  const item = found.value;
  if (version !== null && version !== item.version) {
    const message = `${TITLES[kind]} has version ${item.version}, not ${version}. Read it again before you change it.`;
    return fail("CONFLICT", message);
  }
  // SAFETY: `insertSaved` and this function write objects only.
  const content = JSON.parse(item.content ?? "{}") as Record<string, unknown>;
  const old: AuditState = { name: item.name, projectId: item.projectId, ...content };
  const { name = item.name, projectId = item.projectId } = change;
  const next: AuditState = { ...old, name, projectId, ...change.content };
  const changed = Object.keys(next).filter((key) => JSON.stringify(next[key]) !== JSON.stringify(old[key]));
  if (changed.length === 0) return found;
  const project = projectOf(sql, projectId);
  if (!project.ok) return project;
  if (name !== item.name && isTaken(sql, kind, name)) return taken(kind, name);
  // A moved board counts as one of those that members create.
  const isMoved = projectId !== item.projectId && isFirst(sql, id);
  if (isMoved && isFull(sql, kind)) return full(kind);
  sql.exec(
    `UPDATE saved_items SET name = ?, project = ?, is_first = is_first * ?, version = version + 1, updated_at = ?, content = ?
     WHERE id = ?`,
    name,
    project.value,
    isMoved ? 0 : 1,
    now,
    JSON.stringify({ ...content, ...change.content }),
    id,
  );
  const of = (state: AuditState) => inAudit(Object.fromEntries(changed.map((key) => [key, state[key]])));
  note(id, { before: of(old), after: of(next) });
  return getSaved(sql, kind, id);
}

export function deleteSaved(sql: SqlStorage, kind: SavedKind, id: string, note: AuditNote): Result<true> {
  const found = getSaved(sql, kind, id);
  if (!found.ok) return found;
  sql.exec("DELETE FROM saved_items WHERE id = ?", id);
  note(id, { before: { name: found.value.name, projectId: found.value.projectId } });
  return ok(true);
}

/** Deletes the views and boards of a project, at most 250 and its first board. */
export function deleteSavedOf(sql: SqlStorage, project: number): void {
  sql.exec("DELETE FROM saved_items WHERE project = ?", project);
}

/** An item as a row has it. `project`: its `num`. */
interface SavedRow {
  kind: SavedKind;
  name: string;
  project: number | null;
  isFirst: boolean;
  content: Readonly<Record<string, unknown>>;
}

/** @returns the id */
export function insertSaved(
  sql: SqlStorage,
  { kind, name, project, isFirst: first, content }: SavedRow,
  userId: string,
  now: number,
): string {
  const id = newId(kind);
  sql.exec(
    `INSERT INTO saved_items (id, kind, name, project, is_first, version, created_by, created_at, updated_at, content)
     VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?7, ?7, ?8)`,
    id,
    kind,
    name,
    project,
    first ? 1 : 0,
    userId,
    now,
    JSON.stringify(content),
  );
  return id;
}

export function isTaken(sql: SqlStorage, kind: SavedKind, name: string): boolean {
  return maybe(sql, "SELECT 1 FROM saved_items WHERE kind = ? AND name = ?", kind, name) !== null;
}

function isFirst(sql: SqlStorage, id: string): boolean {
  return maybe(sql, "SELECT 1 FROM saved_items WHERE id = ? AND is_first = 1", id) !== null;
}

function isFull(sql: SqlStorage, kind: SavedKind): boolean {
  const count = "SELECT COUNT(*) AS count FROM saved_items WHERE kind = ? AND is_first = 0";
  return one<{ count: number }>(sql, count, kind).count >= MAX_SAVED[kind];
}

function taken(kind: SavedKind, name: string): Result<never> {
  return fail("CONFLICT", `A ${kind} has the name ${JSON.stringify(name)} already.`);
}

function full(kind: SavedKind): Result<never> {
  return fail("CONFLICT", `A workspace has at most ${MAX_SAVED[kind]} ${kind}s.`);
}

/** Returns the `num` of a project; `null` for the whole workspace. */
function projectOf(sql: SqlStorage, id: string | null): Result<number | null> {
  if (id === null) return ok(null);
  const project = maybe<{ num: number }>(sql, "SELECT num FROM projects WHERE id = ?", id);
  return project ? ok(project.num) : fail("NOT_FOUND", "Project not found.");
}

/** The number of panels instead of the panels, which do not fit into an item of the audit. */
function inAudit(state: AuditState): AuditState {
  return Array.isArray(state.panels) ? { ...state, panels: state.panels.length } : state;
}
