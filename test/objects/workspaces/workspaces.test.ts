import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { newId } from "../../../src/ids.ts";
import { applyDirectoryChanges, claimWorkspace, slugOf } from "../../../src/workspace/listing.ts";
import { createWorkspace } from "../../../src/workspace/provision.ts";
import { call, dump, workspaceStub } from "../accounts/support.ts";
import { newIp } from "../client-ips.ts";
import { numbered, onSql, receiptOf, send } from "../ingest/support.ts";
import { newKey, newProject, refusal } from "../projects/support.ts";
import { by, indexed, join, listed, newMember, newUser, newWorkspace, type User, workspaceOf } from "./support.ts";

afterEach(() => vi.restoreAllMocks());

const HOUR_MS = 3_600_000;

describe("a workspace", () => {
  let owner: User;
  beforeAll(async () => {
    owner = await newUser();
  });

  it("is created, read, listed and renamed; its slug is readable and does not change", async () => {
    const answer = await by(owner, "/workspaces", { body: { name: "  Ärger & Co. " } });
    expect(answer.status).toBe(201);
    const made = workspaceOf(answer);
    expect(made).toMatchObject({ slug: "arger-co", name: "Ärger & Co.", personal: false, role: "owner" });
    expect(made).toMatchObject({ retentionDays: 30, id: expect.stringMatching(/^ws_[0-9A-Za-z]{12}$/) });
    expect(workspaceOf(await by(owner, `/workspaces/${made.id}`))).toEqual(made);
    const changed = await by(owner, `/workspaces/${made.id}`, {
      method: "PATCH",
      body: { name: "X", retentionDays: 365 },
    });
    expect(workspaceOf(changed)).toEqual({ ...made, name: "X", retentionDays: 365 });
    await evictDurableObject(workspaceStub(made.id));
    const items = await listed(owner);
    expect(items).toContainEqual({ ...made, name: "X", retentionDays: 365 });
    expect(items.find(({ id }) => id === owner.workspaceId)).toMatchObject({ personal: true, role: "owner" });
    const row = await env.DB.prepare("SELECT name FROM workspaces WHERE id = ?").bind(made.id).first();
    expect(row).toEqual({ name: "X" });
  });

  it("gets another slug if that of its name is taken; a requested slug is granted or refused", async () => {
    const name = `n ${crypto.randomUUID()}`;
    const [first, second] = await Promise.all([newWorkspace(owner, name), newWorkspace(owner, name)]);
    const slugs = await Promise.all([first, second].map((id) => slugOf(env.DB, id ?? "")));
    const plain = name.replace(/ /g, "-").slice(0, 40).replace(/-$/, "");
    expect(new Set(slugs).size).toBe(2);
    expect(slugs).toContain(plain);
    for (const slug of slugs) expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    const slug = `s-${crypto.randomUUID().slice(0, 8)}`;
    const racing = await Promise.all(
      Array.from({ length: 5 }, () => by(owner, "/workspaces", { body: { name: "x", slug } })),
    );
    expect(racing.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    expect(racing.find(({ status }) => status === 409)?.code).toBe("CONFLICT");
    expect((await listed(owner)).filter((item) => item.slug === slug)).toHaveLength(1);
    expect(workspaceOf(await by(owner, "/workspaces", { body: { name: "日本語" } })).slug).toMatch(/^workspace/);
  });

  it.each([
    [{}],
    [{ name: "" }],
    [{ name: "  " }],
    [{ name: "x".repeat(101) }],
    [{ name: "a\u0000b" }],
    [{ name: "a\ud800" }],
    [{ name: 1 }],
    [{ name: "x", slug: "" }],
    [{ name: "x", slug: "A" }],
    [{ name: "x", slug: "a--b" }],
    [{ name: "x", slug: "-a" }],
    [{ name: "x", slug: "a".repeat(41) }],
    [{ name: "x", retentionDays: 1 }],
  ])("is not created from %j", async (body) => {
    expect(refusal(await by(owner, "/workspaces", { body }))).toEqual([400, "VALIDATION_ERROR"]);
  });

  it.each([
    [{ retentionDays: 0 }],
    [{ retentionDays: 366 }],
    [{ retentionDays: 1.5 }],
    [{ name: "" }],
    [{ slug: "x" }],
  ])("is not changed by %j", async (body) => {
    const path = `/workspaces/${owner.workspaceId}`;
    expect(refusal(await by(owner, path, { method: "PATCH", body }))).toEqual([400, "VALIDATION_ERROR"]);
  });

  it("requires a confirmed address; no other request does", async () => {
    const fresh = await newUser({ isVerified: false });
    const answer = await by(fresh, "/workspaces", { body: { name: "x" } });
    expect(refusal(answer)).toEqual([403, "EMAIL_NOT_VERIFIED"]);
    expect(answer.headers.get("X-RateLimit-Remaining")).toBe("999");
    expect((await by(fresh, "/workspaces")).headers.get("X-RateLimit-Remaining")).toBe("998");
    expect(workspaceOf(await by(fresh, `/workspaces/${fresh.workspaceId}`)).personal).toBe(true);
  });

  it("is listed page by page, each once", async () => {
    const own = await newUser();
    const made = [own.workspaceId];
    for (let i = 0; i < 4; i++) made.push(await newWorkspace(own, `w${i}`));
    expect((await listed(own, 2)).map(({ id }) => id).sort()).toEqual(made.sort());
    expect(refusal(await by(own, "/workspaces?cursor=x"))).toEqual([400, "VALIDATION_ERROR"]);
  });

  it("of another owner is 404 for every request", async () => {
    const stranger = await newUser();
    const id = await newWorkspace(owner);
    for (const [method, body] of [["GET"], ["PATCH", { name: "x" }], ["DELETE"]] as const) {
      const answer = await by(stranger, `/workspaces/${id}`, { method, ...(body ? { body } : {}) });
      expect([method, ...refusal(answer)]).toEqual([method, 404, "NOT_FOUND"]);
    }
    expect((await listed(stranger)).map((item) => item.id)).toEqual([stranger.workspaceId]);
    for (const path of ["/workspaces/x", `/workspaces/${newId("ws")}`]) {
      expect(refusal(await by(owner, path))).toEqual([404, "NOT_FOUND"]);
    }
  });
});

describe("creating a workspace", () => {
  it("that is interrupted before the directory's claim is undone; after the claim it stands", async () => {
    const owner = await newUser();
    const ports = {
      provision: (workspace: Parameters<ReturnType<typeof workspaceStub>["provision"]>[0]) =>
        workspaceStub(workspace.id).provision(workspace),
      claim: (claim: Parameters<typeof claimWorkspace>[1]) => claimWorkspace(env.DB, claim),
      confirm: () => Promise.reject(new Error("cut")),
      discard: () => Promise.reject(new Error("cut")),
    };
    const unlisted = newId("ws");
    const listedId = newId("ws");
    const creation = { name: "cut", ownerId: owner.userId, slug: null };
    const claim = () => Promise.reject(new Error("cut"));
    await expect(createWorkspace({ ...ports, claim }, { ...creation, id: unlisted }, Date.now())).rejects.toThrow(
      "cut",
    );
    await expect(createWorkspace(ports, { ...creation, id: listedId }, Date.now())).rejects.toThrow("cut");
    expect(refusal(await by(owner, `/workspaces/${unlisted}`))).toEqual([404, "NOT_FOUND"]);
    await runDurableObjectAlarm(workspaceStub(unlisted));
    await runDurableObjectAlarm(workspaceStub(listedId));
    const [past, now] = [await onSql(unlisted, dump), Date.now()];
    expect(Object.keys(past)).not.toEqual([]);
    vi.spyOn(Date, "now").mockReturnValue(now + HOUR_MS);
    await evictDurableObject(workspaceStub(unlisted));
    await runDurableObjectAlarm(workspaceStub(unlisted));
    expect(await onSql(unlisted, dump)).toEqual({});
    vi.restoreAllMocks();
    expect(workspaceOf(await by(owner, `/workspaces/${listedId}`)).slug).toMatch(/^cut/);
    expect(await onSql(listedId, (sql) => sql.exec("SELECT settle_at FROM workspace").one())).toEqual({
      settle_at: null,
    });
  });

  it("is refused by the directory after its deadline, and for a deleted account", async () => {
    const owner = await newUser();
    const now = Date.now();
    const claim = { id: newId("ws"), name: "late", slug: newId("ws").toLowerCase(), fallbackSlug: null, now };
    const late = await claimWorkspace(env.DB, { ...claim, ownerId: owner.userId, deadline: now - 1 });
    expect(late).toEqual({ ok: false, reason: "late" });
    const gone = await claimWorkspace(env.DB, { ...claim, ownerId: newId("usr"), deadline: now + HOUR_MS });
    expect(gone).toEqual({ ok: false, reason: "late" });
    expect(await indexed(claim.id)).toEqual([]);
  });
});

describe("deleting a workspace", () => {
  const withLogs = async (owner: User, workspaceId: string) => {
    const headers = { Authorization: `Bearer ${owner.accessToken}`, "X-Workspace-Id": workspaceId };
    const projectId = await newProject({ userId: owner.userId, workspaceId, headers });
    const key = await newKey({ userId: owner.userId, workspaceId, headers }, projectId);
    receiptOf(await send(key, numbered(3)));
    return key;
  };

  it("deletes everything immediately for all members, and frees the slug", async () => {
    const owner = await newUser();
    const slug = `gone-${crypto.randomUUID().slice(0, 8)}`;
    const { id } = workspaceOf(await by(owner, "/workspaces", { body: { name: "x", slug } }));
    const viewer = await newMember(id, "viewer");
    const key = await withLogs(owner, id);
    const answer = await by(owner, `/workspaces/${id}`, { method: "DELETE" });
    expect([answer.status, answer.data]).toEqual([200, { deleted: true }]);
    expect(refusal(await send(key, numbered(1)))).toEqual([401, "INVALID_API_KEY"]);
    for (const user of [owner, viewer]) {
      expect(refusal(await by(user, `/workspaces/${id}`))).toEqual([404, "NOT_FOUND"]);
      expect((await listed(user)).map((item) => item.id)).toEqual([user.workspaceId]);
    }
    expect(await indexed(id)).toEqual([]);
    expect(await onSql(id, dump)).toEqual({});
    expect(workspaceOf(await by(owner, "/workspaces", { body: { name: "x", slug } })).slug).toBe(slug);
  });

  it("takes effect immediately while D1 is unreachable, through an eviction; the alarm completes it", async () => {
    const owner = await newUser();
    const id = await newWorkspace(owner);
    const key = await withLogs(owner, id);
    // The object shares the test's env: D1 fails until the mock is restored.
    const batch = vi.spyOn(env.DB, "batch").mockRejectedValue(new Error("no D1"));
    await runInDurableObject(workspaceStub(id), async (instance) => {
      const answer = await instance.deleteWorkspace(owner.userId);
      expect(answer).toEqual({ ok: true, value: { ok: true, value: true } });
    });
    const isMocked = batch.mock.calls.length > 0;
    batch.mockRestore();
    if (isMocked) expect(await indexed(id)).toEqual([owner.userId]);
    await evictDurableObject(workspaceStub(id));
    expect(refusal(await send(key, numbered(1)))).toEqual([401, "INVALID_API_KEY"]);
    expect(refusal(await by(owner, `/workspaces/${id}`))).toEqual([404, "NOT_FOUND"]);
    expect((await listed(owner)).map((item) => item.id)).toEqual([owner.workspaceId]);
    await runDurableObjectAlarm(workspaceStub(id));
    expect(await onSql(id, dump)).toEqual({});
    expect(await indexed(id)).toEqual([]);
    expect(isMocked).toBe(true);
  });

  it("is permitted to owners, and never for a personal one", async () => {
    const owner = await newUser();
    const id = await newWorkspace(owner);
    const admin = await newMember(id, "admin");
    expect(refusal(await by(admin, `/workspaces/${id}`, { method: "DELETE" }))).toEqual([403, "FORBIDDEN"]);
    const answer = await by(owner, `/workspaces/${owner.workspaceId}`, { method: "DELETE" });
    expect(refusal(answer)).toEqual([409, "CONFLICT"]);
    expect(workspaceOf(await by(owner, `/workspaces/${owner.workspaceId}`)).personal).toBe(true);
  });

  it("is exact in races: one parallel deletion gets 200, the others 404; ingest gets 201 before and 401 after", async () => {
    const owner = await newUser();
    const id = await newWorkspace(owner);
    const key = await withLogs(owner, id);
    const [deletions, sent] = await Promise.all([
      Promise.all(Array.from({ length: 5 }, () => by(owner, `/workspaces/${id}`, { method: "DELETE" }))),
      Promise.all(Array.from({ length: 20 }, () => send(key, numbered(1)))),
    ]);
    expect(deletions.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
    for (const { status } of sent) expect([201, 401]).toContain(status);
    expect(await onSql(id, dump)).toEqual({});
  });
});

describe("the directory in D1", () => {
  it("follows the object: the alarm repeats failed changes, and an older batch changes nothing", async () => {
    const owner = await newUser();
    const id = await newWorkspace(owner);
    const guest = await join(owner, id, await newUser(), "member");
    expect(await indexed(id)).toEqual([owner.userId, guest.userId].sort());
    const batch = vi.spyOn(env.DB, "batch").mockRejectedValue(new Error("no D1"));
    await runInDurableObject(workspaceStub(id), async (instance) => {
      await instance.removeMember(owner.userId, guest.userId);
    });
    batch.mockRestore();
    // The object refuses the member that the directory still lists.
    expect((await listed(guest)).map((item) => item.id)).toEqual([guest.workspaceId]);
    await evictDurableObject(workspaceStub(id));
    await runDurableObjectAlarm(workspaceStub(id));
    expect(await indexed(id)).toEqual([owner.userId]);
    expect(await onSql(id, (sql) => sql.exec("SELECT * FROM index_changes").toArray())).toEqual([]);
    await applyDirectoryChanges(env.DB, id, {
      version: 1,
      name: "old",
      present: [guest.userId],
      absent: [owner.userId],
    });
    expect(await indexed(id)).toEqual([owner.userId]);
    expect(workspaceOf(await by(owner, `/workspaces/${id}`)).name).toBe("Team");
  });
});

describe("a directory that has lost rows", () => {
  it("gets them back by the object's next alarm; a slug taken in the meantime gets a suffix", async () => {
    const owner = await newUser();
    const id = await newWorkspace(owner);
    const guest = await join(owner, id, await newUser(), "member");
    const { slug } = workspaceOf(await by(owner, `/workspaces/${id}`));
    const personal = workspaceOf(await by(owner, `/workspaces/${owner.workspaceId}`));
    const members = [owner.userId, guest.userId].sort();
    const wake = async (workspaceId: string) => {
      await evictDurableObject(workspaceStub(workspaceId));
      await runDurableObjectAlarm(workspaceStub(workspaceId));
    };
    await env.DB.prepare("DELETE FROM memberships WHERE workspace_id = ?").bind(id).run();
    await wake(id);
    expect(await indexed(id)).toEqual(members);
    for (const lost of [id, owner.workspaceId]) {
      await env.DB.prepare("DELETE FROM memberships WHERE workspace_id = ?").bind(lost).run();
      await env.DB.prepare("DELETE FROM workspaces WHERE id = ?").bind(lost).run();
    }
    await by(owner, "/workspaces", { body: { name: "thief", slug } });
    await wake(id);
    await wake(owner.workspaceId);
    expect(await indexed(id)).toEqual(members);
    const items = await listed(owner);
    expect(items).toContainEqual(personal);
    expect(items.find((item) => item.id === id)?.slug).toMatch(new RegExp(`^${slug}-[a-z0-9]{8}$`));
    expect(
      await env.DB.prepare("SELECT personal_of AS of FROM workspaces WHERE id = ?").bind(owner.workspaceId).first(),
    ).toEqual({
      of: owner.userId,
    });
  });
});

describe("requests without a workspace", () => {
  it("count in the user object, and by client IP without a token", async () => {
    const user = await newUser();
    expect((await by(user, "/workspaces")).headers.get("X-RateLimit-Remaining")).toBe("999");
    const unauthenticated = await call("/workspaces", { headers: { "CF-Connecting-IP": newIp() } });
    expect([...refusal(unauthenticated), unauthenticated.headers.get("X-RateLimit-Remaining")]).toEqual([
      401,
      "UNAUTHORIZED",
      "999",
    ]);
  });
});
