import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { hashOneTimeToken } from "../../../src/accounts/one-time-token.ts";
import { mailedToken } from "../accounts/mail-support.ts";
import { bearer, call, claimsOf, dump, login, me, PASSWORD, signedIn, userStub } from "../accounts/support.ts";
import { numbered, onSql, receiptOf, send } from "../ingest/support.ts";
import { newKey, newProject, refusal } from "../projects/support.ts";
import {
  accept,
  by,
  indexed,
  invitationOf,
  invitationToken,
  invite,
  join,
  newMember,
  newUser,
  newWorkspace,
  type User,
} from "./support.ts";

afterEach(() => vi.restoreAllMocks());

const deletion = (user: Pick<User, "accessToken">, body: unknown = { password: PASSWORD }) =>
  by(user, "/auth/me", { method: "DELETE", ...(body === null ? {} : { body }) });

async function keyIn(user: User, workspaceId: string, projectId?: string) {
  const headers = { ...bearer(user.accessToken), "X-Workspace-Id": workspaceId };
  const owner = { userId: user.userId, workspaceId, headers };
  return newKey(owner, projectId ?? (await newProject(owner)));
}

async function rowsOf(user: User): Promise<number> {
  const counts = await env.DB.batch<{ n: number }>(
    [
      "SELECT COUNT(*) AS n FROM users WHERE id = ?",
      "SELECT COUNT(*) AS n FROM memberships WHERE user_id = ?",
      "SELECT COUNT(*) AS n FROM workspaces WHERE personal_of = ?",
      "SELECT COUNT(*) AS n FROM oauth_identities WHERE user_id = ?",
    ].map((sql) => env.DB.prepare(sql).bind(user.userId)),
  );
  return counts.reduce((sum, { results }) => sum + (results[0]?.n ?? 0), 0);
}

const userDump = (userId: string) => runInDurableObject(userStub(userId), (_, { storage }) => dump(storage.sql));

async function magicUser(): Promise<User> {
  const email = `${crypto.randomUUID()}@example.com`;
  await call("/auth/magic-link", { body: { email } });
  const answer = await call("/auth/magic-link/verify", { body: { token: await mailedToken(email, "magic-link") } });
  const { isNewUser: _, ...data } = answer.data as Record<string, unknown>;
  const { user, accessToken, personalWorkspace } = signedIn({ ...answer, data });
  return { userId: user.id, email, accessToken, workspaceId: personalWorkspace.id };
}

describe("deleting an account", () => {
  it("deletes sessions, solely owned workspaces, memberships, keys and directory rows, and none of other users", async () => {
    const [user, other] = [await newUser(), await newUser()];
    const sole = await newWorkspace(user);
    const bystander = await newMember(sole, "admin");
    const shared = await newWorkspace(other);
    await join(other, shared, user, "admin");
    const coOwned = await newWorkspace(user);
    await join(user, coOwned, await newUser(), "owner");
    const ownKeys = [await keyIn(user, user.workspaceId), await keyIn(user, sole), await keyIn(user, shared)];
    const othersKey = await keyIn(other, shared, ownKeys[2]?.projectId);
    for (const key of [...ownKeys, othersKey]) receiptOf(await send(key, numbered(1)));
    const second = signedIn(await login(user.email));
    const answer = await deletion(user);
    expect([answer.status, answer.data]).toEqual([200, { deleted: true }]);
    for (const token of [user.accessToken, second.accessToken]) {
      expect(refusal(await me(token))).toEqual([401, "SESSION_REVOKED"]);
    }
    const refreshed = await call("/auth/refresh", { body: { refreshToken: second.refreshToken } });
    expect(refreshed.status).toBe(401);
    const refusals = await Promise.all(ownKeys.map(async (key) => refusal(await send(key, numbered(1)))));
    expect(refusals).toEqual([
      [401, "INVALID_API_KEY"],
      [401, "INVALID_API_KEY"],
      [401, "API_KEY_REVOKED"],
    ]);
    receiptOf(await send(othersKey, numbered(1)));
    expect(refusal(await by(bystander, `/workspaces/${sole}`))).toEqual([404, "NOT_FOUND"]);
    for (const id of [user.workspaceId, sole]) expect(await onSql(id, dump)).toEqual({});
    for (const id of [shared, coOwned]) expect(await indexed(id)).not.toContain(user.userId);
    expect(await onSql(shared, (sql) => sql.exec("SELECT user_id FROM members").toArray())).toEqual([
      { user_id: other.userId },
    ]);
    expect(await rowsOf(user)).toBe(0);
    expect(await userDump(user.userId)).toEqual({});
    expect(refusal(await login(user.email))).toEqual([401, "INVALID_CREDENTIALS"]);
    const next = await newUser({ email: user.email });
    expect(next.userId).not.toBe(user.userId);
  });

  it("requires the password; a wrong or missing one, or another body, changes nothing", async () => {
    const user = await newUser();
    expect(refusal(await deletion(user, null))).toEqual([400, "VALIDATION_ERROR"]);
    expect(refusal(await deletion(user, {}))).toEqual([400, "VALIDATION_ERROR"]);
    expect(refusal(await deletion(user, { password: "wrong password" }))).toEqual([401, "INVALID_CREDENTIALS"]);
    expect(refusal(await deletion(user, { password: 1 }))).toEqual([400, "VALIDATION_ERROR"]);
    expect(refusal(await deletion(user, { password: PASSWORD, x: 1 }))).toEqual([400, "VALIDATION_ERROR"]);
    expect(refusal(await call("/auth/me", { method: "DELETE", body: {} }))).toEqual([401, "UNAUTHORIZED"]);
    expect((await me(user.accessToken)).status).toBe(200);
  });

  it("of an account without a password requires a sign-in of the last 10 minutes, and no body", async () => {
    const user = await magicUser();
    const age = (ms: number) =>
      runInDurableObject(userStub(user.userId), (_, { storage }) =>
        storage.sql.exec("UPDATE families SET created_at = ?", Date.now() - ms).toArray(),
      );
    await age(11 * 60_000);
    expect(refusal(await deletion(user, null))).toEqual([403, "REAUTHENTICATION_REQUIRED"]);
    expect((await me(user.accessToken)).status).toBe(200);
    await age(9 * 60_000);
    expect((await deletion(user, null)).status).toBe(200);
    expect(await rowsOf(user)).toBe(0);
  });

  it("takes effect immediately while D1 is unreachable, through an eviction; the alarm completes it", async () => {
    const user = await newUser();
    const id = await newWorkspace(user);
    const key = await keyIn(user, id);
    const batch = vi.spyOn(env.DB, "batch").mockRejectedValue(new Error("no D1"));
    const { sessionId } = await claimsOf(user.accessToken);
    const verdict = await runInDurableObject(userStub(user.userId), (instance) =>
      instance.deleteAccount({ sessionId, checkedEpoch: 0 }),
    );
    batch.mockRestore();
    expect(verdict).toBe("begun");
    await evictDurableObject(userStub(user.userId));
    expect(refusal(await me(user.accessToken))).toEqual([401, "SESSION_REVOKED"]);
    expect(refusal(await send(key, numbered(1)))).toEqual([401, "INVALID_API_KEY"]);
    expect(refusal(await login(user.email))).toEqual([401, "INVALID_CREDENTIALS"]);
    // The address is still in the directory, but no proof of its mailbox restores the account.
    await call("/auth/magic-link", { body: { email: user.email } });
    await call("/auth/forgot-password", { body: { email: user.email } });
    await runDurableObjectAlarm(userStub(user.userId));
    expect(await rowsOf(user)).toBe(0);
    expect(await userDump(user.userId)).toEqual({});
    await newUser({ email: user.email });
  });

  it("leaves no membership behind if the user joins a workspace at the same time", async () => {
    for (let round = 0; round < 4; round++) {
      const [owner, guest] = [await newUser(), await newUser()];
      const id = await newWorkspace(owner);
      invitationOf(await invite(owner, id, guest.email, "admin"));
      const token = await invitationToken(id, guest.email);
      await Promise.all([
        deletion(guest),
        scheduler.wait(round * 12).then(() => accept(guest, token)),
        scheduler.wait(round * 12).then(() => by(guest, "/workspaces", { body: { name: "x" } })),
      ]);
      expect(await onSql(id, (sql) => sql.exec("SELECT user_id FROM members").toArray())).toEqual([
        { user_id: owner.userId },
      ]);
      expect(await indexed(id)).toEqual([owner.userId]);
      expect(await rowsOf(guest)).toBe(0);
    }
  });

  it("ends a membership that the directory lists between two queries", async () => {
    const [owner, guest] = [await newUser(), await newUser()];
    const id = await newWorkspace(owner);
    invitationOf(await invite(owner, id, guest.email, "admin"));
    const token = await invitationToken(id, guest.email);
    const prepare = env.DB.prepare.bind(env.DB);
    let isFirst = true;
    vi.spyOn(env.DB, "prepare").mockImplementation((sql) => {
      // The acceptance happens between the deletion's query of the memberships and the end of the account.
      if (isFirst && sql.startsWith("DELETE FROM oauth_identities WHERE user_id")) {
        isFirst = false;
        return prepare(
          `INSERT INTO memberships (user_id, workspace_id) SELECT '${guest.userId}', '${id}' WHERE ? IS NOT NULL`,
        );
      }
      return prepare(sql);
    });
    expect((await deletion(guest)).status).toBe(200);
    expect(isFirst).toBe(false);
    vi.restoreAllMocks();
    expect(await rowsOf(guest)).toBe(0);
    // The acceptance in flight finds that the account was deleted.
    const ruling = await env.WORKSPACES.get(env.WORKSPACES.idFromName(id)).acceptInvitation(hashOneTimeToken(token), {
      userId: guest.userId,
      email: guest.email,
    });
    expect(ruling).toMatchObject({ ok: false, code: "INVALID_TOKEN" });
    expect(await onSql(id, (sql) => sql.exec("SELECT user_id FROM departed_users").toArray())).toEqual([
      { user_id: guest.userId },
    ]);
  });

  it("succeeds for concurrent requests, and happens once", async () => {
    const user = await newUser();
    const answers = await Promise.all([deletion(user), deletion(user), deletion(user)]);
    for (const { status, code } of answers)
      expect([
        [200, null],
        [401, "SESSION_REVOKED"],
      ]).toContainEqual([status, code]);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
    expect(await rowsOf(user)).toBe(0);
  });
});
