import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../../src/ids.ts";
import { Limiter } from "../../../src/limits/limiter.ts";
import { runHousekeeping } from "../../../src/objects/workspace/cleanup.ts";
import { MAX_PROJECTS } from "../../../src/workspace/projects.ts";
import { call, dump } from "../accounts/support.ts";
import { messagesOf, numbered, onSql, receiptOf, send, workspace } from "../ingest/support.ts";
import { as, newKey, newOwner, newProject, type Owner, type Project, projectOf, refusal } from "./support.ts";

const dumpOf = (id: string) => runInDurableObject(workspace(id), (_, { storage }) => dump(storage.sql));

describe("projects", () => {
  let owner: Owner;
  beforeAll(async () => {
    owner = await newOwner();
  });

  it("are created, read, renamed and listed", async () => {
    const made = projectOf(await as(owner, "/projects", { body: { name: "  shop \u{1f6d2}  " } }));
    expect(made).toMatchObject({ name: "shop \u{1f6d2}", workspaceId: owner.workspaceId, lastSeq: 0 });
    expect(made.id).toMatch(/^proj_[0-9A-Za-z]{12}$/);
    const path = `/projects/${made.id}`;
    expect(projectOf(await as(owner, path))).toEqual(made);
    const key = await newKey(owner, made.id);
    receiptOf(await send(key, numbered(3)));
    const renamed = projectOf(await as(owner, path, { method: "PATCH", body: { name: "store" } }));
    expect(renamed).toEqual({ ...made, name: "store", lastSeq: 3 });
    expect(projectOf(await as(owner, path))).toEqual(renamed);
    const { data } = await as(owner, "/projects");
    expect(data).toMatchObject({ items: expect.arrayContaining([renamed]), nextCursor: null });
    // Renaming does not change the order of the list.
    expect(receiptOf(await send(key, numbered(1))).firstSeq).toBe(4);
  });

  it("are at most 1,000 in a workspace", async () => {
    const own = await newOwner();
    await onSql(own.workspaceId, (sql) => {
      for (let at = 1; at < MAX_PROJECTS; at++) {
        sql.exec("INSERT INTO projects (id, name, created_at) VALUES (?, 'p', 0)", newId("proj"));
      }
    });
    const last = await newProject(own, "the last one");
    const answer = await as(own, "/projects", { body: { name: "one too many" } });
    expect([answer.status, answer.code]).toEqual([409, "CONFLICT"]);
    expect(answer.headers.get("X-RateLimit-Remaining")).not.toBeNull();
    await as(own, `/projects/${last}`, { method: "DELETE" });
    await newProject(own, "in its place");
  });

  it("are listed page by page, each once", async () => {
    const own = await newOwner();
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.push(await newProject(own, `p${i}`));
    const seen: string[] = [];
    for (let cursor: string | null = "0"; cursor !== null; ) {
      const { data } = await as(own, `/projects?limit=2&cursor=${cursor}`);
      const page = data as { items: Project[]; nextCursor: string | null };
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(made);
    for (const query of ["cursor=-1", "cursor=x", "limit=0", "limit=201", "offset=1"]) {
      expect([query, ...refusal(await as(own, `/projects?${query}`))]).toEqual([query, 400, "VALIDATION_ERROR"]);
    }
  });

  it.each([
    [{}],
    [{ name: "" }],
    [{ name: "   " }],
    [{ name: 1 }],
    [{ name: null }],
    [{ name: "x".repeat(101) }],
    [[]],
    ["x"],
  ])("are not created from %j", async (body) => {
    expect(refusal(await as(owner, "/projects", { body: JSON.stringify(body) }))).toEqual([400, "VALIDATION_ERROR"]);
  });

  it("require a named workspace, and a header that agrees with the path", async () => {
    const { Authorization } = owner.headers;
    const bare = await call("/projects", { headers: { Authorization } });
    expect(refusal(bare)).toEqual([400, "VALIDATION_ERROR"]);
    expect(bare.details).toMatchObject([{ path: "X-Workspace-Id" }]);
    expect(bare.headers.get("X-RateLimit-Remaining")).not.toBeNull();
    const path = `/workspaces/${owner.workspaceId}/rate-limits`;
    expect((await call(path, { headers: { Authorization } })).status).toBe(200);
    expect(refusal(await as({ headers: { ...owner.headers, "X-Workspace-Id": newId("ws") } }, path))).toEqual([
      400,
      "VALIDATION_ERROR",
    ]);
  });

  it.each(["", "x", "ws_", "ws_000", "usr_000000000000", "ws_00000000000_", "ws_0000000000000", "../x"])(
    "in a workspace named %j are 404, and the request counts",
    async (id) => {
      const answer = await as({ headers: { ...owner.headers, "X-Workspace-Id": id } }, "/projects");
      expect(answer.status).toBe(404);
      expect(answer.headers.get("X-RateLimit-Remaining")).not.toBeNull();
    },
  );
});

describe("another tenant", () => {
  it("reads, changes and writes nothing: 404, counted under that tenant's user", async () => {
    const [owner, stranger] = [await newOwner(), await newOwner()];
    const projectId = await newProject(owner);
    const key = await newKey(owner, projectId);
    receiptOf(await send(key, numbered(2)));
    const spy = { headers: { ...stranger.headers, "X-Workspace-Id": owner.workspaceId } };
    const before = await dumpOf(owner.workspaceId);
    const scopes = ["logs:write"];
    const attempts: [string, string, object?][] = [
      ["GET", "/projects"],
      ["POST", "/projects", { name: "x" }],
      ["GET", `/projects/${projectId}`],
      ["PATCH", `/projects/${projectId}`, { name: "x" }],
      ["DELETE", `/projects/${projectId}`],
      ["GET", `/projects/${projectId}/keys`],
      ["POST", `/projects/${projectId}/keys`, { name: "x", scopes }],
      ["POST", `/projects/${projectId}/keys/${key.keyId}/rotate`, {}],
      ["DELETE", `/projects/${projectId}/keys/${key.keyId}`],
      ["GET", `/workspaces/${owner.workspaceId}/rate-limits`],
      ["PUT", `/workspaces/${owner.workspaceId}/rate-limits`, { default: { limit: 1 } }],
      ["POST", "/logger/query", {}],
    ];
    const remaining: number[] = [];
    for (const [method, path, body] of attempts) {
      const answer = await as(spy, path, { method, ...(body ? { body } : {}) });
      expect([method, path, ...refusal(answer)]).toEqual([method, path, 404, "NOT_FOUND"]);
      expect(answer.text).not.toContain("test");
      remaining.push(Number(answer.headers.get("X-RateLimit-Remaining")));
    }
    expect(remaining).toEqual(remaining.map((_, i) => 999 - i));
    // Under the other tenant's own workspace the project does not exist either.
    for (const [method, path, body] of attempts.slice(2, 9)) {
      const answer = await as(stranger, path, { method, ...(body ? { body } : {}) });
      expect([method, path, ...refusal(answer)]).toEqual([method, path, 404, "NOT_FOUND"]);
    }
    expect(await dumpOf(owner.workspaceId)).toEqual(before);
  });

  it("that names an unknown workspace leaves no trace in its object", async () => {
    const stranger = await newOwner();
    const workspaceId = newId("ws");
    const spy = { headers: { ...stranger.headers, "X-Workspace-Id": workspaceId } };
    expect(refusal(await as(spy, "/projects", { body: { name: "x" } }))).toEqual([404, "NOT_FOUND"]);
    expect(refusal(await as(spy, `/workspaces/${workspaceId}/rate-limits`, { method: "PUT", body: {} }))).toEqual([
      404,
      "NOT_FOUND",
    ]);
    const tables = await runInDurableObject(workspace(workspaceId), (_, { storage }) =>
      storage.sql.exec("SELECT name FROM sqlite_master").toArray(),
    );
    expect(tables).toEqual([]);
  });
});

describe("roles", () => {
  const RIGHTS: [string, string, object | undefined, string][] = [
    ["GET", "/projects", undefined, "viewer"],
    ["GET", "/projects/:id", undefined, "viewer"],
    ["GET", "/projects/:id/keys", undefined, "viewer"],
    ["GET", "/workspaces/:ws/rate-limits", undefined, "viewer"],
    ["POST", "/projects", { name: "x" }, "member"],
    ["PATCH", "/projects/:id", { name: "x" }, "member"],
    ["POST", "/projects/:id/keys", { name: "x", scopes: ["logs:read"] }, "admin"],
    ["POST", "/projects/:id/keys/:key/rotate", {}, "admin"],
    ["DELETE", "/projects/:id/keys/:key", undefined, "admin"],
    ["PUT", "/workspaces/:ws/rate-limits", {}, "admin"],
    ["DELETE", "/projects/:id", undefined, "member"],
  ];
  const ORDER = ["viewer", "member", "admin", "owner"];

  it.each(ORDER)("allow a %s the permitted actions and refuse all others with 403", async (role) => {
    const [owner, other] = [await newOwner(), await newOwner()];
    await onSql(owner.workspaceId, (sql) => void sql.exec("INSERT INTO members VALUES (?, ?, 0)", other.userId, role));
    const caller = { headers: { ...other.headers, "X-Workspace-Id": owner.workspaceId } };
    for (const [method, pattern, body, least] of RIGHTS) {
      const projectId = await newProject(owner);
      const { keyId } = await newKey(owner, projectId);
      const path = pattern.replace(":id", projectId).replace(":key", keyId).replace(":ws", owner.workspaceId);
      const answer = await as(caller, path, { method, ...(body ? { body } : {}) });
      const allowed = ORDER.indexOf(role) >= ORDER.indexOf(least);
      expect([method, pattern, answer.code]).toEqual([method, pattern, allowed ? null : "FORBIDDEN"]);
      if (!allowed) expect(answer.status).toBe(403);
      expect(answer.headers.get("X-RateLimit-Remaining")).not.toBeNull();
    }
  });

  it("take effect with the next request after they are removed", async () => {
    const [owner, other] = [await newOwner(), await newOwner()];
    await onSql(owner.workspaceId, (sql) => void sql.exec("INSERT INTO members VALUES (?, 'admin', 0)", other.userId));
    const caller = { headers: { ...other.headers, "X-Workspace-Id": owner.workspaceId } };
    expect((await as(caller, "/projects")).status).toBe(200);
    await onSql(owner.workspaceId, (sql) => void sql.exec("DELETE FROM members WHERE user_id = ?", other.userId));
    expect((await as(caller, "/projects")).status).toBe(404);
  });
});

describe("deleting a project", () => {
  let owner: Owner;
  beforeEach(async () => {
    owner = await newOwner();
  });

  it("ends its keys and queries before the response, and does not affect others", async () => {
    const [removed, kept] = [await newProject(owner), await newProject(owner)];
    const [key, other] = [await newKey(owner, removed), await newKey(owner, kept)];
    for (const each of [key, other]) receiptOf(await send(each, numbered(5), { idempotencyKey: "k" }));
    expect((await as(owner, `/projects/${removed}`, { method: "DELETE" })).data).toEqual({ deleted: true });
    expect(refusal(await send(key, numbered(1)))).toEqual([401, "INVALID_API_KEY"]);
    for (const [method, path] of [
      ["GET", `/projects/${removed}`],
      ["DELETE", `/projects/${removed}`],
      ["GET", `/projects/${removed}/keys`],
    ]) {
      expect(refusal(await as(owner, path ?? "", { method: method ?? "" }))).toEqual([404, "NOT_FOUND"]);
    }
    expect((await as(owner, "/projects")).data).toMatchObject({ items: [{ id: kept }] });
    const found = (await as(owner, "/logger/query", { body: {} })).data as { logs: { projectId: string }[] };
    expect(found.logs.map(({ projectId }) => projectId)).toEqual(Array(5).fill(kept));
    // The alarm then deletes the rest of the project.
    while ((await rowsOf(owner.workspaceId)).deletedProjects > 0)
      await runDurableObjectAlarm(workspace(owner.workspaceId));
    expect(await rowsOf(owner.workspaceId)).toEqual({ batches: 1, parts: 0, receipts: 1, deletedProjects: 0 });
    expect(await messagesOf({ workspaceId: owner.workspaceId, projectId: kept })).toHaveLength(5);
    expect(receiptOf(await send(other, numbered(1)))).toMatchObject({ firstSeq: 6 });
  });

  it("deletes its logs in bounded steps, whatever their number", async () => {
    const projectId = await newProject(owner);
    receiptOf(await send(await newKey(owner, projectId), numbered(5), { idempotencyKey: "k" }));
    await runInDurableObject(workspace(owner.workspaceId), (_, { storage: { sql } }) => {
      const copies = (n: number) => `WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ${n})`;
      sql.exec(`${copies(1300)} INSERT INTO batches (commit_no, project, first_seq, count, min_ts, max_ts, received_at,
          level_mask, category_mask, encoding, size, body_bytes, parts, summary, body)
        SELECT i, project, first_seq, count, min_ts, max_ts, received_at,
          level_mask, category_mask, encoding, size, body_bytes, 2, summary, body FROM batches, n WHERE commit_no = 1`);
      sql.exec("INSERT INTO batch_parts SELECT commit_no, 1, body FROM batches WHERE parts = 2");
      sql.exec(`${copies(12_000)} INSERT INTO receipts SELECT project, CAST('key ' || i AS BLOB), body_hash, first_seq, accepted,
        rejected_count, rejected, created_at FROM receipts, n`);
      const num = sql.exec("SELECT num FROM projects WHERE id = ?", projectId).one().num;
      sql.exec("DELETE FROM projects WHERE num = ?", num);
      sql.exec("INSERT INTO doomed_projects (project) VALUES (?)", num);
      const limiter = new Limiter(sql);
      let before = rows(sql);
      let steps = 0;
      while (before.deletedProjects > 0) {
        runHousekeeping(sql, limiter, null, Date.now());
        const after = rows(sql);
        expect(before.batches - after.batches).toBeLessThanOrEqual(500);
        expect(before.receipts - after.receipts).toBeLessThanOrEqual(5000);
        before = after;
        steps++;
      }
      expect(before).toEqual({ batches: 0, parts: 0, receipts: 0, deletedProjects: 0 });
      expect(steps).toBeLessThan(10);
      // A commit number is never reused, even after all batches were deleted.
      expect(sql.exec("SELECT last_commit FROM workspace").one().last_commit).toBe(1300);
    });
  });

  it("never reuses its seq, its number or a commit number", async () => {
    const first = await newProject(owner);
    receiptOf(await send(await newKey(owner, first), numbered(5)));
    await as(owner, `/projects/${first}`, { method: "DELETE" });
    while ((await rowsOf(owner.workspaceId)).deletedProjects > 0)
      await runDurableObjectAlarm(workspace(owner.workspaceId));
    const second = await newProject(owner);
    expect(receiptOf(await send(await newKey(owner, second), numbered(1)))).toMatchObject({ firstSeq: 1 });
    await onSql(owner.workspaceId, (sql) => {
      expect(sql.exec("SELECT num FROM projects WHERE id = ?", second).one().num).toBe(2);
      expect(sql.exec("SELECT commit_no FROM batches").toArray()).toEqual([{ commit_no: 2 }]);
    });
  });
});

describe("a destroyed workspace", () => {
  it("rejects every caller, and writes nothing", async () => {
    const owner = await newOwner();
    const projectId = await newProject(owner);
    const key = await newKey(owner, projectId);
    await workspace(owner.workspaceId).destroy();
    expect(refusal(await send(key, numbered(1)))).toEqual([401, "INVALID_API_KEY"]);
    expect(refusal(await as(owner, "/projects"))).toEqual([404, "NOT_FOUND"]);
    const left = await runInDurableObject(workspace(owner.workspaceId), async (_, { storage }) => [
      storage.sql.exec("SELECT name FROM sqlite_master").toArray(),
      await storage.getAlarm(),
    ]);
    expect(left).toEqual([[], null]);
  });
});

function rows(sql: SqlStorage) {
  const count = (table: string) => Number(sql.exec(`SELECT COUNT(*) AS n FROM ${table}`).one().n);
  const [batches, parts] = [count("batches"), count("batch_parts")];
  return { batches, parts, receipts: count("receipts"), deletedProjects: count("doomed_projects") };
}

function rowsOf(workspaceId: string) {
  return onSql(workspaceId, rows);
}
