import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { RowCounter } from "../../../bench/workers/row-counter.ts";
import { newAlarmOrigin } from "../../../src/platform/origin.ts";
import { AUDIT_KEPT_MS, AUDIT_SCHEMA, listAudit, recordAudit } from "../../../src/workspace/audit.ts";
import { WORKSPACE_SCHEMA } from "../../../src/workspace/schema.ts";
import { type Call, claimsOf, login, PASSWORD, signedIn, workspaceStub } from "../accounts/support.ts";
import { onSql, onStorage } from "../ingest/support.ts";
import { takeBack } from "../older-version.ts";
import {
  accept,
  addMember,
  by,
  invitationOf,
  invitationToken,
  invite,
  newMember,
  newUser,
  newWorkspace,
  type User,
} from "./support.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const itemShape = z.strictObject({
  id: z.string().regex(/^aud_\d+$/),
  at: z.iso.datetime(),
  actor: z.string(),
  actorEmail: z.string().nullable(),
  action: z.string(),
  target: z.string(),
  targetEmail: z.string().nullable(),
  address: z.string().nullable(),
  requestId: z.string(),
  before: z.record(z.string(), z.unknown()).optional(),
  after: z.record(z.string(), z.unknown()).optional(),
});
const pageShape = z.strictObject({ items: z.array(itemShape), nextCursor: z.string().nullable() });
type Item = z.output<typeof itemShape>;

async function auditOf(user: User, workspaceId: string, query = ""): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const answer = await by(
      user,
      `/workspaces/${workspaceId}/audit?limit=7${query}${cursor ? `&cursor=${cursor}` : ""}`,
    );
    expect([answer.status, answer.code]).toEqual([200, null]);
    const page = pageShape.parse(answer.data);
    items.push(...page.items);
    cursor = page.nextCursor;
  }
  return items;
}

const idOf = (data: unknown) => z.object({ id: z.string() }).parse(data).id;

describe("B17: the item of a change", () => {
  it("B17: has actor, target, address, request, before and after, newest first", async () => {
    const owner = await newUser();
    const workspaceId = await newWorkspace(owner, "Harbour");
    const other = await newMember(workspaceId, "viewer");
    const leaver = await newMember(workspaceId, "viewer");
    const guest = await newUser();
    const W = `/workspaces/${workspaceId}`;
    let count = 0;
    const as = async (user: User, path: string, method: string, body?: object) => {
      const headers = {
        "X-Workspace-Id": workspaceId,
        "X-Request-Id": `audit-${++count}`,
        "CF-Connecting-IP": "203.0.113.17",
      };
      const answer = await by(user, path, { method, headers, ...(body ? { body } : {}) });
      expect([path, answer.code]).toEqual([path, null]);
      return answer;
    };
    await as(owner, W, "PATCH", { name: "Quay", retentionDays: 7 });
    await as(owner, W, "PATCH", { name: "Quay" });
    const project = idOf((await as(owner, "/projects", "POST", { name: "api" })).data);
    await as(owner, `/projects/${project}`, "PATCH", { name: "api-2" });
    const keys = `/projects/${project}/keys`;
    const made = await as(owner, keys, "POST", { name: "writer", scopes: ["logs:write"] });
    const key = idOf(made.data);
    const next = idOf((await as(owner, `${keys}/${key}/rotate`, "POST", { overlapSeconds: 60 })).data);
    await as(owner, `${keys}/${next}`, "DELETE");
    await as(owner, `${keys}/${next}`, "DELETE");
    await as(owner, `${W}/rate-limits`, "PUT", { rules: [], default: { limit: 500 } });
    await as(owner, `${W}/rate-limits`, "DELETE");
    await as(owner, `${W}/members/${other.userId}`, "PATCH", { role: "member" });
    await as(owner, `${W}/members/${other.userId}`, "DELETE");
    const invitation = idOf((await as(owner, `${W}/members`, "POST", { email: guest.email, role: "viewer" })).data);
    await as(owner, `${W}/invitations/${invitation}`, "DELETE");
    await as(leaver, `${W}/members/${leaver.userId}`, "DELETE");
    await as(owner, `/projects/${project}`, "DELETE");

    const items = await auditOf(owner, workspaceId);
    const nums = items.map(({ id }) => Number(id.slice(4)));
    expect(nums).toEqual([...nums].sort((a, b) => b - a));
    const changes = items.filter(({ action }) => action !== "session.start").reverse();
    const state = (action: string, target: string, before: object | undefined, after: object | undefined) => {
      return { action, target, ...(before ? { before } : {}), ...(after ? { after } : {}) };
    };
    expect(changes.map(({ action, target, before, after }) => state(action, target, before, after))).toEqual([
      state("workspace.create", workspaceId, undefined, { name: "Harbour", personal: false }),
      state(
        "workspace.update",
        workspaceId,
        { name: "Harbour", retentionDays: 30 },
        { name: "Quay", retentionDays: 7 },
      ),
      state("project.create", project, undefined, { name: "api" }),
      state("project.rename", project, { name: "api" }, { name: "api-2" }),
      state("key.create", key, undefined, {
        name: "writer",
        scopes: ["logs:write"],
        expiresAt: null,
        projectId: project,
      }),
      state("key.rotate", key, { name: "writer" }, { replacedBy: next, overlapSeconds: 60 }),
      state("key.revoke", next, { name: "writer" }, undefined),
      state(
        "limits.set",
        workspaceId,
        { default: null, rules: [] },
        { default: { limit: 500, windowSeconds: 60 }, rules: [] },
      ),
      state(
        "limits.set",
        workspaceId,
        { default: { limit: 500, windowSeconds: 60 }, rules: [] },
        { default: null, rules: [] },
      ),
      state("member.change", other.userId, { role: "viewer" }, { role: "member" }),
      state("member.remove", other.userId, { role: "member" }, undefined),
      state("invitation.create", invitation, undefined, { email: guest.email, role: "viewer" }),
      state("invitation.revoke", invitation, { email: guest.email, role: "viewer" }, undefined),
      state("member.leave", leaver.userId, { role: "viewer" }, undefined),
      state("project.delete", project, { name: "api-2" }, undefined),
    ]);
    for (const { action, actor, address, requestId } of changes.slice(1)) {
      const who = action === "member.leave" ? leaver.userId : owner.userId;
      expect([actor, address, requestId]).toEqual([who, "203.0.113.17", expect.stringMatching(/^audit-\d+$/)]);
    }
    const renamed = changes.find(({ action }) => action === "project.rename");
    expect([renamed?.requestId, renamed?.actorEmail]).toEqual(["audit-4", owner.email]);
    expect(changes.find(({ action }) => action === "member.change")?.targetEmail).toBe(other.email);
    const secret = z.object({ secret: z.string() }).parse(made.data).secret;
    expect(JSON.stringify(items)).not.toContain(secret.slice(0, 16));

    const filtered = async (query: string) => (await auditOf(owner, workspaceId, query)).map(({ action }) => action);
    expect(await filtered("&action=key")).toEqual(["key.revoke", "key.rotate", "key.create"]);
    expect(await filtered("&action=key.rotate")).toEqual(["key.rotate"]);
    expect(await filtered(`&target=${project}`)).toEqual(["project.delete", "project.rename", "project.create"]);
    expect(await filtered(`&actor=${leaver.userId}`)).toEqual(["member.leave", "session.start"]);
    expect(await filtered(`&actor=${leaver.userId}&action=member`)).toEqual(["member.leave"]);
    expect(await filtered("&actor=system")).toEqual([]);
    expect(await filtered("&action=key&search=Deleted")).toEqual(["key.revoke"]);
    const address = encodeURIComponent(` ${other.email.toUpperCase()} `);
    expect(await filtered(`&action=member&search=${address}`)).toEqual(["member.remove", "member.change"]);
    expect(await filtered(`&search=${owner.email.slice(0, -3)}%20renamed`)).toEqual(["project.rename"]);
    expect(await filtered("&search=before")).toEqual([]);
    const ofWords = (count: number) => by(owner, `/workspaces/${workspaceId}/audit?search=${"a%20".repeat(count)}`);
    expect([(await ofWords(20)).status, (await ofWords(21)).status]).toEqual([200, 400]);
  });

  it("B17: of an accepted invitation names the guest as actor", async () => {
    const owner = await newUser();
    const workspaceId = await newWorkspace(owner);
    const guest = await newUser();
    const { id } = invitationOf(await invite(owner, workspaceId, guest.email, "admin"));
    expect((await accept(guest, await invitationToken(workspaceId, guest.email))).status).toBe(200);
    const [item] = await auditOf(guest, workspaceId, "&action=invitation.accept");
    expect(item).toMatchObject({ actor: guest.userId, target: id, after: { role: "admin" } });
  });

  it("B17: counts keys that end with a role, a membership or an account", async () => {
    const owner = await newUser();
    const workspaceId = await newWorkspace(owner);
    const project = await by(owner, "/projects", { headers: { "X-Workspace-Id": workspaceId }, body: { name: "p" } });
    const withKeys = async () => {
      const user = await newMember(workspaceId, "admin");
      for (const name of ["a", "b"]) {
        const body = { name, scopes: ["logs:write"] };
        await by(user, `/projects/${idOf(project.data)}/keys`, { headers: { "X-Workspace-Id": workspaceId }, body });
      }
      return user;
    };
    const demoted = await withKeys();
    const removed = await withKeys();
    const gone = await withKeys();
    const path = (user: User) => `/workspaces/${workspaceId}/members/${user.userId}`;
    await by(owner, path(demoted), { method: "PATCH", body: { role: "viewer" } });
    await by(owner, path(removed), { method: "DELETE" });
    const deleted = await by(gone, "/auth/me", {
      method: "DELETE",
      body: { password: PASSWORD },
      headers: { "X-Request-Id": "gone-2" },
    });
    expect(deleted.code).toBe(null);
    const items = await auditOf(owner, workspaceId, "&action=member");
    expect(items).toMatchObject([
      {
        actor: "system",
        actorEmail: null,
        action: "member.remove",
        target: gone.userId,
        targetEmail: null,
        requestId: "gone-2",
        before: { role: "admin" },
        after: { reason: "account deleted", keysRevoked: 2 },
      },
      { action: "member.remove", target: removed.userId, before: { role: "admin" }, after: { keysRevoked: 2 } },
      { action: "member.change", target: demoted.userId, after: { role: "viewer", keysRevoked: 2 } },
    ]);
  });

  it("B17: is not written for a refused request or a change without effect", async () => {
    const owner = await newUser();
    const workspaceId = await newWorkspace(owner);
    const before = (await auditOf(owner, workspaceId)).length;
    const W = `/workspaces/${workspaceId}`;
    expect((await by(owner, `${W}/members/${owner.userId}`, { method: "DELETE" })).code).toBe("CONFLICT");
    expect((await by(owner, `${W}/members/${owner.userId}`, { method: "PATCH", body: { role: "owner" } })).code).toBe(
      null,
    );
    expect((await by(owner, `${W}/rate-limits`, { method: "DELETE" })).code).toBe(null);
    expect((await by(owner, W, { method: "PATCH", body: {} })).code).toBe(null);
    expect((await auditOf(owner, workspaceId)).length).toBe(before);
  });

  it("B17: is written in one transaction with the change", async () => {
    const owner = await newUser();
    const workspaceId = await newWorkspace(owner);
    await runInDurableObject(workspaceStub(workspaceId), (_, { storage }) => {
      storage.sql.exec(
        "CREATE TRIGGER full BEFORE INSERT ON audit WHEN NEW.action = 'project.create' BEGIN SELECT RAISE(ABORT, 'full'); END",
      );
    });
    const headers = { "X-Workspace-Id": workspaceId };
    vi.spyOn(console, "log").mockImplementation(() => {});
    expect((await by(owner, "/projects", { headers, body: { name: "p" } })).status).toBeGreaterThanOrEqual(500);
    expect(await onSql(workspaceId, (sql) => sql.exec("SELECT * FROM projects").toArray())).toEqual([]);
  });

  it("B17: has the number of limits if they are too large to show", async () => {
    const owner = await newUser();
    const rules = Array.from({ length: 60 }, (_, index) => ({
      method: "POST",
      path: `/logger/p${index}/log`,
      limit: 5,
    }));
    const path = `/workspaces/${owner.workspaceId}/rate-limits`;
    expect((await by(owner, path, { method: "PUT", body: { rules } })).code).toBe(null);
    const [item] = await auditOf(owner, owner.workspaceId, "&action=limits");
    expect(item?.after).toEqual({ default: null, rules: 60 });
  });
});

describe("B17: sign-ins to a workspace", () => {
  it("B17: have one item for the first use of each session, also if the object loses its memory", async () => {
    const owner = await newUser();
    const workspaceId = await newWorkspace(owner);
    const headers = { "CF-Connecting-IP": "203.0.113.18" };
    const second = { ...owner, accessToken: signedIn(await login(owner.email)).accessToken };
    for (let round = 0; round < 2; round++) {
      await Promise.all(
        [owner, second, owner, second].map((user) => by(user, `/workspaces/${workspaceId}/usage`, { headers })),
      );
      await evictDurableObject(workspaceStub(workspaceId));
    }
    const starts = await auditOf(owner, workspaceId, "&action=session.start");
    const sessions = [owner, second].map(async ({ accessToken }) => (await claimsOf(accessToken)).sessionId);
    expect(starts.map(({ target }) => target).sort()).toEqual((await Promise.all(sessions)).sort());
    expect(starts[0]).toMatchObject({ actor: owner.userId, address: "203.0.113.18", after: { method: "password" } });
  });

  it("B17: include the reading of logs, and no listed workspace or refused request", async () => {
    const owner = await newUser();
    const stranger = await newUser();
    const workspaceId = await newWorkspace(owner);
    await by(owner, "/workspaces");
    expect((await by(stranger, `/workspaces/${workspaceId}`)).status).toBe(404);
    const starts = () =>
      onSql(workspaceId, (sql) => sql.exec("SELECT actor FROM audit WHERE action = 'session.start'").toArray());
    expect(await starts()).toEqual([]);
    await by(owner, "/logger/query", { headers: { "X-Workspace-Id": workspaceId }, body: {} });
    expect(await starts()).toEqual([{ actor: owner.userId }]);
  });
});

describe("B17: the list", () => {
  it("B17: is readable by admins and owners, and cannot be changed", async () => {
    const owner = await newUser();
    const workspaceId = await newWorkspace(owner);
    for (const [role, status] of [
      ["viewer", 403],
      ["member", 403],
      ["admin", 200],
    ] as const) {
      const member = await newMember(workspaceId, role);
      expect((await by(member, `/workspaces/${workspaceId}/audit`)).status).toBe(status);
    }
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      expect((await by(owner, `/workspaces/${workspaceId}/audit`, { method })).status).toBe(405);
    }
  });

  it("B17: refuses invalid filters", async () => {
    const owner = await newUser();
    for (const query of ["actor=me", "action=keys", "target=x", "cursor=x", "cursor=-1", "limit=0", "since=1"]) {
      const answer = await by(owner, `/workspaces/${owner.workspaceId}/audit?${query}`);
      expect([query, answer.code]).toEqual([query, "VALIDATION_ERROR"]);
    }
  });

  it("B17: scans 5,000 rows a page with a filter that matches few, and continues", async () => {
    const { workspaceId } = await newUser();
    await onSql(workspaceId, (sql) => {
      const origin = newAlarmOrigin();
      const now = Date.now();
      recordAudit(sql, { actor: "system", action: "key.revoke", target: "usr_000000000000" }, origin, now);
      for (let i = 0; i < 11_000; i++) {
        recordAudit(
          sql,
          { actor: "usr_000000000001", action: "project.rename", target: "proj_000000000000" },
          origin,
          now,
        );
      }
      const pages: number[] = [];
      const found: string[] = [];
      let before: number | null = null;
      do {
        const page = listAudit(sql, { actor: "system" }, before, 50, now);
        before = page.next;
        pages.push(page.items.length);
        found.push(...page.items.map(({ action }) => action));
      } while (before !== null);
      expect(found).toEqual(["key.revoke"]);
      expect(pages).toHaveLength(3);
      // A search reads the states of each row, so its pages are shorter.
      const search = { text: "deleted", emails: {} };
      const first = listAudit(sql, { search }, null, 50, now);
      const [newest] = sql.exec<{ num: number }>("SELECT MAX(num) AS num FROM audit");
      expect(first).toEqual({ items: [], next: Number(newest?.num) - 999 });
      expect(listAudit(sql, { search }, (first.next ?? 0) - 9_990, 50, now).items.map(({ action }) => action)).toEqual([
        "key.revoke",
      ]);
    });
  });

  it("B17: is deleted with the workspace", async () => {
    const owner = await newUser();
    const workspaceId = await newWorkspace(owner);
    await by(owner, `/workspaces/${workspaceId}`, { method: "DELETE" });
    expect((await by(owner, `/workspaces/${workspaceId}/audit`)).status).toBe(404);
    const tables = await runInDurableObject(workspaceStub(workspaceId), (_, { storage }) =>
      storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'audit'").toArray(),
    );
    expect(tables).toEqual([]);
  });

  it("B17: keeps the items of a removed member", async () => {
    const owner = await newUser();
    const workspaceId = await newWorkspace(owner);
    const admin = await newMember(workspaceId, "admin");
    await by(admin, `/workspaces/${workspaceId}`, { method: "PATCH", body: { retentionDays: 3 } });
    await by(owner, `/workspaces/${workspaceId}/members/${admin.userId}`, { method: "DELETE" });
    const [item] = await auditOf(owner, workspaceId, `&actor=${admin.userId}&action=workspace.update`);
    expect(item).toMatchObject({ actorEmail: admin.email, after: { retentionDays: 3 } });
  });

  it("B17: keeps items for 365 days, and the alarm deletes them in steps", async () => {
    const { workspaceId } = await newUser();
    await onSql(workspaceId, (sql) => {
      sql.exec("DELETE FROM audit");
      for (let i = 0; i < 2500; i++) {
        const entry = { actor: "system", action: "key.revoke", target: "usr_000000000000" } as const;
        recordAudit(sql, entry, newAlarmOrigin(), Date.now());
      }
    });
    const count = () => onSql(workspaceId, (sql) => Number(sql.exec("SELECT COUNT(*) AS n FROM audit").one().n));
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + AUDIT_KEPT_MS - 60_000 });
    await runDurableObjectAlarm(workspaceStub(workspaceId));
    expect(await count()).toBe(2500);
    vi.setSystemTime(Date.now() + 3_700_000);
    const counts: number[] = [];
    for (let turn = 0; turn < 4; turn++) {
      await runDurableObjectAlarm(workspaceStub(workspaceId));
      counts.push(await count());
      vi.setSystemTime(Date.now() + 1000);
    }
    // The newest item stays, hidden, so that no number is reused.
    expect(counts).toEqual([1500, 500, 1, 1]);
    const page = await onSql(workspaceId, (sql) => listAudit(sql, {}, null, 50, Date.now()));
    expect(page).toEqual({ items: [], next: null });
  });

  it("B17: a workspace of the version before gets the tables", async () => {
    const owner = await newUser();
    const workspaceId = await newWorkspace(owner);
    await runInDurableObject(workspaceStub(workspaceId), (_, { storage }) => {
      takeBack(storage.sql, WORKSPACE_SCHEMA, AUDIT_SCHEMA, ["workspace", "members"]);
    });
    await evictDurableObject(workspaceStub(workspaceId));
    await by(owner, `/workspaces/${workspaceId}`, { method: "PATCH", body: { name: "New" } });
    expect((await auditOf(owner, workspaceId)).map(({ action }) => action)).toEqual([
      "workspace.update",
      "session.start",
    ]);
  });

  it("B17: records a call of a router of the version before without its request", async () => {
    const owner = await newUser();
    await addMember(owner.workspaceId, owner, "owner");
    const made = await workspaceStub(owner.workspaceId).createProject(owner.userId, "old");
    expect(made).toMatchObject({ ok: true });
    const [item] = await auditOf(owner, owner.workspaceId, "&action=project.create");
    expect(item).toMatchObject({ actor: owner.userId, address: null, requestId: expect.stringMatching(/^run_/) });
  });
});

it("B17: costs one row for a change, two for a session's first use, and none for its later uses", async () => {
  const owner = await newUser();
  const workspaceId = await newWorkspace(owner);
  let counter = await onStorage(workspaceId, (storage) => RowCounter.of(storage));
  const written = async (path: string, options: Call = {}) => {
    expect((await by(owner, `/workspaces/${workspaceId}${path}`, options)).code).toBe(null);
    const { audit = 0, audited_sessions = 0 } = counter.byTable();
    return [audit, audited_sessions];
  };
  expect(await written("/usage")).toEqual([1, 1]);
  expect(await written("/usage")).toEqual([1, 1]);
  await evictDurableObject(workspaceStub(workspaceId));
  counter = await onStorage(workspaceId, (storage) => RowCounter.of(storage));
  expect(await written("/usage")).toEqual([0, 0]);
  expect(await written("", { method: "PATCH", body: { name: "New" } })).toEqual([1, 0]);
});
