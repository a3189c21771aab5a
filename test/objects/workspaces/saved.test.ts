import { beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../../src/ids.ts";
import { FIRST_PANELS } from "../../../src/workspace/boards.ts";
import { SAVED_ITEMS_SCHEMA } from "../../../src/workspace/saved-items.ts";
import { WORKSPACE_SCHEMA } from "../../../src/workspace/schema.ts";
import type { Answer, Call } from "../accounts/support.ts";
import { evict, onSql } from "../ingest/support.ts";
import { takeBack } from "../older-version.ts";
import { by, newMember, newUser, newWorkspace, type User } from "./support.ts";

type Item = Record<string, unknown> & { id: string; name: string; version: number };

let owner: User;
let member: User;
let workspaceId: string;

beforeAll(async () => {
  owner = await newUser();
  workspaceId = await newWorkspace(owner);
  member = await newMember(workspaceId, "member");
});

const ask = (path: string, options: Call = {}, user = owner, workspace = workspaceId): Promise<Answer> =>
  by(user, `/workspaces/${workspace}${path}`, options);

async function done(path: string, options: Call = {}, user = owner, workspace = workspaceId): Promise<Item> {
  const answer = await ask(path, options, user, workspace);
  expect([path, answer.code, answer.details]).toEqual([path, null, []]);
  // SAFETY: tests check the members that they read.
  return answer.data as Item;
}

async function refused(path: string, options: Call, code: string): Promise<Answer> {
  const answer = await ask(path, options);
  expect([path, answer.code]).toEqual([path, code]);
  return answer;
}

async function newProject(name: string): Promise<string> {
  const answer = await by(member, "/projects", { body: { name }, headers: { "X-Workspace-Id": workspaceId } });
  expect(answer.status).toBe(201);
  return String(Reflect.get(Object(answer.data), "id"));
}

async function listOf(kind: "views" | "boards", limit = 200): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await done(`/${kind}?limit=${limit}&cursor=${cursor}`);
    items.push(...(page.items as Item[]));
    cursor = page.nextCursor as string | null;
  }
  return items;
}

const deleteProject = (id: string) =>
  by(owner, `/projects/${id}`, { method: "DELETE", headers: { "X-Workspace-Id": workspaceId } });

const panel = (more: object = {}) => ({
  id: "a",
  title: "A",
  query: "* | count",
  kind: "number",
  x: 0,
  y: 0,
  w: 3,
  h: 2,
  ...more,
});

describe("saved views", () => {
  it("19.4: a view is created, listed, read, changed in part and deleted, each change with its item in the audit", async () => {
    const projectId = await newProject("views");
    const body = {
      name: " Slow ",
      projectId,
      query: "level:>=error ms:>5",
      range: { last: "24h" },
      columns: ["route", "ms"],
    };
    const view = await done("/views", { body }, member);
    const times = { createdAt: expect.any(String), updatedAt: expect.any(String) };
    const whole = {
      ...body,
      ...times,
      id: expect.stringMatching(/^view_/),
      name: "Slow",
      version: 1,
      createdBy: member.userId,
    };
    expect(view).toEqual(whole);
    expect(await done(`/views/${view.id}`)).toEqual(view);
    const change = { range: { from: "2026-11-20", to: null }, projectId: null };
    const changed = await done(`/views/${view.id}`, { method: "PATCH", body: change }, member);
    const range = { from: "2026-11-20T00:00:00.000Z", to: null };
    expect(changed).toEqual({ ...view, range, projectId: null, version: 2, updatedAt: expect.any(String) });
    // Nothing changes, so there is no item.
    expect(await done(`/views/${view.id}`, { method: "PATCH", body: { name: "Slow" } })).toEqual(changed);
    expect(await listOf("views")).toEqual([changed]);
    await refused(`/views/${view.id}`, { method: "PATCH", body: { name: "x", version: 1 } }, "CONFLICT");
    expect(await done(`/views/${view.id}`, { method: "DELETE" })).toEqual({ deleted: true });
    await refused(`/views/${view.id}`, {}, "NOT_FOUND");
    const { items } = await done(`/audit?target=${view.id}`);
    expect(items).toMatchObject([
      { action: "view.delete", actor: owner.userId, before: { name: "Slow", projectId: null } },
      { action: "view.update", before: { projectId, range: { last: "24h" } }, after: { projectId: null, range } },
      { action: "view.create", actor: member.userId, after: { name: "Slow", projectId, query: body.query } },
    ]);
  });

  it("19.4: names are unique, projects exist, queries parse, and what is missing has its default", async () => {
    const view = await done("/views", { body: { name: "One", query: "" } });
    expect(view).toMatchObject({ projectId: null, query: "", range: null, columns: [] });
    await refused("/views", { body: { name: "One", query: "*" } }, "CONFLICT");
    const other = await done("/views", { body: { name: "Two", query: "*" } });
    await refused(`/views/${other.id}`, { method: "PATCH", body: { name: "One" } }, "CONFLICT");
    await refused("/views", { body: { name: "Three", query: "*", projectId: newId("proj") } }, "NOT_FOUND");
    const { details } = await refused("/views", { body: { name: "Three", query: "level:>=" } }, "VALIDATION_ERROR");
    expect(details).toMatchObject([{ path: "query", position: 8, expected: expect.arrayContaining(["a level"]) }]);
    for (const more of [
      { range: { last: "1y" } },
      { range: { last: "1h", from: 0 } },
      { columns: [""] },
      { id: "x" },
    ]) {
      await refused("/views", { body: { name: "Three", query: "*", ...more } }, "VALIDATION_ERROR");
    }
    // A board is no view.
    await refused(`/boards/${view.id}`, {}, "NOT_FOUND");
  });

  it("19.4: a workspace has at most 200 views, and pages end before they are large", async () => {
    const query = `"${"x".repeat(8000)}"`;
    const have = (await listOf("views")).length;
    await onSql(workspaceId, (sql) => {
      for (let n = have; n < 200; n++) {
        sql.exec(
          `INSERT INTO saved_items (id, kind, name, is_first, version, created_by, created_at, updated_at, content)
           VALUES (?, 'view', ?, 0, 1, 'usr_x', 1, 1, ?)`,
          newId("view"),
          `View ${n}`,
          JSON.stringify({ query, range: null, columns: [] }),
        );
      }
    });
    await refused("/views", { body: { name: "Last", query: "*" } }, "CONFLICT");
    const { items, nextCursor } = await done("/views?limit=200");
    expect((items as Item[]).length).toBeLessThan(40);
    expect(nextCursor).not.toBeNull();
    const all = await listOf("views");
    expect([all.length, new Set(all.map(({ id }) => id)).size]).toEqual([200, 200]);
  });
});

describe("boards", () => {
  it("19.4: of two changes of one version the second is refused", async () => {
    const board = await done("/boards", { body: { name: "Board", panels: [panel({ range: null })] } }, member);
    expect(board).toMatchObject({ projectId: null, version: 1, panels: [panel({ range: null })] });
    const first = await done(`/boards/${board.id}`, {
      method: "PATCH",
      body: { version: 1, panels: [panel({ x: 9 })] },
    });
    expect(first).toMatchObject({ name: "Board", version: 2, panels: [panel({ x: 9 })] });
    await refused(`/boards/${board.id}`, { method: "PATCH", body: { version: 1, panels: [] } }, "CONFLICT");
    await refused(`/boards/${board.id}`, { method: "PATCH", body: { panels: [] } }, "VALIDATION_ERROR");
    expect(await done(`/boards/${board.id}`)).toEqual(first);
    const { panels: _, ...summary } = first;
    expect((await listOf("boards")).filter(({ id }) => id === board.id)).toEqual([summary]);
    const { items } = await done(`/audit?target=${board.id}`);
    expect(items).toMatchObject([{ action: "board.update" }, { action: "board.create", after: { panels: 1 } }]);
    await done(`/boards/${board.id}`, { method: "DELETE" });
    await refused(`/boards/${board.id}`, { method: "DELETE" }, "NOT_FOUND");
  });

  it.each([
    [
      "an invalid query",
      [panel(), panel({ id: "b", query: "* | stats p9(ms)" })],
      { path: "panels.1.query", position: 10, suggestion: "p90" },
    ],
    ["a chart of entries", [panel({ kind: "line", query: "level:error" })], { path: "panels.0.kind" }],
    ["the same id twice", [panel(), panel()], { path: "panels.1.id" }],
    ["a panel beyond the grid", [panel({ x: 10 })], { path: "panels.0.w" }],
    ["more than 20 panels", Array.from({ length: 21 }, (_, n) => panel({ id: `${n}` })), { path: "panels" }],
    [
      "more than 64 KiB",
      Array.from({ length: 20 }, (_, n) => panel({ id: `${n}`, query: `"${"é".repeat(2000)}" | count` })),
      { path: "panels" },
    ],
    ["no panel", [null], { path: "panels.0" }],
  ])("19.4: %s is refused, with its place", async (_, panels, detail) => {
    const { details } = await refused("/boards", { body: { name: "Bad", panels } }, "VALIDATION_ERROR");
    expect(details).toMatchObject([detail]);
  });

  it("19.4: a new project has a board, whose queries are valid, and which does not count", async () => {
    const ids = [await newProject("shop"), await newProject("shop")];
    const boards = (await listOf("boards", 1)).filter(({ projectId }) => ids.includes(String(projectId)));
    expect(boards).toMatchObject([
      { name: "shop", projectId: ids[0], createdBy: member.userId, version: 1 },
      { name: "shop 2", projectId: ids[1] },
    ]);
    const [one] = boards;
    const { panels } = await done(`/boards/${one?.id}`);
    expect(panels).toEqual(FIRST_PANELS);
    // The panels are accepted as a client would send them.
    const body = { version: 1, panels: FIRST_PANELS.map((each, n) => ({ ...each, title: `${n}` })) };
    expect(await done(`/boards/${one?.id}`, { method: "PATCH", body })).toMatchObject({ version: 2 });
    const made: string[] = [];
    for (;;) {
      const answer = await ask("/boards", { body: { name: `Own ${made.length}` } });
      if (answer.code === "CONFLICT") break;
      made.push(String(Reflect.get(Object(answer.data), "id")));
    }
    expect(made).toHaveLength(50);
    await newProject("later");
    expect((await listOf("boards")).some(({ name }) => name === "later")).toBe(true);
    // A board that leaves its project counts, so that projects cannot leave boards behind without end.
    await refused(`/boards/${one?.id}`, { method: "PATCH", body: { version: 2, projectId: null } }, "CONFLICT");
    await done(`/boards/${made[0]}`, { method: "DELETE" });
    await done(`/boards/${one?.id}`, { method: "PATCH", body: { version: 2, projectId: null } });
    await refused("/boards", { body: { name: "Full" } }, "CONFLICT");
    // The board of the other project goes with it.
    await deleteProject(ids[1] ?? "");
    expect((await listOf("boards")).filter(({ name }) => name.startsWith("shop"))).toMatchObject([{ name: "shop" }]);
    await onSql(workspaceId, (sql) =>
      expect(sql.exec("SELECT name FROM saved_items WHERE name LIKE 'shop%'").toArray()).toEqual([{ name: "shop" }]),
    );
  });
});

it("19.4: a workspace of the version before gets views and boards, and keeps its projects", async () => {
  const user = await newUser();
  const id = user.workspaceId;
  const headers = { "X-Workspace-Id": id };
  const answer = await by(user, "/projects", { body: { name: "old" }, headers });
  const projectId = String(Reflect.get(Object(answer.data), "id"));
  await evict(id);
  await onSql(id, (sql) =>
    takeBack(sql, WORKSPACE_SCHEMA, SAVED_ITEMS_SCHEMA, ["workspace", "members", "projects", "keys", "audit"]),
  );
  await evict(id);
  expect(await done("/boards", {}, user, id)).toEqual({ items: [], nextCursor: null });
  const view = await done("/views", { body: { name: "New", projectId, query: "*" } }, user, id);
  expect(view).toMatchObject({ projectId, version: 1 });
  expect((await by(user, "/projects", { body: { name: "new" }, headers })).status).toBe(201);
  expect((await done("/boards", {}, user, id)).items).toMatchObject([{ name: "new" }]);
});
