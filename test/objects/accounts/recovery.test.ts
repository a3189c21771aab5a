import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { arrived, identityRows, visitor } from "../oauth/support.ts";
import { deliver, mailsTo } from "./mail-support.ts";
import {
  type Answer,
  bearer,
  call,
  login,
  me,
  PASSWORD,
  registered,
  type SignedIn,
  signedIn,
  userStub,
} from "./support.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

const recoveryShape = z.strictObject({
  since: z.iso.datetime(),
  otherSessions: z.int(),
  providers: z.array(z.strictObject({ provider: z.string(), linkedAt: z.iso.datetime() })),
  keys: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      prefix: z.string(),
      scopes: z.array(z.string()),
      projectId: z.string(),
      projectName: z.string(),
      workspaceId: z.string(),
      workspaceName: z.string(),
      createdAt: z.iso.datetime(),
      lastUsedAt: z.iso.datetime().nullable(),
    }),
  ),
  complete: z.boolean(),
});

async function onSql(userId: string, statement: string, ...values: unknown[]): Promise<void> {
  await runInDurableObject(userStub(userId), (_, { storage }) => void storage.sql.exec(statement, ...values));
}

const recovery = (token: string): Promise<Answer> => call("/auth/recovery", { headers: bearer(token) });

const recover = (token: string, body: unknown = {}): Promise<Answer> =>
  call("/auth/recovery", { headers: bearer(token), body });

async function keyOf(owner: SignedIn, workspaceId: string, name: string): Promise<string> {
  const headers = { ...bearer(owner.accessToken), "X-Workspace-Id": workspaceId };
  const project = await call("/projects", { headers, body: { name: "Harbour" } });
  const { id } = project.data as { id: string };
  const made = await call(`/projects/${id}/keys`, { headers, body: { name, scopes: ["logs:write"] } });
  expect(made.status).toBe(201);
  return (made.data as { id: string }).id;
}

/** An old account with a password, an old provider and a recent one. */
async function owner(): Promise<SignedIn & { email: string }> {
  const email = `${crypto.randomUUID()}@example.com`;
  const account = await registered(email);
  const { id } = account.user;
  const now = Date.now();
  await onSql(id, "UPDATE account SET email_verified = 1, created_at = ?", now - 400 * DAY_MS);
  await onSql(id, "INSERT INTO links VALUES ('provider_a', ?, 'old', ?)", email, now - 31 * DAY_MS);
  await onSql(id, "INSERT INTO links VALUES ('provider_b', ?, 'new', ?)", email, now - 29 * DAY_MS);
  return { ...account, email };
}

describe("B8: recovery of an account", () => {
  it("B8: lists providers and keys of the last 30 days, in every workspace, and the other sessions", async () => {
    const account = await owner();
    const other = signedIn(await login(account.email));
    const made = await call("/workspaces", { headers: bearer(account.accessToken), body: { name: "Pier" } });
    const shared = (made.data as { id: string }).id;
    const personal = account.personalWorkspace.id;
    const [first, second] = [await keyOf(account, personal, "first"), await keyOf(account, shared, "second")];
    const revoked = await keyOf(account, personal, "revoked");
    const before = recoveryShape.parse((await recovery(account.accessToken)).data);
    expect(before.keys.map(({ id }) => id).sort()).toEqual([first, second, revoked].sort());
    const { projectId, workspaceId } = before.keys.find(({ id }) => id === revoked) ?? {};
    // The list has everything that revoking a key requires.
    const headers = { ...bearer(account.accessToken), "X-Workspace-Id": workspaceId ?? "" };
    expect((await call(`/projects/${projectId}/keys/${revoked}`, { method: "DELETE", headers })).status).toBe(200);
    const shown = recoveryShape.parse((await recovery(account.accessToken)).data);
    expect(shown.keys.map(({ name, workspaceName }) => [name, workspaceName])).toContainEqual(["second", "Pier"]);
    expect(shown.keys).toHaveLength(2);
    expect(shown.otherSessions).toBe(1);
    expect(shown.providers.map(({ provider }) => provider)).toEqual(["provider_b"]);
    expect(shown.complete).toBe(true);
    expect(Date.now() - Date.parse(shown.since)).toBeLessThan(30 * DAY_MS + 60_000);
    expect((await me(other.accessToken)).status).toBe(200);
  });

  it("B8: ends all other sessions and unlinks recent providers in one turn; a repetition changes nothing", async () => {
    const account = await owner();
    const other = signedIn(await login(account.email));
    const done = await recover(account.accessToken);
    expect([done.status, done.data]).toEqual([200, { revoked: 1, unlinked: ["provider_b"] }]);
    expect((await me(other.accessToken)).code).toBe("SESSION_REVOKED");
    expect((await me(account.accessToken)).status).toBe(200);
    const methods = await call("/auth/methods", { headers: bearer(account.accessToken) });
    expect(methods.data).toEqual({ hasPassword: true, providers: ["provider_a"] });
    expect((await recover(account.accessToken)).data).toEqual({ revoked: 0, unlinked: [] });
  });

  it("B8: requires a fresh session or the password, like unlinking", async () => {
    const account = await owner();
    await onSql(account.user.id, "UPDATE families SET created_at = ?", Date.now() - 11 * 60_000);
    expect((await recover(account.accessToken)).code).toBe("REAUTHENTICATION_REQUIRED");
    expect((await recover(account.accessToken, { password: "wrong password" })).code).toBe("INVALID_CREDENTIALS");
    expect((await recover(account.accessToken, { password: PASSWORD })).status).toBe(200);
  });

  it("B8: changes nothing if neither a password nor an older provider would remain", async () => {
    const account = await owner();
    const other = signedIn(await login(account.email));
    await onSql(account.user.id, "DELETE FROM links WHERE provider = 'provider_a'");
    await onSql(account.user.id, "UPDATE account SET password_hash = NULL");
    expect((await recover(account.accessToken)).code).toBe("LAST_AUTH_METHOD");
    expect((await me(other.accessToken)).status).toBe(200);
  });

  it("B8: keeps the identity with which the account was created, and its row in D1", async () => {
    const profile = visitor();
    const { entry, epoch } = await arrived(profile);
    const family = { id: "fam_0123456789AB", epoch, method: "provider_a", userAgent: null, ip: "::" } as const;
    await userStub(entry.userId).createSession(family);
    await arrived({ ...visitor({ provider: "provider_b" }), email: profile.email });
    const shown = await userStub(entry.userId).recovery(family.id);
    expect(shown?.providers.map(({ provider }) => provider)).toEqual(["provider_b"]);
    const done = await userStub(entry.userId).recover({ sessionId: family.id, checkedEpoch: null });
    expect(done.ok && done.released.map(({ provider }) => provider)).toEqual(["provider_b"]);
    expect(await userStub(entry.userId).methods(family.id)).toEqual({ hasPassword: false, providers: ["provider_a"] });
    expect(await identityRows(entry.userId)).toHaveLength(2);
  });

  it("B8: the notice of a theft links to the recovery page", async () => {
    const { email, refreshToken, user } = await owner();
    await call("/auth/refresh", { body: { refreshToken } });
    expect((await call("/auth/refresh", { body: { refreshToken } })).code).toBe("REFRESH_TOKEN_REUSED");
    await deliver(user.id);
    const notice = (await mailsTo(email)).find(({ kind }) => kind === "notice");
    expect(notice?.links.map((link) => new URL(link).pathname)).toEqual(["/auth/review"]);
    expect(notice?.links.join()).not.toContain("token");
  });
});
