import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { newId } from "../../../src/ids.ts";
import { newApiKey } from "../../../src/keys/api-key.ts";
import { newTicket } from "../../../src/tail/authority.ts";
import { TAIL_QUOTA } from "../../../src/tail/limits.ts";
import { ROLES } from "../../../src/workspace/permissions.ts";
import { answerOf, bearer, call } from "../accounts/support.ts";
import {
  addKey,
  addProject,
  evict,
  newTenant,
  numbered,
  onSql,
  receiptOf,
  send,
  workspace,
} from "../ingest/support.ts";
import { newKey, newOwner, newProject } from "../projects/support.ts";
import * as sandbox from "../sandbox/support.ts";
import { newMember, newUser, newWorkspace, type User } from "../workspaces/support.ts";
import { openTail, tailOf, tailResponse } from "./support.ts";

afterEach(() => vi.useRealTimers());

async function refused(projectId: string, headers: Record<string, string>, query = "") {
  const { status, code, headers: limits, details } = await answerOf(await tailResponse(projectId, { headers, query }));
  expect([code, limits.get("X-RateLimit-Limit")]).toEqual([code, expect.stringMatching(/^\d+$/)]);
  return { verdict: [status, code], details };
}

describe("before the upgrade", () => {
  it("every refusal has the envelope and limit headers", async () => {
    const tenant = await newTenant();
    const { projectId } = tenant;
    const key = bearer(tenant.secret);
    const writer = await addKey(tenant, ["logs:write"]);
    const other = await newTenant();
    const owner = await newOwner();
    const ownProject = await newProject(owner);
    const cases: [string, Record<string, string>, string, unknown[]][] = [
      [projectId, {}, "", [401, "UNAUTHORIZED"]],
      [projectId, bearer("sk_x"), "", [401, "INVALID_API_KEY"]],
      [projectId, bearer(newApiKey(newId("ws")).secret), "", [401, "INVALID_API_KEY"]],
      [projectId, bearer("x"), "", [401, "INVALID_ACCESS_TOKEN"]],
      [projectId, bearer(writer.secret), "", [403, "INSUFFICIENT_SCOPE"]],
      [projectId, bearer(other.secret), "", [404, "NOT_FOUND"]],
      ["proj_x", key, "", [404, "NOT_FOUND"]],
      [projectId, key, "?nope=1", [400, "VALIDATION_ERROR"]],
      [projectId, key, "?since=1", [400, "VALIDATION_ERROR"]],
      [projectId, key, "?ticket=x", [400, "INVALID_TOKEN"]],
      [projectId, {}, `?ticket=${newTicket(tenant.workspaceId)}`, [400, "INVALID_TOKEN"]],
      [projectId, {}, `?ticket=${newTicket(newId("ws"))}`, [400, "INVALID_TOKEN"]],
      [ownProject, { Authorization: owner.headers.Authorization }, "", [400, "VALIDATION_ERROR"]],
      [projectId, owner.headers, "", [404, "NOT_FOUND"]],
      [ownProject, { ...owner.headers, "X-Workspace-Id": tenant.workspaceId }, "", [404, "NOT_FOUND"]],
    ];
    for (const [project, headers, query, verdict] of cases) {
      expect([query, (await refused(project, headers, query)).verdict]).toEqual([query, verdict]);
    }
    expect((await refused(projectId, key, "?nope=1&level=x")).details).toMatchObject([
      { path: "query.nope" },
      { path: "query.level" },
    ]);
  });

  it("a request without Upgrade gets 400 and is counted, HEAD too", async () => {
    const tenant = await newTenant();
    const path = `/logger/${tenant.projectId}/tail`;
    const headers = bearer(tenant.secret);
    const first = await call(path, { headers });
    expect([first.status, first.code, first.details]).toEqual([
      400,
      "VALIDATION_ERROR",
      [{ path: "Upgrade", code: "required", message: expect.any(String) }],
    ]);
    const response = await tailResponse(tenant.projectId, { headers });
    expect(response.status).toBe(101);
    const left = (each: Headers) => Number(each.get("X-RateLimit-Remaining"));
    expect(left(response.headers)).toBe(left(first.headers) - 1);
    expect(response.headers.get("X-Request-Id")).toMatch(/./);
    response.webSocket?.accept();
    response.webSocket?.close();
  });

  it("a request counts under the rule of its route, and no request above its limit is admitted", async () => {
    const owner = await newOwner();
    const projectId = await newProject(owner);
    const key = await newKey(owner, projectId);
    const rules = [{ method: "GET", path: "/logger/:id/tail", limit: 2, windowSeconds: 60 }];
    const path = `/workspaces/${owner.workspaceId}/rate-limits`;
    expect((await call(path, { method: "PUT", headers: owner.headers, body: { rules } })).status).toBe(200);
    for (let i = 0; i < 2; i++) (await tailOf(key)).close();
    const third = await refused(projectId, bearer(key.secret));
    expect(third.verdict).toEqual([429, "RATE_LIMITED"]);
  });

  it("any member may open a tail, by header or by ticket", async () => {
    const owner = await newUser();
    const workspaceId = await newWorkspace(owner);
    const headersOf = (user: User) => ({ ...bearer(user.accessToken), "X-Workspace-Id": workspaceId });
    const projectId = await newProject({ userId: owner.userId, workspaceId, headers: headersOf(owner) });
    for (const role of ROLES) {
      const member = role === "owner" ? owner : await newMember(workspaceId, role);
      (await openTail(projectId, { headers: headersOf(member) })).close();
      (await withTicket(projectId, await ticketOf(projectId, headersOf(member)))).close();
    }
  });

  it("the number of tails is bounded per workspace and, lower, per key", async () => {
    const tenant = await newTenant();
    const owner = { userId: tenant.ownerId };
    const limits = { default: { limit: 100_000, windowSeconds: 60 }, rules: [] };
    await workspace(tenant.workspaceId).setLimits(owner.userId, limits);
    const clients = [];
    for (let i = 0; i < TAIL_QUOTA.readerTails; i++) clients.push(await tailOf(tenant));
    expect((await refused(tenant.projectId, bearer(tenant.secret))).verdict).toEqual([409, "CONFLICT"]);
    const other = { ...tenant, ...(await addKey(tenant)) };
    while (clients.length < TAIL_QUOTA.tails) clients.push(await tailOf(other));
    expect((await refused(tenant.projectId, bearer(other.secret))).verdict).toEqual([409, "CONFLICT"]);
    receiptOf(await send(tenant, numbered(3)));
    for (const client of clients) await client.has(3);
    clients[0]?.close();
    await clients[0]?.ends();
    await vi.waitFor(async () => (await tailOf(tenant)).close());
    for (const client of clients) client.close();
  });
});

const ticketShape = z.strictObject({ ticket: z.string(), expiresAt: z.iso.datetime() });

async function ticketOf(projectId: string, headers: Record<string, string>): Promise<string> {
  const answer = await call(`/logger/${projectId}/tail/ticket`, { method: "POST", headers });
  expect([answer.status, answer.code]).toEqual([201, null]);
  expect(answer.headers.get("Cache-Control")).toBe("no-store");
  expect(answer.headers.get("X-RateLimit-Limit")).toMatch(/^\d+$/);
  return ticketShape.parse(answer.data).ticket;
}

const withTicket = (projectId: string, ticket: string, more = "") =>
  openTail(projectId, { query: `?ticket=${ticket}${more}` });

async function ticketRefused(projectId: string, ticket: string): Promise<unknown[]> {
  return (await refused(projectId, {}, `?ticket=${ticket}`)).verdict;
}

describe("a ticket", () => {
  it("opens one tail, of a key or of a user, with filters and since", async () => {
    const owner = await newOwner();
    const projectId = await newProject(owner);
    const key = await newKey(owner, projectId);
    receiptOf(await send(key, [{ message: "a" }, { message: "b", level: "error" }]));
    for (const headers of [bearer(key.secret), owner.headers]) {
      const ticket = await ticketOf(projectId, headers);
      await evict(owner.workspaceId);
      const client = await withTicket(projectId, ticket, "&since=0&level=error");
      await client.until(({ caughtUp }) => caughtUp.length > 0);
      expect(client.messages).toEqual(["b"]);
      expect(await ticketRefused(projectId, ticket)).toEqual([400, "INVALID_TOKEN"]);
      client.close();
    }
  });

  it("opens only one of many simultaneous tails", async () => {
    const tenant = await newTenant();
    const ticket = await ticketOf(tenant.projectId, bearer(tenant.secret));
    const query = `?ticket=${ticket}`;
    const responses = await Promise.all(Array.from({ length: 10 }, () => tailResponse(tenant.projectId, { query })));
    expect(responses.map(({ status }) => status).sort()).toEqual([101, ...Array.from({ length: 9 }, () => 400)]);
  });

  it("expires after 60 s", async () => {
    const tenant = await newTenant();
    const now = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now });
    const tickets = [];
    for (let i = 0; i < 2; i++) tickets.push(await ticketOf(tenant.projectId, bearer(tenant.secret)));
    vi.setSystemTime(now + 59_999);
    (await withTicket(tenant.projectId, tickets[0] ?? "")).close();
    vi.setSystemTime(now + 60_000);
    expect(await ticketRefused(tenant.projectId, tickets[1] ?? "")).toEqual([400, "TOKEN_EXPIRED"]);
    await ticketOf(tenant.projectId, bearer(tenant.secret));
    expect(await onSql(tenant.workspaceId, (sql) => sql.exec("SELECT * FROM tail_tickets").toArray().length)).toBe(1);
  });

  it("is valid only for its project, and stays valid after an attempt on another one", async () => {
    const tenant = await newTenant();
    const projectId = await addProject(tenant);
    const ticket = await ticketOf(tenant.projectId, bearer(tenant.secret));
    expect(await ticketRefused(projectId, ticket)).toEqual([400, "INVALID_TOKEN"]);
    expect(await ticketRefused(newId("proj"), ticket)).toEqual([400, "INVALID_TOKEN"]);
    expect((await refused(tenant.projectId, {}, `?ticket=${ticket}&since=5`)).verdict).toEqual([
      400,
      "VALIDATION_ERROR",
    ]);
    (await withTicket(tenant.projectId, ticket)).close();
  });

  it("has the permissions of its creator at the time of use", async () => {
    const owner = await newOwner();
    const projectId = await newProject(owner);
    const key = await newKey(owner, projectId);
    const [ofKey, ofUser] = [await ticketOf(projectId, bearer(key.secret)), await ticketOf(projectId, owner.headers)];
    await call(`/projects/${projectId}/keys/${key.keyId}`, { method: "DELETE", headers: owner.headers });
    expect(await ticketRefused(projectId, ofKey)).toEqual([401, "API_KEY_REVOKED"]);
    const sessions = await call("/auth/sessions", { headers: owner.headers });
    const { items } = z.object({ items: z.array(z.object({ id: z.string() })) }).parse(sessions.data);
    await call(`/auth/sessions/${items[0]?.id}`, { method: "DELETE", headers: owner.headers });
    expect(await ticketRefused(projectId, ofUser)).toEqual([401, "SESSION_REVOKED"]);
  });

  it("is stored as a hash, and counts under its creator", async () => {
    const tenant = await newTenant();
    const ticket = await ticketOf(tenant.projectId, bearer(tenant.secret));
    const rows = await onSql(tenant.workspaceId, (sql) =>
      JSON.stringify(sql.exec("SELECT * FROM tail_tickets").toArray()),
    );
    expect(rows).not.toContain(ticket.slice(20));
    expect(rows).not.toContain(tenant.secret.slice(20));
    const response = await tailResponse(tenant.projectId, { query: `?ticket=${ticket}` });
    const before = Number(response.headers.get("X-RateLimit-Remaining"));
    const next = await call("/logger/query", { body: {}, headers: bearer(tenant.secret) });
    expect(Number(next.headers.get("X-RateLimit-Remaining"))).toBe(before - 1);
  });

  it("accepts the parameters of a query, and no others", async () => {
    const tenant = await newTenant();
    const other = await newTenant();
    const writer = await addKey(tenant, ["logs:write"]);
    const cases: [Record<string, string>, unknown[]][] = [
      [{}, [401, "UNAUTHORIZED"]],
      [bearer(other.secret), [404, "NOT_FOUND"]],
      [bearer(writer.secret), [403, "INSUFFICIENT_SCOPE"]],
    ];
    for (const [headers, verdict] of cases) {
      const { status, code } = await call(`/logger/${tenant.projectId}/tail/ticket`, { method: "POST", headers });
      expect([status, code]).toEqual(verdict);
    }
  });
});

describe("the sandbox's key", () => {
  it("tails within its budget of reads, and a ticket includes the cost of its tail", async () => {
    const access = await sandbox.sandbox();
    const ip = sandbox.freshIp();
    const headers = { ...bearer(access.apiKey), ...sandbox.from(ip) };
    const before = await sandbox.left(access.apiKey, ip, "reads");
    const client = await openTail(access.projectId, { headers });
    const ticket = await ticketOf(access.projectId, headers);
    const other = await openTail(access.projectId, { headers: sandbox.from(ip), query: `?ticket=${ticket}` });
    expect((await sandbox.send(access.apiKey, ip, { message: "to the tails" })).status).toBe(201);
    for (const each of [client, other]) {
      await each.has(1);
      expect(each.messages).toContain("to the tails");
      each.close();
    }
    expect(await sandbox.left(access.apiKey, ip, "reads")).toBe(before - 1 - 2);
    for (let i = 0; i < 30; i++) await sandbox.query(access.apiKey, ip);
    expect((await refused(access.projectId, headers)).verdict).toEqual([429, "RATE_LIMITED"]);
  });
});
