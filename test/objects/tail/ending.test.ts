import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { bearer, call, claimsOf, login, PASSWORD, registered, signedIn, userStub } from "../accounts/support.ts";
import { addKey, evict, newTenant, numbered, receiptOf, send, type Tenant, workspace } from "../ingest/support.ts";
import { as, newKey, newOwner, newProject } from "../projects/support.ts";
import { addMember, by, newUser, newWorkspace } from "../workspaces/support.ts";
import { type Client, openTail, range, tailOf } from "./support.ts";

afterEach(() => vi.useRealTimers());

async function ended(client: Client, code: string): Promise<void> {
  await client.ends();
  expect(client.closed).toEqual({ code: 4001, reason: code });
  expect(client.errors).toEqual([code]);
}

/** Checks that nothing is on its way to this client, because a witness has already received a later entry. */
async function getsNothing(
  client: Client,
  witness: Client,
  tenant: Pick<Tenant, "projectId" | "secret">,
): Promise<void> {
  const [own, others] = [client.entries.length, witness.entries.length];
  receiptOf(await send(tenant, numbered(2)));
  await witness.has(others + 2);
  expect(client.entries).toHaveLength(own);
}

describe("a key's tail ends with 4001", () => {
  it("when it is revoked, and no other tail does", async () => {
    const tenant = await newTenant();
    const other = { ...tenant, ...(await addKey(tenant)) };
    const [client, witness] = [await tailOf(tenant), await tailOf(other)];
    await evict(tenant.workspaceId);
    await workspace(tenant.workspaceId).revokeKey(tenant.ownerId, tenant.projectId, tenant.keyId);
    await ended(client, "API_KEY_REVOKED");
    await getsNothing(client, witness, other);
    witness.close();
  });

  it("when the overlap of its rotation is over", async () => {
    const tenant = await newTenant();
    const other = { ...tenant, ...(await addKey(tenant)) };
    const [client, witness] = [await tailOf(tenant), await tailOf(other)];
    const now = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now });
    const stub = workspace(tenant.workspaceId);
    await stub.rotateKey(tenant.ownerId, tenant.projectId, tenant.keyId, 3600);
    receiptOf(await send(other, numbered(1)));
    await client.has(1);
    vi.setSystemTime(now + 3_600_000);
    await getsNothing(client, witness, other);
    await ended(client, "API_KEY_EXPIRED");
    const at = await tailOf({ ...tenant, ...(await addKey(tenant)) });
    at.close();
    witness.close();
  });

  it("when it is rotated without an overlap", async () => {
    const tenant = await newTenant();
    const client = await tailOf(tenant);
    await workspace(tenant.workspaceId).rotateKey(tenant.ownerId, tenant.projectId, tenant.keyId, 0);
    await ended(client, "API_KEY_EXPIRED");
  });

  it("when it expires: an alarm ends it, and the object can hibernate until then", async () => {
    const tenant = await newTenant();
    const now = Date.now();
    const expiring = { ...tenant, ...(await addKey(tenant, ["logs:read"], now + 1_800_000)) };
    const client = await tailOf(expiring);
    const stub = workspace(tenant.workspaceId);
    const alarm = await runInDurableObject(stub, (_, { storage }) => storage.getAlarm());
    expect(alarm).toBeLessThanOrEqual(now + 1_800_000);
    await evict(tenant.workspaceId);
    vi.useFakeTimers({ toFake: ["Date"], now: now + 1_700_000 });
    await runDurableObjectAlarm(stub);
    expect(client.closed).toBeNull();
    await evict(tenant.workspaceId);
    vi.setSystemTime(now + 1_800_001);
    await runInDurableObject(stub, (_, { storage }) => storage.setAlarm(Date.now() + 3_600_000));
    await runDurableObjectAlarm(stub);
    await ended(client, "API_KEY_EXPIRED");
  });

  it("when its project is deleted, its creator leaves, or its workspace is deleted", async () => {
    const owner = await newUser();
    const workspaceId = await newWorkspace(owner);
    const admin = await newUser();
    await addMember(workspaceId, admin, "admin");
    const named = (user: typeof owner) => ({
      workspaceId,
      userId: user.userId,
      headers: { ...bearer(user.accessToken), "X-Workspace-Id": workspaceId },
    });
    const [asOwner, asAdmin] = [named(owner), named(admin)];
    const [first, second] = [await newProject(asOwner), await newProject(asOwner)];
    const ofAdmin = await tailOf(await newKey(asAdmin, second));
    const ofFirst = await tailOf(await newKey(asOwner, first));
    const ofSecond = await tailOf(await newKey(asOwner, second));
    expect((await as(asOwner, `/projects/${first}`, { method: "DELETE" })).status).toBe(200);
    await ended(ofFirst, "NOT_FOUND");
    const member = `/workspaces/${workspaceId}/members/${admin.userId}`;
    expect((await by(owner, member, { method: "DELETE" })).status).toBe(200);
    await ended(ofAdmin, "API_KEY_REVOKED");
    expect(ofSecond.closed).toBeNull();
    expect((await by(owner, `/workspaces/${workspaceId}`, { method: "DELETE" })).status).toBe(200);
    await ended(ofSecond, "NOT_FOUND");
  });
});

describe("a user's tail", () => {
  async function newTailing() {
    const email = `${crypto.randomUUID()}@example.com`;
    const { accessToken, refreshToken, personalWorkspace, user } = await registered(email);
    const workspaceId = personalWorkspace.id;
    const headers = { ...bearer(accessToken), "X-Workspace-Id": workspaceId };
    const owner = { userId: user.id, workspaceId, headers };
    const projectId = await newProject(owner);
    const key = await newKey(owner, projectId);
    const witness = await tailOf(key);
    const client = await openTail(projectId, { headers });
    return { email, refreshToken, accessToken, owner, projectId, key, witness, client };
  }

  it("lasts as long as its session, not as its access token", async () => {
    const { client, key, owner, witness } = await newTailing();
    const now = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: now + 3_600_000 });
    await evict(owner.workspaceId);
    receiptOf(await send(key, numbered(2)));
    await client.has(2);
    for (const each of [client, witness]) each.close();
  });

  it.each([
    ["logs out", (t: Tailing) => call("/auth/logout", { body: { refreshToken: t.refreshToken } })],
    [
      "ends the session from another one",
      async (t: Tailing) => {
        const other = signedIn(await login(t.email));
        const { sessionId } = await claimsOf(t.accessToken);
        return call(`/auth/sessions/${sessionId}`, { method: "DELETE", headers: bearer(other.accessToken) });
      },
    ],
    [
      "ends all others",
      async (t: Tailing) => {
        const other = signedIn(await login(t.email));
        return call("/auth/sessions", { method: "DELETE", headers: bearer(other.accessToken) });
      },
    ],
    [
      "changes the password elsewhere",
      async (t: Tailing) => {
        const other = signedIn(await login(t.email));
        const body = { currentPassword: PASSWORD, newPassword: "another good phrase" };
        return call("/auth/password", { method: "PUT", headers: bearer(other.accessToken), body });
      },
    ],
  ])("ends when the user %s", async (_what, end) => {
    const tailing = await newTailing();
    const { client, witness, key, owner } = tailing;
    await evict(owner.workspaceId);
    expect((await end(tailing)).status).toBe(200);
    await ended(client, "SESSION_REVOKED");
    await getsNothing(client, witness, key);
    witness.close();
  });
  type Tailing = Awaited<ReturnType<typeof newTailing>>;

  it("ends when the account is deleted", async () => {
    const { client, witness, owner } = await newTailing();
    const answer = await call("/auth/me", { method: "DELETE", headers: owner.headers, body: { password: PASSWORD } });
    expect(answer.status).toBe(200);
    await client.ends();
    expect(client.closed?.code).toBe(4001);
    await witness.ends();
  });

  it("ends when the session expires, and gets nothing after that", async () => {
    const { client, key, witness, owner } = await newTailing();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31 * 24 * 3_600_000 });
    await evict(owner.workspaceId);
    await getsNothing(client, witness, key);
    await ended(client, "SESSION_REVOKED");
    witness.close();
  });

  it("continues if the session was used in the meantime", async () => {
    const { client, key, refreshToken, witness } = await newTailing();
    const now = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: now + 29 * 24 * 3_600_000 });
    expect((await call("/auth/refresh", { body: { refreshToken } })).status).toBe(200);
    vi.setSystemTime(now + 31 * 24 * 3_600_000);
    receiptOf(await send(key, numbered(3)));
    await client.has(3);
    expect(client.seqs).toEqual(range(1, 3));
    for (const each of [client, witness]) each.close();
  });

  it("ends when its user is no longer a member, and not when the role changes", async () => {
    const owner = await newUser();
    const workspaceId = await newWorkspace(owner);
    const member = await newUser();
    await addMember(workspaceId, member, "member");
    const headers = { ...bearer(owner.accessToken), "X-Workspace-Id": workspaceId };
    const projectId = await newProject({ headers, userId: owner.userId, workspaceId });
    const client = await openTail(projectId, { headers: { ...headers, ...bearer(member.accessToken) } });
    const path = `/workspaces/${workspaceId}/members/${member.userId}`;
    expect((await by(owner, path, { method: "PATCH", body: { role: "viewer" } })).status).toBe(200);
    expect(client.closed).toBeNull();
    expect((await by(owner, path, { method: "DELETE" })).status).toBe(200);
    await ended(client, "NOT_FOUND");
  });

  it("ends after a notification that could not be delivered immediately", async () => {
    const { client, owner, accessToken, witness } = await newTailing();
    const { sessionId } = await claimsOf(accessToken);
    // As after a crash between the end of the session and the notification: only the row is left.
    await runInDurableObject(userStub(owner.userId), (_, { storage }) => {
      storage.sql.exec("UPDATE families SET revoked_at = 1, revoked_reason = 'logout' WHERE id = ?", sessionId);
      storage.setAlarm(Date.now() + 3_600_000);
    });
    expect(client.closed).toBeNull();
    await runDurableObjectAlarm(userStub(owner.userId));
    await ended(client, "SESSION_REVOKED");
    await vi.waitFor(async () => {
      const left = await runInDurableObject(userStub(owner.userId), (_, { storage }) =>
        storage.sql.exec("SELECT * FROM session_watches").toArray(),
      );
      expect(left).toEqual([]);
    });
    witness.close();
  });

  it("does not open for a session that ends while it is being opened", async () => {
    for (let round = 0; round < 10; round++) {
      const { client, witness, owner, projectId, refreshToken } = await newTailing();
      const [opened] = await Promise.allSettled([
        openTail(projectId, { headers: owner.headers }),
        call("/auth/logout", { body: { refreshToken } }),
      ]);
      await client.ends();
      if (opened.status === "fulfilled") await opened.value.ends();
      witness.close();
    }
  });
});

it("a body with another user's session subscribes to nothing", async () => {
  const owner = await newOwner();
  const stub = userStub(owner.userId);
  expect(await stub.subscribeToSessionEnd("fam_000000000000", owner.workspaceId)).toBeNull();
  expect(await userStub("usr_nobody000000").subscribeToSessionEnd("fam_000000000000", owner.workspaceId)).toBeNull();
  const tables = await runInDurableObject(userStub("usr_nobody000000"), (_, { storage }) =>
    z.array(z.unknown()).parse(storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '_cf%'").toArray()),
  );
  expect(tables).toEqual([]);
});
