import { createMessageBatch, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { newId } from "../../../src/ids.ts";
import { addPendingMail, PENDING_MAIL_SCHEMA } from "../../../src/mail/pending-mails.ts";
import { MAIL_REQUEST_SCHEMA } from "../../../src/mail/requests.ts";
import { ColdWriter } from "../../../src/objects/workspace/entrypoints.ts";
import worker from "../../../src/worker.ts";
import { consume, emailStub, pendingMailsOf, rowsOf } from "../accounts/mail-support.ts";
import { bearer, call, callWith, registered, userStub, workspaceStub } from "../accounts/support.ts";
import { type Line, loggedEvents, verbose } from "../events.ts";
import { evict, newTenant, numbered, receiptOf, send, workspace } from "../ingest/support.ts";
import { newKey, newOwner, newProject } from "../projects/support.ts";
import { openTail } from "../tail/support.ts";
import { by, newUser, newWorkspace } from "../workspaces/support.ts";

const INFO = { LOG_LEVEL: "info" };
const RUN = /^run_[0-9A-Za-z]{16}$/;

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const from = (requestId: string) => ({ "X-Request-Id": requestId });

describe("D18: an event of an object contains the request that caused it", () => {
  it("D18: user.refresh.reused", async () => {
    const { user, refreshToken } = await registered(`${crypto.randomUUID()}@example.com`);
    await verbose(userStub(user.id));
    await call("/auth/refresh", { body: { refreshToken } });
    const lines = loggedEvents();
    await call("/auth/refresh", { body: { refreshToken }, headers: from("reuse-1") });
    expect(await lines.one("user.refresh.reused")).toMatchObject({
      level: "warn",
      object: "user",
      requestId: "reuse-1",
      outcome: "session_ended",
      userId: user.id,
    });
  });

  it("D18: the cleanup of a deleted workspace", async () => {
    const owner = await newUser();
    const workspaceId = await newWorkspace(owner);
    await verbose(workspaceStub(workspaceId));
    const lines = loggedEvents();
    await by(owner, `/workspaces/${workspaceId}`, { method: "DELETE", headers: from("delete-1") });
    for (let turn = 0; turn < 5 && lines.of("workspace.wipe").length === 0; turn++) {
      await runDurableObjectAlarm(workspaceStub(workspaceId));
    }
    expect(await lines.one("workspace.wipe")).toMatchObject({
      object: "workspace",
      requestId: "delete-1",
      workspaceId,
    });
  });

  it("D18: the cleanup that a later alarm finishes, after the object has lost its memory", async () => {
    const { workspaceId } = await newUser();
    await runInDurableObject(workspaceStub(workspaceId), (_, { storage }) => {
      storage.sql.exec("UPDATE workspace SET deleted_at = ?, deleted_by_request = 'delete-2'", Date.now());
    });
    await evict(workspaceId);
    await verbose(workspaceStub(workspaceId));
    const lines = loggedEvents();
    await runDurableObjectAlarm(workspaceStub(workspaceId));
    expect(await lines.one("workspace.wipe")).toMatchObject({ requestId: "delete-2", workspaceId });
  });

  it("D18: the cleanup of a workspace that the version before deleted", async () => {
    const shared = await newWorkspace(await newUser());
    await runInDurableObject(workspaceStub(shared), (_, { storage }) => {
      storage.sql.exec("UPDATE workspace SET deleted_at = ?", Date.now());
    });
    await evict(shared);
    await verbose(workspaceStub(shared));
    const lines = loggedEvents();
    await runDurableObjectAlarm(workspaceStub(shared));
    expect(await lines.one("workspace.wipe")).toMatchObject({
      requestId: expect.stringMatching(RUN),
      workspaceId: shared,
    });
  });

  it("D18: the deletion of an account", async () => {
    const { user, accessToken } = await registered(`${crypto.randomUUID()}@example.com`);
    await verbose(userStub(user.id));
    const lines = loggedEvents();
    const body = { password: "correct horse battery" };
    await call("/auth/me", { method: "DELETE", body, headers: { ...bearer(accessToken), ...from("gone-1") } });
    expect(await lines.one("user.delete")).toMatchObject({ object: "user", requestId: "gone-1", outcome: "ok" });
  });

  it("D18: the end of a tail, with the request that opened it, after the object has lost its memory", async () => {
    const tenant = await newTenant();
    const headers = { ...bearer(tenant.secret), ...from("tail-1") };
    const client = await openTail(tenant.projectId, { headers });
    await evict(tenant.workspaceId);
    await verbose(workspace(tenant.workspaceId));
    const lines = loggedEvents();
    await workspace(tenant.workspaceId).revokeKey(tenant.ownerId, tenant.projectId, tenant.keyId);
    await client.ends();
    expect(await lines.one("workspace.tail.end")).toMatchObject({
      object: "workspace",
      requestId: "tail-1",
      projectId: tenant.projectId,
      workspaceId: tenant.workspaceId,
      outcome: "API_KEY_REVOKED",
    });
  });

  it("D18: a tail that its client closes", async () => {
    const tenant = await newTenant();
    const client = await openTail(tenant.projectId, { headers: { ...bearer(tenant.secret), ...from("tail-2") } });
    await verbose(workspace(tenant.workspaceId));
    const lines = loggedEvents();
    client.close();
    expect(await lines.one("workspace.tail.end")).toMatchObject({
      requestId: "tail-2",
      outcome: "client",
      status: 1000,
    });
  });
});

describe("D18: all events of one alarm run contain one id", () => {
  it("D18: a flush", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
    const tenant = await newTenant();
    receiptOf(await send(tenant, numbered(3)));
    vi.setSystemTime(Date.now() + 3_600_000);
    await verbose(workspace(tenant.workspaceId));
    const lines = loggedEvents();
    vi.spyOn(ColdWriter.prototype, "write").mockRejectedValueOnce(new Error("no writer"));
    await runDurableObjectAlarm(workspace(tenant.workspaceId));
    vi.setSystemTime(Date.now() + 3_600_000);
    await runDurableObjectAlarm(workspace(tenant.workspaceId));
    const [failed, ok] = lines.of("workspace.flush");
    expect([failed?.outcome, ok?.outcome]).toEqual(["failed", "ok"]);
    for (const line of [failed, ok]) {
      expect(line).toMatchObject({
        object: "workspace",
        requestId: expect.stringMatching(RUN),
        projectId: tenant.projectId,
        workspaceId: tenant.workspaceId,
      });
    }
    expect(failed?.requestId).not.toBe(ok?.requestId);
  });
});

describe("D18: the consumer's event of a mail contains the request that caused the mail", () => {
  async function sent(requestId: string): Promise<Line> {
    const messages = queued.splice(0);
    const lines = loggedEvents();
    await consume(messages as never, INFO);
    const line = lines.of("mail.send").find((one) => one.requestId === requestId);
    vi.restoreAllMocks();
    return line ?? {};
  }
  let queued: unknown[] = [];
  function hold(): void {
    queued = [];
    vi.spyOn(env.MAIL_QUEUE, "sendBatch").mockImplementation(async (messages) => {
      for (const { body } of messages) queued.push(body);
      return undefined as never;
    });
  }

  it("D18: a registration, a magic link of an unknown address, an invitation, a notice", async () => {
    hold();
    const email = `${crypto.randomUUID()}@mail.example`;
    await call("/auth/register", {
      body: { email, password: "correct horse battery" },
      headers: from("mail-register"),
    });
    expect(await sent("mail-register")).toMatchObject({ outcome: "ok", kind: "verify-email" });

    hold();
    const stranger = `${crypto.randomUUID()}@mail.example`;
    await call("/auth/magic-link", { body: { email: stranger }, headers: from("mail-magic") });
    await vi.waitFor(() => expect(queued).toHaveLength(1), { timeout: 10_000 });
    expect(await sent("mail-magic")).toMatchObject({ outcome: "ok", kind: "magic-link" });

    hold();
    await call("/auth/forgot-password", { body: { email }, headers: from("mail-forgot") });
    await vi.waitFor(() => expect(queued).toHaveLength(1), { timeout: 10_000 });
    expect(await sent("mail-forgot")).toMatchObject({ outcome: "ok", kind: "reset-password" });

    const owner = await newUser();
    const workspaceId = await newWorkspace(owner);
    hold();
    const body = { email: `${crypto.randomUUID()}@mail.example`, role: "viewer" };
    await by(owner, `/workspaces/${workspaceId}/members`, { body, headers: from("mail-invite") });
    expect(await sent("mail-invite")).toMatchObject({ outcome: "ok", kind: "invite", owner: workspaceId });

    hold();
    const change = { currentPassword: "correct horse battery", newPassword: "another long password" };
    await by(owner, "/auth/password", { method: "PUT", body: change, headers: from("mail-notice") });
    expect(await sent("mail-notice")).toMatchObject({ outcome: "ok", kind: "notice", owner: owner.userId });
  });

  it("D18: what the queue gave up on, and a message of an older version", async () => {
    const lines = loggedEvents();
    const mailId = newId("mail");
    const bodies = [
      [newId("usr"), mailId, "dead-1"],
      [newId("usr"), mailId],
    ];
    const messages = bodies.map((body, index) => ({ id: String(index), timestamp: new Date(), attempts: 1, body }));
    await worker.queue(createMessageBatch("taffrail-mail-dead", messages), { ...env });
    expect(lines.of("mail.dead-letter").map(({ requestId }) => requestId)).toEqual(["dead-1", null]);
  });

  it("D18: a pending mail of an older version is sent, and a mail request of an older version is processed", async () => {
    const { user } = await registered(`${crypto.randomUUID()}@mail.example`);
    const id = newId("mail");
    await runInDurableObject(userStub(user.id), (_, { storage }) => {
      const content = { kind: "notice", notice: "password-changed" } as const;
      addPendingMail(storage.sql, { id, to: "old@mail.example", content, expiresAt: Date.now() + 60_000 }, Date.now());
      expect(storage.sql.exec("SELECT details FROM promised_mails WHERE id = ?", id).one().details).not.toContain(
        "req",
      );
    });
    const lines = loggedEvents();
    await consume([[user.id, id]], INFO);
    expect(await lines.one("mail.send")).toMatchObject({ outcome: "ok", kind: "notice", requestId: null });

    const email = `${crypto.randomUUID()}@mail.example`;
    const mailId = newId("mail");
    await runInDurableObject(emailStub(email), (_, { storage: { sql } }) => {
      for (const statement of [...MAIL_REQUEST_SCHEMA, ...PENDING_MAIL_SCHEMA]) sql.exec(statement);
      sql.exec(
        "INSERT INTO mail_requests (id, kind, address, seed, next_at, expires_at) VALUES (?, 'magic-link', ?, ?, 0, ?)",
        mailId,
        email,
        new Uint8Array(32),
        Date.now() + 60_000,
      );
    });
    await runInDurableObject(emailStub(email), (object) => object.alarm?.());
    const name = (await runInDurableObject(emailStub(email), (_, { id: object }) => object.name)) ?? "";
    expect(await rowsOf(name, "SELECT id FROM mail_requests")).toEqual([]);
    expect(await pendingMailsOf(name)).toEqual([mailId]);
  });
});

it("D18: the consumer's event of a violation contains the first refused request", async () => {
  const owner = await newOwner();
  const key = await newKey(owner, await newProject(owner));
  await call(`/workspaces/${owner.workspaceId}/rate-limits`, {
    method: "PUT",
    body: { rules: [{ method: "POST", path: "/logger/:projectId/log", limit: 1 }] },
    headers: owner.headers,
  });
  const sent: unknown[] = [];
  vi.spyOn(env.VIOLATION_QUEUE, "send").mockImplementation(async (body) => {
    sent.push(body);
    return undefined as never;
  });
  for (const id of ["ok-1", "refused-1", "refused-2"]) {
    await call(`/logger/${key.projectId}/log`, {
      body: { message: "m" },
      headers: { ...bearer(key.secret), ...from(id) },
    });
  }
  await vi.waitFor(() => expect(sent).toHaveLength(1), { timeout: 10_000 });
  const lines = loggedEvents();
  const message = { id: "0", timestamp: new Date(), attempts: 1, body: sent[0] };
  await worker.queue(createMessageBatch("taffrail-violations", [message]), { ...env, ...INFO });
  expect(await lines.one("violations.store")).toMatchObject({ requestId: "refused-1", owner: owner.workspaceId });
});

describe("D18: a request's event contains the project", () => {
  it("D18: workspace.query and workspace.stats, also by a key without a named project; key.* and project.*", async () => {
    const owner = await newOwner();
    const projectId = await newProject(owner);
    const key = await newKey(owner, projectId);
    const lines = loggedEvents();
    const keyed = { headers: bearer(key.secret) };
    await callWith(INFO, "/logger/query", { body: {}, ...keyed });
    await callWith(INFO, "/logger/stats", { body: { interval: "1h" }, ...keyed });
    await callWith(INFO, "/logger/query", { body: { projectId }, headers: owner.headers });
    await callWith(INFO, "/logger/query", { body: {}, headers: owner.headers });
    for (const [path, method, body] of [
      [`/projects/${projectId}/keys`, "GET", undefined],
      [`/projects/${projectId}/keys/${key.keyId}/rotate`, "POST", {}],
      [`/projects/${projectId}/keys/${key.keyId}`, "DELETE", undefined],
      [`/projects/${projectId}`, "GET", undefined],
      [`/projects/${projectId}`, "PATCH", { name: "n" }],
      [`/projects/${projectId}`, "DELETE", undefined],
    ] as const) {
      await callWith(INFO, path, { method, body, headers: owner.headers });
    }
    expect(lines.all().map(({ event, projectId: named }) => [event, named === projectId])).toEqual([
      ["workspace.query", true],
      ["workspace.stats", true],
      ["workspace.query", true],
      // All projects of the workspace.
      ["workspace.query", false],
      ["key.list", true],
      ["key.rotate", true],
      ["key.revoke", true],
      ["project.get", true],
      ["project.rename", true],
      ["project.delete", true],
    ]);
  });
});

describe("D18: a request without a route has one event", () => {
  it("D18: 404, 405, 429 and pages, without the path that a secret may be in", async () => {
    const lines = loggedEvents();
    const secret = "sk_0123456789abcdefghijklmnopqrstuvwxyz";
    const answer = (path: string, method = "GET", more: object = {}) =>
      worker.fetch(
        new Request(`http://taffrail.test${path}`, {
          method,
          headers: { ...from(`r${path}`.slice(0, 12)), ...more },
        }) as never,
        { ...env, ...INFO, AUTH_LIMIT: "1", ASSETS: { fetch: async () => new Response("page") } } as never,
        { waitUntil: () => {}, passThroughOnException: () => {} } as never,
      );
    await answer(`/projects/${secret}/nothing`);
    await answer(`/${secret}`);
    await answer("/auth/nothing", "GET", { "CF-Connecting-IP": "203.0.113.180" });
    await answer("/auth/nothing", "GET", { "CF-Connecting-IP": "203.0.113.180" });
    await answer("/health", "POST");
    await answer("/login");
    await answer("/w/acme/explorer");
    await answer("/app/files/index-1.js");
    expect(
      lines.all().map(({ event, outcome, status, group, level }) => [event, outcome, status, group, level]),
    ).toEqual([
      ["router.not-found", "NOT_FOUND", 404, "/projects", "info"],
      ["router.not-found", "NOT_FOUND", 404, "other", "info"],
      ["router.not-found", "NOT_FOUND", 404, "/auth", "info"],
      ["router.not-found", "RATE_LIMITED", 429, "/auth", "info"],
      ["router.method-not-allowed", "METHOD_NOT_ALLOWED", 405, "/health", "info"],
      ["router.page", "ok", 200, "/login", "info"],
      ["router.page", "ok", 200, "/w", "info"],
      ["router.page", "ok", 200, "/app", "info"],
    ]);
    expect(JSON.stringify(lines.all())).not.toContain(secret.slice(0, 16));
  });
});
