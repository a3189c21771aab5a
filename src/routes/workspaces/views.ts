import { z } from "zod";
import { success } from "../../http/envelope.ts";
import { requiredNameSchema } from "../../http/fields.ts";
import { pageOf, pageQuery, timeCursor } from "../../http/paging.ts";
import { resource } from "../../http/resource.ts";
import { timeSchema } from "../../logs/ingest/timestamp.ts";
import { StoredQueryText } from "../../logs/search/query-text.ts";
import { MAX_SAVED, type SavedItem, type SavedPage } from "../../workspace/saved-items.ts";
import { manage, workspaceGuard } from "../guards/member.ts";
import { WORKSPACE_ERRORS } from "./projects.ts";

const TAG = "Views and boards";

const RANGE_PROBLEM = "Must be null, {last: 15m} with s, m, h, d or w, or {from, to}.";

const lastSchema = z
  .string()
  .regex(/^[1-9]\d{0,3}[smhdw]$/)
  .meta({ examples: ["24h"] });

const endSchema = timeSchema.transform((ms) => new Date(ms).toISOString()).nullable();

/** A time range as a request has it. */
export const rangeBody = z
  .union(
    [
      z.strictObject({ last: lastSchema }),
      z.strictObject({ from: endSchema.default(null), to: endSchema.default(null) }),
    ],
    { error: RANGE_PROBLEM },
  )
  .nullable();

/** A time range as it is stored and returned. */
export const rangeShape = z
  .union([
    z.object({ last: z.string() }),
    z.object({ from: z.iso.datetime().nullable(), to: z.iso.datetime().nullable() }),
  ])
  .nullable()
  .describe("`last`: up to now. `from <= timestamp < to`; `null`: no bound. `null` instead of a range: all times.");

export const savedProjectSchema = z
  .string()
  .max(64)
  .nullable()
  .describe("A project of the workspace; `null`: the whole workspace.");

/** Members that views and boards have in common. */
export const savedShape = z.object({
  id: z.string(),
  name: z.string(),
  projectId: z.string().nullable(),
  version: z.int().describe("Rises by 1 with each change."),
  createdBy: z.string().describe("A user id."),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

export function savedData({ createdAt, updatedAt, content: _, ...item }: SavedItem): z.output<typeof savedShape> {
  return { ...item, createdAt: new Date(createdAt).toISOString(), updatedAt: new Date(updatedAt).toISOString() };
}

/** Builds the data of a list in order of creation. */
export function savedPage<T>({ items, hasMore }: SavedPage, dataOf: (item: SavedItem) => T) {
  const last = items.at(-1);
  return { items: items.map(dataOf), nextCursor: hasMore && last ? `${last.createdAt}.${last.id}` : null };
}

/** Columns of a view, and characters of the name of one. */
const COLUMNS = { max: 50, characters: 200 } as const;

const viewShape = savedShape.extend({
  query: z.string(),
  range: rangeShape,
  columns: z.array(z.string()).describe("Fields in the order of their columns; empty: those that the console chooses."),
});

const viewMembers = {
  query: StoredQueryText.transform(({ text }) => text),
  range: rangeBody,
  columns: z.array(z.string().min(1).max(COLUMNS.characters)).max(COLUMNS.max),
};

export const viewBody = z.strictObject({
  name: requiredNameSchema,
  projectId: savedProjectSchema.default(null),
  query: viewMembers.query,
  range: viewMembers.range.default(null),
  columns: viewMembers.columns.default([]),
});

const viewChange = z.strictObject({
  name: requiredNameSchema.optional(),
  projectId: savedProjectSchema.optional(),
  query: viewMembers.query.optional(),
  range: viewMembers.range.optional(),
  columns: viewMembers.columns.optional(),
  version: z.int().min(1).optional().describe("409 if the view has another version. Without it the last change wins."),
});

function viewData(item: SavedItem): z.output<typeof viewShape> {
  // SAFETY: the routes below are the only writers of views.
  const content = JSON.parse(item.content ?? "{}") as Pick<z.output<typeof viewShape>, "query" | "range" | "columns">;
  return { ...savedData(item), ...content };
}

export const views = resource();

views.route(
  {
    method: "POST",
    path: "/workspaces/:workspaceId/views",
    operation: "view.create",
    tag: TAG,
    summary: "Save a view",
    description: `A workspace has at most ${MAX_SAVED.view} views, with different names (409). An invalid query is refused with the place of its error.`,
    security: "accessToken",
    body: viewBody,
    example: {
      name: "Failed payments",
      query: "level:>=error route:/pay/*",
      range: { last: "24h" },
      columns: ["route"],
    },
    status: 201,
    response: viewShape,
    errors: [...WORKSPACE_ERRORS, "CONFLICT"],
  },
  [workspaceGuard({ action: "view.create", from: "path" })],
  async (c, { body: { name, projectId, ...content } }) => {
    const item = await manage(c, "createSaved", "view", { name, projectId, content });
    return success(viewData(item), c.get("requestId"), 201);
  },
);

views.route(
  {
    method: "GET",
    path: "/workspaces/:workspaceId/views",
    operation: "view.list",
    tag: TAG,
    summary: "List the saved views",
    description:
      "In order of creation. A page may have fewer items than `limit` before the end: `nextCursor` is null there.",
    security: "accessToken",
    query: pageQuery,
    status: 200,
    response: pageOf(viewShape),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "view.list", from: "path" })],
  async (c, { query: { cursor, limit } }) => {
    const page = await manage(c, "listSaved", "view", timeCursor(cursor), limit);
    return success(savedPage(page, viewData), c.get("requestId"));
  },
);

views.route(
  {
    method: "GET",
    path: "/workspaces/:workspaceId/views/:viewId",
    operation: "view.get",
    tag: TAG,
    summary: "Get a saved view",
    security: "accessToken",
    status: 200,
    response: viewShape,
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "view.get", from: "path" })],
  async (c) => {
    const item = await manage(c, "getSaved", "view", c.req.param("viewId") ?? "");
    return success(viewData(item), c.get("requestId"));
  },
);

views.route(
  {
    method: "PATCH",
    path: "/workspaces/:workspaceId/views/:viewId",
    operation: "view.update",
    tag: TAG,
    summary: "Change a saved view",
    description: "Members that are absent stay as they are.",
    security: "accessToken",
    body: viewChange,
    example: { name: "Failed payments today" },
    status: 200,
    response: viewShape,
    errors: [...WORKSPACE_ERRORS, "CONFLICT"],
  },
  [workspaceGuard({ action: "view.update", from: "path" })],
  async (c, { body: { name, projectId, version, ...content } }) => {
    const change = { name, projectId, content: withoutAbsent(content) };
    const item = await manage(c, "changeSaved", "view", c.req.param("viewId") ?? "", change, version ?? null);
    return success(viewData(item), c.get("requestId"));
  },
);

/** Removes members that are `undefined`, which would replace stored ones. */
function withoutAbsent(members: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

views.route(
  {
    method: "DELETE",
    path: "/workspaces/:workspaceId/views/:viewId",
    operation: "view.delete",
    tag: TAG,
    summary: "Delete a saved view",
    security: "accessToken",
    status: 200,
    response: z.object({ deleted: z.literal(true) }),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "view.delete", from: "path" })],
  async (c) => {
    await manage(c, "deleteSaved", "view", c.req.param("viewId") ?? "");
    return success({ deleted: true }, c.get("requestId"));
  },
);
