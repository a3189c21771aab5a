import { createExecutionContext, runInDurableObject, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../../src/ids.ts";
import { newApiKey } from "../../../src/keys/api-key.ts";
import { app } from "../../../src/routes/app.ts";
import { type Answer, answerOf, bearer, call, dump, requestOf } from "../accounts/support.ts";
import { newIp } from "../client-ips.ts";
import { evict, messagesOf, onSql, receiptOf, send, workspace } from "../ingest/support.ts";
import { as, keyOf, newKey, newOwner, newProject, type Owner, refusal } from "../projects/support.ts";

let owner: Owner;
let projectId: string;
beforeAll(async () => {
  owner = await newOwner();
  projectId = await newProject(owner);
});

const keysPath = () => `/projects/${projectId}/keys`;
const log = { message: "m" };
const write = (key: { projectId: string; secret: string }) => send(key, log);
/** The list item of a key. */
const listed = async (keyId: string) => {
  const { data } = await as(owner, `${keysPath()}?limit=200`);
  const { items } = data as { items: Record<string, unknown>[] };
  return items.find(({ id }) => id === keyId);
};

describe("creating a key", () => {
  it("returns the secret once, in a response that no cache stores, and keeps only its hash", async () => {
    const answer = await as(owner, keysPath(), { body: { name: " app ", scopes: ["logs:write"] } });
    const { keyId, secret } = keyOf(answer, projectId);
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    expect(answer.data).toEqual({
      id: expect.stringMatching(/^key_[0-9A-Za-z]{12}$/),
      name: "app",
      scopes: ["logs:write"],
      prefix: secret.slice(0, 18),
      projectId,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
      mapping: {},
      dedupe: "auto",
      hasVercelSecret: false,
      secret: expect.stringMatching(/^sk_[0-9A-Za-z]{48}$/),
    });
    expect(secret.slice(3, 15)).toBe(owner.workspaceId.slice(3));
    expect((await as(owner, keysPath())).text).not.toContain(secret);
    const tables = await runInDurableObject(workspace(owner.workspaceId), (_, { storage }) => dump(storage.sql));
    expect(JSON.stringify(tables)).toContain(secret.slice(0, 18));
    expect(JSON.stringify(tables)).not.toContain(secret.slice(0, 24));
    expect(JSON.stringify(tables)).not.toContain(secret.slice(24));
    expect(await listed(keyId)).toMatchObject({ id: keyId, prefix: secret.slice(0, 18) });
    expect(await listed(keyId)).not.toHaveProperty("secret");
  });

  it.each([
    [{ scopes: ["logs:write"] }, "name"],
    [{ name: "", scopes: ["logs:write"] }, "name"],
    [{ name: "x".repeat(101), scopes: ["logs:write"] }, "name"],
    [{ name: "x" }, "scopes"],
    [{ name: "x", scopes: [] }, "scopes"],
    [{ name: "x", scopes: "logs:write" }, "scopes"],
    [{ name: "x", scopes: ["logs:admin"] }, "scopes.0"],
    [{ name: "x", scopes: ["logs:write", "*"] }, "scopes.1"],
    [{ name: "x", scopes: ["logs:write"], extra: 1 }, "extra"],
    [{ name: "x", scopes: ["logs:write"], expiresAt: "tomorrow" }, "expiresAt"],
    [{ name: "x", scopes: ["logs:write"], expiresAt: 1 }, "expiresAt"],
    [{ name: "x", scopes: ["logs:write"], expiresAt: "2020-01-01T00:00:00Z" }, "expiresAt"],
    [{ name: "x", scopes: ["logs:write"], expiresAt: Date.now() + 366 * 86_400_000 }, "expiresAt"],
  ])("rejects %j with 400 and names %s", async (body, path) => {
    const answer = await as(owner, keysPath(), { body });
    expect(refusal(answer)).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.details).toMatchObject([{ path }]);
  });

  it("returns 404 for an unknown project and for a project of another owner", async () => {
    const other = await newOwner();
    const foreign = await newProject(other);
    for (const id of [newId("proj"), foreign, "nonsense", "proj_", `${projectId}x`, "%00", "%F0%9F%98%80"]) {
      const answer = await as(owner, `/projects/${id}/keys`, { body: { name: "x", scopes: ["logs:write"] } });
      expect(refusal(answer)).toEqual([404, "NOT_FOUND"]);
    }
  });

  it("returns at most 100 details for an invalid body", async () => {
    const answer = await as(owner, keysPath(), { body: { name: "x", scopes: Array(30_000).fill("x"), a: 1 } });
    expect(refusal(answer)).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.details.length).toBeLessThanOrEqual(100);
    const members = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`member ${i}`, 1]));
    expect((await as(owner, keysPath(), { body: members })).details.length).toBeLessThanOrEqual(100);
  });
});

describe("listing keys", () => {
  it("returns each key once, page by page", async () => {
    const own = await newProject(owner);
    const made: string[] = [];
    for (let i = 0; i < 7; i++) made.push((await newKey(owner, own, { name: `k${i}` })).keyId);
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const query: string = cursor === "" ? "?limit=3" : `?limit=3&cursor=${encodeURIComponent(cursor)}`;
      const { data } = await as(owner, `/projects/${own}/keys${query}`);
      const page = data as { items: { id: string }[]; nextCursor: string | null };
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(new Set(seen)).toEqual(new Set(made));
    expect(seen).toHaveLength(7);
  });

  it("refuses invalid cursors and limits", async () => {
    for (const query of ["cursor=x", "cursor=1.key_';--", "limit=0", "limit=201", "limit=x", "limit=1.5", "page=2"]) {
      expect([query, ...refusal(await as(owner, `${keysPath()}?${query}`))]).toEqual([query, 400, "VALIDATION_ERROR"]);
    }
  });

  it("returns the minute in which a key was last used", async () => {
    const key = await newKey(owner, projectId);
    expect(await listed(key.keyId)).toMatchObject({ lastUsedAt: null });
    receiptOf(await write(key));
    const used = (await listed(key.keyId))?.lastUsedAt;
    expect(Date.parse(String(used))).toBeGreaterThan(Date.now() - 60_000);
    receiptOf(await write(key));
    expect((await listed(key.keyId))?.lastUsedAt).toBe(used);
  });
});

describe("revoking a key", () => {
  it("refuses the next request with it, and every later one after an eviction", async () => {
    const key = await newKey(owner, projectId);
    receiptOf(await write(key));
    const revoke = () => as(owner, `${keysPath()}/${key.keyId}`, { method: "DELETE" });
    expect((await revoke()).data).toEqual({ revoked: true });
    const answer = await write(key);
    expect(refusal(answer)).toEqual([401, "API_KEY_REVOKED"]);
    expect(answer.headers.get("WWW-Authenticate")).toBe('Bearer realm="taffrail", error="invalid_token"');
    await evict(owner.workspaceId);
    expect(refusal(await write(key))).toEqual([401, "API_KEY_REVOKED"]);
    const { revokedAt } = (await listed(key.keyId)) ?? {};
    expect(revokedAt).toEqual(expect.any(String));
    // A repeated revocation changes nothing.
    expect((await revoke()).status).toBe(200);
    expect((await listed(key.keyId))?.revokedAt).toBe(revokedAt);
  });

  it("takes effect with the next request under load: nothing sent after the response is stored", async () => {
    const own = await newProject(owner);
    const key = await newKey(owner, own);
    let sent = 0;
    let revoked = false;
    const late: Answer[] = [];
    const sender = async () => {
      for (;;) {
        const after = revoked;
        const answer = await send(key, { message: `${after ? "late" : "early"} ${sent++}` });
        if (after) late.push(answer);
        if (after || answer.status !== 201) return;
      }
    };
    const senders = Array.from({ length: 12 }, sender);
    while (sent < 60) await Promise.race(senders.concat(send({ projectId: own, secret: "sk_x" }, log).then(() => {})));
    await as(owner, `/projects/${own}/keys/${key.keyId}`, { method: "DELETE" });
    revoked = true;
    await Promise.all([...senders, ...Array.from({ length: 5 }, sender)]);
    expect(late.length).toBeGreaterThan(0);
    for (const answer of late) expect(refusal(answer)).toEqual([401, "API_KEY_REVOKED"]);
    const stored = await messagesOf({ workspaceId: owner.workspaceId, projectId: own });
    expect(stored.filter((message) => message.startsWith("late"))).toEqual([]);
  });

  it("returns 404 for an unknown key and for a key of another project", async () => {
    const key = await newKey(owner, projectId);
    const other = await newProject(owner);
    for (const path of [`${keysPath()}/${newId("key")}`, `${keysPath()}/x`, `/projects/${other}/keys/${key.keyId}`]) {
      expect(refusal(await as(owner, path, { method: "DELETE" }))).toEqual([404, "NOT_FOUND"]);
    }
    expect((await write(key)).status).toBe(201);
  });
});

describe("rotating a key", () => {
  const rotate = (keyId: string, body: object) => as(owner, `${keysPath()}/${keyId}/rotate`, { body });

  it("a second time creates another successor that expires with the original key, not with the overlap", async () => {
    const old = await newKey(owner, projectId, { name: "app", scopes: ["logs:write"] });
    for (let time = 0; time < 2; time++) {
      const answer = await rotate(old.keyId, { overlapSeconds: 60 });
      expect(answer.status).toBe(201);
      expect(answer.data).toMatchObject({ expiresAt: null });
    }
    expect((await write(old)).status).toBe(201);
  });

  it("requires no body, because the overlap has a default", async () => {
    const old = await newKey(owner, projectId);
    const answer = await as(owner, `${keysPath()}/${old.keyId}/rotate`, { method: "POST" });
    expect(answer.status).toBe(201);
    expect((await write(old)).status).toBe(201);
  });

  it("creates a successor with the same name, scopes and expiry, and keeps the old key valid for the overlap", async () => {
    const expiresAt = new Date(Date.now() + 7 * 86_400_000).toISOString();
    const old = await newKey(owner, projectId, { name: "app", scopes: ["logs:write"], expiresAt });
    const answer = await rotate(old.keyId, { overlapSeconds: 60 });
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    expect(answer.data).toMatchObject({ name: "app", scopes: ["logs:write"], expiresAt });
    const next = keyOf(answer, projectId);
    expect(next.secret).not.toBe(old.secret);
    expect((await write(old)).status).toBe(201);
    expect((await write(next)).status).toBe(201);
    const end = Date.parse(String((await listed(old.keyId))?.expiresAt)) - Date.now();
    expect(end).toBeGreaterThan(50_000);
    expect(end).toBeLessThanOrEqual(60_000);
    // Ends the overlap.
    await onSql(
      owner.workspaceId,
      (sql) => void sql.exec("UPDATE keys SET retires_at = retires_at - 60000 WHERE id = ?", old.keyId),
    );
    await evict(owner.workspaceId);
    expect(refusal(await write(old))).toEqual([401, "API_KEY_EXPIRED"]);
    expect((await write(next)).status).toBe(201);
  });

  it("without an overlap revokes the old key immediately", async () => {
    const old = await newKey(owner, projectId);
    receiptOf(await write(old));
    const next = keyOf(await rotate(old.keyId, { overlapSeconds: 0 }), projectId);
    expect(refusal(await write(old))).toEqual([401, "API_KEY_EXPIRED"]);
    expect((await write(next)).status).toBe(201);
    // A revoked key has no successor.
    expect(refusal(await rotate(old.keyId, {}))).toEqual([404, "NOT_FOUND"]);
  });

  it("never extends the validity of a key", async () => {
    const old = await newKey(owner, projectId, { expiresAt: Date.now() + 60_000 });
    const before = (await listed(old.keyId))?.expiresAt;
    await rotate(old.keyId, {});
    expect((await listed(old.keyId))?.expiresAt).toBe(before);
  });

  it("refuses an overlap out of range, and a revoked key", async () => {
    const old = await newKey(owner, projectId);
    for (const overlapSeconds of [-1, 2_592_001, 0.5, "60", null]) {
      expect(refusal(await rotate(old.keyId, { overlapSeconds }))).toEqual([400, "VALIDATION_ERROR"]);
    }
    await as(owner, `${keysPath()}/${old.keyId}`, { method: "DELETE" });
    expect(refusal(await rotate(old.keyId, {}))).toEqual([404, "NOT_FOUND"]);
  });
});

describe("the secret of a Vercel drain", () => {
  it("is set and removed, and no response and no audit entry has it", async () => {
    const made = await as(owner, keysPath(), { body: { name: "drain", scopes: ["logs:write"] } });
    const { keyId } = keyOf(made, projectId);
    const change = (body: object) => as(owner, `${keysPath()}/${keyId}`, { method: "PATCH", body });
    const set = await change({ vercelSecret: "a secret of Vercel" });
    expect([set.status, set.data]).toEqual([200, expect.objectContaining({ hasVercelSecret: true })]);
    expect((await change({ dedupe: "always" })).data).toMatchObject({ hasVercelSecret: true, dedupe: "always" });
    expect((await change({ vercelSecret: null })).data).toMatchObject({ hasVercelSecret: false, dedupe: "always" });
    const audit = await as(owner, `/workspaces/${owner.workspaceId}/audit?limit=100`);
    expect(audit.text).toContain("hasVercelSecret");
    expect(set.text + audit.text).not.toContain("a secret of Vercel");
  });
});

describe("a request with a key", () => {
  it("that has expired is 401 API_KEY_EXPIRED, exact to the millisecond", async () => {
    const key = await newKey(owner, projectId, { expiresAt: Date.now() + 60_000 });
    receiptOf(await write(key));
    await onSql(
      owner.workspaceId,
      (sql) => void sql.exec("UPDATE keys SET expires_at = ? WHERE id = ?", Date.now(), key.keyId),
    );
    await evict(owner.workspaceId);
    expect(refusal(await write(key))).toEqual([401, "API_KEY_EXPIRED"]);
  });

  it("that lacks the scope is 403 and names the missing scope", async () => {
    const key = await newKey(owner, projectId, { scopes: ["logs:read"] });
    const answer = await write(key);
    expect(refusal(answer)).toEqual([403, "INSUFFICIENT_SCOPE"]);
    expect(answer.headers.get("WWW-Authenticate")).toBe(
      'Bearer realm="taffrail", error="insufficient_scope", scope="logs:write"',
    );
    const reader = await newKey(owner, projectId, { scopes: ["logs:write"] });
    const query = await call("/logger/query", { body: {}, headers: bearer(reader.secret) });
    expect(refusal(query)).toEqual([403, "INSUFFICIENT_SCOPE"]);
    expect(query.headers.get("WWW-Authenticate")).toContain('scope="logs:read"');
  });

  it("of another project, another workspace or an unknown project is 404", async () => {
    const key = await newKey(owner, projectId);
    const other = await newOwner();
    for (const id of [await newProject(owner), await newProject(other), newId("proj"), "x", "%00"]) {
      const answer = await send({ ...key, projectId: id }, log);
      expect(refusal(answer)).toEqual([404, "NOT_FOUND"]);
      expect(answer.headers.get("X-RateLimit-Remaining")).not.toBeNull();
      // All of them get the same message, so that responses do not reveal which ids exist.
      expect(answer.text).toContain("Project not found. An API key works for its own project only.");
    }
  });

  it("that is malformed is 401, counts by client IP, and calls no workspace", async () => {
    const { secret } = await newKey(owner, projectId);
    const mangled = [
      secret.slice(0, -1),
      `${secret}x`,
      secret.toLowerCase(),
      `${secret.slice(0, 20)}0${secret.slice(21)}`,
      "sk_",
      "sk_demo_x",
    ];
    // Any call of a workspace object would be a 500.
    const noWorkspaces = new Proxy(env.WORKSPACES, {
      get() {
        throw new Error("A workspace was touched.");
      },
    });
    const ip = newIp();
    const through = async (token: string) => {
      const ctx = createExecutionContext();
      const headers = { ...bearer(token), "CF-Connecting-IP": ip };
      const request = requestOf(`/logger/${projectId}/log`, { body: log, headers });
      const response = await app.fetch(request, { ...env, WORKSPACES: noWorkspaces }, ctx);
      await waitOnExecutionContext(ctx);
      return answerOf(response);
    };
    expect((await through(secret)).status).toBe(500);
    const remaining: number[] = [];
    for (const token of mangled) {
      if (token === secret) continue;
      const answer = await through(token);
      expect([token.length, ...refusal(answer)]).toEqual([token.length, 401, "INVALID_API_KEY"]);
      remaining.push(Number(answer.headers.get("X-RateLimit-Remaining")));
    }
    expect(remaining).toEqual(remaining.map((_, i) => 999 - i));
    const missing = await call(`/logger/${projectId}/log`, {
      body: log,
      headers: { "CF-Connecting-IP": ip },
    });
    expect(refusal(missing)).toEqual([401, "UNAUTHORIZED"]);
    expect(missing.headers.get("WWW-Authenticate")).toBe('Bearer realm="taffrail", error="invalid_request"');
    expect(Number(missing.headers.get("X-RateLimit-Remaining"))).toBe(999 - remaining.length);
  });

  it("that is well-formed for an unknown workspace is 401 on every route, and writes nothing", async () => {
    const workspaceId = newId("ws");
    const { secret } = newApiKey(workspaceId);
    const old = Date.now() - 40 * 86_400_000;
    for (const body of [log, "{", [{ message: "" }], { message: "m", timestamp: old }, "x".repeat(6_000_000)]) {
      expect(refusal(await send({ projectId, secret }, body))).toEqual([401, "INVALID_API_KEY"]);
    }
    for (const body of [{}, "{", { projectId }]) {
      expect(refusal(await call("/logger/query", { body, headers: bearer(secret) }))).toEqual([401, "INVALID_API_KEY"]);
    }
    const written = await runInDurableObject(workspace(workspaceId), async (_, { storage }) => ({
      tables: storage.sql.exec("SELECT name FROM sqlite_master").toArray(),
      alarm: await storage.getAlarm(),
    }));
    expect(written).toEqual({ tables: [], alarm: null });
  });

  it("that is well-formed but unknown to its workspace is 401, counts by client IP, and writes nothing", async () => {
    const { secret } = newApiKey(owner.workspaceId);
    const before = await runInDurableObject(workspace(owner.workspaceId), (_, { storage }) => dump(storage.sql));
    const headers = { "CF-Connecting-IP": newIp() };
    for (const left of ["999", "998"]) {
      const answer = await send({ projectId, secret }, log, { headers });
      expect(refusal(answer)).toEqual([401, "INVALID_API_KEY"]);
      expect(answer.headers.get("X-RateLimit-Remaining")).toBe(left);
    }
    const after = await runInDurableObject(workspace(owner.workspaceId), (_, { storage }) => dump(storage.sql));
    expect(after).toEqual(before);
  });

  it("is accepted by log routes only: a key is not an access token, and an access token is not a key", async () => {
    const { secret } = await newKey(owner, projectId);
    for (const path of [
      "/projects",
      `/projects/${projectId}`,
      keysPath(),
      `/workspaces/${owner.workspaceId}/rate-limits`,
    ]) {
      const answer = await call(path, { headers: { ...owner.headers, ...bearer(secret) } });
      expect([path, ...refusal(answer)]).toEqual([path, 401, "INVALID_ACCESS_TOKEN"]);
    }
    const token = owner.headers.Authorization.slice("Bearer ".length);
    expect(refusal(await send({ projectId, secret: token }, log))).toEqual([401, "INVALID_API_KEY"]);
  });
});
