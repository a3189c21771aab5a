import { z } from "zod";
import { success } from "../../http/envelope.ts";
import { requiredNameSchema } from "../../http/fields.ts";
import { pageOf, pageQuery, timeCursor } from "../../http/paging.ts";
import { resource } from "../../http/resource.ts";
import { StoredQueryText } from "../../logs/search/query-text.ts";
import { sized } from "../../platform/bytes.ts";
import { BOARD_LIMITS, PANEL_KINDS, type Panel } from "../../workspace/panels.ts";
import { MAX_SAVED, type SavedItem } from "../../workspace/saved-items.ts";
import { manage, workspaceGuard } from "../guards/member.ts";
import { WORKSPACE_ERRORS } from "./projects.ts";
import { rangeBody, rangeShape, savedData, savedPage, savedProjectSchema, savedShape } from "./views.ts";

const TAG = "Views and boards";

const { columns, rows, height, panels, panelBytes, title } = BOARD_LIMITS;

const panelShape = z.object({
  id: z.string(),
  title: z.string(),
  query: z.string(),
  kind: z.enum(PANEL_KINDS),
  range: rangeShape.optional().describe("Absent: the range that the reader of the board chooses."),
  x: z.int(),
  y: z.int(),
  w: z.int(),
  h: z.int(),
});

const boardSummary = savedShape;
const boardShape = savedShape.extend({ panels: z.array(panelShape) });

const panelBody = z
  .strictObject({
    id: z
      .string()
      .regex(/^[\w-]{1,32}$/)
      .describe("Unique in the board."),
    title: z
      .string()
      .regex(/^\P{Cc}*$/u)
      .max(title),
    query: StoredQueryText,
    kind: z.enum(PANEL_KINDS).describe("All but `table` need a query that makes a table."),
    range: rangeBody.optional(),
    x: z
      .int()
      .min(0)
      .max(columns - 1)
      .describe(`Of ${columns} columns.`),
    y: z.int().min(0).max(rows),
    w: z.int().min(1).max(columns),
    h: z.int().min(1).max(height),
  })
  .transform(({ query: { text, isTable }, range, ...panel }, ctx): Panel => {
    if (panel.kind !== "table" && !isTable) {
      const message = `A panel of the kind ${panel.kind} needs a query that makes a table, such as "* | count by level".`;
      ctx.addIssue({ code: "custom", path: ["kind"], message });
    }
    if (panel.x + panel.w > columns) {
      ctx.addIssue({ code: "custom", path: ["w"], message: `x + w must be at most ${columns}.` });
    }
    return { ...panel, query: text, ...(range === undefined ? {} : { range }) };
  });

const panelsBody = z
  .array(panelBody)
  .max(panels)
  .transform((list, ctx) => {
    const ids = list.map(({ id }) => id);
    const twice = ids.findIndex((id, index) => ids.indexOf(id) < index);
    if (twice >= 0) ctx.addIssue({ code: "custom", path: [twice, "id"], message: "Two panels have the same id." });
    if (Buffer.byteLength(JSON.stringify(list)) > panelBytes) {
      const message = `The panels of a board have at most ${panelBytes} bytes of JSON together.`;
      ctx.addIssue({ code: "custom", message });
    }
    return list;
  });

const boardBody = z.strictObject({
  name: requiredNameSchema,
  projectId: savedProjectSchema.default(null),
  panels: panelsBody.default([]),
});

const boardChange = z.strictObject({
  version: z.int().min(1).describe("The version that the change was made from. 409 if the board has another one."),
  name: requiredNameSchema.optional(),
  projectId: savedProjectSchema.optional(),
  panels: panelsBody.optional().describe("Replaces all panels."),
});

function boardData(item: SavedItem): z.output<typeof boardShape> {
  // SAFETY: the routes below and the creation of a project are the only writers of boards.
  return { ...savedData(item), ...(JSON.parse(item.content ?? "{}") as Pick<z.output<typeof boardShape>, "panels">) };
}

export const boards = resource();

boards.route(
  {
    method: "POST",
    path: "/workspaces/:workspaceId/boards",
    operation: "board.create",
    tag: TAG,
    summary: "Create a board",
    description: [
      `A workspace has at most ${MAX_SAVED.board} boards besides those that were created with their projects, with different names (409). A board has`,
      `at most ${panels} panels, of ${sized(panelBytes)} of JSON together. An invalid query of a panel is refused with the place of its error. Panels lie on a`,
      `grid of ${columns} columns; the service does not check whether they overlap.`,
    ].join("\n"),
    security: "accessToken",
    body: boardBody,
    example: {
      name: "Payments",
      panels: [
        {
          id: "rate",
          title: "Entries by level",
          query: "* | stats count() by level, bin(5m)",
          kind: "bars",
          x: 0,
          y: 0,
          w: 12,
          h: 8,
        },
      ],
    },
    status: 201,
    response: boardShape,
    errors: [...WORKSPACE_ERRORS, "CONFLICT"],
  },
  [workspaceGuard({ action: "board.create", from: "path" })],
  async (c, { body: { name, projectId, panels: list } }) => {
    const item = await manage(c, "createSaved", "board", { name, projectId, content: { panels: list } });
    return success(boardData(item), c.get("requestId"), 201);
  },
);

boards.route(
  {
    method: "GET",
    path: "/workspaces/:workspaceId/boards",
    operation: "board.list",
    tag: TAG,
    summary: "List the boards",
    description: "In order of creation, without their panels.",
    security: "accessToken",
    query: pageQuery,
    status: 200,
    response: pageOf(boardSummary),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "board.list", from: "path" })],
  async (c, { query: { cursor, limit } }) => {
    const page = await manage(c, "listSaved", "board", timeCursor(cursor), limit);
    return success(savedPage(page, savedData), c.get("requestId"));
  },
);

boards.route(
  {
    method: "GET",
    path: "/workspaces/:workspaceId/boards/:boardId",
    operation: "board.get",
    tag: TAG,
    summary: "Get a board",
    security: "accessToken",
    status: 200,
    response: boardShape,
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "board.get", from: "path" })],
  async (c) => {
    const item = await manage(c, "getSaved", "board", c.req.param("boardId") ?? "");
    return success(boardData(item), c.get("requestId"));
  },
);

boards.route(
  {
    method: "PATCH",
    path: "/workspaces/:workspaceId/boards/:boardId",
    operation: "board.update",
    tag: TAG,
    summary: "Change a board",
    description: "Members that are absent stay as they are. Of two changes of one version the second is refused (409).",
    security: "accessToken",
    body: boardChange,
    example: { version: 1, name: "Payments today" },
    status: 200,
    response: boardShape,
    errors: [...WORKSPACE_ERRORS, "CONFLICT"],
  },
  [workspaceGuard({ action: "board.update", from: "path" })],
  async (c, { body: { name, projectId, version, panels: list } }) => {
    const change = { name, projectId, content: list === undefined ? {} : { panels: list } };
    const item = await manage(c, "changeSaved", "board", c.req.param("boardId") ?? "", change, version);
    return success(boardData(item), c.get("requestId"));
  },
);

boards.route(
  {
    method: "DELETE",
    path: "/workspaces/:workspaceId/boards/:boardId",
    operation: "board.delete",
    tag: TAG,
    summary: "Delete a board",
    security: "accessToken",
    status: 200,
    response: z.object({ deleted: z.literal(true) }),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "board.delete", from: "path" })],
  async (c) => {
    await manage(c, "deleteSaved", "board", c.req.param("boardId") ?? "");
    return success({ deleted: true }, c.get("requestId"));
  },
);
