import { describe, expect, it } from "vitest";
import type { Scope } from "../../../src/keys/scopes.ts";
import { type Answer, bearer, type Call, call } from "../accounts/support.ts";
import { addKey, addProject, onSql, send } from "../ingest/support.ts";
import { done, error, errors, newWatched, type Watched } from "./support.ts";

async function askWith(
  watched: Watched,
  scopes: readonly Scope[],
): Promise<(path: string, options?: Call) => Promise<Answer>> {
  const { secret } = await addKey(watched, scopes);
  return (path, options = {}) =>
    call(`/projects/${watched.projectId}/${path}`, { ...options, headers: bearer(secret) });
}

describe("keys and alerts", () => {
  it("a key with alerts:write creates, changes and deletes alerts of its project, in its own name", async () => {
    const watched = await newWatched();
    const { keyId, secret } = await addKey(watched, ["alerts:write"]);
    const path = `/projects/${watched.projectId}/alerts`;
    const created = await call(path, { body: errors, headers: bearer(secret) });
    expect(created).toMatchObject({ status: 201, data: { createdBy: keyId, version: 1 } });
    const one = `${path}/${Reflect.get(Object(created.data), "id")}`;
    const change = { method: "PATCH", body: { version: 1, window: "2m" }, headers: bearer(secret) } as const;
    expect(await call(one, change)).toMatchObject({ status: 200, data: { version: 2, window: "2m" } });
    expect((await call(one, { method: "DELETE", headers: bearer(secret) })).status).toBe(200);
    const audited = await onSql(watched.workspaceId, (sql) =>
      sql.exec("SELECT actor, action FROM audit WHERE action LIKE 'alert.%' ORDER BY num").toArray(),
    );
    expect(audited).toEqual(["create", "update", "delete"].map((what) => ({ actor: keyId, action: `alert.${what}` })));
  });

  it("each scope allows its own actions, and writing includes reading", async () => {
    const watched = await newWatched();
    const alert = await done(watched, "", { body: errors });
    const { query, condition, window } = errors;
    const actions: [scope: Scope, path: string, options?: Call][] = [
      ["alerts:read", "alerts"],
      ["alerts:read", "alert-destinations"],
      ["alerts:read", `alerts/${alert.id}`],
      ["alerts:read", `alerts/${alert.id}/versions`],
      ["alerts:read", `alerts/${alert.id}/decisions`],
      ["logs:read", "alert-preview", { body: { query, condition, window } }],
      ["alerts:write", "alerts", { body: { ...errors, name: "other" } }],
      ["alerts:write", `alerts/${alert.id}`, { method: "PATCH", body: { version: 1, for: "1m" } }],
      ["alerts:write", `alerts/${alert.id}`, { method: "DELETE" }],
    ];
    for (const scope of ["logs:write", "logs:read", "alerts:read", "alerts:write"] as const) {
      const ask = await askWith(watched, [scope]);
      for (const [needed, path, options] of actions) {
        const { code } = await ask(path, options);
        expect([scope, path, options?.method, code]).toEqual([
          ...[scope, path, options?.method],
          scope === needed || (scope === "alerts:write" && needed === "alerts:read") ? null : "INSUFFICIENT_SCOPE",
        ]);
      }
    }
  });

  it("a key reaches no other project and nothing else of its workspace, and each request counts once", async () => {
    const watched = await newWatched();
    const other = await addProject(watched);
    const { secret } = await addKey(watched, ["logs:read", "alerts:read", "alerts:write"]);
    const headers = bearer(secret);
    const answer = await call(`/projects/${other}/alerts`, { headers });
    expect([answer.status, answer.code]).toEqual([404, "NOT_FOUND"]);
    for (const path of [
      "/projects",
      `/projects/${watched.projectId}`,
      `/workspaces/${watched.workspaceId}/destinations`,
    ]) {
      expect((await call(path, { headers })).status).toBe(401);
    }
    const remaining = (each: Answer) => Number(each.headers.get("X-RateLimit-Remaining"));
    const first = await call(`/projects/${watched.projectId}/alerts`, { headers });
    const second = await call(`/projects/${watched.projectId}/alerts`, { headers });
    expect(remaining(second)).toBe(remaining(first) - 1);
  });

  it("lists destinations without their addresses, and a preview with a key counts entries", async () => {
    const watched = await newWatched();
    await onSql(watched.workspaceId, (sql) => {
      sql.exec(
        `INSERT INTO destinations (id, kind, name, settings, version, created_by, created_at, updated_at)
         VALUES ('dest_000000000001', 'webhook', 'hook', '{"url":"https://a.example.com/"}', 1, 'usr', 0, 0)`,
      );
    });
    const ask = await askWith(watched, ["logs:read", "alerts:read"]);
    expect((await ask("alert-destinations")).data).toEqual({
      items: [{ id: "dest_000000000001", kind: "webhook", name: "hook", enabled: true }],
    });
    await send(watched, [error("a")]);
    const { query, condition, window } = errors;
    const preview = await ask("alert-preview", { body: { query, condition, window } });
    expect(preview.data).toMatchObject({ complete: true, entries: 1 });
  });
});
